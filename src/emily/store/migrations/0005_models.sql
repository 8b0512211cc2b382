-- Vectors of another model beside those in use, until every document has them: then one
-- transaction puts them in their place. Chunks, words and postings do not depend on the model.

-- A chunk that was embedded by it; also one for which it gave no vector.
CREATE TABLE next_chunk (
    chunk_id    bigint  NOT NULL REFERENCES chunk ON DELETE CASCADE,
    model_id    integer NOT NULL REFERENCES model,
    sentences   bytea   NOT NULL,
    whole       halfvec,           -- as in chunk_whole, where the index serves that preset
    PRIMARY KEY (chunk_id, model_id)
);

CREATE TABLE next_chunk_vector (
    chunk_id    bigint   NOT NULL REFERENCES chunk ON DELETE CASCADE,
    model_id    integer  NOT NULL REFERENCES model,
    part        smallint NOT NULL,
    vector      halfvec  NOT NULL,
    PRIMARY KEY (chunk_id, model_id, part)
);

-- A document whose name was embedded; it counts as long as it has that name.
CREATE TABLE next_document (
    document_id bigint  NOT NULL REFERENCES document ON DELETE CASCADE,
    model_id    integer NOT NULL REFERENCES model,
    name        text    NOT NULL,
    name_vector halfvec,
    failures    text[]  NOT NULL,  -- chunks without a vector, with the reason
    PRIMARY KEY (document_id, model_id)
);
