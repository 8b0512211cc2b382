-- What the owner does with documents: settings, notes, names, versions, the trash.

-- A setting that the owner set; it stands above the file and the default while the row exists.
CREATE TABLE setting (
    name        text        PRIMARY KEY,
    value       jsonb       NOT NULL,
    set_at      timestamptz NOT NULL DEFAULT clock_timestamp()
);

ALTER TABLE document
    -- A note of the owner's on another document. It has chunks, words and vectors as any, no file
    -- and no place; in results it stands under the document that it is a note on.
    ADD COLUMN note_of      bigint REFERENCES document ON DELETE CASCADE,
    ADD COLUMN given_name   text,              -- by the owner; else it goes by its file's
    ADD COLUMN version      integer NOT NULL DEFAULT 1,
    ADD COLUMN trashed_at   timestamptz,       -- in the trash: it keeps its text, and has no index
    ADD COLUMN trashed_with bigint;            -- the document that it lay inside of and went with
CREATE INDEX document_note_of ON document (note_of) WHERE note_of IS NOT NULL;
CREATE INDEX document_trashed ON document (trashed_at) WHERE trashed_at IS NOT NULL;

-- What a document was before its file was replaced. It is read, restored, and not searched.
CREATE TABLE document_version (
    document_id bigint      NOT NULL REFERENCES document ON DELETE CASCADE,
    version     integer     NOT NULL,
    name        text        NOT NULL,
    kind        text        NOT NULL,
    title       text,
    language    text,
    citation    text        NOT NULL,
    text        text        NOT NULL,
    pages       jsonb       NOT NULL,          -- [number, start, end, route, warning]
    file_sha256 bytea       NOT NULL CHECK (octet_length(file_sha256) = 32),
    bytes       bigint      NOT NULL,
    path        text,                          -- where its file lay
    read_at     timestamptz NOT NULL,
    replaced_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (document_id, version)
);
CREATE INDEX document_version_file ON document_version (file_sha256);
