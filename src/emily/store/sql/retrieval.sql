-- The read path: what each stage of a search asks of the store.

-- What changes whenever anything in the archive does.
-- name: revision_number
SELECT number FROM revision;

-- What the scores depend on, and whether the whole index is of one model.
-- name: search_facts
SELECT (SELECT number FROM revision) AS revision,
       (SELECT count(*) FROM document
        WHERE note_of IS NULL AND trashed_at IS NULL) AS documents,
       (SELECT count(DISTINCT coalesce(d.note_of, d.id)) FROM document d
        WHERE d.trashed_at IS NULL AND d.fingerprint <> %(fingerprint)s::text) AS stale,
       (SELECT array_agg(DISTINCT d.fingerprint) FROM document d
        WHERE d.trashed_at IS NULL AND d.fingerprint <> %(fingerprint)s::text) AS fingerprints,
       (SELECT string_agg(DISTINCT m.name || '/' || m.profile, ', ')
        FROM document d JOIN model m ON m.id = d.model_id
        WHERE d.trashed_at IS NULL
          AND (m.name <> %(model)s::text OR m.profile <> %(profile)s::text
               OR m.dimension <> %(dimension)s::integer)) AS other_models;

-- The documents that a search is to look in, and how many would be but for their date. Names and
-- titles meet a filter whose words they all have, whatever the case and the accents.
-- name: matching_documents
WITH asked AS (
    SELECT what,
           regexp_split_to_array(
               btrim(regexp_replace(lower(regexp_replace(normalize(text, NFKD),
                                                         '[\u0300-\u036f]', '', 'g')),
                                    '[^[:alnum:]]+', ' ', 'g')), ' ') AS words
    FROM (SELECT 'author' AS what, unnest(%(authors)s::text[]) AS text
          UNION ALL SELECT 'party', unnest(%(parties)s::text[])
          UNION ALL SELECT 'title', unnest(%(titles)s::text[])) AS given
)
SELECT d.id, o.id AS owner, o.dated IS NOT NULL AS has_date
FROM document d JOIN document o ON o.id = coalesce(d.note_of, d.id)
WHERE o.trashed_at IS NULL
  AND (%(since)s::date IS NULL OR o.dated IS NULL OR o.dated >= %(since)s::date)
  AND (%(until)s::date IS NULL OR o.dated IS NULL OR o.dated <= %(until)s::date)
  AND (%(kinds)s::text[] IS NULL OR o.kind = ANY(%(kinds)s::text[]))
  AND (%(languages)s::text[] IS NULL OR o.language = ANY(%(languages)s::text[]))
  AND (NOT %(archive)s::boolean OR d.vault_id IS NULL)
  AND (%(folder)s::text IS NULL
       OR EXISTS (SELECT FROM source s
                  WHERE s.document_id = o.id
                    AND (s.path = %(folder)s::text OR starts_with(s.path, %(inside)s::text)
                         OR starts_with(s.path, %(enclosed)s::text))))
  AND (%(categories)s::text[] IS NULL
       OR EXISTS (SELECT FROM analysis a
                  JOIN document_category e ON e.document_id = a.document_id
                  JOIN category c ON c.id = e.category_id
                  WHERE a.document_id = o.id AND a.text_sha256 = o.text_sha256
                    AND lower(c.name) = ANY(%(categories)s::text[])))
  AND NOT EXISTS
      (SELECT FROM (SELECT DISTINCT what FROM asked) AS kinds
       WHERE NOT EXISTS
           (SELECT FROM asked a
            JOIN (SELECT 'title' AS what, concat_ws(' ', o.title, o.name) AS text
                  UNION ALL SELECT unnest('{author,party}'::text[]), o.author
                  UNION ALL SELECT 'party', concat_ws(' ', c ->> 1, c ->> 2)
                            FROM jsonb_array_elements(o.correspondents) c
                  UNION ALL SELECT 'author', concat_ws(' ', c ->> 1, c ->> 2)
                            FROM jsonb_array_elements(o.correspondents) c
                            WHERE c ->> 0 IN ('from', 'seller')) AS held ON held.what = a.what
            WHERE a.what = kinds.what
              AND regexp_split_to_array(
                      btrim(regexp_replace(lower(regexp_replace(normalize(held.text, NFKD),
                                                                '[\u0300-\u036f]', '', 'g')),
                                           '[^[:alnum:]]+', ' ', 'g')), ' ') @> a.words))
