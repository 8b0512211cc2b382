-- Summaries, descriptions and categories. What was made of another text counts for nothing.

-- What a document is analysed from.
-- name: analysis_source
SELECT d.id, d.name, d.kind, d.title, d.text, d.text_sha256, d.language, d.author, d.dated,
       d.date_source, d.correspondents, m.name AS model, m.dimension
FROM document d JOIN model m ON m.id = d.model_id
WHERE d.id = %(document_id)s::bigint;

-- The sentences of a document, chunk by chunk.
-- name: analysis_chunks
SELECT start_at, end_at, header, language, sentences
FROM chunk WHERE document_id = %(document_id)s::bigint ORDER BY ordinal;

-- name: analysis_of
SELECT d.id, d.name, d.language AS document_language,
       a.method, a.model, a.language, a.summary, a.spans, a.description, a.fingerprint, a.calls,
       a.failure, a.analysed_at,
       f.reason, f.transient, f.attempts, f.failed_at,
       (SELECT array_agg(c.name ORDER BY e.probability DESC NULLS FIRST, c.name)
        FROM document_category e JOIN category c ON c.id = e.category_id
        WHERE e.document_id = a.document_id) AS categories,
       (SELECT array_agg(e.probability ORDER BY e.probability DESC NULLS FIRST, c.name)
        FROM document_category e JOIN category c ON c.id = e.category_id
        WHERE e.document_id = a.document_id) AS probabilities,
       (SELECT array_agg(e.reason ORDER BY e.probability DESC NULLS FIRST, c.name)
        FROM document_category e JOIN category c ON c.id = e.category_id
        WHERE e.document_id = a.document_id) AS reasons
FROM document d
LEFT JOIN analysis a ON a.document_id = d.id AND a.text_sha256 = d.text_sha256
LEFT JOIN analysis_failure f ON f.document_id = d.id
WHERE d.id = %(document_id)s::bigint;

-- Documents whose analysis is missing, of an old text, of other settings, or not whole. Notes of the
-- owner's on a document are none of their own, and what lies in the trash waits for nothing.
-- name: documents_to_analyse
SELECT d.id AS document, d.name, d.text_sha256
FROM document d
LEFT JOIN analysis a ON a.document_id = d.id AND a.text_sha256 = d.text_sha256
WHERE d.note_of IS NULL AND d.trashed_at IS NULL
  AND (a.document_id IS NULL OR a.fingerprint <> %(fingerprint)s::text OR a.failure IS NOT NULL)
ORDER BY d.id;

-- name: analysis_counts
SELECT count(*) AS documents,
       count(a.document_id) AS analysed,
       count(*) FILTER (WHERE a.fingerprint <> %(fingerprint)s::text) AS stale,
       count(*) FILTER (WHERE f.document_id IS NOT NULL) AS failed
FROM document d
LEFT JOIN analysis a ON a.document_id = d.id AND a.text_sha256 = d.text_sha256
LEFT JOIN analysis_failure f ON f.document_id = d.id
WHERE d.note_of IS NULL AND d.trashed_at IS NULL;

-- Documents among these whose analysis is one of other settings.
-- name: stale_analyses
SELECT count(*) AS documents
FROM analysis a JOIN document d ON d.id = a.document_id AND d.text_sha256 = a.text_sha256
WHERE a.document_id = ANY(%(documents)s::bigint[]) AND a.fingerprint <> %(fingerprint)s::text;

-- Documents that can be in no category, for they have no analysis of their present text.
-- name: unanalysed_documents
SELECT count(*) AS documents
FROM document d
LEFT JOIN analysis a ON a.document_id = d.id AND a.text_sha256 = d.text_sha256
WHERE d.note_of IS NULL AND d.trashed_at IS NULL AND a.document_id IS NULL;

-- Nothing is written where the text has changed meanwhile.
-- name: write_analysis
INSERT INTO analysis (document_id, text_sha256, method, model, language, summary, spans,
                      description, fingerprint, calls, failure)
SELECT d.id, d.text_sha256, %(method)s::text, %(model)s::text, %(language)s::text,
       %(summary)s::text, %(spans)s::integer[], %(description)s::text, %(fingerprint)s::text,
       %(calls)s::integer, %(failure)s::text
FROM document d
WHERE d.id = %(document_id)s::bigint AND d.text_sha256 = %(text_sha256)s::bytea
ON CONFLICT (document_id) DO UPDATE
SET text_sha256 = excluded.text_sha256, method = excluded.method, model = excluded.model,
    language = excluded.language, summary = excluded.summary, spans = excluded.spans,
    description = excluded.description, fingerprint = excluded.fingerprint,
    calls = excluded.calls, failure = excluded.failure, analysed_at = clock_timestamp()
RETURNING document_id;

-- Lists and results show it, and it counts among a document's words.
-- name: describe_document
UPDATE document SET description = %(description)s::text
WHERE id = %(document_id)s::bigint AND description IS DISTINCT FROM %(description)s::text;

-- name: forget_document_categories
DELETE FROM document_category WHERE document_id = %(document_id)s::bigint;

-- name: write_document_categories
INSERT INTO document_category (document_id, category_id, probability, reason)
SELECT %(document_id)s::bigint, c.id, q.probability, q.reason
FROM unnest(%(categories)s::integer[], %(probabilities)s::real[], %(reasons)s::text[])
     AS q (category_id, probability, reason)
JOIN category c ON c.id = q.category_id;

-- name: write_analysis_failure
INSERT INTO analysis_failure (document_id, reason, transient, fingerprint)
SELECT d.id, %(reason)s::text, %(transient)s::boolean, %(fingerprint)s::text
FROM document d WHERE d.id = %(document_id)s::bigint
ON CONFLICT (document_id) DO UPDATE
SET reason = excluded.reason, transient = excluded.transient, fingerprint = excluded.fingerprint,
    attempts = analysis_failure.attempts + 1, failed_at = clock_timestamp();

-- name: forget_analysis_failure
DELETE FROM analysis_failure WHERE document_id = %(document_id)s::bigint;

-- name: list_categories
SELECT c.id, c.name, c.description, c.examples,
       (SELECT count(*) FROM document_category e
        JOIN analysis a ON a.document_id = e.document_id
        JOIN document d ON d.id = a.document_id AND d.text_sha256 = a.text_sha256
        WHERE e.category_id = c.id) AS documents
FROM category c ORDER BY lower(c.name);

-- Adding one that is there adds to its examples.
-- name: add_category
INSERT INTO category (name, description, examples)
VALUES (%(name)s::text, %(description)s::text, %(examples)s::text[])
ON CONFLICT (lower(name)) DO UPDATE
SET name = excluded.name,
    description = CASE WHEN excluded.description = '' THEN category.description
                       ELSE excluded.description END,
    examples = category.examples
               || ARRAY(SELECT x FROM unnest(excluded.examples) AS x
                        WHERE x <> ALL(category.examples))
RETURNING id, (xmax = 0) AS is_new;

-- name: remove_category
DELETE FROM category WHERE lower(name) = lower(%(name)s::text) RETURNING name;
