-- What the owner keeps and does with it: settings, notes, names, versions, the trash.

-- name: setting_rows
SELECT name, value, set_at FROM setting ORDER BY name;

-- name: set_setting
INSERT INTO setting (name, value) VALUES (%(name)s::text, %(value)s::jsonb)
ON CONFLICT (name) DO UPDATE SET value = excluded.value, set_at = clock_timestamp();

-- name: unset_setting
DELETE FROM setting WHERE name = %(name)s::text;

-- name: ids_of_notes
SELECT id FROM document WHERE note_of = %(document_id)s::bigint ORDER BY id;

-- name: add_owner_note
INSERT INTO document (name, kind, language, citation, text, file_sha256, text_sha256, bytes,
                      name_vector, model_id, fingerprint, note_of)
SELECT %(name)s::text, 'note', %(language)s::text, 'none', %(text)s::text, %(mark)s::bytea,
       %(mark)s::bytea, %(bytes)s::bigint, %(name_vector)s::halfvec, %(model_id)s::integer,
       %(fingerprint)s::text, d.id
FROM document d
WHERE d.id = %(document_id)s::bigint AND d.note_of IS NULL AND d.trashed_at IS NULL
RETURNING id;

-- The notes on one document, or on all, the oldest first.
-- name: list_notes
SELECT n.id, n.note_of AS document_id, d.name, n.text, n.added_at
FROM document n JOIN document d ON d.id = n.note_of
WHERE d.trashed_at IS NULL AND (%(document_id)s::bigint IS NULL OR n.note_of = %(document_id)s::bigint)
ORDER BY n.note_of, n.id;

-- What a document is now, before another version takes its place.
-- name: keep_version
INSERT INTO document_version (document_id, version, name, kind, title, language, citation, text,
                              pages, file_sha256, bytes, path, read_at)
SELECT d.id, d.version, d.name, d.kind, d.title, d.language, d.citation, d.text,
       coalesce((SELECT jsonb_agg(jsonb_build_array(p.number, p.start_at, p.end_at, p.route, p.warning)
                                  ORDER BY p.number)
                 FROM page p WHERE p.document_id = d.id), '[]'),
       d.file_sha256, d.bytes,
       (SELECT s.path FROM source s WHERE s.document_id = d.id ORDER BY s.since, s.path LIMIT 1),
       d.indexed_at
FROM document d WHERE d.id = %(document_id)s::bigint;

-- name: forget_versions
DELETE FROM document_version v
WHERE v.document_id = %(document_id)s::bigint
  AND v.version <= coalesce((SELECT o.version FROM document_version o
                             WHERE o.document_id = %(document_id)s::bigint
                             ORDER BY o.version DESC OFFSET %(most)s::bigint LIMIT 1), -1)
RETURNING v.file_sha256;

-- name: files_of_versions
SELECT file_sha256 FROM document_version WHERE document_id = %(document_id)s::bigint;

-- name: needed_files
SELECT file_sha256 FROM document WHERE file_sha256 = ANY(%(digests)s::bytea[]) AND note_of IS NULL
UNION
SELECT file_sha256 FROM document_version WHERE file_sha256 = ANY(%(digests)s::bytea[]);

-- name: list_versions
SELECT version, name, kind, bytes, char_length(text) AS characters, path, read_at, replaced_at
FROM document_version WHERE document_id = %(document_id)s::bigint ORDER BY version;

-- name: version_text
SELECT version, name, kind, text, citation, pages, file_sha256, path, read_at, replaced_at
FROM document_version
WHERE document_id = %(document_id)s::bigint AND version = %(version)s::integer;

-- name: forget_all_sources
DELETE FROM source WHERE document_id = %(document_id)s::bigint;

-- name: given_name
SELECT d.id, d.given_name FROM document d
WHERE d.id = %(into)s::bigint
   OR %(into)s::bigint IS NULL AND d.trashed_at IS NULL
      AND d.id = (SELECT document_id FROM source WHERE md5(path) = md5(%(path)s::text));

-- name: rename_document
UPDATE document SET name = %(name)s::text, given_name = %(given_name)s::text
WHERE id = %(document_id)s::bigint OR note_of = %(document_id)s::bigint;

-- Questions that were put to a document or that it answered tell of it.
-- name: forget_queries_about
DELETE FROM query_log
WHERE document_id = %(document_id)s::bigint OR %(document_id)s::bigint = ANY(slots);

