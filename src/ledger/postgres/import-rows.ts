import { LedgerError } from '../ledger.ts';
import { balancesIn } from '../lmdb/period-corrections.ts';
import type { Snapshot, Table } from '../lmdb/table.ts';
import { count, isHeld, type Tables } from '../lmdb/tables.ts';
import { decodeSegment } from '../segment.ts';
import { accountOfKey, countersCodec, dayOfKey, periodOfDay } from '../usage-counters.ts';

/** The records of an LMDB folder that nobody writes, of one moment. */
export interface FolderRecords {
  readonly tables: Tables;
  readonly at: Snapshot;
}

/** Segments of the folder were committed in no epoch of the node: nothing that they spent was granted to it. */
export const NO_EPOCH = 0;

export type ColumnType = 'text' | 'bigint' | 'int' | 'float8' | 'float8[]' | 'bool' | 'bytea' | 'json';

/** Rows of one table, in the order in which they are inserted. */
export interface Copy {
  readonly table: string;
  readonly columns: Readonly<Record<string, ColumnType>>;
  readonly rows: Iterable<readonly unknown[]>;
}

/** All records of a folder, as rows of the tables that hold them. */
export function copiesOf(records: FolderRecords, node: number): Copy[] {
  return [...directoryCopies(records), ...bookCopies(records, node), ...sourceCopies(records, node)];
}

function directoryCopies(records: FolderRecords): Copy[] {
  const version = directoryVersionOf(records);
  const { accounts, keys } = records.tables;
  return [
    {
      table: 'account',
      columns: { id: 'text', number: 'bigint', changed_version: 'bigint', record: 'json' },
      rows: rowsOf(records, accounts, (id, account) => [
        id,
        account.number,
        version,
        JSON.stringify(account),
      ]),
    },
    {
      table: 'key',
      columns: { key_id: 'text', account_id: 'text', changed_version: 'bigint', record: 'json' },
      rows: rowsOf(records, keys, (id, key) => [id, key.accountId, version, JSON.stringify(key)]),
    },
  ];
}

function bookCopies(records: FolderRecords, node: number): Copy[] {
  const { tables } = records;
  const counted = { account: 'bigint', day: 'int', counters: 'bytea' } as const;
  const charged = { requests: 'bigint', credits: 'bigint' } as const;
  return [
    {
      table: 'segment',
      columns: {
        sequence: 'bigint',
        node: 'int',
        epoch: 'bigint',
        at_ms: 'float8',
        count: 'int',
        body: 'bytea',
      },
      rows: rowsOf(records, tables.segments, (sequence, bytes) => {
        const { committedAtMs, count } = decodeSegment(bytes);
        return [sequence, node, NO_EPOCH, committedAtMs, count, bytes];
      }),
    },
    {
      table: 'usage_day',
      columns: counted,
      rows: rowsOf(records, tables.usage, (key, counters) => [
        accountOfKey(key),
        dayOfKey(key),
        countersCodec.encode(counters),
      ]),
    },
    {
      table: 'usage_archived',
      columns: counted,
      rows: rowsOf(records, tables.archivedUsage, (key, counters) => [
        accountOfKey(key),
        dayOfKey(key),
        countersCodec.encode(counters),
      ]),
    },
    {
      table: 'balance',
      columns: { account: 'bigint', period: 'int', ...charged },
      rows: balanceRows(records),
    },
    {
      table: 'displaced',
      columns: { charged: 'int', issued: 'int', account: 'bigint', ...charged },
      rows: rowsOf(records, tables.displaced, (key, { requests, credits }) => [...key, requests, credits]),
    },
    {
      table: 'period_correction',
      columns: {
        to_period: 'int',
        from_period: 'int',
        account: 'bigint',
        ...charged,
        returned_requests: 'bigint',
        returned_credits: 'bigint',
        at_ms: 'float8',
      },
      // records of earlier releases do not tell what went back: all of it did
      rows: rowsOf(records, tables.periodCorrections, (key, corrected) => {
        const { requests, credits, returned = corrected, atMs } = corrected;
        return [...key, requests, credits, returned.requests, returned.credits, atMs];
      }),
    },
    {
      table: 'answer',
      columns: {
        account: 'bigint',
        key_digest: 'text',
        fingerprint: 'text',
        expires_at_ms: 'float8',
        sealed: 'bytea',
      },
      rows: rowsOf(records, tables.answers, ([account, digest], { fingerprint, expiresAtMs, sealed }) => [
        account,
        digest,
        fingerprint,
        expiresAtMs,
        sealed,
      ]),
    },
    {
      table: 'saved_rate',
      columns: { node: 'int', account: 'bigint', tat_ms: 'float8', admitted_at_ms: 'float8[]' },
      rows: rowsOf(records, tables.rates, (account, { tatMs, admittedAtMs }) => [
        node,
        account,
        tatMs,
        `{${admittedAtMs.join(',')}}`,
      ]),
    },
    {
      table: 'series_count',
      columns: { series: 'text', count: 'bigint', dropped: 'bigint' },
      rows: rowsOf(records, tables.seriesCounts, (series, { count, dropped }) => [series, count, dropped]),
    },
    {
      table: 'series_answer',
      columns: {
        series: 'text',
        serial: 'bigint',
        sequence: 'bigint',
        index: 'int',
        issued_at_ms: 'float8',
        is_public: 'bool',
      },
      rows: rowsOf(records, tables.series, (key, { sequence, index, issuedAtMs, isPublic }) => [
        ...key,
        sequence,
        index,
        issuedAtMs,
        isPublic,
      ]),
    },
    {
      table: 'public_series',
      columns: { purpose: 'text', series: 'text' },
      rows: rowsOf(records, tables.publicSeries, (key) => key),
    },
    {
      table: 'draw',
      columns: { id: 'text', account: 'bigint', state: 'text', due_at_ms: 'bigint', body: 'text' },
      rows: rowsOf(records, tables.draws, (id, { accountNumber, state, dueAtMs, body }) => [
        id,
        accountNumber,
        state,
        dueAtMs,
        body,
      ]),
    },
    {
      table: 'draw_leaf',
      columns: { draw_id: 'text', kind: 'text', text: 'text' },
      rows: rowsOf(records, tables.drawLeaves, (_, { drawId, kind, text }) => [drawId, kind, text]),
    },
    {
      table: 'log',
      columns: { key: 'text', value: 'bytea' },
      rows: rowsOf(records, tables.log, (key, value) => [key, value]),
    },
  ];
}

