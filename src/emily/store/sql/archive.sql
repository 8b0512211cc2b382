-- The write path: documents come, change and go, each in one transaction.

-- One writer at a time: it holds for the few milliseconds of the writing transaction, and
-- makes the choice between added, replaced and duplicate free of races.
-- name: lock_archive
SELECT pg_advisory_xact_lock(hashtextextended('emily.archive', 0));

-- Tells other processes that what they keep in memory is old.
-- name: bump_revision
UPDATE revision SET number = number + 1;

-- The model's row, made if it is new.
-- name: register_model
INSERT INTO model (name, profile, dimension)
VALUES (%(model)s, %(profile)s, %(dimension)s)
ON CONFLICT (name, profile, dimension) DO UPDATE SET name = excluded.name
RETURNING id;

-- What the archive knows of a file: by its path, by its bytes, by its text.
-- name: find_twins
SELECT d.id, d.name,
       d.fingerprint = %(fingerprint)s::text AND m.name = %(model)s::text
       AND m.profile = %(profile)s::text AND m.dimension = %(dimension)s::integer AS same_index,
       d.file_sha256 = %(file_sha256)s::bytea AS same_bytes,
       d.text_sha256 = %(text_sha256)s::bytea AS same_text,
       d.trashed_at IS NULL
       AND CASE WHEN %(into)s::bigint IS NOT NULL THEN d.id = %(into)s::bigint
                ELSE EXISTS (SELECT FROM source s WHERE s.document_id = d.id
                             AND md5(s.path) = md5(%(path)s::text)) END AS same_path,
       d.trashed_at,
       d.parts_open > 0
       OR %(passwords)s::boolean
          AND EXISTS (SELECT FROM unnest(d.warnings) w
                      WHERE w LIKE '%% opens only with a password%%')
       OR EXISTS (SELECT FROM page p WHERE p.document_id = d.id AND p.route = 'unread')
       OR EXISTS (SELECT FROM document_picture g JOIN picture i ON i.sha256 = g.sha256
                  WHERE g.document_id = d.id AND i.route = 'unread'
                    AND i.engine <> %(engine)s::text)  -- another engine may read it
       OR EXISTS (SELECT FROM source s JOIN page p ON p.document_id = s.document_id
                  WHERE s.parent_id = d.id AND p.route = 'unread')
       OR EXISTS (SELECT FROM chunk c WHERE c.document_id = d.id
                  AND NOT EXISTS (SELECT FROM chunk_vector v WHERE v.chunk_id = c.id)) AS incomplete,
       (SELECT array_agg(s.path ORDER BY s.since, s.path) FROM source s WHERE s.document_id = d.id) AS paths
FROM document d JOIN model m ON m.id = d.model_id
WHERE d.vault_id IS NULL
  AND (d.file_sha256 = %(file_sha256)s::bytea
       OR d.text_sha256 = %(text_sha256)s::bytea
       OR d.id = %(into)s::bigint
       OR d.trashed_at IS NULL
          AND d.id = (SELECT document_id FROM source WHERE md5(path) = md5(%(path)s::text)));

-- name: add_document
INSERT INTO document (name, kind, title, language, citation, text, tables, file_sha256,
                      text_sha256, bytes, warnings, name_vector, model_id, fingerprint, author,
                      dated, date_source, correspondents, message_id, thread, parts_open)
VALUES (%(name)s, %(kind)s, %(title)s, %(language)s, %(citation)s, %(text)s, %(tables)s,
        %(file_sha256)s, %(text_sha256)s, %(bytes)s, %(warnings)s, %(name_vector)s,
        %(model_id)s, %(fingerprint)s, %(author)s, %(dated)s, %(date_source)s,
        %(correspondents)s, %(message_id)s, %(thread)s, %(parts_open)s)
RETURNING id;

