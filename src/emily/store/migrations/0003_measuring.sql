-- What Emily notices of herself: alerts, the owner's questions, and what they must find.

CREATE TABLE alert (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name            text        NOT NULL,
    level           text        NOT NULL CHECK (level IN ('warning', 'critical')),
    text            text        NOT NULL,
    first_at        timestamptz NOT NULL DEFAULT now(),
    last_at         timestamptz NOT NULL DEFAULT now(),
    count           bigint      NOT NULL DEFAULT 1,
    acknowledged_at timestamptz,
    resolved_at     timestamptz
);
CREATE UNIQUE INDEX alert_open ON alert (name) WHERE resolved_at IS NULL;
CREATE INDEX alert_resolved ON alert (resolved_at);

-- The owner's own questions, each with what the stages made of it; never those of a measurement.
CREATE TABLE query_log (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    asked_at    timestamptz NOT NULL DEFAULT now(),
    kind        text        NOT NULL CHECK (kind IN ('search', 'ask')),
    text        text        NOT NULL,
    document_id bigint,               -- that the question was put to; it may be gone by now
    options     jsonb       NOT NULL, -- limit, threshold and filters that were given
    preset      text        NOT NULL,
    model       text        NOT NULL,
    archive     bigint      NOT NULL, -- documents that the archive held
    arms        jsonb       NOT NULL, -- name of an arm: how many chunks it brought
    terms       integer     NOT NULL, -- groups of terms that the lexical arm looked for
    candidates  integer     NOT NULL, -- chunks that the second stage scored
    pool        integer     NOT NULL, -- documents among them
    slots       bigint[]    NOT NULL, -- document of each chunk that was chosen, best first
    best        real,                 -- probability of the best candidate; absent by words alone
    median      real,                 -- probability of the middle one
    timings     jsonb       NOT NULL, -- name of a stage: milliseconds
    total_ms    real        NOT NULL,
    warm        boolean     NOT NULL  -- whether the process had answered a question before
);
CREATE INDEX query_log_asked ON query_log (asked_at);

-- A question that must find a document.
CREATE TABLE pin (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    question    text        NOT NULL,
    document_id bigint      REFERENCES document ON DELETE SET NULL,
    name        text        NOT NULL, -- of the document, to know it by when it is gone
    path        text        NOT NULL,
    pinned_at   timestamptz NOT NULL DEFAULT now(),
    checked_at  timestamptz,
    rank        integer,              -- of the document among those shown; absent if it is not
    lost_by     text                  -- the stage that lost it
);
CREATE INDEX pin_document ON pin (document_id);
CREATE UNIQUE INDEX pin_once ON pin (md5(question), md5(path));
