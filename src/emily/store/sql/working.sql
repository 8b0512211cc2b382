-- What waits to be indexed and analysed, the queue that hands it out, and the watched folders.

-- Files to be indexed. One that is at work now is queued anew: it may have changed meanwhile.
-- name: queue_files
INSERT INTO work (phase, path, name)
SELECT %(phase)s::text, q.path, q.name
FROM unnest(%(paths)s::bytea[], %(names)s::text[]) AS q (path, name)
ON CONFLICT (phase, md5(path)) WHERE path IS NOT NULL DO UPDATE
SET status = CASE WHEN work.status = 'running' THEN 'running' ELSE 'waiting' END,
    attempts = 0, lost = 0, queued_at = clock_timestamp(), next_at = NULL
RETURNING id;

-- Documents that wait for a phase. What failed or is done for the same state is left alone.
-- name: queue_documents
INSERT INTO work (phase, document_id, name, state)
SELECT %(phase)s::text, d.id, d.name, q.state
FROM unnest(%(documents)s::bigint[], %(states)s::text[]) AS q (id, state)
JOIN document d ON d.id = q.id
ON CONFLICT (phase, document_id) WHERE path IS NULL DO UPDATE
SET status = 'waiting', attempts = 0, lost = 0, queued_at = clock_timestamp(), next_at = NULL,
    state = excluded.state
WHERE work.status IN ('done', 'failed') AND work.state <> excluded.state
RETURNING id;

-- Work that an owner wants tried again, or that lost its job.
-- name: queue_again
UPDATE work
SET status = 'waiting', attempts = CASE WHEN %(afresh)s::boolean THEN 0 ELSE attempts END,
    lost = CASE WHEN %(afresh)s::boolean THEN 0 ELSE lost END, next_at = NULL,
    queued_at = CASE WHEN %(afresh)s::boolean THEN clock_timestamp() ELSE queued_at END
WHERE id = ANY(%(ids)s::bigint[]) AND status = ANY(%(statuses)s::text[])
RETURNING id;

-- A job for each; one that has a job waiting keeps the earlier time. A job runs once at a time.
-- name: queue_jobs
INSERT INTO emily_jobs.procrastinate_jobs
       (queue_name, task_name, priority, lock, queueing_lock, args, scheduled_at)
SELECT w.phase, %(task)s::text, %(priority)s::integer, 'work:' || w.id, 'work:' || w.id,
       jsonb_build_object('work', w.id), w.next_at
FROM work w WHERE w.id = ANY(%(ids)s::bigint[])
ON CONFLICT (queueing_lock) WHERE status = 'todo'::emily_jobs.procrastinate_job_status
DO UPDATE SET scheduled_at = CASE WHEN procrastinate_jobs.scheduled_at IS NULL THEN NULL
                                  WHEN excluded.scheduled_at IS NULL THEN NULL
                                  ELSE least(procrastinate_jobs.scheduled_at, excluded.scheduled_at)
                             END,
              priority = greatest(procrastinate_jobs.priority, excluded.priority);

-- name: start_work
UPDATE work
SET status = 'running', attempts = attempts + 1, started_at = clock_timestamp(),
    finished_at = NULL, next_at = NULL
WHERE id = %(id)s::bigint
RETURNING id, phase, path, document_id, name, attempts, lost, error;

-- What a job came to; it waits on where it was queued again meanwhile.
-- name: finish_work
UPDATE work w
SET status = CASE WHEN EXISTS (SELECT FROM emily_jobs.procrastinate_jobs j
                               WHERE j.queueing_lock = 'work:' || w.id
                                 AND j.status = 'todo'::emily_jobs.procrastinate_job_status)
                  THEN 'waiting' ELSE %(status)s::text END,
    error = %(error)s::text, outcome = %(outcome)s::text,
    document_id = CASE WHEN w.path IS NULL THEN w.document_id
                       ELSE (SELECT d.id FROM document d WHERE d.id = %(document_id)s::bigint) END,
    lost = CASE WHEN %(status)s::text = 'done' THEN 0 ELSE w.lost END,
    finished_at = clock_timestamp()
WHERE w.id = %(id)s::bigint;

-- name: put_off_work
UPDATE work
SET status = 'waiting', error = %(error)s::text, finished_at = clock_timestamp(),
    next_at = clock_timestamp() + make_interval(secs => %(seconds)s::double precision)
WHERE id = %(id)s::bigint
RETURNING id;

-- What waits for its time after a failure.
-- name: put_off_in
SELECT id FROM work
WHERE status = 'waiting' AND phase = %(phase)s::text AND next_at > clock_timestamp() ORDER BY id;

