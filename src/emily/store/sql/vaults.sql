-- Vaults: folders whose files stay the truth, and what is known of each of them.

-- name: add_vault
INSERT INTO vault (name, path, device)
VALUES (%(name)s, %(path)s, %(device)s)
ON CONFLICT (md5(path)) DO UPDATE SET device = excluded.device
RETURNING id;

-- name: list_vaults
SELECT v.id, v.name, v.path, v.device, v.added_at, v.synced_at FROM vault v ORDER BY v.id;

-- What stands in the list of vaults beside their names.
-- name: vault_counts
SELECT v.id,
       (SELECT count(*) FROM vault_file f WHERE f.vault_id = v.id AND f.note) AS notes,
       (SELECT count(*) FROM vault_file f
        WHERE f.vault_id = v.id AND NOT f.note AND f.document_id IS NOT NULL) AS attachments,
       (SELECT count(*) FROM vault_file f
        WHERE f.vault_id = v.id AND f.document_id IS NULL) AS unread,
       (SELECT count(*) FROM vault_file f
        WHERE f.vault_id = v.id AND f.note AND NOT f.complete) AS incomplete,
       (SELECT count(*) FROM chunk c JOIN document d ON d.id = c.document_id
        WHERE d.vault_id = v.id) AS passages,
       (SELECT count(*) FROM vault_link l JOIN vault_file f ON f.id = l.file_id
        WHERE f.vault_id = v.id AND l.kind <> 'tag') AS links,
       (SELECT count(*) FROM vault_link l JOIN vault_file f ON f.id = l.file_id
        WHERE f.vault_id = v.id AND l.problem IS NOT NULL) AS broken
FROM vault v ORDER BY v.id;

-- What is known of the files of a vault, to compare with the folder.
-- name: vault_files
SELECT f.id, f.path, f.note, f.document_id, f.bytes, f.modified_ns, f.inode, f.sha256, f.version,
       f.complete
FROM vault_file f WHERE f.vault_id = %(vault_id)s::integer;

-- What was found wrong with files of a vault.
-- name: vault_problems
SELECT f.path, f.problems FROM vault_file f
WHERE f.vault_id = %(vault_id)s::integer AND f.problems <> '{}' ORDER BY f.path;

-- name: vault_synced
UPDATE vault SET synced_at = now(), device = %(device)s WHERE id = %(vault_id)s;

-- name: add_note
INSERT INTO document (name, kind, title, language, citation, text, tables, file_sha256,
                      text_sha256, bytes, warnings, name_vector, model_id, fingerprint, author,
                      dated, date_source, vault_id)
VALUES (%(name)s, %(kind)s, %(title)s, %(language)s, %(citation)s, %(text)s, %(tables)s,
        %(file_sha256)s, %(text_sha256)s, %(bytes)s, %(warnings)s, %(name_vector)s, %(model_id)s,
        %(fingerprint)s, %(author)s, %(dated)s, %(date_source)s, %(vault_id)s)
RETURNING id;

-- name: replace_note
UPDATE document
SET name = %(name)s, kind = %(kind)s, title = %(title)s, language = %(language)s,
    description = CASE WHEN text_sha256 = %(text_sha256)s::bytea THEN description END,
    citation = %(citation)s, text = %(text)s, tables = %(tables)s,
    file_sha256 = %(file_sha256)s, text_sha256 = %(text_sha256)s, bytes = %(bytes)s,
    warnings = %(warnings)s, name_vector = %(name_vector)s, model_id = %(model_id)s,
    fingerprint = %(fingerprint)s, author = %(author)s, dated = %(dated)s,
    date_source = %(date_source)s, vault_id = %(vault_id)s, parts_open = 0, indexed_at = now()
WHERE id = %(id)s AND vault_id = %(vault_id)s
RETURNING id;

-- name: forget_sources_of
DELETE FROM source WHERE document_id = %(document_id)s::bigint;

-- name: put_vault_file
INSERT INTO vault_file (vault_id, path, note, document_id, bytes, modified_ns, inode, sha256,
                        version, complete, title, aliases, headings, blocks, problems)
