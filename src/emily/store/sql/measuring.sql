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