-- name: forget_pins_to
DELETE FROM pin WHERE document_id = %(document_id)s::bigint;

-- A document into the trash, and what lies inside of it and nowhere else.
-- name: to_trash
WITH RECURSIVE gone (id) AS (
    SELECT d.id FROM document d
    WHERE d.id = %(document_id)s::bigint AND d.note_of IS NULL AND d.trashed_at IS NULL
    UNION
    SELECT s.document_id FROM source s JOIN gone g ON g.id = s.parent_id
    JOIN document d ON d.id = s.document_id
    WHERE d.trashed_at IS NULL
      AND NOT EXISTS (SELECT FROM source o
                      WHERE o.document_id = s.document_id AND o.parent_id IS DISTINCT FROM s.parent_id)
)
UPDATE document d
SET trashed_at = now(),
    trashed_with = CASE WHEN d.id = %(document_id)s::bigint THEN NULL
                        ELSE %(document_id)s::bigint END
FROM gone g WHERE d.id = g.id OR d.note_of = g.id
RETURNING d.id, d.note_of;

-- What lies in the trash: what went by itself, and how much went with it.
-- name: list_trash
SELECT d.id, d.name, d.kind, d.bytes, d.trashed_at, d.version,
       (SELECT s.path FROM source s WHERE s.document_id = d.id ORDER BY s.since, s.path LIMIT 1) AS path,
       (SELECT count(*) FROM document w
        WHERE w.trashed_with = d.id AND w.note_of IS NULL) AS inside,
       (SELECT count(*) FROM document n WHERE n.note_of = d.id) AS notes
FROM document d
WHERE d.trashed_at IS NOT NULL AND d.trashed_with IS NULL AND d.note_of IS NULL
ORDER BY d.trashed_at, d.id;

-- What comes back with a document: itself, what went with it, the notes on them.
-- name: with_trashed
SELECT d.id FROM document d
WHERE d.trashed_at IS NOT NULL
  AND (d.id = %(document_id)s::bigint OR d.note_of = %(document_id)s::bigint
       OR d.trashed_with = %(document_id)s::bigint)
ORDER BY d.note_of IS NOT NULL, d.id;

-- name: out_of_trash
UPDATE document SET trashed_at = NULL, trashed_with = NULL WHERE id = %(document_id)s::bigint;

-- The place of a document whose path another one has by now.
-- name: give_source
INSERT INTO source (path, document_id)
SELECT %(path)s::text, d.id FROM document d
WHERE d.id = %(document_id)s::bigint AND d.note_of IS NULL
  AND NOT EXISTS (SELECT FROM source s WHERE s.document_id = d.id)
ON CONFLICT (md5(path)) DO NOTHING;

-- name: file_and_kind
SELECT file_sha256, name, version FROM document WHERE id = %(document_id)s::bigint;

-- name: is_note
SELECT note_of IS NOT NULL AS note FROM document WHERE id = %(document_id)s::bigint;

-- That something left is kept; what it was is not.
-- name: blank_ledger_of
UPDATE egress_document SET name = '', places = '{}' WHERE document_id = %(document_id)s::bigint;

-- All of a document that a copy in open formats is made of.
-- name: export_documents
SELECT d.id, d.name, d.given_name, d.kind, d.title, d.language, d.citation, d.text, d.tables,
       d.file_sha256, d.text_sha256, d.bytes, d.warnings, d.author, d.dated, d.date_source,
       d.correspondents, d.message_id, d.thread, d.added_at, d.version, d.description,
       a.method AS summary_method, a.model AS summary_model, a.summary,
       (SELECT array_agg(c.name ORDER BY c.name)
        FROM document_category e JOIN category c ON c.id = e.category_id
        WHERE e.document_id = a.document_id) AS categories,
       (SELECT jsonb_agg(jsonb_build_array(s.path, s.parent_id, s.place) ORDER BY s.since, s.path)
        FROM source s WHERE s.document_id = d.id) AS sources,
       (SELECT jsonb_agg(jsonb_build_array(p.number, p.start_at, p.end_at, p.route, p.warning,
                                           p.confidence, p.pictures) ORDER BY p.number)
        FROM page p WHERE p.document_id = d.id) AS pages
FROM document d
LEFT JOIN analysis a ON a.document_id = d.id AND a.text_sha256 = d.text_sha256
WHERE d.id = %(document_id)s::bigint;