-- What was said of another text goes with it.
-- name: replace_document
UPDATE document
SET name = coalesce(given_name, %(name)s), kind = %(kind)s, title = %(title)s,
    version = CASE WHEN file_sha256 = %(file_sha256)s::bytea THEN version ELSE version + 1 END,
    description = CASE WHEN text_sha256 = %(text_sha256)s::bytea THEN description END,
    language = %(language)s, citation = %(citation)s, text = %(text)s, tables = %(tables)s,
    file_sha256 = %(file_sha256)s, text_sha256 = %(text_sha256)s, bytes = %(bytes)s,
    warnings = %(warnings)s, name_vector = %(name_vector)s, model_id = %(model_id)s, fingerprint = %(fingerprint)s,
    author = %(author)s, dated = %(dated)s, date_source = %(date_source)s,
    correspondents = %(correspondents)s, message_id = %(message_id)s, thread = %(thread)s,
    parts_open = %(parts_open)s, indexed_at = now()
WHERE id = %(id)s;

-- The thread of a mail that this one answers, the nearest first.
-- name: thread_of
SELECT thread FROM document
WHERE thread IS NOT NULL AND message_id = ANY(%(references)s::text[])
ORDER BY array_position(%(references)s::text[], message_id) DESC, id
LIMIT 1;

-- Mails that took this one for the first of their thread follow it into its own.
-- name: join_thread
UPDATE document SET thread = %(thread)s::text
WHERE md5(thread) = md5(%(message_id)s::text) AND thread = %(message_id)s::text;

-- name: add_source
INSERT INTO source (path, document_id, parent_id, place)
VALUES (%(path)s, %(document_id)s, %(parent_id)s, %(place)s)
ON CONFLICT (md5(path)) DO UPDATE
SET document_id = excluded.document_id, parent_id = excluded.parent_id, place = excluded.place,
    since = CASE WHEN source.document_id = excluded.document_id THEN source.since
                 ELSE clock_timestamp() END;

-- What lies inside of a file is cited by the path of that file, which moved or holds another now.
-- name: move_parts
UPDATE source s
SET path = %(new)s::text || substr(s.path, char_length(%(old)s::text) + 1)
WHERE s.parent_id IS NOT NULL AND starts_with(s.path, %(inside)s::text)
  AND NOT EXISTS (SELECT FROM source o
                  WHERE md5(o.path) = md5(%(new)s::text || substr(s.path, char_length(%(old)s::text) + 1)));

-- Files inside of a document that it holds no longer.
-- name: forget_parts
DELETE FROM source
WHERE parent_id = %(document_id)s::bigint AND path <> ALL(%(paths)s::text[]);

-- name: close_parts
UPDATE document SET parts_open = 0, warnings = warnings || %(warnings)s::text[]
WHERE id = %(document_id)s::bigint;

-- Documents that lie nowhere any longer.
-- name: orphans
SELECT d.id FROM document d
WHERE d.note_of IS NULL AND d.trashed_at IS NULL
  AND NOT EXISTS (SELECT FROM source s WHERE s.document_id = d.id) ORDER BY d.id;

-- name: known_picture
SELECT route, text, confidence FROM picture
WHERE sha256 = %(sha256)s::bytea AND engine = %(engine)s::text AND route <> 'unread';

-- name: add_pictures
INSERT INTO picture (sha256, route, text, confidence, engine)
SELECT q.sha256, q.route, q.text, q.confidence, %(engine)s::text
FROM unnest(%(digests)s::bytea[], %(routes)s::text[], %(texts)s::text[], %(confidences)s::real[])
     AS q (sha256, route, text, confidence)
ON CONFLICT (sha256) DO UPDATE
SET route = excluded.route, text = excluded.text, confidence = excluded.confidence,
    engine = excluded.engine
WHERE excluded.route <> 'unread' OR picture.route = 'unread';

-- name: link_pictures
INSERT INTO document_picture (document_id, sha256, page)
SELECT %(document_id)s::bigint, q.sha256, q.page
FROM unnest(%(digests)s::bytea[], %(pages)s::integer[]) AS q (sha256, page)
ON CONFLICT (document_id, sha256) DO NOTHING;

