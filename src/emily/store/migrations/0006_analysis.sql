-- Analysis: a document's summary, and from the summary its description and its categories.

CREATE TABLE analysis (
    document_id bigint PRIMARY KEY REFERENCES document ON DELETE CASCADE,
    text_sha256 bytea       NOT NULL,  -- of the text that was summarised
    method      text        NOT NULL CHECK (method IN ('extractive', 'model')),
    model       text        NOT NULL,  -- the embedder or the chat model
    language    text,                  -- that it is written in
    summary     text        NOT NULL,
    spans       integer[]   NOT NULL DEFAULT '{}',  -- of an extractive one: start, end, start, end …
    description text,                  -- absent where it failed; then failure says why
    fingerprint text        NOT NULL,
    calls       integer     NOT NULL DEFAULT 0,  -- of the chat model
    failure     text,
    analysed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- What went wrong with a document that has no analysis, or none of its present text.
CREATE TABLE analysis_failure (
    document_id bigint PRIMARY KEY REFERENCES document ON DELETE CASCADE,
    reason      text        NOT NULL,
    transient   boolean     NOT NULL,  -- a server was away; else the answers were no use
    attempts    integer     NOT NULL DEFAULT 1,
    fingerprint text        NOT NULL,
    failed_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- The owner's list.
CREATE TABLE category (
    id          integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name        text        NOT NULL CHECK (btrim(name) <> ''),
    description text        NOT NULL DEFAULT '',
    examples    text[]      NOT NULL DEFAULT '{}',
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE UNIQUE INDEX category_name ON category (lower(name));

CREATE TABLE document_category (
    document_id bigint  NOT NULL REFERENCES analysis ON DELETE CASCADE,
    category_id integer NOT NULL REFERENCES category ON DELETE CASCADE,
    probability real,                  -- absent where a chat model chose it
    reason      text    NOT NULL DEFAULT '',
    PRIMARY KEY (document_id, category_id)
);
CREATE INDEX document_category_category ON document_category (category_id);
