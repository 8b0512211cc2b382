-- What a model wants to have done outside, and what the owner decided.

CREATE TABLE approval (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key             text        NOT NULL UNIQUE,  -- the same wish of the same conversation, once
    conversation_id uuid        NOT NULL,
    client          text        NOT NULL,
    action          text        NOT NULL,
    arguments       jsonb       NOT NULL,
    digest          text        NOT NULL,         -- of action and arguments, as they are shown
    state           text        NOT NULL DEFAULT 'waiting'
                    CHECK (state IN ('waiting', 'approved', 'done', 'failed', 'denied', 'expired')),
    asked_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at      timestamptz NOT NULL,
    decided_at      timestamptz,
    decided_by      text,                         -- who, on which surface
    outcome         text
);
CREATE INDEX approval_open ON approval (state) WHERE state IN ('waiting', 'approved');
