-- That stale documents are to be indexed anew by a worker, until none is left or it is stopped.
CREATE TABLE reindexing (
    only_row    boolean     PRIMARY KEY DEFAULT true CHECK (only_row),
    asked_at    timestamptz NOT NULL DEFAULT clock_timestamp()
);
