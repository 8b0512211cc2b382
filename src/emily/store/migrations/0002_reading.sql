-- What is known of a document beside its text, its pictures, and the files inside of files.

ALTER TABLE document
    ADD COLUMN author         text,
    ADD COLUMN dated          date,   -- of the document, not of its file
    ADD COLUMN date_source    text CHECK (date_source IN ('header', 'metadata', 'name', 'text')),
    ADD COLUMN correspondents jsonb   NOT NULL DEFAULT '[]',  -- [role, name, address]
    ADD COLUMN message_id     text,
    ADD COLUMN thread         text,   -- message id of the first mail of its thread
    ADD COLUMN parts_open     integer NOT NULL DEFAULT 0;  -- files inside of it still to be taken in
-- What an earlier version read lacks its facts and attachments: the next add reads it again.
UPDATE document SET parts_open = 1;
CREATE INDEX document_dated ON document (dated);
CREATE INDEX document_kind ON document (kind);
CREATE INDEX document_thread ON document (md5(thread));

ALTER TABLE page
    ADD COLUMN confidence real,       -- of OCR, 0 to 1
    ADD COLUMN pictures   integer NOT NULL DEFAULT 0;

-- A document that lies inside of another one: its parent, and its place there.
ALTER TABLE source
    ADD COLUMN parent_id bigint REFERENCES document ON DELETE CASCADE,
    ADD COLUMN place     integer;
CREATE INDEX source_parent ON source (parent_id, place);

-- Pictures inside documents, each read once across the archive.
CREATE TABLE picture (
    sha256      bytea   PRIMARY KEY CHECK (octet_length(sha256) = 32),
    route       text    NOT NULL CHECK (route IN ('ocr', 'vision', 'blank', 'unread')),
    text        text    NOT NULL,
    confidence  real,
    engine      text    NOT NULL   -- what it was read by; by another it is read again
);

CREATE TABLE document_picture (
    document_id bigint  NOT NULL REFERENCES document ON DELETE CASCADE,
    sha256      bytea   NOT NULL REFERENCES picture ON DELETE CASCADE,
    page        integer NOT NULL,
    PRIMARY KEY (document_id, sha256)
);
CREATE INDEX document_picture_sha256 ON document_picture (sha256);
