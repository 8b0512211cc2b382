-- Conversations with models: the documents they may open, what left, what is private.

-- Begin a conversation, or go on with it; no row where it is another client's.
-- name: open_conversation
INSERT INTO conversation (id, client, declared)
VALUES (%(id)s::uuid, %(client)s::text, %(declared)s::text)
ON CONFLICT (id) DO UPDATE
SET last_at = clock_timestamp(), declared = coalesce(excluded.declared, conversation.declared)
WHERE conversation.client = excluded.client
RETURNING id, client, declared, runtime, title, forked_from, started_at, last_at;

-- name: fork_conversation
INSERT INTO conversation (id, client, declared, title, forked_from)
SELECT %(fork)s::uuid, c.client, c.declared, c.title, c.id
FROM conversation c WHERE c.id = %(id)s::uuid AND c.client = %(client)s::text
RETURNING id, client, declared, runtime, title, forked_from, started_at, last_at;

-- name: fork_shown_documents
INSERT INTO shown_document (conversation_id, document_id, shown_at)
SELECT %(fork)s::uuid, document_id, shown_at FROM shown_document
WHERE conversation_id = %(id)s::uuid
  AND (%(until)s::timestamptz IS NULL OR shown_at <= %(until)s::timestamptz);

-- name: drop_conversation
DELETE FROM conversation WHERE id = %(id)s::uuid;

-- name: list_conversations
SELECT id, client, declared, runtime, title, forked_from, started_at, last_at
FROM conversation
WHERE %(client)s::text IS NULL OR client = %(client)s::text
ORDER BY last_at DESC, id LIMIT %(limit)s::integer;

-- name: note_conversation
UPDATE conversation
SET runtime = coalesce(%(runtime)s::text, runtime), title = coalesce(title, %(title)s::text),
    last_at = clock_timestamp()
WHERE id = %(id)s::uuid;

-- name: shown_documents
SELECT document_id FROM shown_document
WHERE conversation_id = %(id)s::uuid ORDER BY shown_at, document_id;

-- What is removed meanwhile cannot be opened, and so needs no row.
-- name: show_documents
INSERT INTO shown_document (conversation_id, document_id)
SELECT %(id)s::uuid, d.id FROM document d WHERE d.id = ANY(%(documents)s::bigint[])
ON CONFLICT DO NOTHING;

-- A document is private by its id, by a path of its own, of a folder or of a file around it, and
-- with a document that it lies inside of.
-- name: private_documents
WITH RECURSIVE private AS (
    SELECT p.document_id AS id FROM private_place p WHERE p.document_id IS NOT NULL
    UNION
    SELECT s.document_id FROM source s JOIN private_place p
    ON s.path = p.path OR starts_with(s.path, rtrim(p.path, '/') || '/')
       OR starts_with(s.path, p.path || '!/')
    UNION
    SELECT f.document_id FROM vault_file f JOIN vault v ON v.id = f.vault_id JOIN private_place p
    ON v.path || '/' || f.path = p.path
       OR starts_with(v.path || '/' || f.path, rtrim(p.path, '/') || '/')
    WHERE f.document_id IS NOT NULL
    UNION
    SELECT inner_one.id
    FROM private JOIN LATERAL (
        SELECT s.document_id AS id FROM source s WHERE s.parent_id = private.id
        UNION ALL
        SELECT d.id FROM document d WHERE d.note_of = private.id
    ) AS inner_one ON true
)
SELECT id FROM private ORDER BY id;

-- name: list_private_places
SELECT p.path, p.document_id, p.since,
       (SELECT d.name FROM document d WHERE d.id = p.document_id) AS name,
       (SELECT count(DISTINCT s.document_id) FROM source s
        WHERE s.path = p.path OR starts_with(s.path, rtrim(p.path, '/') || '/')
           OR starts_with(s.path, p.path || '!/')) AS documents
FROM private_place p ORDER BY p.path;

-- name: add_private_place
INSERT INTO private_place (path, document_id) VALUES (%(path)s::text, %(document)s::bigint)
ON CONFLICT (md5(path)) DO UPDATE
SET document_id = coalesce(excluded.document_id, private_place.document_id);

-- name: remove_private_places
DELETE FROM private_place
WHERE document_id = %(document)s::bigint OR path = ANY(%(paths)s::text[]);

-- The places that keep a document private.
-- name: private_places_of
SELECT DISTINCT p.path FROM private_place p
LEFT JOIN source s ON s.document_id = %(document)s::bigint
WHERE p.document_id = %(document)s::bigint OR s.path = p.path
   OR starts_with(s.path, rtrim(p.path, '/') || '/') OR starts_with(s.path, p.path || '!/')
ORDER BY p.path;

-- name: record_egress
INSERT INTO egress (role, client, local, conversation_id, tool, characters, bytes)
VALUES (%(role)s::text, %(client)s::text, %(local)s::boolean, %(conversation)s::uuid,
        %(tool)s::text, %(characters)s::bigint, %(bytes)s::bigint)
RETURNING id;

-- name: record_egress_documents
INSERT INTO egress_document (egress_id, document_id, name, places, characters)
SELECT %(egress)s::bigint, q.document_id, q.name, string_to_array(q.places, E'\n'), q.characters
FROM unnest(%(documents)s::bigint[], %(names)s::text[], %(places)s::text[], %(characters)s::bigint[])
     AS q (document_id, name, places, characters);

