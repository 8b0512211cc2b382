-- Memories: what is known of the owner, what was, what waits.

-- Decisions on memories are taken one after the other.
-- name: lock_memories
SELECT pg_advisory_xact_lock(71400315);

-- name: memories
SELECT id, text, original, language, subject, attribute, value, source, state, core, accepted_at,
       intent, target_id, client, conversation_id, document_id, said_at, added_at, ended_at
FROM memory
WHERE (%(state)s::text IS NULL OR state = %(state)s::text)
  AND (%(core)s::boolean IS NULL OR core = %(core)s::boolean)
ORDER BY id;

-- Current ones with their vectors, where these are of the embedder at hand.
-- name: memories_to_search
SELECT id, text, original, language, subject, attribute, value, source, state, core, accepted_at,
       intent, target_id, client, conversation_id, document_id, said_at, added_at, ended_at,
       CASE WHEN model = %(model)s::text AND profile = %(profile)s::text
                 AND dimension = %(dimension)s::integer THEN vector END AS vector
FROM memory WHERE state = 'current' ORDER BY id;

-- name: find_memory
SELECT id, text, original, language, subject, attribute, value, source, state, core, accepted_at,
       intent, target_id, client, conversation_id, document_id, said_at, added_at, ended_at
FROM memory WHERE id = %(id)s::bigint;

-- What is injected into a conversation: the owner's own choice, as long as there is room.
-- name: core_memories
SELECT id, text FROM memory WHERE core AND state = 'current' ORDER BY id;

-- name: add_memory
INSERT INTO memory (text, original, language, subject, attribute, value, source, state, core,
                    accepted_at, intent, target_id, client, conversation_id, document_id, said_at,
                    added_at, ended_at)
VALUES (%(text)s::text, %(original)s::text, %(language)s::text, %(subject)s::text,
        %(attribute)s::text, %(value)s::text, %(source)s::text, %(state)s::text,
        %(core)s::boolean, %(accepted_at)s::timestamptz, %(intent)s::text, %(target_id)s::bigint,
        %(client)s::text, %(conversation_id)s::uuid, %(document_id)s::bigint,
        coalesce(%(said_at)s::timestamptz, clock_timestamp()),
        coalesce(%(added_at)s::timestamptz, clock_timestamp()), %(ended_at)s::timestamptz)
RETURNING id;

-- name: keep_past_memory
INSERT INTO memory_past (memory_id, text, original, language, value, source, conversation_id,
                         said_at, reason)
SELECT id, text, original, language, value, source, conversation_id, said_at, %(reason)s::text
FROM memory WHERE id = %(id)s::bigint;

-- name: add_past_memory
INSERT INTO memory_past (memory_id, text, original, language, value, source, conversation_id,
                         said_at, ended_at, reason)
VALUES (%(id)s::bigint, %(text)s::text, %(original)s::text, %(language)s::text, %(value)s::text,
        %(source)s::text, %(conversation_id)s::uuid, %(said_at)s::timestamptz,
        coalesce(%(ended_at)s::timestamptz, clock_timestamp()), %(reason)s::text);

-- The vector of what it said before goes with the words.
-- name: change_memory
UPDATE memory
SET text = %(text)s::text, original = %(original)s::text, language = %(language)s::text,
    subject = %(subject)s::text, attribute = %(attribute)s::text, value = %(value)s::text,
    source = %(source)s::text, accepted_at = %(accepted_at)s::timestamptz,
    conversation_id = %(conversation_id)s::uuid,
    said_at = coalesce(%(said_at)s::timestamptz, clock_timestamp()), model = NULL,
    profile = NULL, dimension = NULL, vector = NULL
WHERE id = %(id)s::bigint;

-- name: settle_memory
UPDATE memory
SET state = %(state)s::text, accepted_at = %(accepted_at)s::timestamptz, core = false,
    ended_at = %(ended_at)s::timestamptz, document_id = NULL
WHERE id = %(id)s::bigint;

-- name: set_core_memory
UPDATE memory
SET core = %(core)s::boolean,
    accepted_at = CASE WHEN %(core)s::boolean THEN coalesce(accepted_at, clock_timestamp())
                       ELSE accepted_at END
WHERE id = %(id)s::bigint AND state = 'current';

-- name: keep_memory_vector
UPDATE memory
SET model = %(model)s::text, profile = %(profile)s::text, dimension = %(dimension)s::integer,
    vector = %(vector)s::bytea
WHERE id = %(id)s::bigint AND text = %(text)s::text;

-- name: past_memories
SELECT id, memory_id, text, original, language, value, source, conversation_id, said_at, ended_at,
       reason
FROM memory_past
WHERE %(id)s::bigint IS NULL OR memory_id = %(id)s::bigint ORDER BY said_at, id;

-- name: forget_memories
DELETE FROM memory WHERE id = ANY(%(ids)s::bigint[]);

-- name: forget_all_memories
DELETE FROM memory;

-- name: drop_all_messages
DELETE FROM memory_message;

-- name: count_memories
SELECT count(*) FILTER (WHERE state = 'current') AS current,
       count(*) FILTER (WHERE core) AS core,
       count(*) FILTER (WHERE state = 'proposed') AS proposed,
       count(*) FILTER (WHERE state = 'ended') AS ended,
       (SELECT count(*) FROM memory_message m WHERE m.state = 'waiting') AS waiting,
       (SELECT count(*) FROM memory_message m WHERE m.state = 'failed') AS failed
FROM memory;

-- name: queue_message
INSERT INTO memory_message (conversation_id, client, text)
VALUES (%(conversation)s::uuid, %(client)s::text, %(text)s::text)
RETURNING id;

-- name: queued_messages
SELECT id, conversation_id, client, text, said_at, state, attempts, problem
FROM memory_message
WHERE %(state)s::text IS NULL OR state = %(state)s::text ORDER BY id;

-- name: drop_message
DELETE FROM memory_message WHERE id = %(id)s::bigint RETURNING id;

-- name: drop_messages
DELETE FROM memory_message WHERE id = ANY(%(ids)s::bigint[]);

-- name: note_message_problem
UPDATE memory_message
SET state = %(state)s::text, attempts = attempts + 1, problem = %(problem)s::text
WHERE id = %(id)s::bigint;

-- name: retry_messages
UPDATE memory_message SET state = 'waiting' WHERE state = 'failed';
