-- The books of many nodes. Every time is in Unix milliseconds. Records that PostgreSQL does not look into are `json`,
-- which keeps the text as it was written.
CREATE SCHEMA qrn;

CREATE TABLE qrn.meta (
  one bool PRIMARY KEY DEFAULT true CHECK (one),
  -- The number of the newest migration, and the oldest one whose programs may go on working on this schema.
  schema int NOT NULL,
  oldest_schema int NOT NULL,
  created_at_ms double precision NOT NULL DEFAULT floor(extract(epoch FROM clock_timestamp()) * 1000),
  -- SHA-256 (hex) of the secrets that all nodes share, by name.
  fingerprints jsonb NOT NULL DEFAULT '{}',
  probed_at_ms double precision,
  -- Of the folder whose records were imported (import.ts).
  import_id text
);
INSERT INTO qrn.meta (schema, oldest_schema) VALUES (0, 0);

-- Nodes: who they are, and the epoch of each of their commit slots. A statement that names an old epoch finds no row.
CREATE TABLE qrn.node (
  name text PRIMARY KEY,
  number int GENERATED ALWAYS AS IDENTITY UNIQUE,
  epoch bigint NOT NULL,
  state text NOT NULL CHECK (state IN ('live', 'fenced')),
  started_at_ms double precision NOT NULL
);
CREATE TABLE qrn.slot (
  node int NOT NULL,
  slot int NOT NULL,
  epoch bigint NOT NULL,
  last bigint NOT NULL,
  PRIMARY KEY (node, slot)
) WITH (fillfactor = 10);

-- Answers: packed segments, and which of them the transparency log and the counters lack.
CREATE TABLE qrn.sequence_lease (one bool PRIMARY KEY DEFAULT true CHECK (one), leased_before bigint NOT NULL);
INSERT INTO qrn.sequence_lease (leased_before) VALUES (0);
CREATE TABLE qrn.segment (
  sequence bigint PRIMARY KEY,
  node int NOT NULL,
  epoch bigint NOT NULL,
  at_ms double precision NOT NULL,
  count int NOT NULL,
  body bytea NOT NULL
) WITH (toast_tuple_target = 8160);
ALTER TABLE qrn.segment ALTER body SET STORAGE EXTERNAL;
CREATE INDEX segment_at_ms ON qrn.segment (at_ms, sequence);
CREATE TABLE qrn.unsealed (sequence bigint PRIMARY KEY, node int NOT NULL, epoch bigint NOT NULL, count int NOT NULL);
CREATE TABLE qrn.retention (one bool PRIMARY KEY DEFAULT true CHECK (one), dropped_segment bigint NOT NULL);
INSERT INTO qrn.retention (dropped_segment) VALUES (0);

-- Counters, to which the sequencer adds the segments that it seals. `counters` is as usage-counters.ts packs it.
CREATE TABLE qrn.usage_day (
  account bigint NOT NULL,
  day int NOT NULL,
  counters bytea NOT NULL,
  PRIMARY KEY (account, day)
) WITH (fillfactor = 50);
CREATE INDEX usage_day_day ON qrn.usage_day (day);
CREATE TABLE qrn.balance (
  account bigint NOT NULL,
  period int NOT NULL,
  requests bigint NOT NULL,
  credits bigint NOT NULL,
  PRIMARY KEY (account, period)
) WITH (fillfactor = 50);

-- Limits: what each epoch of a node was granted, and what its sealed segments spent.
CREATE TABLE qrn.spent (
  node int NOT NULL,
  epoch bigint NOT NULL,
  account bigint NOT NULL,
  period int NOT NULL,
  requests bigint NOT NULL,
  credits bigint NOT NULL,
  PRIMARY KEY (node, epoch, account, period)
) WITH (fillfactor = 50);
CREATE TABLE qrn.allowance (
  account bigint NOT NULL,
  period int NOT NULL,
  requests_granted bigint NOT NULL DEFAULT 0 CHECK (requests_granted BETWEEN 0 AND requests_max),
  requests_max bigint NOT NULL,
  credits_granted bigint NOT NULL DEFAULT 0 CHECK (credits_granted BETWEEN 0 AND credits_max),
  credits_max bigint NOT NULL,
  PRIMARY KEY (account, period)
) WITH (fillfactor = 50);
CREATE TABLE qrn.granted (
  node int NOT NULL,
  epoch bigint NOT NULL,
  account bigint NOT NULL,
  period int NOT NULL,
  requests bigint NOT NULL CHECK (requests >= 0),
  credits bigint NOT NULL CHECK (credits >= 0),
  -- Of the newest call that changed the row.
  call_order bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (node, epoch, account, period)
) WITH (fillfactor = 50);

-- Who is making the answer to an Idempotency-Key.
CREATE TABLE qrn.claim (
  key_digest text PRIMARY KEY,
  fingerprint text NOT NULL,
  node int NOT NULL,
  epoch bigint NOT NULL,
  at_ms bigint NOT NULL
);

-- The version of the directory that everybody on a node goes by; -1 before the first one.
CREATE TABLE qrn.directory_reader (node int PRIMARY KEY, version bigint NOT NULL) WITH (fillfactor = 10);

-- What the rules in ledger/domain keep: a row for each record. `key` has the order of the keys, `name` is the key as JSON.
CREATE TABLE qrn.record (
  part text COLLATE "C",
  key bytea,
  name text NOT NULL,
  value bytea NOT NULL,
  PRIMARY KEY (part, key)
) WITH (toast_tuple_target = 8160);
ALTER TABLE qrn.record ALTER value SET STORAGE EXTERNAL;
