-- What Emily notices of herself: alerts, the log of questions, pinned questions.

-- One alert is open per name: raised again, it counts on. One that grew worse is to be looked
-- at anew, whether it was acknowledged or not.
-- name: raise_alert
INSERT INTO alert (name, level, text)
VALUES (%(name)s::text, %(level)s::text, %(text)s::text)
ON CONFLICT (name) WHERE resolved_at IS NULL DO UPDATE
SET acknowledged_at = CASE WHEN alert.level = 'warning' AND excluded.level = 'critical' THEN NULL
                           ELSE alert.acknowledged_at END,
    level = excluded.level, text = excluded.text, last_at = now(), count = alert.count + 1
RETURNING id, name, level, text, first_at, last_at, count, acknowledged_at, resolved_at;

-- name: resolve_alert
UPDATE alert SET resolved_at = now() WHERE name = %(name)s::text AND resolved_at IS NULL;

-- name: acknowledge_alert
UPDATE alert SET acknowledged_at = now()
WHERE name = %(name)s::text AND resolved_at IS NULL AND acknowledged_at IS NULL;

-- name: open_alerts
SELECT id, name, level, text, first_at, last_at, count, acknowledged_at, resolved_at
FROM alert WHERE resolved_at IS NULL
ORDER BY level = 'critical' DESC, first_at, id;

-- The alerts that are over, the latest first.
-- name: resolved_alerts
SELECT id, name, level, text, first_at, last_at, count, acknowledged_at, resolved_at
FROM alert WHERE resolved_at IS NOT NULL
ORDER BY resolved_at DESC, id DESC LIMIT %(limit)s::integer;

-- name: forget_resolved_alerts
DELETE FROM alert WHERE resolved_at < now() - make_interval(days => %(days)s::integer);

-- name: log_query
INSERT INTO query_log (kind, text, document_id, options, preset, model, archive, arms, terms,
                       candidates, pool, slots, best, median, timings, total_ms, warm)
VALUES (%(kind)s::text, %(text)s::text, %(document_id)s::bigint, %(options)s::jsonb,
        %(preset)s::text, %(model)s::text, %(archive)s::bigint, %(arms)s::jsonb,
        %(terms)s::integer,
        %(candidates)s::integer, %(pool)s::integer, %(slots)s::bigint[], %(best)s::real,
        %(median)s::real, %(timings)s::jsonb, %(total_ms)s::real, %(warm)s::boolean)
RETURNING id;

-- Keeps the log within its bounds of age and number.
-- name: trim_query_log
DELETE FROM query_log
WHERE asked_at < now() - make_interval(days => %(days)s::integer)
   OR id <= (SELECT id FROM query_log ORDER BY id DESC OFFSET %(size)s::bigint LIMIT 1);

-- The latest questions, the latest first.
-- name: recent_queries
SELECT id, asked_at, kind, text, document_id, options, preset, model, archive, arms, terms,
       candidates, pool, slots, best, median, timings, total_ms, warm
FROM query_log ORDER BY id DESC LIMIT %(limit)s::bigint;

-- name: count_queries
SELECT count(*) AS queries FROM query_log;

-- name: clear_queries
DELETE FROM query_log WHERE %(id)s::bigint IS NULL OR id = %(id)s::bigint;

-- name: document_names
SELECT id, name FROM document WHERE id = ANY(%(documents)s::bigint[]);

-- What is wrong with the rows of the index, and a document to look at.
-- name: index_faults
WITH bare AS (
    SELECT c.document_id FROM chunk c
    WHERE NOT EXISTS (SELECT FROM chunk_vector v WHERE v.chunk_id = c.id)
)
SELECT (SELECT count(*) FROM document
        WHERE note_of IS NULL AND trashed_at IS NULL) AS documents,
       (SELECT count(*) FROM chunk) AS chunks,
       (SELECT count(*) FROM document d
        WHERE d.trashed_at IS NULL AND d.fingerprint <> %(fingerprint)s::text) AS stale,
       (SELECT count(*) FROM document d
        WHERE d.trashed_at IS NULL AND d.model_id NOT IN (SELECT m.id FROM model m
                                 WHERE m.name = %(model)s::text AND m.profile = %(profile)s::text
                                   AND m.dimension = %(dimension)s::integer)) AS other_model,
       (SELECT count(*) FROM bare) AS without_vector,
       (SELECT min(document_id) FROM bare) AS example;

-- Vectors that cannot be compared, among the newest or among all. NaN is greater than any
-- number here, so that no bound holds it.
-- name: vector_faults
WITH latest AS (
    SELECT v.chunk_id, v.vector FROM chunk_vector v
    ORDER BY v.chunk_id DESC LIMIT %(limit)s::bigint
), wrong AS (
    SELECT chunk_id FROM latest WHERE NOT (l2_norm(vector) BETWEEN 0.95 AND 1.05)
)
SELECT (SELECT count(*) FROM latest) AS vectors,
       (SELECT count(*) FROM latest
        WHERE vector_dims(vector) <> %(dimension)s::integer) AS wrong_dimension,
       (SELECT count(*) FROM wrong) AS wrong_length,
       (SELECT min(c.document_id) FROM wrong w JOIN chunk c ON c.id = w.chunk_id) AS example;

-- name: add_pin
INSERT INTO pin (question, document_id, name, path)
VALUES (%(question)s::text, %(document_id)s::bigint, %(name)s::text, %(path)s::text)
ON CONFLICT (md5(question), md5(path)) DO NOTHING
RETURNING id;

-- name: list_pins
SELECT p.id, p.question,
       (SELECT d.id FROM document d
        WHERE d.id = p.document_id AND d.trashed_at IS NULL) AS document_id,
       p.name, p.path, p.pinned_at, p.checked_at, p.rank, p.lost_by
FROM pin p ORDER BY p.id;

-- name: remove_pin
DELETE FROM pin WHERE id = %(id)s::bigint;

-- name: note_pin
UPDATE pin SET rank = %(rank)s::integer, lost_by = %(lost_by)s::text, checked_at = now()
WHERE id = %(id)s::bigint;

-- name: rebind_pins
UPDATE pin p SET document_id = s.document_id
FROM source s
WHERE p.document_id IS NULL AND md5(s.path) = md5(p.path);

-- The chunks of a document, and whether the vector arm can bring them.
-- name: chunk_standing
SELECT c.id, c.ordinal, c.page, c.start_at, c.end_at, c.language, c.tokens,
       EXISTS (SELECT FROM chunk_vector v WHERE v.chunk_id = c.id) AS has_vector
FROM chunk c WHERE c.document_id = %(document_id)s::bigint ORDER BY c.ordinal;

-- What a document was indexed by.
-- name: index_of_document
SELECT m.name || '/' || m.profile AS model,
       m.name = %(model)s::text AND m.profile = %(profile)s::text
       AND m.dimension = %(dimension)s::integer AS same_model,
       d.fingerprint = %(fingerprint)s::text AS same_settings
FROM document d JOIN model m ON m.id = d.model_id
WHERE d.id = %(document_id)s::bigint;