function sourceCopies(records: FolderRecords, node: number): Copy[] {
  const { tables, at } = records;
  const version = directoryVersionOf(records);
  const revocations = [...tables.revocations.entries({}, at)].map(({ value }) => value);
  revocations.sort((a, b) => a.atMs - b.atMs);
  return [
    {
      table: 'lot',
      columns: {
        id: 'text',
        node: 'int',
        source: 'text',
        record: 'json',
        is_held: 'bool',
        released_at_ms: 'bigint',
      },
      rows: rowsOf(records, tables.lotOrder, (_, id) => {
        const stored = tables.lots.get(id, at);
        if (stored === undefined) throw new LedgerError('damaged', `lot ${id} is listed but not stored`);
        const { lot, releasedAtMs } = stored;
        return [id, node, lot.source, JSON.stringify(lot), isHeld(stored), releasedAtMs ?? null];
      }),
    },
    {
      table: 'revocation',
      columns: { lot_id: 'text', why: 'text', at_ms: 'bigint', version: 'bigint' },
      rows: revocations.map(({ lotId, why, atMs }, i) => [
        lotId,
        why,
        atMs,
        version - revocations.length + 1 + i,
      ]),
    },
    {
      table: 'seed_generation',
      columns: { tier: 'text', last: 'bigint' },
      rows: generationRows(records),
    },
    {
      table: 'source_note',
      columns: { source: 'text', key: 'text', value: 'text' },
      rows: rowsOf(records, tables.sourceNotes, (key, value) => [...key, value]),
    },
    {
      table: 'spend_day',
      columns: { source: 'text', day: 'int', micros: 'bigint', currency: 'text', calls: 'bigint' },
      rows: rowsOf(records, tables.spends, (key, { micros, currency, calls }) => [
        ...key,
        micros,
        currency,
        calls,
      ]),
    },
    {
      table: 'charge',
      columns: { key: 'text', record: 'json' },
      rows: rowsOf(records, tables.charges, (key, charge) => [key, JSON.stringify(charge)]),
    },
    {
      table: 'job',
      columns: { key: 'text', source: 'text', node: 'int', state: 'text', record: 'json', lot_id: 'text' },
      rows: [...tables.jobs.entries({}, at)]
        .sort((a, b) => a.value.ordinal - b.value.ordinal)
        .map(({ key, value: { job, lotId } }) => [
          key,
          job.source,
          node,
          job.state,
          JSON.stringify(job),
          lotId,
        ]),
    },
  ];
}

export function* rowsOf<K extends string | number | readonly (string | number)[], V>(
  { at }: FolderRecords,
  table: Table<K, V>,
  row: (key: K, value: V) => readonly unknown[],
): Generator<readonly unknown[]> {
  for (const { key, value } of table.entries({}, at)) yield row(key, value);
}

function* generationRows({ tables, at }: FolderRecords): Generator<readonly unknown[]> {
  const prefix = 'seedGeneration/' as const;
  for (const { key, value } of tables.meta.entries(
    { from: prefix as never, before: 'seedGeneration0' as never },
    at,
  ))
    yield [key.slice(prefix.length), value];
}

/** Each revocation has a version of its own, and all of them are below that of the directory or its own. */
export function directoryVersionOf({ tables, at }: FolderRecords): number {
  return Math.max(count(tables.meta, 'directoryVersion', at), count(tables.meta, 'revocations', at));
}

/** All months that anything was charged to. */
export function periodsOf({ tables, at }: FolderRecords): number[] {
  const periods = new Set<number>();
  for (const { key } of tables.usage.entries({}, at)) periods.add(periodOfDay(dayOfKey(key)));
  for (const { key } of tables.displaced.entries({}, at)) periods.add(key[0]).add(key[1]);
  for (const { key } of tables.periodCorrections.entries({}, at)) periods.add(key[0]).add(key[1]);
  return [...periods].sort((a, b) => a - b);
}

function* balanceRows(records: FolderRecords): Generator<readonly unknown[]> {
  for (const each of periodsOf(records))
    for (const { accountNumber, period, requests, credits } of balancesIn(records.tables, each))
      yield [accountNumber, period, requests, credits];
}
