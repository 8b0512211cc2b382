-- Vaults: folders whose files stay the truth. All of this can be made anew from them.

CREATE TABLE vault (
    id          integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name        text        NOT NULL UNIQUE,
    path        text        NOT NULL,
    device      text        NOT NULL,  -- of the folder: an empty one of another device is a disk that is gone
    added_at    timestamptz NOT NULL DEFAULT now(),
    synced_at   timestamptz            -- when it was last compared with its files
);
CREATE UNIQUE INDEX vault_path ON vault (md5(path));

-- A note or another file of a vault is a document; two notes may hold the same text.
ALTER TABLE document ADD COLUMN vault_id integer REFERENCES vault;
ALTER TABLE document
    DROP CONSTRAINT document_file_sha256_key,
    DROP CONSTRAINT document_text_sha256_key;
CREATE UNIQUE INDEX document_file ON document (file_sha256) WHERE vault_id IS NULL;
CREATE UNIQUE INDEX document_text ON document (text_sha256) WHERE vault_id IS NULL;
CREATE INDEX document_vault ON document (vault_id) WHERE vault_id IS NOT NULL;

-- What is embedded of a passage, as a digest: its vectors are kept as long as that stays the same.
ALTER TABLE chunk ADD COLUMN digest bytea;
CREATE INDEX chunk_digest ON chunk (digest) WHERE digest IS NOT NULL;

CREATE TABLE vault_file (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    vault_id    integer  NOT NULL REFERENCES vault ON DELETE CASCADE,
    path        text     NOT NULL,          -- inside of the vault, parted by /
    note        boolean  NOT NULL,          -- else an attachment: a PDF, a picture
    document_id bigint   REFERENCES document ON DELETE SET NULL, -- absent: not read
    bytes       bigint   NOT NULL,
    modified_ns bigint   NOT NULL,          -- 0: to be looked at again
    inode       text     NOT NULL,
    sha256      bytea    NOT NULL,
    version     integer  NOT NULL,          -- of the way in which it was cut and read
    complete    boolean  NOT NULL,          -- whether every passage has its vectors
    title       text     NOT NULL DEFAULT '',
    aliases     text[]   NOT NULL DEFAULT '{}',
    headings    text[]   NOT NULL DEFAULT '{}',
    blocks      text[]   NOT NULL DEFAULT '{}',  -- names of its marked blocks
    problems    text[]   NOT NULL DEFAULT '{}'
);
CREATE UNIQUE INDEX vault_file_path ON vault_file (vault_id, md5(path));
CREATE INDEX vault_file_document ON vault_file (document_id);

-- A link as a note has it, and the file that it leads to.
CREATE TABLE vault_link (
    file_id     bigint   NOT NULL REFERENCES vault_file ON DELETE CASCADE,
    ordinal     integer  NOT NULL,
    kind        text     NOT NULL CHECK (kind IN ('wiki', 'markdown', 'field', 'tag')),
    target      text     NOT NULL,          -- as it is written; of a tag its name
    key         text     COLLATE "C" NOT NULL, -- the last part of it, as names are compared
    heading     text,
    block       text,
    embed       boolean  NOT NULL,
    line        integer  NOT NULL,
    target_id   bigint   REFERENCES vault_file ON DELETE SET NULL,
    problem     text,                       -- why it leads nowhere
    PRIMARY KEY (file_id, ordinal)
);
CREATE INDEX vault_link_target ON vault_link (target_id);
CREATE INDEX vault_link_key ON vault_link (md5(key));

-- Counts every change of the links, so that a graph in memory can be read again.
ALTER TABLE revision ADD COLUMN links bigint NOT NULL DEFAULT 0;

-- Questions of the owner whose answer is known to be there or not, with the signs of their search.
CREATE TABLE precedent (
    question    text        NOT NULL,
    answered    boolean     NOT NULL,
    coverage    real        NOT NULL,
    similarity  real        NOT NULL,
    asked_at    timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX precedent_question ON precedent (md5(question));
