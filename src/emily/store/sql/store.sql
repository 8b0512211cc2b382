-- What the store asks of the server about itself.

-- One row: versions, encoding, and whether pgvector is installed and available.
-- name: server_facts
SELECT current_setting('server_version_num')::integer AS version_number,
       current_setting('server_version') AS version,
       current_setting('server_encoding') AS encoding,
       (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS vector_installed,
       (SELECT default_version FROM pg_available_extensions WHERE name = 'vector')
           AS vector_available

-- One row: bytes of the database on disk, and when its server started.
-- name: server_condition
SELECT pg_database_size(current_database()) AS bytes,
       pg_postmaster_start_time() AS started_at

-- Whether there is a record of migrations, false before the first one. Asked of the catalogue
-- itself: to_regclass() may remember an absence from before a lock was waited for.
-- name: migration_table
SELECT EXISTS (
    SELECT FROM pg_class WHERE relname = 'emily_migration' AND pg_table_is_visible(oid)
) AS present

-- What was applied, in order.
-- name: applied_migrations
SELECT number, name, sha256 FROM emily_migration ORDER BY number

-- Notes a migration as applied.
-- name: record_migration
INSERT INTO emily_migration (number, name, sha256)
VALUES (%(number)s::integer, %(name)s::text, %(sha256)s::text)
