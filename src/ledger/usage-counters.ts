import { assert } from '../core/assert.ts';
import { dayOf, periodOf } from '../core/clock.ts';
import type { DataEndpoint, EntropyMode } from '../core/vocabulary.ts';
import type { UsageCount, UsageDay } from './records.ts';
import { ENDPOINT_OF_CODE, EntryCursor, MODE_OF_CODE } from './segment.ts';

const DAY_MS = 86_400_000;

/**
 * The counters of one account and day are one flat array: requests, values, bytes, credits; then requests, values, bytes for
 * each endpoint code and each mode code. Sums are exact below 2^53.
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

/** Most counters are 0, which takes one byte in MessagePack, so a stored record has about 100 bytes. */
export type UsageCounters = number[];

export function newCounters(): UsageCounters {
  return new Array<number>(COUNTERS).fill(0);
}

export function addCounters(into: UsageCounters, more: UsageCounters): void {
  for (let i = 0; i < COUNTERS; i++) into[i] += more[i];
}

export function creditsOf(counters: UsageCounters): number {
  return counters[3];
}

/** Returns the first day from which retention has dropped no entry. `oldestMs` is the commit time of the oldest segment left. */
export function firstWholeDay(hasDropped: boolean, oldestMs: number): number {
  return hasDropped ? dayOf(oldestMs) + 2 : 0; // an answer may be dated a day later than its commit: Answer.issuedAtMs
}

/**
 * Says in words what is wrong with the usage of an account on a day. It must equal the sum of the day's entries or, when
 * retention has dropped entries of the day, be no less than that sum.
 */
export function flawOfUsage(
  usage: UsageCounters | undefined,
  entries: UsageCounters | undefined,
  isWhole: boolean,
): string | undefined {
  if (usage === undefined) return 'is missing';
  if (entries === undefined) return isWhole ? `has no entries: ${sumsOf(usage)} are counted` : undefined;
  if (usage.every((count, i) => (isWhole ? count === entries[i] : count >= entries[i]))) return undefined;
  return `is not the sum of its entries: ${sumsOf(usage)} are counted, the entries have ${sumsOf(entries)}`;
}

/** Returns the sums in words, for a message that compares two records. */
function sumsOf(counters: UsageCounters): string {
  const [requests, values, bytes, credits] = counters;
  return `${requests} requests, ${values} values, ${bytes} bytes and ${credits} credits`;
}

/** Adds the entry at the cursor. */
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

/** Returns day and account as one exact number below 2^52: the key of usage records, which sort by day and then by account. */
export function usageKey(day: number, accountNumber: number): number {
  return day * ACCOUNTS + accountNumber;
}

export function dayOfKey(key: number): number {
  return Math.floor(key / ACCOUNTS);
}

export function accountOfKey(key: number): number {
  return key % ACCOUNTS;
}

/** Returns the calendar month of a day. */
function periodOfDay(day: number): number {
  return periodOf(day * DAY_MS);
}

export interface Charge {
  readonly requests: number;
  readonly credits: number;
}

const NO_CHARGE: Charge = { requests: 0, credits: 0 };

function chargeOf(counters: UsageCounters): Charge {
  return { requests: counters[0], credits: counters[3] };
}

export function sumOf({ requests, credits } = NO_CHARGE, more: Charge): Charge {
  return { requests: requests + more.requests, credits: credits + more.credits };
}

/** What an account is charged in a month. */
export interface PeriodCharge extends Charge {
  readonly account: number;
  /** `YYYYMM`. */
  readonly period: number;
}

/** Sums what segments add to the counters, by usage key. */
export class UsageTally {
  readonly counters = new Map<number, UsageCounters>();

  addEntries(entries: Uint8Array): void {
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

  addTally(more: UsageTally): void {
    for (const [key, counters] of more.counters) addCounters(this.#countersOf(key), counters);
  }

  /** Returns what each account is charged in each month, sorted by account and month. */
  charges(): PeriodCharge[] {
    const sums = new Map<string, PeriodCharge>();
    for (const [usage, counters] of this.counters) {
      const [account, period] = [accountOfKey(usage), periodOfDay(dayOfKey(usage))];
      const key = `${account} ${period}`;
      sums.set(key, { account, period, ...sumOf(sums.get(key), chargeOf(counters)) });
    }
    return [...sums.values()].sort((a, b) => a.account - b.account || a.period - b.period);
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
