import { utf8Bytes } from '../core/bytes.ts';
import type { LogRecord, LogStore } from '../ledger/ledger.ts';

/** Records of the log: how they are named, read and written. */

export type LogReader = Pick<LogStore, 'getLog'>;

/** Numbers in keys have 16 digits, so that keys sort as their numbers do. */
export function paddedNumber(count: number): string {
  return String(count).padStart(16, '0');
}

export function textOf(record: Uint8Array): string {
  return Buffer.from(record.buffer, record.byteOffset, record.byteLength).toString('utf8');
}

/** What a record holds as JSON; undefined where there is none. */
export async function readJson<T>(store: LogReader, key: string): Promise<T | undefined> {
  const record = await store.getLog(key);
  return record && (JSON.parse(textOf(record)) as T);
}

export function jsonRecord(key: string, value: unknown): LogRecord {
  return { key, value: utf8Bytes(JSON.stringify(value)) };
}

/** The first number below `count` that passes, as all that follow it do, found by halving; `count` where none does. */
export async function firstThat(count: number, passes: (n: number) => Promise<boolean>): Promise<number> {
  let from = 0;
  let before = count;
  while (from < before) {
    const middle = Math.floor((from + before) / 2);
    if (await passes(middle)) before = middle;
    else from = middle + 1;
  }
  return from;
}
