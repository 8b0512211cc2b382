-- What the preset archive looks in beside the rest; filled only where the owner asks for it.

-- Inverted index of stems: a chunk's text as PostgreSQL stems it in the chunk's own language.
-- A term is the language, a colon and the lexeme, so that no language answers for another.
CREATE TABLE stem_posting (
    term        text COLLATE "C" NOT NULL,
    document_id bigint     NOT NULL REFERENCES document ON DELETE CASCADE,
    chunk_ids   bigint[]   NOT NULL,
    frequencies smallint[] NOT NULL,
    PRIMARY KEY (term, document_id)
);
CREATE INDEX stem_posting_document ON stem_posting (document_id);

-- One vector for the whole of a chunk.
CREATE TABLE chunk_whole (
    chunk_id    bigint  PRIMARY KEY REFERENCES chunk ON DELETE CASCADE,
    vector      halfvec NOT NULL
);