VALUES (%(vault_id)s, %(path)s, %(note)s, %(document_id)s, %(bytes)s, %(modified_ns)s, %(inode)s,
        %(sha256)s, %(version)s, %(complete)s, %(title)s, %(aliases)s, %(headings)s, %(blocks)s,
        %(problems)s)
ON CONFLICT (vault_id, md5(path)) DO UPDATE
SET note = excluded.note, document_id = excluded.document_id, bytes = excluded.bytes,
    modified_ns = excluded.modified_ns, inode = excluded.inode, sha256 = excluded.sha256,
    version = excluded.version, complete = excluded.complete, title = excluded.title,
    aliases = excluded.aliases, headings = excluded.headings, blocks = excluded.blocks,
    problems = excluded.problems
RETURNING id;

-- A file that lies elsewhere now keeps its row, and with it the links that lead to it.
-- name: move_vault_file
UPDATE vault_file SET path = %(path)s WHERE id = %(id)s::bigint;

-- Files that were looked at and are as they were.
-- name: seen_vault_files
UPDATE vault_file f
SET bytes = q.bytes, modified_ns = q.modified_ns, inode = q.inode
FROM unnest(%(ids)s::bigint[], %(sizes)s::bigint[], %(times)s::bigint[], %(inodes)s::text[])
     AS q (id, bytes, modified_ns, inode)
WHERE f.id = q.id;

-- name: forget_vault_files
DELETE FROM vault_file WHERE id = ANY(%(ids)s::bigint[]);

-- Vectors of passages by what is embedded of them, where they are of this model.
-- name: remembered_vectors
SELECT DISTINCT ON (c.digest) c.digest, c.sentences,
       (SELECT string_agg(halfvec_send(v.vector), '' ORDER BY v.part)
        FROM chunk_vector v WHERE v.chunk_id = c.id) AS vectors,
       (SELECT halfvec_send(w.vector) FROM chunk_whole w WHERE w.chunk_id = c.id) AS whole
FROM chunk c JOIN document d ON d.id = c.document_id JOIN model m ON m.id = d.model_id
WHERE c.digest = ANY(%(digests)s::bytea[])
  AND m.name = %(model)s::text AND m.profile = %(profile)s::text
  AND m.dimension = %(dimension)s::integer
  AND EXISTS (SELECT FROM chunk_vector v WHERE v.chunk_id = c.id)
ORDER BY c.digest, c.id;

-- name: remembered_names
SELECT d.id, d.name, halfvec_send(d.name_vector) AS name_vector
FROM document d JOIN model m ON m.id = d.model_id
WHERE d.id = ANY(%(documents)s::bigint[]) AND d.name_vector IS NOT NULL
  AND m.name = %(model)s::text AND m.profile = %(profile)s::text
  AND m.dimension = %(dimension)s::integer;

-- name: forget_links_of
DELETE FROM vault_link WHERE file_id = %(file_id)s::bigint;

-- The links of a vault that may lead elsewhere now: those of some files, and those by some names.
-- name: vault_links
SELECT l.file_id, f.path, l.ordinal, l.kind, l.target, l.heading, l.block, l.embed, l.line,
       l.target_id, l.problem
FROM vault_link l JOIN vault_file f ON f.id = l.file_id
WHERE f.vault_id = %(vault_id)s::integer AND l.kind <> 'tag'
  AND (l.file_id = ANY(%(files)s::bigint[])
       OR md5(l.key) IN (SELECT md5(q.key) FROM unnest(%(keys)s::text[]) AS q (key)))
ORDER BY l.file_id, l.ordinal;

-- name: lead_links
UPDATE vault_link l SET target_id = q.target_id, problem = q.problem
FROM unnest(%(files)s::bigint[], %(ordinals)s::integer[], %(targets)s::bigint[],
            %(problems)s::text[]) AS q (file_id, ordinal, target_id, problem)
WHERE l.file_id = q.file_id AND l.ordinal = q.ordinal;

-- Names by which the files of a vault are linked to.
-- name: vault_names
SELECT f.id, f.path, f.title, f.aliases, f.headings, f.blocks, f.note FROM vault_file f
WHERE f.vault_id = %(vault_id)s::integer
  AND (%(paths)s::text[] IS NULL OR f.path = ANY(%(paths)s::text[]))
ORDER BY f.path;

