-- Changing the embedder: vectors of another model grow beside those in use.

-- The models that vectors are of, with how many documents each has: in use, and waiting.
-- name: model_shares
SELECT m.name, m.profile, m.dimension,
       (SELECT count(*) FROM document d
        WHERE d.model_id = m.id AND d.trashed_at IS NULL) AS documents,
       (SELECT count(*) FROM next_document n WHERE n.model_id = m.id) AS waiting,
       (SELECT count(*) FROM word w WHERE w.model_id = m.id) AS words
FROM model m ORDER BY m.id;

-- Documents that are neither of the model nor wholly embedded by it, the smallest id first.
-- name: documents_to_embed
SELECT d.id, d.name FROM document d
WHERE d.trashed_at IS NULL AND d.model_id <> %(model_id)s::integer
  AND (NOT EXISTS (SELECT FROM next_document n
                   WHERE n.document_id = d.id AND n.model_id = %(model_id)s::integer
                     AND n.name = d.name)
       OR EXISTS (SELECT FROM chunk c
                  WHERE c.document_id = d.id
                    AND NOT EXISTS (SELECT FROM next_chunk n
                                    WHERE n.chunk_id = c.id AND n.model_id = %(model_id)s::integer)))
ORDER BY d.id;

-- name: chunks_to_embed
SELECT c.id, c.ordinal, c.page, c.start_at, c.end_at, c.header, c.tokens
FROM chunk c WHERE c.document_id = %(document_id)s ORDER BY c.ordinal;

-- name: ids_of_chunks
SELECT id FROM chunk WHERE document_id = %(document_id)s ORDER BY ordinal;

-- name: forget_next_chunks
DELETE FROM next_chunk n USING chunk c
WHERE c.id = n.chunk_id AND c.document_id = %(document_id)s AND n.model_id = %(model_id)s;

-- name: forget_next_vectors
DELETE FROM next_chunk_vector n USING chunk c
WHERE c.id = n.chunk_id AND c.document_id = %(document_id)s AND n.model_id = %(model_id)s;

-- name: add_next_document
INSERT INTO next_document (document_id, model_id, name, name_vector, failures)
VALUES (%(document_id)s, %(model_id)s, %(name)s, %(name_vector)s, %(failures)s)
ON CONFLICT (document_id, model_id) DO UPDATE
SET name = excluded.name, name_vector = excluded.name_vector, failures = excluded.failures;

-- What an earlier change that was given up has left.
-- name: forget_other_next_chunks
DELETE FROM next_chunk WHERE model_id <> %(model_id)s;

-- name: forget_other_next_vectors
DELETE FROM next_chunk_vector WHERE model_id <> %(model_id)s;

-- name: forget_other_next_documents
DELETE FROM next_document WHERE model_id <> %(model_id)s;

-- The switch, in one transaction: forget, put in place, mark.
-- name: switch_forget_vectors
DELETE FROM chunk_vector v USING next_chunk n
WHERE n.chunk_id = v.chunk_id AND n.model_id = %(model_id)s;

-- name: switch_vectors
INSERT INTO chunk_vector (chunk_id, part, vector)
SELECT chunk_id, part, vector FROM next_chunk_vector WHERE model_id = %(model_id)s;

-- name: switch_sentences
UPDATE chunk c SET sentences = n.sentences
FROM next_chunk n WHERE n.chunk_id = c.id AND n.model_id = %(model_id)s;

-- name: switch_forget_wholes
DELETE FROM chunk_whole w USING next_chunk n
WHERE n.chunk_id = w.chunk_id AND n.model_id = %(model_id)s;

-- name: switch_wholes
INSERT INTO chunk_whole (chunk_id, vector)
SELECT chunk_id, whole FROM next_chunk WHERE model_id = %(model_id)s AND whole IS NOT NULL;

-- name: switch_documents
UPDATE document d
SET model_id = %(model_id)s, name_vector = n.name_vector, indexed_at = now(),
    warnings = ARRAY(SELECT w FROM unnest(d.warnings) WITH ORDINALITY AS u (w, place)
                     WHERE w NOT LIKE '%%has no vector and is found by words only%%'
                     ORDER BY place) || n.failures
FROM next_document n WHERE n.document_id = d.id AND n.model_id = %(model_id)s;

-- name: switch_end_chunks
DELETE FROM next_chunk;

-- name: switch_end_vectors
DELETE FROM next_chunk_vector;

-- name: switch_end_documents
DELETE FROM next_document;