ORDER BY d.id;

-- name: chunk_statistics
SELECT count(*) AS chunks, coalesce(avg(terms), 0)::float8 AS average_terms FROM chunk;

-- Words that came into the vocabulary after the given one, as columns.
-- name: vocabulary_since
SELECT array_send(array_agg(w.id ORDER BY w.id)) AS ids,
       array_agg(w.surface ORDER BY w.id) AS surfaces,
       array_agg(w.language ORDER BY w.id) AS languages,
       string_agg(halfvec_send(w.vector), '' ORDER BY w.id) AS vectors
FROM word w JOIN model m ON m.id = w.model_id
WHERE w.id > %(last)s
  AND m.name = %(model)s AND m.profile = %(profile)s AND m.dimension = %(dimension)s;

-- name: document_frequencies
SELECT term, sum(cardinality(chunk_ids)) AS chunks
FROM posting WHERE term = ANY(%(terms)s::text[]) GROUP BY term;

-- The chunks nearest in meaning: the nearest parts, and of each chunk its best. A chunk has
-- at most five parts, so five times as many parts hold enough chunks.
-- name: vector_arm
SELECT chunk_id, max(score) AS score
FROM (SELECT v.chunk_id, -(v.vector <#> %(vector)s::halfvec) AS score
      FROM chunk_vector v
      WHERE %(documents)s::bigint[] IS NULL
         OR v.chunk_id IN (SELECT id FROM chunk WHERE document_id = ANY(%(documents)s::bigint[]))
      ORDER BY v.vector <#> %(vector)s::halfvec
      LIMIT 5 * %(limit)s::integer) AS nearest
GROUP BY chunk_id
ORDER BY score DESC, chunk_id
LIMIT %(limit)s::integer;

-- BM25 (Robertson and Zaragoza, 2009). A query word and its neighbours are one group, of
-- which the best counts; a weight is the member's own times its inverse document frequency.
-- name: lexical_arm_bm25
SELECT chunk_id, sum(best)::float8 AS score
FROM (SELECT u.chunk_id, q.place,
             max(q.weight * u.frequency * (%(k1)s::float8 + 1)
                 / (u.frequency + %(k1)s::float8
                    * (1 - %(b)s::float8 + %(b)s::float8 * u.length / %(average)s::float8))) AS best
      FROM unnest(%(terms)s::text[], %(places)s::integer[], %(weights)s::float8[])
           AS q (term, place, weight)
      JOIN posting p ON p.term = q.term COLLATE "C"
      CROSS JOIN LATERAL unnest(p.chunk_ids, p.frequencies, p.lengths)
           AS u (chunk_id, frequency, length)
      WHERE %(documents)s::bigint[] IS NULL OR p.document_id = ANY(%(documents)s::bigint[])
      GROUP BY u.chunk_id, q.place) AS groups
GROUP BY chunk_id
ORDER BY score DESC, chunk_id
LIMIT %(limit)s::integer;

-- Count of distinct groups that match; among equals the one with more occurrences.
-- name: lexical_arm_lexemes
SELECT chunk_id, count(*)::float8 AS score
FROM (SELECT u.chunk_id, q.place, sum(u.frequency) AS occurrences
      FROM unnest(%(terms)s::text[], %(places)s::integer[]) AS q (term, place)
      JOIN posting p ON p.term = q.term COLLATE "C"
      CROSS JOIN LATERAL unnest(p.chunk_ids, p.frequencies) AS u (chunk_id, frequency)
      WHERE %(documents)s::bigint[] IS NULL OR p.document_id = ANY(%(documents)s::bigint[])
      GROUP BY u.chunk_id, q.place) AS groups
GROUP BY chunk_id
ORDER BY score DESC, sum(occurrences) DESC, chunk_id
LIMIT %(limit)s::integer;

-- Facts of the chunks that an arm brought, and their best part; in any order.
-- name: gather_chunks
SELECT c.id, c.document_id, c.ordinal, c.start_at, c.end_at, c.language, c.terms, d.name, d.note_of,
       (SELECT max(-(v.vector <#> %(vector)s::halfvec))
        FROM chunk_vector v WHERE v.chunk_id = c.id) AS part
FROM chunk c JOIN document d ON d.id = c.document_id
WHERE c.id = ANY(%(chunks)s::bigint[]);

-- What the second stage compares, for the pool; in any order.
-- name: pool_details
SELECT c.id, array_send(c.words) AS words, c.sentences,
       -(d.name_vector <#> %(vector)s::halfvec) AS name_similarity
FROM chunk c JOIN document d ON d.id = c.document_id
WHERE c.id = ANY(%(chunks)s::bigint[]);

-- Which of the terms stand in which of the chunks, and how often.
-- name: term_matches
SELECT u.chunk_id, p.term, u.frequency
FROM posting p
CROSS JOIN LATERAL unnest(p.chunk_ids, p.frequencies) AS u (chunk_id, frequency)
WHERE p.term = ANY(%(terms)s::text[]) AND p.document_id = ANY(%(documents)s::bigint[])
  AND u.chunk_id = ANY(%(chunks)s::bigint[]);

-- Length of documents, and how often each of the terms stands in them.
-- name: document_terms
SELECT l.document_id, l.length, t.terms, t.frequencies
FROM (SELECT document_id, sum(terms) AS length FROM chunk
      WHERE document_id = ANY(%(documents)s::bigint[]) GROUP BY document_id) AS l
LEFT JOIN (SELECT p.document_id, array_agg(p.term) AS terms, array_agg(f.frequency) AS frequencies
           FROM posting p
           CROSS JOIN LATERAL (SELECT sum(frequency)::integer AS frequency
                               FROM unnest(p.frequencies) AS u (frequency)) AS f
           WHERE p.term = ANY(%(terms)s::text[]) AND p.document_id = ANY(%(documents)s::bigint[])
           GROUP BY p.document_id) AS t ON t.document_id = l.document_id;

-- The chosen chunks with those around them, to widen a passage by.
-- name: neighbourhood
SELECT c.id, c.document_id, c.ordinal, c.start_at, c.end_at, c.header, c.tokens
FROM chunk c
JOIN unnest(%(documents)s::bigint[], %(ordinals)s::integer[]) AS q (document_id, ordinal)
  ON c.document_id = q.document_id
 AND c.ordinal BETWEEN q.ordinal - %(widen)s::integer AND q.ordinal + %(widen)s::integer
GROUP BY c.id
ORDER BY c.document_id, c.ordinal;

-- The text of passages, with the pages and lines they span.
-- name: passages
SELECT q.place, substr(d.text, q.start_at + 1, q.end_at - q.start_at) AS text,
       d.citation,
       (SELECT array_agg(p.number ORDER BY p.number) FROM page p
        WHERE p.document_id = d.id AND p.start_at < q.end_at AND p.end_at > q.start_at) AS pages,
       (SELECT array_agg(p.start_at ORDER BY p.number) FROM page p
        WHERE p.document_id = d.id AND p.start_at < q.end_at AND p.end_at > q.start_at) AS page_starts,
       (SELECT array_agg(DISTINCT p.route) FROM page p
        WHERE p.document_id = d.id AND p.start_at < q.end_at AND p.end_at > q.start_at) AS routes,
       CASE WHEN d.citation = 'lines'
            THEN 1 + regexp_count(left(d.text, q.start_at), E'\n') END AS line
FROM unnest(%(places)s::integer[], %(documents)s::bigint[], %(starts)s::integer[],
            %(ends)s::integer[]) AS q (place, document_id, start_at, end_at)
JOIN document d ON d.id = q.document_id
ORDER BY q.place;

-- name: document_references
SELECT d.id, d.name, d.kind, d.description,
       (SELECT v.name FROM vault v WHERE v.id = d.vault_id) AS vault,
       char_length(btrim(d.text, E' \t\n')) AS characters,  -- blank ends are shown to nobody
       (SELECT s.path FROM source s WHERE s.document_id = d.id ORDER BY s.since, s.path LIMIT 1) AS path,
       (SELECT count(*) FROM chunk c WHERE c.document_id = d.id) AS chunks
FROM document d WHERE d.id = ANY(%(documents)s::bigint[]);

-- Whether the lexical arm has anything to look in.
-- name: has_postings
SELECT EXISTS (SELECT FROM posting) AS present;

-- The mirror: what a process keeps of the index in memory. Ids of chunks ascend in the order
-- of their transactions, which take turns, so what is new lies behind what was seen.
-- name: mirror_facts
SELECT (SELECT number FROM revision) AS revision,
       (SELECT count(*) FROM chunk) AS chunks,
       (SELECT count(*) FROM chunk_vector) AS parts,
       (SELECT count(*) FROM chunk WHERE id > %(newest)s::bigint) AS fresh,
       (SELECT count(*) FROM chunk_vector WHERE chunk_id > %(newest)s::bigint) AS fresh_parts;

-- Columns as they lie in memory: an array of numbers is read faster than its rows.
-- name: mirror_chunks
WITH batch AS (
    SELECT id, document_id, ordinal, start_at, end_at, terms, language FROM chunk
    WHERE id > %(newest)s::bigint ORDER BY id LIMIT %(limit)s::integer
)
SELECT (SELECT array_send(array_agg(id ORDER BY id)) FROM batch) AS id,
       (SELECT array_send(array_agg(document_id ORDER BY id)) FROM batch) AS document,
       (SELECT array_send(array_agg(ordinal ORDER BY id)) FROM batch) AS ordinal,
       (SELECT array_send(array_agg(start_at ORDER BY id)) FROM batch) AS start_at,
       (SELECT array_send(array_agg(end_at ORDER BY id)) FROM batch) AS end_at,
       (SELECT array_send(array_agg(terms ORDER BY id)) FROM batch) AS terms,
       (SELECT array_agg(language ORDER BY id) FROM batch) AS languages,
       named.ids AS named, named.names, named.owners AS note_owners,
       parts.owners, parts.vectors
FROM (SELECT array_agg(d.id) AS ids, array_agg(d.name) AS names,
             array_agg(d.note_of) AS owners
      FROM document d WHERE d.id IN (SELECT document_id FROM batch)) AS named,
     (SELECT array_send(array_agg(v.chunk_id ORDER BY v.chunk_id, v.part)) AS owners,
             string_agg(halfvec_send(v.vector), '' ORDER BY v.chunk_id, v.part) AS vectors
      FROM chunk_vector v
      WHERE v.chunk_id > %(newest)s::bigint
        AND v.chunk_id <= (SELECT max(id) FROM batch)) AS parts;

-- The documents of chunks that came since, at most so many, and their older chunks.
-- name: mirror_changed
WITH changed AS (
    SELECT DISTINCT document_id FROM chunk WHERE id > %(newest)s::bigint LIMIT %(most)s::integer
)
SELECT (SELECT array_send(array_agg(document_id)) FROM changed) AS documents,
       (SELECT array_send(array_agg(c.id)) FROM chunk c
        WHERE c.document_id IN (SELECT document_id FROM changed)
          AND c.id <= %(newest)s::bigint) AS ids;

-- name: mirror_ids
SELECT array_send(array_agg(id)) AS ids FROM chunk WHERE id <= %(newest)s::bigint;

-- Where terms stand, and how often: in all documents, or in those that came since.
-- name: mirror_postings
SELECT p.term, array_send(array_agg(u.chunk_id)) AS chunks,
       array_send(array_agg(u.frequency)) AS frequencies
FROM posting p
CROSS JOIN LATERAL unnest(p.chunk_ids, p.frequencies) AS u (chunk_id, frequency)
WHERE p.term = ANY(%(terms)s::text[])
  AND (%(documents)s::bigint[] IS NULL OR p.document_id = ANY(%(documents)s::bigint[]))
GROUP BY p.term;

-- What a cross-encoder reads: each chunk's text, and the header of its table.
-- name: chunk_texts
SELECT c.id, c.header, substr(d.text, c.start_at + 1, c.end_at - c.start_at) AS text
FROM chunk c JOIN document d ON d.id = c.document_id
WHERE c.id = ANY(%(chunks)s::bigint[]);