-- The documents of a vault.
-- name: documents_of_vault
SELECT DISTINCT f.document_id AS id FROM vault_file f
WHERE f.vault_id = %(vault_id)s::integer AND f.document_id IS NOT NULL;

-- Words of a vault that no other document holds go with it.
-- name: forget_words_of_vault
WITH gone AS (
    DELETE FROM document_word w USING document d
    WHERE d.id = w.document_id AND d.vault_id = %(vault_id)s::integer RETURNING w.word_id
)
DELETE FROM word w USING (SELECT DISTINCT word_id FROM gone) AS g
WHERE w.id = g.word_id
  AND NOT EXISTS (SELECT FROM document_word o JOIN document d ON d.id = o.document_id
                  WHERE o.word_id = w.id AND d.vault_id IS DISTINCT FROM %(vault_id)s::integer);

-- What the owner added to documents of a vault; it is in none of the files.
-- name: own_notes_of_vault
SELECT count(*) AS notes FROM document n JOIN document d ON d.id = n.note_of
WHERE d.vault_id = %(vault_id)s::integer;

-- name: forget_documents_of_vault
DELETE FROM document WHERE vault_id = %(vault_id)s::integer;

-- name: forget_vault
DELETE FROM vault WHERE id = %(vault_id)s::integer;

-- Documents of the archive that lie in a folder which becomes a vault.
-- name: archived_inside
SELECT s.path, s.document_id, d.file_sha256,
       (SELECT count(*) FROM source o WHERE o.document_id = s.document_id) AS paths
FROM source s JOIN document d ON d.id = s.document_id
WHERE d.vault_id IS NULL AND s.parent_id IS NULL AND starts_with(s.path, %(inside)s::text)
ORDER BY s.document_id, s.path;

-- name: forget_sources_inside
DELETE FROM source s USING document d
WHERE d.id = s.document_id AND d.vault_id IS NULL AND s.parent_id IS NULL
  AND starts_with(s.path, %(inside)s::text);

-- A file of the archive with these bytes: an attachment need not be read twice.
-- name: archived_with_bytes
SELECT d.id, d.file_sha256 FROM document d
WHERE d.vault_id IS NULL AND d.file_sha256 = ANY(%(digests)s::bytea[]);

-- name: vault_of_document
SELECT v.name, v.path FROM document d JOIN vault v ON v.id = d.vault_id
WHERE d.id = %(document_id)s::bigint;

-- Which of the documents are of a vault, and where they lie in it.
-- name: vaults_of_documents
SELECT f.document_id, v.name AS vault, f.path, f.title
FROM vault_file f JOIN vault v ON v.id = f.vault_id
WHERE f.document_id = ANY(%(documents)s::bigint[]) ORDER BY f.id;

-- What changes whenever a link does.
-- name: links_revision
SELECT links FROM revision;

-- name: bump_links
UPDATE revision SET links = links + 1;

-- Links whose lines are others now; where they lead stays.
-- name: move_links
UPDATE vault_link l SET line = q.line
FROM unnest(%(ordinals)s::integer[], %(lines)s::integer[]) AS q (ordinal, line)
WHERE l.file_id = %(file_id)s::bigint AND l.ordinal = q.ordinal;

-- The links that a note has by now.
-- name: links_of_file
SELECT l.kind, l.target, l.heading, l.block, l.embed, l.line FROM vault_link l
WHERE l.file_id = %(file_id)s::bigint ORDER BY l.ordinal;

-- The graph of links, as columns: documents that link to documents.
-- name: link_graph
SELECT array_send(array_agg(s.document_id ORDER BY l.file_id, l.ordinal)) AS sources,
       array_send(array_agg(t.document_id ORDER BY l.file_id, l.ordinal)) AS targets,
       array_send(array_agg(array_position(%(kinds)s::text[], l.kind) - 1
                            ORDER BY l.file_id, l.ordinal)) AS kinds,
       array_send(array_agg(l.line ORDER BY l.file_id, l.ordinal)) AS lines
FROM vault_link l
JOIN vault_file s ON s.id = l.file_id JOIN vault_file t ON t.id = l.target_id
WHERE s.document_id IS NOT NULL AND t.document_id IS NOT NULL
  AND s.document_id <> t.document_id;