-- name: list_egress
SELECT e.id, e.at, e.role, e.client, e.local, e.conversation_id, e.tool, e.characters, e.bytes,
       coalesce((SELECT jsonb_agg(jsonb_build_array(d.document_id, d.name, d.places, d.characters)
                                  ORDER BY d.document_id)
                 FROM egress_document d WHERE d.egress_id = e.id), '[]') AS documents
FROM egress e
WHERE (%(since)s::timestamptz IS NULL OR e.at >= %(since)s::timestamptz)
  AND (%(until)s::timestamptz IS NULL OR e.at < %(until)s::timestamptz)
  AND (%(client)s::text IS NULL OR e.client = %(client)s::text)
  AND (%(document)s::bigint IS NULL
       OR EXISTS (SELECT FROM egress_document d
                  WHERE d.egress_id = e.id AND d.document_id = %(document)s::bigint))
ORDER BY e.id DESC LIMIT %(limit)s::integer;

-- name: egress_by_day
SELECT to_char(e.at AT TIME ZONE 'UTC' + %(offset)s::interval, 'YYYY-MM-DD') AS key, count(*) AS calls, sum(e.characters)::bigint AS characters,
       sum(e.bytes)::bigint AS bytes, max(e.at) AS last_at
FROM egress e
WHERE (%(since)s::timestamptz IS NULL OR e.at >= %(since)s::timestamptz)
  AND (%(until)s::timestamptz IS NULL OR e.at < %(until)s::timestamptz)
  AND (%(client)s::text IS NULL OR e.client = %(client)s::text)
GROUP BY 1 ORDER BY 1 DESC;

-- name: egress_by_client
SELECT e.client AS key, count(*) AS calls, sum(e.characters)::bigint AS characters,
       sum(e.bytes)::bigint AS bytes, max(e.at) AS last_at
FROM egress e
WHERE (%(since)s::timestamptz IS NULL OR e.at >= %(since)s::timestamptz)
  AND (%(until)s::timestamptz IS NULL OR e.at < %(until)s::timestamptz)
  AND (%(client)s::text IS NULL OR e.client = %(client)s::text)
GROUP BY 1 ORDER BY 3 DESC, 1;

-- name: egress_by_document
SELECT d.document_id::text AS key, (array_agg(d.name ORDER BY e.id DESC))[1] AS name,
       count(*) AS calls, sum(d.characters)::bigint AS characters, 0::bigint AS bytes,
       max(e.at) AS last_at
FROM egress_document d JOIN egress e ON e.id = d.egress_id
WHERE (%(since)s::timestamptz IS NULL OR e.at >= %(since)s::timestamptz)
  AND (%(until)s::timestamptz IS NULL OR e.at < %(until)s::timestamptz)
  AND (%(client)s::text IS NULL OR e.client = %(client)s::text)
GROUP BY d.document_id ORDER BY 4 DESC, 1;

-- name: clear_egress
DELETE FROM egress WHERE %(before)s::timestamptz IS NULL OR at < %(before)s::timestamptz;

-- A document as a model is told of it: how much there is, and its summary if it has one.
-- name: document_for_model
SELECT d.id, d.name, d.description, char_length(d.text) AS characters,
       (SELECT count(*) FROM chunk c WHERE c.document_id = d.id) AS chunks,
       a.summary, a.text_sha256 IS NOT DISTINCT FROM d.text_sha256 AS current
FROM document d LEFT JOIN analysis a ON a.document_id = d.id
WHERE d.id = %(document)s::bigint AND d.note_of IS NULL AND d.trashed_at IS NULL;

-- Ask for an approval, or find the one that was asked for; a wish is kept once.
-- name: ask_approval
INSERT INTO approval (key, conversation_id, client, action, arguments, digest, expires_at)
VALUES (%(key)s::text, %(conversation)s::uuid, %(client)s::text, %(action)s::text,
        %(arguments)s::jsonb, %(digest)s::text,
        clock_timestamp() + %(hours)s::integer * interval '1 hour')
ON CONFLICT (key) DO UPDATE SET key = excluded.key
RETURNING id, conversation_id, client, action, arguments, digest, state, asked_at, expires_at,
          decided_at, decided_by, outcome;

-- name: expire_approvals
UPDATE approval SET state = 'expired', outcome = 'nobody decided in time'
WHERE state = 'waiting' AND expires_at <= clock_timestamp();

-- name: list_approvals
SELECT id, conversation_id, client, action, arguments, digest, state, asked_at, expires_at,
       decided_at, decided_by, outcome
FROM approval
WHERE %(all)s::boolean OR state IN ('waiting', 'approved')
ORDER BY id DESC LIMIT %(limit)s::integer;

-- name: find_approval
SELECT id, conversation_id, client, action, arguments, digest, state, asked_at, expires_at,
       decided_at, decided_by, outcome
FROM approval WHERE id = %(id)s::bigint OR key = %(key)s::text;

-- A decision is taken once, in time, and on what was shown.
-- name: decide_approval
UPDATE approval
SET state = %(state)s::text, decided_at = clock_timestamp(), decided_by = %(by)s::text
WHERE id = %(id)s::bigint AND state = 'waiting' AND digest = %(digest)s::text
  AND expires_at > clock_timestamp();

-- name: close_approval
UPDATE approval SET state = %(state)s::text, outcome = %(outcome)s::text
WHERE id = %(id)s::bigint AND state = 'approved';
