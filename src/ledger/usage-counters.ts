import { assert } from '../core/assert.ts';
import { periodOf } from '../core/clock.ts';
import type { DataEndpoint, EntropyMode } from '../core/vocabulary.ts';
import type { Codec } from './lmdb/table.ts';
import type { SegmentRecord, UsageCount, UsageDay } from './records.ts';
import { ENDPOINT_OF_CODE, EntryCursor, MODE_OF_CODE } from './segment.ts';

const DAY_MS = 86_400_000;

/**
 * Counters of one account and day in one flat array: requests, values, bytes, credits; then requests, values,
 * bytes per endpoint code and per mode code. Sums are exact below 2^53.
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

/** Account numbers are 32 bits wide in packed entries. */
const ACCOUNTS = 2 ** 32;

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

export function creditsOf(counters: UsageCounters): number {
  return counters[3];
}

/** The sums in words, for a message that tells two records apart. */
export function sumsOf(counters: UsageCounters): string {
  const [requests, values, bytes, credits] = counters;
  return `${requests} requests, ${values} values, ${bytes} bytes and ${credits} credits`;
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

const PAIR_BYTES = 9; // index (uint8), value (float64, little-endian)

/**
 * The stored form: index and value of each counter that is not zero, about 90 bytes instead of 608, so that a
 * commit which touches 100 accounts rewrites 3 pages instead of 17.
 */
export const countersCodec: Codec<UsageCounters> = {
  encode(counters) {
    const pairs = new Uint8Array(COUNTERS * PAIR_BYTES);
    const view = new DataView(pairs.buffer);
    let at = 0;
    for (let i = 0; i < COUNTERS; i++) {
      if (counters[i] === 0) continue;
      view.setUint8(at, i);
      view.setFloat64(at + 1, counters[i], true);
      at += PAIR_BYTES;
    }
    return pairs.subarray(0, at);
  },
  decode(pairs) {
    const counters = newCounters();
    const view = new DataView(pairs.buffer, pairs.byteOffset, pairs.byteLength);
    for (let at = 0; at < pairs.length; at += PAIR_BYTES)
      counters[view.getUint8(at)] = view.getFloat64(at + 1, true);
    return counters;
  },
};

/**
 * Day and account as one exact number, below 2^52: the key of usage records. Accounts are numbered densely,
 * so the records of one day lie side by side.
 */
export function usageKey(day: number, accountNumber: number): number {
  return day * ACCOUNTS + accountNumber;
}

export function dayOfKey(key: number): number {
  return Math.floor(key / ACCOUNTS);
}

export function accountOfKey(key: number): number {
  return key % ACCOUNTS;
}

/** The first day of a calendar month (UTC) given as YYYYMM, and the first day after it. */
export function daysOfPeriod(period: number): { first: number; after: number } {
  const year = Math.floor(period / 100);
  const month = period % 100;
  return { first: Date.UTC(year, month - 1, 1) / DAY_MS, after: Date.UTC(year, month, 1) / DAY_MS };
}

/** The calendar month of a day. */
export function periodOfDay(day: number): number {
  return periodOf(day * DAY_MS);
}

/** Requests and credits. */
export interface Charge {
  readonly requests: number;
  readonly credits: number;
}

export const NO_CHARGE: Charge = { requests: 0, credits: 0 };

export function chargeOf(counters: UsageCounters): Charge {
  return { requests: counters[0], credits: counters[3] };
}

export function sumOf({ requests, credits } = NO_CHARGE, more: Charge, sign: 1 | -1 = 1): Charge {
  return { requests: requests + sign * more.requests, credits: credits + sign * more.credits };
}

/**
 * The month that was charged, the month of issue, the account: the key of charges that left the month of
 * their issue.
 */
export type DisplacedKey = readonly [charged: number, issued: number, accountNumber: number];

/** The month that takes the charges, the month that they were charged to, the account. */
export type CorrectionKey = readonly [to: number, from: number, accountNumber: number];

/** Charges that an operator moved from one month to another, and when the last of them were moved (Unix ms). */
export interface CorrectedCharge extends Charge {
  /** The part that went back to the month of its issue. Records of earlier releases do not tell it. */
  readonly returned?: Charge;
  readonly atMs: number;
}

/** Sums of displaced charges, by DisplacedKey. */
export class DisplacedTally {
  readonly #sums = new Map<string, { key: DisplacedKey; charge: Charge }>();

  addSegment({ displaced, entries }: Pick<SegmentRecord, 'displaced' | 'entries'>): void {
    if (displaced.length === 0) return;
    const cursor = new EntryCursor(entries);
    for (const { index, period } of displaced) {
      assert(cursor.seek(index), 'a displaced charge names an entry of its segment');
      const key = [period, periodOf(cursor.issuedAtMs), cursor.accountNumber] as const;
      this.add(key, { requests: 1, credits: cursor.credits });
    }
  }

  add(key: DisplacedKey, more: Charge): void {
    const charge = sumOf(this.#sums.get(key.join(' '))?.charge, more);
    this.#sums.set(key.join(' '), { key, charge });
  }

  /** Takes the sum of a key out of the tally. */
  take(key: DisplacedKey): Charge | undefined {
    const sum = this.#sums.get(key.join(' '));
    this.#sums.delete(key.join(' '));
    return sum?.charge;
  }

  sums(): Iterable<{ readonly key: DisplacedKey; readonly charge: Charge }> {
    return this.#sums.values();
  }
}

/** What a group of segments adds to the counters, by usage key. */
export class UsageTally {
  readonly counters = new Map<number, UsageCounters>();

  addSegment(entries: Uint8Array): void {
    const cursor = new EntryCursor(entries);
    let lastKey = -1;
    let counters: UsageCounters | undefined;
    while (cursor.next()) {
      const key = usageKey(Math.floor(cursor.issuedAtMs / DAY_MS), cursor.accountNumber);
      if (counters === undefined || key !== lastKey) {
        lastKey = key;
        counters = this.#countersOf(key);
      }
      addEntry(counters, cursor);
    }
  }

  add(key: number, more: UsageCounters): void {
    addCounters(this.#countersOf(key), more);
  }

  #countersOf(key: number): UsageCounters {
    let counters = this.counters.get(key);
    if (counters === undefined) {
      counters = newCounters();
      this.counters.set(key, counters);
    }
    return counters;
  }
}
