-- What Emily remembers of her owner: facts, what they were before, and what waits to be read.

CREATE TABLE memory (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    text            text        NOT NULL,             -- in English
    original        text,                             -- as it was said
    language        text,                             -- of the original
    subject         text        NOT NULL DEFAULT '',  -- of whom or what it is
    attribute       text        NOT NULL DEFAULT '',  -- what of it
    value           text        NOT NULL DEFAULT '',
    source          text        NOT NULL
                    CHECK (source IN ('owner', 'conversation', 'model', 'document')),
    state           text        NOT NULL DEFAULT 'current'
                    CHECK (state IN ('current', 'proposed', 'declined', 'ended')),
    core            boolean     NOT NULL DEFAULT false,
    accepted_at     timestamptz,                      -- when the owner said that it is so
    intent          text        NOT NULL DEFAULT 'add' CHECK (intent IN ('add', 'replace', 'retract')),
    target_id       bigint      REFERENCES memory ON DELETE CASCADE,  -- what a proposal would change
    client          text,                             -- who proposed it
    conversation_id uuid,                             -- in which it was said
    -- A proposal goes with its document; what was accepted is the owner's word and names none.
    document_id     bigint      REFERENCES document ON DELETE CASCADE,
    said_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    added_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at        timestamptz,
    model           text,                             -- of the vector
    profile         text,
    dimension       integer,
    vector          bytea,
    CHECK (NOT core OR (state = 'current' AND accepted_at IS NOT NULL)),
    CHECK (state <> 'proposed' OR accepted_at IS NULL)
);
CREATE INDEX memory_core ON memory (id) WHERE core;
CREATE INDEX memory_target ON memory (target_id);
CREATE INDEX memory_document ON memory (document_id);

-- What a memory said before. It goes with the memory.
CREATE TABLE memory_past (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    memory_id       bigint      NOT NULL REFERENCES memory ON DELETE CASCADE,
    text            text        NOT NULL,
    original        text,
    language        text,
    value           text        NOT NULL DEFAULT '',
    source          text        NOT NULL,
    conversation_id uuid,
    said_at         timestamptz NOT NULL,
    ended_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    reason          text        NOT NULL CHECK (reason IN ('replaced', 'edited'))
);
CREATE INDEX memory_past_memory ON memory_past (memory_id);

-- Messages of the owner's that wait for their facts to be drawn out; gone when that is done.
CREATE TABLE memory_message (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    conversation_id uuid        NOT NULL,
    client          text        NOT NULL,
    text            text        NOT NULL,
    said_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    state           text        NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'failed')),
    attempts        integer     NOT NULL DEFAULT 0,
    problem         text
);