-- One of a phase that waits after failures, where nothing of the phase was tried for a while.
-- name: work_to_probe
SELECT w.id FROM work w
WHERE w.status = 'waiting' AND w.phase = %(phase)s::text AND w.next_at > clock_timestamp()
  AND w.finished_at + 2 * (w.finished_at - w.started_at) < clock_timestamp()
  AND NOT EXISTS (
      SELECT FROM work o
      WHERE o.phase = w.phase
        AND (o.status = 'running'
             OR o.status = 'waiting' AND (o.next_at IS NULL OR o.next_at <= clock_timestamp())
             OR o.finished_at > clock_timestamp()
                                - make_interval(secs => %(seconds)s::double precision)))
ORDER BY w.attempts, w.finished_at, w.id LIMIT 1;

-- What was done without the queue, so that it can be told of and tried again.
-- name: record_files
INSERT INTO work (phase, path, name, status, attempts, error, outcome, document_id,
                  started_at, finished_at)
SELECT %(phase)s::text, q.path, q.name, q.status, 1, q.error, q.outcome,
       (SELECT d.id FROM document d WHERE d.id = q.document_id), clock_timestamp(),
       clock_timestamp()
FROM unnest(%(paths)s::bytea[], %(names)s::text[], %(statuses)s::text[], %(errors)s::text[],
            %(outcomes)s::text[], %(documents)s::bigint[])
     AS q (path, name, status, error, outcome, document_id)
ON CONFLICT (phase, md5(path)) WHERE path IS NOT NULL DO UPDATE
SET status = excluded.status, attempts = 1, lost = 0, error = excluded.error,
    outcome = excluded.outcome, document_id = excluded.document_id, name = excluded.name,
    started_at = excluded.started_at, finished_at = excluded.finished_at, next_at = NULL
WHERE work.status IN ('done', 'failed');

-- A worker that was killed left it: the next one takes it, after the others if it is not the
-- first time, for it may be what kills them.
-- name: lose_work
UPDATE work
SET lost = lost + 1,
    status = CASE WHEN lost + 1 >= %(most)s::integer THEN 'failed' ELSE 'waiting' END,
    error = %(error)s::text, finished_at = clock_timestamp(), next_at = NULL
WHERE id = %(id)s::bigint AND status = 'running'
RETURNING phase, lost, status;

-- Open work without a job: what was interrupted between the two.
-- name: work_without_job
SELECT w.id, w.phase FROM work w
WHERE w.status IN ('waiting', 'running')
  AND NOT EXISTS (SELECT FROM emily_jobs.procrastinate_jobs j
                  WHERE j.queueing_lock = 'work:' || w.id
                    AND j.status = 'todo'::emily_jobs.procrastinate_job_status)
  AND NOT EXISTS (SELECT FROM emily_jobs.procrastinate_jobs j
                  WHERE j.lock = 'work:' || w.id
                    AND j.status = 'doing'::emily_jobs.procrastinate_job_status)
ORDER BY w.id;

-- Jobs that ended and are still taken for being at work.
-- name: drop_jobs
DELETE FROM emily_jobs.procrastinate_jobs
WHERE id = ANY(%(ids)s::bigint[]) AND status = 'doing'::emily_jobs.procrastinate_job_status;

-- One sweeper at a time.
-- name: lock_sweep
SELECT pg_try_advisory_xact_lock(hashtextextended('emily.work.sweep', 0)) AS ours;

-- Whether a phase has something to be done now.
-- name: phase_is_ready
SELECT EXISTS (SELECT FROM emily_jobs.procrastinate_jobs
               WHERE status = 'todo'::emily_jobs.procrastinate_job_status
                 AND queue_name = %(phase)s::text
                 AND (scheduled_at IS NULL OR scheduled_at <= now())) AS ready;

-- name: work_left
SELECT count(*) FILTER (WHERE status = 'running' OR next_at IS NULL OR next_at <= now()) AS now,
       count(*) AS open
FROM work WHERE status IN ('waiting', 'running');

-- name: work_counts
SELECT phase, status, count(*) AS count FROM work GROUP BY phase, status;

-- name: delayed_work
SELECT phase, count(*) AS count, max(error) AS error
FROM work WHERE status = 'waiting' AND attempts >= %(attempts)s::integer AND next_at IS NOT NULL
GROUP BY phase;

-- name: live_workers
SELECT id, last_heartbeat FROM emily_jobs.procrastinate_workers
WHERE last_heartbeat > now() - make_interval(secs => %(seconds)s::double precision) ORDER BY id;

