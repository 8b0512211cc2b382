-- Copies of the whole database: what there is to copy, and making room for what is put back.

-- The tables of Emily's own, with their columns and those that they refer to.
-- name: own_tables
SELECT c.relname::text AS name,
       (SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
          AND a.attgenerated = '') AS columns,
       ARRAY(SELECT DISTINCT r.relname::text FROM pg_constraint k JOIN pg_class r ON r.oid = k.confrelid
             WHERE k.conrelid = c.oid AND k.contype = 'f') AS refers_to
FROM pg_class c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
  AND NOT EXISTS (SELECT FROM pg_depend d
                  WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
ORDER BY c.relname;

-- name: own_sequences
SELECT sequencename::text AS name, last_value FROM pg_sequences
WHERE schemaname = current_schema() ORDER BY sequencename;

-- name: set_sequence
SELECT setval(%(name)s::text::regclass, %(value)s::bigint);

-- name: other_connections
SELECT count(*) AS count FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend';

-- name: revision_if_any
SELECT to_regclass('revision')::text AS present;

-- name: raise_revision
UPDATE revision SET number = greatest(number, %(above)s::bigint) + 1;

-- name: document_table
SELECT to_regclass('document')::text AS present;
