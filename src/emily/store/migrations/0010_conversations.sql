-- Conversations with models: what each was shown, what left with it, and what never leaves.

CREATE TABLE conversation (
    id          uuid        PRIMARY KEY,
    client      text        NOT NULL,  -- who authenticated, by the name that the owner gave it
    declared    text,                  -- what the client calls itself
    runtime     text,                  -- session of the agent's runtime, to go on with
    title       text,                  -- its first words
    forked_from uuid        REFERENCES conversation ON DELETE SET NULL,
    started_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    last_at     timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX conversation_client ON conversation (client, last_at);
CREATE INDEX conversation_fork ON conversation (forked_from);

-- The documents that a conversation may open: it was shown a passage of them.
CREATE TABLE shown_document (
    conversation_id uuid        NOT NULL REFERENCES conversation ON DELETE CASCADE,
    document_id     bigint      NOT NULL REFERENCES document ON DELETE CASCADE,
    shown_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (conversation_id, document_id)
);
CREATE INDEX shown_document_document ON shown_document (document_id);

-- What left for a model. It is written before it leaves, and outlives document and conversation.
CREATE TABLE egress (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at              timestamptz NOT NULL DEFAULT clock_timestamp(),
    role            text        NOT NULL
                    CHECK (role IN ('assistant', 'chat', 'vision', 'embedding', 'reranking', 'ocr')),
    client          text        NOT NULL,  -- the client of a tool, or the server of a model
    local           boolean     NOT NULL,  -- whether the owner calls it a part of this machine
    conversation_id uuid,
    tool            text,                  -- or what the server was asked for
    characters      bigint      NOT NULL,
    bytes           bigint      NOT NULL DEFAULT 0  -- of pictures
);
CREATE INDEX egress_at ON egress (at);

CREATE TABLE egress_document (
    egress_id   bigint    NOT NULL REFERENCES egress ON DELETE CASCADE,
    document_id bigint    NOT NULL,
    name        text      NOT NULL,
    places      text[]    NOT NULL,    -- as they were cited: page 3, lines 10-24
    characters  bigint    NOT NULL,
    PRIMARY KEY (egress_id, document_id)
);
CREATE INDEX egress_document_document ON egress_document (document_id);

-- What never leaves. A document is kept by its paths too, so that it stays private when it is
-- removed and added again.
CREATE TABLE private_place (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    path        text        NOT NULL,
    document_id bigint      REFERENCES document ON DELETE SET NULL,
    since       timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE UNIQUE INDEX private_place_path ON private_place (md5(path));
CREATE INDEX private_place_document ON private_place (document_id);