-- The jobs, those at work first, then what waits in the order of the queue.
-- name: list_work
SELECT w.id, w.phase, w.path, w.document_id, w.name, w.status, w.attempts, w.lost, w.error,
       w.outcome, w.queued_at, w.started_at, w.finished_at, w.next_at
FROM work w
WHERE w.status = ANY(%(statuses)s::text[])
  AND (%(phase)s::text IS NULL OR w.phase = %(phase)s::text)
ORDER BY array_position(ARRAY['running', 'waiting', 'failed', 'done'], w.status),
         w.phase DESC, w.next_at NULLS FIRST, w.id
LIMIT %(limit)s::bigint;

-- Work on a document or a file, given by id, name or path.
-- name: work_on
SELECT w.id, w.phase, w.path, w.document_id, w.name, w.status, w.attempts, w.lost, w.error,
       w.outcome, w.queued_at, w.started_at, w.finished_at, w.next_at
FROM work w
WHERE w.document_id = ANY(%(documents)s::bigint[])
   OR md5(w.path) = md5(%(path)s::bytea)
   OR w.path IS NOT NULL AND %(name)s::text <> ''
      AND right(w.name, char_length(%(name)s::text) + 1) = '/' || %(name)s::text
ORDER BY w.id;

-- name: forget_work
DELETE FROM work WHERE id = ANY(%(ids)s::bigint[]) AND status <> 'running';

-- Watched folders

-- name: watch_folder
INSERT INTO watched_folder (path) VALUES (%(path)s::bytea)
ON CONFLICT (md5(path)) DO NOTHING
RETURNING id;

-- name: unwatch_folder
DELETE FROM watched_folder WHERE md5(path) = md5(%(path)s::bytea) RETURNING id;

-- name: watched_folders
SELECT f.id, f.path, f.since, f.looked_at, f.trouble, f.identity,
       (SELECT count(*) FROM watched_file w WHERE w.folder_id = f.id) AS files,
       (SELECT count(*) FROM watched_file w
        WHERE w.folder_id = f.id AND w.missing_since IS NOT NULL) AS missing
FROM watched_folder f ORDER BY f.id;

-- name: watched_files
SELECT path, bytes, modified_ns, missing_since FROM watched_file
WHERE folder_id = %(folder_id)s::integer;

-- Files as they were when they were queued.
-- name: see_files
INSERT INTO watched_file (folder_id, path, bytes, modified_ns)
SELECT f.id, q.path, q.bytes, q.modified_ns
FROM unnest(%(paths)s::bytea[], %(sizes)s::bigint[], %(times)s::bigint[])
     AS q (path, bytes, modified_ns)
JOIN watched_folder f ON f.id = %(folder_id)s::integer  -- it may be watched no longer
ON CONFLICT (folder_id, md5(path)) DO UPDATE
SET bytes = excluded.bytes, modified_ns = excluded.modified_ns, missing_since = NULL;

-- name: forget_watched
DELETE FROM watched_file
WHERE folder_id = %(folder_id)s::integer AND path = ANY(%(paths)s::bytea[]);

-- name: miss_watched
UPDATE watched_file SET missing_since = clock_timestamp()
WHERE folder_id = %(folder_id)s::integer AND path = ANY(%(paths)s::bytea[])
  AND missing_since IS NULL;

-- name: looked_at_folder
UPDATE watched_folder
SET looked_at = clock_timestamp(), trouble = %(trouble)s::text,
    identity = coalesce(%(identity)s::text, identity)
WHERE id = %(folder_id)s::integer;

-- What the archive holds of files by their paths.
-- name: documents_at
SELECT s.path, s.document_id,
       (SELECT count(*) FROM source o WHERE o.document_id = s.document_id) AS places
FROM source s JOIN unnest(%(paths)s::text[]) AS q (path) ON md5(s.path) = md5(q.path)
WHERE s.parent_id IS NULL;

-- Work that is open on files, by their paths.
-- name: open_work_in
SELECT count(*) AS count FROM work w
WHERE w.status IN ('waiting', 'running') AND w.next_at IS NULL AND w.path IS NOT NULL
  AND substr(w.path, 1, octet_length(%(folder)s::bytea)) = %(folder)s::bytea;

-- name: forget_work_on
DELETE FROM work w USING unnest(%(paths)s::bytea[]) AS q (path)
WHERE md5(w.path) = md5(q.path) AND w.status <> 'running';

-- A file is gone from one of the places where its document is kept.
-- name: forget_place
DELETE FROM source WHERE md5(path) = md5(%(path)s::text) AND parent_id IS NULL;