-- The tags that documents bear, each with a number.
-- name: tag_graph
SELECT array_send(array_agg(q.document_id ORDER BY q.document_id, q.tag)) AS documents,
       array_send(array_agg(q.tag ORDER BY q.document_id, q.tag)) AS tags,
       array_send(array_agg(q.line ORDER BY q.document_id, q.tag)) AS lines
FROM (SELECT s.document_id, l.line, dense_rank() OVER (ORDER BY s.vault_id, l.key)::bigint AS tag
      FROM vault_link l JOIN vault_file s ON s.id = l.file_id
      WHERE l.kind = 'tag' AND s.document_id IS NOT NULL) AS q;

-- How a link between two documents is written, either way.
-- name: links_between
SELECT s.document_id AS source, t.document_id AS target, l.kind, l.embed, l.target AS written,
       l.heading, l.line, s.path AS source_path, t.path AS target_path
FROM vault_link l
JOIN vault_file s ON s.id = l.file_id JOIN vault_file t ON t.id = l.target_id
WHERE s.document_id = ANY(%(sources)s::bigint[]) AND t.document_id = ANY(%(targets)s::bigint[])
ORDER BY l.file_id, l.ordinal;

-- The tags of documents, to say which of them two share.
-- name: tags_of
SELECT s.document_id, l.key AS tag, l.target, l.line
FROM vault_link l JOIN vault_file s ON s.id = l.file_id
WHERE l.kind = 'tag' AND s.document_id = ANY(%(documents)s::bigint[])
ORDER BY s.document_id, l.ordinal;

-- The first passage of each of some documents.
-- name: first_chunks
SELECT DISTINCT ON (c.document_id) c.id, c.document_id FROM chunk c
WHERE c.document_id = ANY(%(documents)s::bigint[]) ORDER BY c.document_id, c.ordinal;

-- name: note_precedent
INSERT INTO precedent (question, answered, coverage, similarity)
VALUES (%(question)s, %(answered)s, %(coverage)s, %(similarity)s)
ON CONFLICT (md5(question)) DO UPDATE
SET answered = excluded.answered, coverage = excluded.coverage,
    similarity = excluded.similarity, asked_at = now();

-- name: precedents
SELECT p.question, p.answered, p.coverage, p.similarity FROM precedent p ORDER BY p.question;

-- A document of the archive that lies in a folder which became a vault.
-- name: adopt_document
UPDATE document SET vault_id = %(vault_id)s::integer WHERE id = %(document_id)s::bigint;

-- name: vault_file_rows
SELECT f.id, f.path, f.document_id, f.title, f.aliases, f.headings, f.blocks FROM vault_file f
WHERE f.vault_id = %(vault_id)s::integer
  AND (f.id = ANY(%(ids)s::bigint[]) OR f.path = ANY(%(paths)s::text[]));

-- name: forget_pictures_of_vault
WITH gone AS (
    DELETE FROM document_picture g USING document d
    WHERE d.id = g.document_id AND d.vault_id = %(vault_id)s::integer RETURNING g.sha256
)
DELETE FROM picture p USING (SELECT DISTINCT sha256 FROM gone) AS g
WHERE p.sha256 = g.sha256
  AND NOT EXISTS (SELECT FROM document_picture o JOIN document d ON d.id = o.document_id
                  WHERE o.sha256 = p.sha256 AND d.vault_id IS DISTINCT FROM %(vault_id)s::integer);

-- Places at which there is no file any longer.
-- name: forget_places
DELETE FROM source s
WHERE md5(s.path) IN (SELECT md5(q.path) FROM unnest(%(paths)s::text[]) AS q (path));

-- Places inside of a folder that is a vault no longer.
-- name: forget_places_inside
DELETE FROM source WHERE starts_with(path, %(inside)s::text) AND parent_id IS NULL;

-- Files whose documents are of another model or other settings are to be cut and embedded anew.
-- name: outdate_vault_files
UPDATE vault_file f SET version = 0 FROM document d
WHERE d.id = f.document_id AND d.vault_id = f.vault_id
  AND (d.fingerprint <> %(fingerprint)s::text
       OR d.model_id NOT IN (SELECT m.id FROM model m
                             WHERE m.name = %(model)s::text AND m.profile = %(profile)s::text
                               AND m.dimension = %(dimension)s::integer));
