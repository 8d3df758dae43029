-- The books of several nodes. All times are Unix milliseconds.
CREATE SCHEMA qrn;

CREATE TABLE qrn.meta (
  one bool PRIMARY KEY DEFAULT true CHECK (one),
  -- FORMAT (tables.ts) of the program that created the schema.
  schema int NOT NULL,
  created_at_ms double precision NOT NULL DEFAULT floor(extract(epoch FROM clock_timestamp()) * 1000),
  -- SHA-256 (hex) of the secrets that all nodes share, by name.
  fingerprints jsonb NOT NULL DEFAULT '{}',
  -- The id of the import that filled the database from a folder (import.ts).
  import_id text
);

-- Nodes, and their slots with the epoch of each. A statement that names an old epoch finds no row.
CREATE TABLE qrn.node (
  name text PRIMARY KEY,
  number int GENERATED ALWAYS AS IDENTITY UNIQUE,
  epoch bigint NOT NULL,
  state text NOT NULL CHECK (state IN ('live', 'fenced')),
  started_at_ms double precision NOT NULL,
  -- The version of the directory that all readers on the node have: -1 before the first, null while the node does not serve.
  directory_version bigint
) WITH (fillfactor = 10);
CREATE TABLE qrn.slot (
  node int NOT NULL,
  slot int NOT NULL,
  epoch bigint NOT NULL,
  -- The commit time of the newest segment that was committed in the slot.
  committed_at_ms double precision,
  PRIMARY KEY (node, slot)
) WITH (fillfactor = 10);

-- The records of the rules in ledger/domain, one row each. `key` sorts in the order of the keys, `name` is the key as JSON.
CREATE TABLE qrn.record (
  part text COLLATE "C",
  key bytea,
  name text NOT NULL,
  value bytea NOT NULL,
  PRIMARY KEY (part, key)
) WITH (toast_tuple_target = 8160);
ALTER TABLE qrn.record ALTER value SET STORAGE EXTERNAL;
