-- The books of many nodes. Every time is in Unix milliseconds.
CREATE SCHEMA qrn;

CREATE TABLE qrn.meta (
  one bool PRIMARY KEY DEFAULT true CHECK (one),
  -- FORMAT (tables.ts) of the program that made it.
  schema int NOT NULL,
  created_at_ms double precision NOT NULL DEFAULT floor(extract(epoch FROM clock_timestamp()) * 1000),
  -- SHA-256 (hex) of the secrets that all nodes share, by name.
  fingerprints jsonb NOT NULL DEFAULT '{}',
  -- Of the folder whose records were imported (import.ts).
  import_id text
);

-- Nodes: who they are, and the epoch of each of their commit slots. A statement that names an old epoch finds no row.
CREATE TABLE qrn.node (
  name text PRIMARY KEY,
  number int GENERATED ALWAYS AS IDENTITY UNIQUE,
  epoch bigint NOT NULL,
  state text NOT NULL CHECK (state IN ('live', 'fenced')),
  started_at_ms double precision NOT NULL,
  -- The version of the directory that everybody on the node goes by: -1 before the first one, null while nobody serves.
  directory_version bigint
) WITH (fillfactor = 10);
CREATE TABLE qrn.slot (
  node int NOT NULL,
  slot int NOT NULL,
  epoch bigint NOT NULL,
  -- Of the newest segment that was committed in it.
  committed_at_ms double precision,
  PRIMARY KEY (node, slot)
) WITH (fillfactor = 10);

-- What the rules in ledger/domain keep, answers, counters and limits among it: a row for each record. `key` has the order of the keys, `name` is the key as JSON.
CREATE TABLE qrn.record (
  part text COLLATE "C",
  key bytea,
  name text NOT NULL,
  value bytea NOT NULL,
  PRIMARY KEY (part, key)
) WITH (toast_tuple_target = 8160);
ALTER TABLE qrn.record ALTER value SET STORAGE EXTERNAL;
