-- The archive: documents with their text, their chunks, vectors, postings and vocabulary.
-- Offsets count characters (code points) of document.text, 0-based, end exclusive.

CREATE EXTENSION IF NOT EXISTS vector;

CREATE TABLE model (
    id          integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name        text    NOT NULL,
    profile     text    NOT NULL,
    dimension   integer NOT NULL CHECK (dimension > 0),
    UNIQUE (name, profile, dimension)
);

CREATE TABLE document (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name        text        NOT NULL,
    kind        text        NOT NULL,
    title       text,
    description text,
    language    text,
    citation    text        NOT NULL CHECK (citation IN ('pages', 'lines', 'none')),
    text        text        NOT NULL,
    tables      jsonb       NOT NULL DEFAULT '[]',  -- spans of rows, to chunk again without reading again
    file_sha256 bytea       NOT NULL UNIQUE CHECK (octet_length(file_sha256) = 32),
    text_sha256 bytea       NOT NULL UNIQUE CHECK (octet_length(text_sha256) = 32),  -- of the fingerprint text
    bytes       bigint      NOT NULL,
    warnings    text[]      NOT NULL DEFAULT '{}',
    name_vector halfvec,               -- absent where the embedder fails on the name
    model_id    integer     NOT NULL REFERENCES model,
    fingerprint text        NOT NULL,
    added_at    timestamptz NOT NULL DEFAULT now(),
    indexed_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX document_model ON document (model_id, fingerprint);

-- Where the owner keeps the file; several paths may hold the same document.
CREATE TABLE source (
    path        text   NOT NULL,
    document_id bigint NOT NULL REFERENCES document ON DELETE CASCADE,
    since       timestamptz NOT NULL DEFAULT clock_timestamp()
);
-- By digest: a path of 4,096 bytes is longer than an index row may be.
CREATE UNIQUE INDEX source_path ON source (md5(path));
CREATE INDEX source_document ON source (document_id, since);  -- the oldest is the one cited

CREATE TABLE page (
    document_id bigint  NOT NULL REFERENCES document ON DELETE CASCADE,
    number      integer NOT NULL,
    start_at    integer NOT NULL,
    end_at      integer NOT NULL CHECK (end_at >= start_at),
    route       text    NOT NULL CHECK (route IN ('text', 'ocr', 'vision', 'blank', 'unread')),
    warning     text,
    PRIMARY KEY (document_id, number)
);

CREATE TABLE chunk (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    document_id bigint  NOT NULL REFERENCES document ON DELETE CASCADE,
    ordinal     integer NOT NULL,
    page        integer NOT NULL,
    start_at    integer NOT NULL,
    end_at      integer NOT NULL CHECK (end_at > start_at),
    header      text    NOT NULL DEFAULT '',
    language    text,
    tokens      integer NOT NULL,
    terms       integer NOT NULL,  -- how many terms it has, its length in BM25
    words       bigint[] NOT NULL, -- ids of its words in the vocabulary
    sentences   bytea   NOT NULL,  -- int8 sentence vectors, row after row, see indexing/vectors.py
    UNIQUE (document_id, ordinal)
);

-- A vector per part of about 130 words; the vector arm searches these.
CREATE TABLE chunk_vector (
    chunk_id    bigint   NOT NULL REFERENCES chunk ON DELETE CASCADE,
    part        smallint NOT NULL,
    vector      halfvec  NOT NULL,
    PRIMARY KEY (chunk_id, part)
);

-- Inverted index, one row per term and document: written and forgotten with its document.
CREATE TABLE posting (
    term        text COLLATE "C" NOT NULL,
    document_id bigint     NOT NULL REFERENCES document ON DELETE CASCADE,
    chunk_ids   bigint[]   NOT NULL,
    frequencies smallint[] NOT NULL,
    lengths     integer[]  NOT NULL,  -- number of terms of each chunk
    PRIMARY KEY (term, document_id)
);
CREATE INDEX posting_document ON posting (document_id);

-- Vocabulary: the archive's words with their vectors, per language.
CREATE TABLE word (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    surface     text    COLLATE "C" NOT NULL,
    language    text    NOT NULL,
    model_id    integer NOT NULL REFERENCES model,
    vector      halfvec NOT NULL,
    UNIQUE (surface, language, model_id)
);

CREATE TABLE document_word (
    document_id bigint NOT NULL REFERENCES document ON DELETE CASCADE,
    word_id     bigint NOT NULL REFERENCES word ON DELETE CASCADE,
    PRIMARY KEY (document_id, word_id)
);
CREATE INDEX document_word_word ON document_word (word_id);

-- Counts every change of the archive, so that what a process keeps in memory can be refreshed.
CREATE TABLE revision (
    only_row    boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    number      bigint NOT NULL DEFAULT 0
);
INSERT INTO revision DEFAULT VALUES;
