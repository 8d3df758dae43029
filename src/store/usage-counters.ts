import { assert } from '../core/assert.ts';
import { periodOf } from '../core/clock.ts';
import type { DataEndpoint, EntropyMode } from '../core/vocabulary.ts';
import type { UsageCount, UsageDay } from './records.ts';
import { ENDPOINT_OF_CODE, EntryCursor, MODE_OF_CODE, TIME_END_MS } from './segment.ts';

const DAY_MS = 86_400_000;

/**
 * Counters of one account and day in one flat array of float64, stored as it is: requests, values, bytes, credits;
 * then requests, values, bytes per endpoint code and per mode code. Sums are exact below 2^53.
 */
const PER_WORD = 3;
/** Room for codes to come, so that a new endpoint does not change the stored layout. */
const ENDPOINT_SLOTS = 16;
const MODE_SLOTS = 8;
const AT_ENDPOINTS = 4;
const AT_MODES = AT_ENDPOINTS + ENDPOINT_SLOTS * PER_WORD;
const COUNTERS = AT_MODES + MODE_SLOTS * PER_WORD;
assert(
  ENDPOINT_OF_CODE.length <= ENDPOINT_SLOTS && MODE_OF_CODE.length <= MODE_SLOTS,
  'every code has its slot',
);

/** Account and day share one number as a map key: 2^32 accounts times 2^20 days stay below 2^53. */
const DAYS = TIME_END_MS / DAY_MS;

export type UsageCounters = Float64Array<ArrayBuffer>;

export function newCounters(): UsageCounters {
  return new Float64Array(COUNTERS);
}

export function addCounters(into: UsageCounters, more: UsageCounters): void {
  for (let i = 0; i < COUNTERS; i++) into[i] += more[i];
}

export function countersEqual(a: UsageCounters, b: UsageCounters): boolean {
  return a.every((counter, i) => counter === b[i]);
}

export function requestsOf(counters: UsageCounters): number {
  return counters[0];
}

export function creditsOf(counters: UsageCounters): number {
  return counters[3];
}

/** Adds the entry on which the cursor stands. Bytes are those of the `data` member, as delivered. */
function addEntry(counters: UsageCounters, cursor: EntryCursor): void {
  const values = cursor.valueCount;
  const bytes = cursor.deliveredBytes;
  counters[0] += 1;
  counters[1] += values;
  counters[2] += bytes;
  counters[3] += cursor.credits;
  addWord(counters, AT_ENDPOINTS + cursor.endpointCode * PER_WORD, values, bytes);
  addWord(counters, AT_MODES + cursor.modeCode * PER_WORD, values, bytes);
}

function addWord(counters: UsageCounters, at: number, values: number, bytes: number): void {
  counters[at] += 1;
  counters[at + 1] += values;
  counters[at + 2] += bytes;
}

export function usageDayOf(day: number, counters: UsageCounters): UsageDay {
  return {
    day,
    requests: counters[0],
    values: counters[1],
    bytes: counters[2],
    credits: counters[3],
    byEndpoint: wordsOf<DataEndpoint>(counters, AT_ENDPOINTS, ENDPOINT_OF_CODE),
    byMode: wordsOf<EntropyMode>(counters, AT_MODES, MODE_OF_CODE),
  };
}

function wordsOf<W extends string>(
  counters: UsageCounters,
  from: number,
  words: readonly (W | undefined)[],
): Partial<Record<W, UsageCount>> {
  const counts: Partial<Record<W, UsageCount>> = {};
  words.forEach((word, code) => {
    const at = from + code * PER_WORD;
    if (word === undefined || counters[at] === 0) return;
    counts[word] = { requests: counters[at], values: counters[at + 1], bytes: counters[at + 2] };
  });
  return counts;
}

/** The bytes that are stored; little-endian on every platform that Node runs LMDB on. */
export function bytesOfCounters(counters: UsageCounters): Uint8Array {
  return new Uint8Array(counters.buffer, counters.byteOffset, counters.byteLength);
}

/** Counters from stored bytes, in a buffer of their own. */
export function countersOfBytes(bytes: Uint8Array): UsageCounters {
  assert(bytes.length === COUNTERS * 8, `a usage record has ${COUNTERS} counters`);
  return new Float64Array(new Uint8Array(bytes).buffer);
}

/** What a group of segments adds to the counters, by account and UTC day. */
export class UsageTally {
  /** Key: accountNumber * DAYS + day. */
  readonly #counters = new Map<number, UsageCounters>();
  #latestPeriod = 0;

  addSegment(entries: Uint8Array): void {
    const cursor = new EntryCursor(entries);
    let lastKey = -1;
    let counters: UsageCounters | undefined;
    while (cursor.next()) {
      const key = cursor.accountNumber * DAYS + Math.floor(cursor.issuedAtMs / DAY_MS);
      if (counters === undefined || key !== lastKey) {
        lastKey = key;
        counters = this.#countersOf(key);
      }
      addEntry(counters, cursor);
    }
  }

  add(accountNumber: number, day: number, more: UsageCounters): void {
    addCounters(this.#countersOf(accountNumber * DAYS + day), more);
  }

  *days(): Generator<{ accountNumber: number; day: number; period: number; counters: UsageCounters }> {
    for (const [key, counters] of this.#counters) {
      const day = key % DAYS;
      yield { accountNumber: (key - day) / DAYS, day, period: periodOf(day * DAY_MS), counters };
    }
  }

  /** The latest calendar month that any entry fell into, or 0. */
  get latestPeriod(): number {
    return this.#latestPeriod;
  }

  #countersOf(key: number): UsageCounters {
    let counters = this.#counters.get(key);
    if (counters === undefined) {
      counters = newCounters();
      this.#counters.set(key, counters);
      this.#latestPeriod = Math.max(this.#latestPeriod, periodOf((key % DAYS) * DAY_MS));
    }
    return counters;
  }
}
