-- What the owner keeps and does with it: settings, notes, names, versions, the trash.

-- name: setting_rows
SELECT name, value, set_at FROM setting ORDER BY name;

-- name: set_setting
INSERT INTO setting (name, value) VALUES (%(name)s::text, %(value)s::jsonb)
ON CONFLICT (name) DO UPDATE SET value = excluded.value, set_at = clock_timestamp();

-- name: unset_setting
DELETE FROM setting WHERE name = %(name)s::text;
