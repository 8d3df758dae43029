import { utf8Bytes } from '../core/bytes.ts';
import type { LogRecord, LogStore } from '../ledger/ledger.ts';

/** Names, reads and writes the records of the log. */

export type LogReader = Pick<LogStore, 'getLog'>;

/** Returns a number for a key. It has 16 digits, so that keys sort like their numbers. */
export function paddedNumber(count: number): string {
  return String(count).padStart(16, '0');
}

export function textOf(record: Uint8Array): string {
  return Buffer.from(record.buffer, record.byteOffset, record.byteLength).toString('utf8');
}

/** Resolves to what a record holds as JSON; undefined if there is no such record. */
export async function readJson<T>(store: LogReader, key: string): Promise<T | undefined> {
  const record = await store.getLog(key);
  return record && (JSON.parse(textOf(record)) as T);
}

export function jsonRecord(key: string, value: unknown): LogRecord {
  return { key, value: utf8Bytes(JSON.stringify(value)) };
}

/** Resolves to the first number below `count` that passes, or `count`. All numbers after it must pass too. */
export async function firstIndexWhere(
  count: number,
  passes: (n: number) => Promise<boolean>,
): Promise<number> {
  let from = 0;
  let before = count;
  while (from < before) {
    const middle = Math.floor((from + before) / 2);
    if (await passes(middle)) before = middle;
    else from = middle + 1;
  }
  return from;
}
