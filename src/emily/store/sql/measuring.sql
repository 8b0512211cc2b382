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