-- name: forget_pictures
WITH gone AS (
    DELETE FROM document_picture WHERE document_id = %(document_id)s::bigint RETURNING sha256
)
DELETE FROM picture p USING gone
WHERE p.sha256 = gone.sha256
  AND NOT EXISTS (SELECT FROM document_picture o
                  WHERE o.sha256 = p.sha256 AND o.document_id <> %(document_id)s::bigint);

-- name: forget_sources
DELETE FROM source WHERE document_id = %(document_id)s AND path = ANY(%(paths)s::text[]);

-- Pages, chunks with their vectors and postings: all that is derived from a document's text.
-- name: forget_pages
DELETE FROM page WHERE document_id = %(document_id)s;

-- name: forget_chunks
DELETE FROM chunk WHERE document_id = %(document_id)s;

-- name: forget_postings
DELETE FROM posting WHERE document_id = %(document_id)s;

-- The document's words that no other document holds go with it: they would tell of it.
-- name: forget_words
WITH gone AS (
    DELETE FROM document_word WHERE document_id = %(document_id)s RETURNING word_id
)
DELETE FROM word w USING gone
WHERE w.id = gone.word_id
  AND NOT EXISTS (SELECT FROM document_word o
                  WHERE o.word_id = w.id AND o.document_id <> %(document_id)s);

-- name: forget_document
DELETE FROM document WHERE id = %(document_id)s RETURNING file_sha256;

-- name: file_of
SELECT file_sha256 FROM document WHERE id = %(document_id)s;

-- name: chunk_ids
SELECT nextval(pg_get_serial_sequence('chunk', 'id')) AS id
FROM generate_series(1, %(count)s::integer);

-- name: known_words
SELECT w.id, w.surface, w.language
FROM word w JOIN unnest(%(surfaces)s::text[], %(languages)s::text[]) AS q (surface, language)
  ON w.surface = q.surface COLLATE "C" AND w.language = q.language
WHERE w.model_id = %(model_id)s;

-- The vectors go as bytes (b): as text they take several times as long to write.
-- name: word_ids
SELECT nextval(pg_get_serial_sequence('word', 'id')) AS id
FROM generate_series(1, %(count)s::integer);

-- name: documents_of
SELECT d.id, d.name, d.trashed_at FROM document d
WHERE d.note_of IS NULL
  AND (d.id = %(id)s::bigint OR d.name = %(name)s::text
       OR EXISTS (SELECT FROM source s WHERE s.document_id = d.id
                  AND md5(s.path) = md5(%(path)s::text)))
ORDER BY d.id;

-- What stands in the lists: every document with its counts.
-- name: list_documents
SELECT d.id, d.name, d.kind, d.title, d.language, d.description, d.citation, d.bytes,
       d.warnings, d.added_at, d.author, d.dated, d.date_source, d.correspondents,
       (SELECT array_agg(c.name ORDER BY e.probability DESC NULLS FIRST, c.name)
        FROM analysis a JOIN document_category e ON e.document_id = a.document_id
        JOIN category c ON c.id = e.category_id
        WHERE a.document_id = d.id AND a.text_sha256 = d.text_sha256) AS categories,
       char_length(d.text) AS characters,
       (SELECT s.parent_id FROM source s
        WHERE s.document_id = d.id ORDER BY s.since, s.path LIMIT 1) AS parent,
       (SELECT array_agg(s.path ORDER BY s.since, s.path) FROM source s WHERE s.document_id = d.id) AS paths,
       (SELECT count(*) FROM page p WHERE p.document_id = d.id) AS pages,
       (SELECT count(*) FROM chunk c WHERE c.document_id = d.id) AS chunks
FROM document d
WHERE d.note_of IS NULL AND d.trashed_at IS NULL
  AND (%(id)s::bigint IS NULL OR d.id = %(id)s::bigint)
ORDER BY d.id;

