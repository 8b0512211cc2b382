-- What the presets beside the default ask of the store.

-- Stems of a document's chunks, each in its own language. The server ignores words of more
-- than 2,046 bytes and refuses more than a megabyte of them, so that so much text is cut.
-- name: add_stems
INSERT INTO stem_posting (term, document_id, chunk_ids, frequencies)
SELECT s.term, %(document_id)s::bigint, array_agg(s.chunk_id ORDER BY s.chunk_id),
       array_agg(s.frequency ORDER BY s.chunk_id)
FROM (SELECT q.chunk_id, q.language || ':' || l.lexeme AS term,
             least(cardinality(l.positions), 32767)::smallint AS frequency
      FROM unnest(%(chunks)s::bigint[], %(languages)s::text[], %(configurations)s::text[],
                  %(texts)s::text[]) AS q (chunk_id, language, configuration, text)
      CROSS JOIN LATERAL unnest(to_tsvector(q.configuration::regconfig, left(q.text, 250000)))
           AS l (lexeme, positions, weights)) AS s
GROUP BY s.term;

-- name: forget_stems
DELETE FROM stem_posting WHERE document_id = %(document_id)s;

-- Documents that were indexed without what the preset archive looks in.
-- name: documents_without_stems
SELECT count(*) AS documents FROM document
WHERE trashed_at IS NULL AND strpos(fingerprint, %(mark)s::text) = 0;

-- A question's stems in every language that chunks are stemmed in.
-- name: query_stems
SELECT q.language, l.lexeme
FROM unnest(%(languages)s::text[], %(configurations)s::text[]) WITH ORDINALITY
     AS q (language, configuration, place)
CROSS JOIN LATERAL unnest(to_tsvector(q.configuration::regconfig, left(%(text)s::text, 250000)))
     AS l (lexeme, positions, weights)
ORDER BY q.place, l.positions[1], l.lexeme;

-- Count of distinct stems; among equals the chunk with more occurrences, then the older one.
-- name: stem_arm
SELECT u.chunk_id, count(*)::float8 AS score
FROM stem_posting p
CROSS JOIN LATERAL unnest(p.chunk_ids, p.frequencies) AS u (chunk_id, frequency)
WHERE p.term = ANY(%(terms)s::text[])
  AND (%(documents)s::bigint[] IS NULL OR p.document_id = ANY(%(documents)s::bigint[]))
GROUP BY u.chunk_id
ORDER BY score DESC, sum(u.frequency) DESC, u.chunk_id
LIMIT %(limit)s::integer;

-- The chunks nearest in meaning by one vector each.
-- name: whole_arm
SELECT w.chunk_id, -(w.vector <#> %(vector)s::halfvec) AS score
FROM chunk_whole w
WHERE %(documents)s::bigint[] IS NULL
   OR w.chunk_id IN (SELECT id FROM chunk WHERE document_id = ANY(%(documents)s::bigint[]))
ORDER BY w.vector <#> %(vector)s::halfvec, w.chunk_id
LIMIT %(limit)s::integer;

-- name: document_statistics
SELECT count(*) AS documents, coalesce(avg(terms), 0)::float8 AS average_terms
FROM (SELECT sum(terms) AS terms FROM chunk GROUP BY document_id) AS lengths;

-- name: documents_holding
SELECT term, count(*) AS documents
FROM posting WHERE term = ANY(%(terms)s::text[]) GROUP BY term;

-- BM25 of whole documents; each stands as its passage with the best BM25 of its own.
-- A document's own weights (telling) and those of its passages (weights) differ, because a
-- term is rarer among the one than among the other.
-- name: document_arm
WITH hit AS (
    SELECT p.document_id, q.place, q.weight, q.telling, p.chunk_ids, p.frequencies, p.lengths
    FROM unnest(%(terms)s::text[], %(places)s::integer[], %(weights)s::float8[],
                %(telling)s::float8[]) AS q (term, place, weight, telling)
    JOIN posting p ON p.term = q.term COLLATE "C"
    WHERE %(documents)s::bigint[] IS NULL OR p.document_id = ANY(%(documents)s::bigint[])
), length AS (
    SELECT document_id, sum(terms)::float8 AS terms FROM chunk
    WHERE document_id IN (SELECT document_id FROM hit) GROUP BY document_id
), best AS (
    SELECT document_id, sum(best) AS score
    FROM (SELECT h.document_id, h.place,
                 max(h.telling * f.frequency * (%(k1)s::float8 + 1)
                     / (f.frequency + %(k1)s::float8
                        * (1 - %(b)s::float8 + %(b)s::float8 * l.terms / %(document_average)s::float8)))
                     AS best
          FROM hit h JOIN length l ON l.document_id = h.document_id
          CROSS JOIN LATERAL (SELECT sum(frequency) AS frequency
                              FROM unnest(h.frequencies) AS u (frequency)) AS f
          GROUP BY h.document_id, h.place) AS places
    GROUP BY document_id
    ORDER BY score DESC, document_id
    LIMIT %(limit)s::integer
), passage AS (
    SELECT document_id, chunk_id, sum(best) AS score
    FROM (SELECT h.document_id, u.chunk_id, h.place,
                 max(h.weight * u.frequency * (%(k1)s::float8 + 1)
                     / (u.frequency + %(k1)s::float8
                        * (1 - %(b)s::float8 + %(b)s::float8 * u.length / %(average)s::float8)))
                     AS best
          FROM hit h JOIN best d ON d.document_id = h.document_id
          CROSS JOIN LATERAL unnest(h.chunk_ids, h.frequencies, h.lengths)
               AS u (chunk_id, frequency, length)
          GROUP BY h.document_id, u.chunk_id, h.place) AS places
    GROUP BY document_id, chunk_id
), first AS (
    SELECT DISTINCT ON (document_id) document_id, chunk_id
    FROM passage ORDER BY document_id, score DESC, chunk_id
)
SELECT first.chunk_id, best.score::float8 AS score
FROM best JOIN first ON first.document_id = best.document_id
ORDER BY best.score DESC, best.document_id;

-- Chunks that hold every one of the terms; all of them where there are none to tell by.
-- name: chunks_with_terms
SELECT u.chunk_id
FROM posting p CROSS JOIN LATERAL unnest(p.chunk_ids) AS u (chunk_id)
WHERE p.term = ANY(%(terms)s::text[])
  AND (%(documents)s::bigint[] IS NULL OR p.document_id = ANY(%(documents)s::bigint[]))
GROUP BY u.chunk_id
HAVING count(*) = cardinality(%(terms)s::text[])
UNION ALL
SELECT c.id FROM chunk c
WHERE cardinality(%(terms)s::text[]) = 0
  AND (%(documents)s::bigint[] IS NULL OR c.document_id = ANY(%(documents)s::bigint[]))
ORDER BY 1;

-- name: places_of_chunks
SELECT id, document_id, start_at, end_at, header, terms FROM chunk
WHERE id = ANY(%(chunks)s::bigint[]) ORDER BY document_id, id;

-- name: texts_of_documents
SELECT id, text FROM document WHERE id = ANY(%(documents)s::bigint[]);

-- Cosine of some chunks' best parts, the nearest first.
-- name: parts_of_chunks
SELECT chunk_id, max(-(vector <#> %(vector)s::halfvec)) AS score
FROM chunk_vector WHERE chunk_id = ANY(%(chunks)s::bigint[])
GROUP BY chunk_id ORDER BY score DESC, chunk_id LIMIT %(limit)s::integer;