-- What is exported, each behind what it lies inside of.
-- name: documents_to_export
SELECT d.id FROM document d
WHERE d.note_of IS NULL AND d.trashed_at IS NULL AND d.vault_id IS NULL
ORDER BY d.id;

-- name: export_versions
SELECT version, name, kind, title, language, citation, text, pages, bytes, file_sha256, path,
       read_at, replaced_at
FROM document_version WHERE document_id = %(document_id)s::bigint ORDER BY version;

-- An earlier version out of an export; what is kept here already stays.
-- name: take_version
INSERT INTO document_version (document_id, version, name, kind, title, language, citation, text,
                              pages, file_sha256, bytes, path, read_at, replaced_at)
SELECT d.id, %(version)s::integer, %(name)s::text, %(kind)s::text, %(title)s::text,
       %(language)s::text, %(citation)s::text, %(text)s::text, %(pages)s::jsonb,
       %(file_sha256)s::bytea, %(bytes)s::bigint, %(path)s::text, %(read_at)s::timestamptz,
       %(replaced_at)s::timestamptz
FROM document d WHERE d.id = %(document_id)s::bigint
ON CONFLICT DO NOTHING;

-- Its next version stands behind those that were taken in.
-- name: number_version
UPDATE document SET version = %(version)s::integer
WHERE id = %(document_id)s::bigint AND version < %(version)s::integer;

-- What left for models, with the documents that it came of.
-- name: export_ledger
SELECT e.id, e.at, e.role, e.client, e.local, e.conversation_id::text AS conversation, e.tool,
       e.characters, e.bytes,
       (SELECT jsonb_agg(jsonb_build_object('document', d.document_id, 'name', d.name,
                                            'places', d.places, 'characters', d.characters)
                         ORDER BY d.document_id)
        FROM egress_document d WHERE d.egress_id = e.id) AS documents
FROM egress e ORDER BY e.id;

-- The log of questions.
-- name: export_questions
SELECT id, asked_at, kind, text, document_id AS document, options, preset, slots AS documents, best
FROM query_log ORDER BY id;

-- name: export_categories
SELECT name, description, examples FROM category ORDER BY name;

-- name: set_description
UPDATE document SET description = %(description)s::text
WHERE id = %(document_id)s::bigint AND description IS NULL;

-- Rows that belong to nothing any more; each must be none.
-- name: orphan_counts
SELECT (SELECT count(*) FROM chunk c JOIN document d ON d.id = c.document_id
        WHERE d.trashed_at IS NOT NULL) AS chunks_in_trash,
       (SELECT count(*) FROM document n JOIN document d ON d.id = n.note_of
        WHERE (n.trashed_at IS NULL) <> (d.trashed_at IS NULL)) AS notes_apart,
       (SELECT count(*) FROM document d
        WHERE d.note_of IS NULL AND d.trashed_at IS NULL AND d.vault_id IS NULL
          AND NOT EXISTS (SELECT FROM source s WHERE s.document_id = d.id)) AS documents_nowhere,
       (SELECT count(*) FROM document d
        WHERE d.trashed_at IS NULL AND d.text ~ '\S' AND d.note_of IS NOT NULL
          AND NOT EXISTS (SELECT FROM chunk c WHERE c.document_id = d.id)) AS notes_without_chunk,
       (SELECT count(*) FROM posting p
        WHERE NOT EXISTS (SELECT FROM chunk c WHERE c.document_id = p.document_id)) AS postings_alone,
       (SELECT count(*) FROM word w
        WHERE NOT EXISTS (SELECT FROM document_word o WHERE o.word_id = w.id)) AS words_alone,
       (SELECT count(*) FROM picture i
        WHERE NOT EXISTS (SELECT FROM document_picture o WHERE o.sha256 = i.sha256))
           AS pictures_alone;

-- name: ask_reindexing
INSERT INTO reindexing DEFAULT VALUES ON CONFLICT (only_row) DO UPDATE SET asked_at = clock_timestamp();

-- name: end_reindexing
DELETE FROM reindexing;

-- name: reindexing_asked
SELECT asked_at FROM reindexing;

-- Questions whose answer it was: what later searches are compared with.
-- name: forget_precedents_about
DELETE FROM precedent
WHERE question IN (SELECT question FROM pin WHERE document_id = %(document_id)s::bigint)
   OR question IN (SELECT text FROM query_log
                   WHERE document_id = %(document_id)s::bigint
                      OR %(document_id)s::bigint = ANY(slots));