-- What lies inside of a document, in its order there.
-- name: parts_of_document
SELECT DISTINCT ON (s.place, d.id) d.id, d.name, d.kind, d.dated
FROM source s JOIN document d ON d.id = s.document_id
WHERE s.parent_id = %(document_id)s::bigint AND d.trashed_at IS NULL
ORDER BY s.place, d.id;

-- The other mails of a document's thread.
-- name: thread_of_document
SELECT o.id, o.name, o.kind, o.dated
FROM document d JOIN document o ON md5(o.thread) = md5(d.thread) AND o.thread = d.thread
WHERE d.id = %(document_id)s::bigint AND o.id <> d.id AND o.trashed_at IS NULL
ORDER BY o.dated, o.id;

-- name: pages_of_document
SELECT number, route, warning, end_at - start_at AS characters, confidence, pictures
FROM page WHERE document_id = %(document_id)s ORDER BY number;

-- name: archive_counts
SELECT (SELECT count(*) FROM document
        WHERE note_of IS NULL AND trashed_at IS NULL) AS documents,
       (SELECT count(*) FROM document WHERE note_of IS NOT NULL) AS notes,
       (SELECT count(*) FROM document
        WHERE trashed_at IS NOT NULL AND note_of IS NULL) AS trashed,
       (SELECT count(*) FROM page p JOIN document d ON d.id = p.document_id
        WHERE d.note_of IS NULL AND d.trashed_at IS NULL) AS pages,
       (SELECT count(*) FROM chunk) AS chunks,
       (SELECT count(*) FROM word) AS words,
       (SELECT count(DISTINCT coalesce(note_of, id)) FROM document
        WHERE trashed_at IS NULL
          AND (fingerprint <> %(fingerprint)s::text
               OR model_id NOT IN (SELECT m.id FROM model m
                                   WHERE m.name = %(model)s::text AND m.profile = %(profile)s::text
                                     AND m.dimension = %(dimension)s::integer))) AS stale,
       (SELECT count(*) FROM page p JOIN document d ON d.id = p.document_id
        WHERE p.route = 'unread' AND d.trashed_at IS NULL) AS unread,
       (SELECT count(*) FROM chunk c
        WHERE NOT EXISTS (SELECT FROM chunk_vector v WHERE v.chunk_id = c.id)) AS without_vector;

-- name: documents_by
SELECT coalesce(language, '?') AS language, kind, count(*) AS documents
FROM document WHERE note_of IS NULL AND trashed_at IS NULL GROUP BY 1, 2;

-- name: known_files
SELECT file_sha256 FROM document WHERE vault_id IS NULL AND note_of IS NULL
UNION
SELECT file_sha256 FROM document_version;

-- Documents that were indexed by another model or with other settings; those of vaults have
-- their files, and are cut in another way.
-- name: stale_documents
SELECT d.id, d.name FROM document d
WHERE d.vault_id IS NULL AND d.trashed_at IS NULL AND (d.fingerprint <> %(fingerprint)s::text
   OR d.model_id NOT IN (SELECT m.id FROM model m
                         WHERE m.name = %(model)s::text AND m.profile = %(profile)s::text
                           AND m.dimension = %(dimension)s::integer))
ORDER BY d.id;

-- name: stored_text
SELECT d.id, d.name, d.text, d.tables, d.citation, d.text_sha256,
       (SELECT s.path FROM source s WHERE s.document_id = d.id ORDER BY s.since, s.path LIMIT 1) AS path
FROM document d WHERE d.id = %(document_id)s;

-- name: stored_pages
SELECT number, start_at, end_at, route, warning
FROM page WHERE document_id = %(document_id)s ORDER BY number;

-- name: refresh_document
UPDATE document
SET language = %(language)s, name_vector = %(name_vector)s, model_id = %(model_id)s, fingerprint = %(fingerprint)s,
    indexed_at = now()
WHERE id = %(id)s AND text_sha256 = %(text_sha256)s::bytea
RETURNING id;
