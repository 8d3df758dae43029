import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { dayOf } from '../../src/core/clock.ts';
import type { AnswerEntry, SegmentRecord } from '../../src/ledger/records.ts';
import { encodeSegment } from '../../src/ledger/segment.ts';
import { type Body, type Key, type SharedTable, tx } from '../../src/ledger/store.ts';
import * as T from '../../src/ledger/tables.ts';
import { newCounters, usageKey } from '../../src/ledger/usage-counters.ts';
import {
  account,
  answer,
  block,
  DAY_MS,
  entry,
  job,
  key,
  lot,
  lotId,
  NO_LIMITS,
  NOON_MS,
  segment,
  source,
  spend,
  submitted,
  TODAY,
} from '../support/ledger-records.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { memoryCalls } from '../support/memory-ledger.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { addReleased } from '../support/released-lots.ts';

const LATER_MS = NOON_MS + 10 * DAY_MS;
const LATER_DAY = dayOf(LATER_MS);
const [USED, USED_LATER] = [usageKey(TODAY, 1), usageKey(LATER_DAY, 1)];
const STATE = { key: 'state', value: new Uint8Array([1]) };
const DRAW = { id: 'draw_a', accountNumber: 1, state: 'opening', dueAtMs: 5, body: '{}' } as const;
const LABEL = { isPublic: true, purpose: 'raffle', series: 'series_a' };
const ANSWER = answer(1, 7, NOON_MS + 9);
const stored = (n: number) => submitted(n, { state: 'stored' });

/** The segment that is not sealed, with an entry of its own. */
function waiting(more: Partial<AnswerEntry> = {}, from = source('csprng', [8])): SegmentRecord {
  return segment(4, [entry(5, { issuedAtMs: LATER_MS, ...more })], {
    committedAtMs: LATER_MS + 1,
    sources: [from],
  });
}

/** Returns books with records in every table, of which retention has dropped the first of two segments of a day. */
async function filledBooks() {
  const store = new MemoryStore();
  const [clock, writer] = [new ManualClock(NOON_MS), { number: 0, epoch: 0 }];
  const jobs = { node: 0, fenced: async () => new Set<number>() };
  const ledger = memoryCalls({ books: store, folder: store, clock, writer, jobs });
  const { id } = await ledger.createAccount(account(1));
  await ledger.createAccount(account(2));
  await ledger.putKey(key(1, id));
  for (const n of [1, 2, 3, 4]) {
    await ledger.openJob(job(n), NO_LIMITS);
    await ledger.putJob(submitted(n));
  }
  for (const n of [1, 2]) await addReleased(ledger, lot(n), [block('pure', n), block('seed', n)], job(n).key);
  await ledger.addLot(lot(3, { accepted: false, rejection: 'APT' }), []);
  await ledger.addLot(lot(4), [block('pure', 4)]);
  await ledger.claimBlocks('pure', 1);
  await ledger.revokeLot({ lotId: lotId(2), why: 'x', atMs: NOON_MS });
  await ledger.putJob(submitted(2, { state: 'ended', memo: '' }));
  await ledger.putJob(submitted(4, { state: 'ended', failure: 'device error' }));
  await ledger.charge('charge', spend(0.4), NO_LIMITS);
  await ledger.putSourceNote('anu', 'offset', '9');
  await ledger.openDraw(DRAW, 9);
  await ledger.putDraw({ ...DRAW, state: 'committed' }, { drawId: DRAW.id, kind: 'commit', text: '{}' });
  await ledger.openDraw({ ...DRAW, id: 'draw_b' }, 9);
  await ledger.putDraw({ ...DRAW, id: 'draw_b', state: 'ended' });
  await ledger.commit([segment(1, [entry(1)])], []);
  const drawn = [entry(2, { label: LABEL }), entry(3, { mode: 'pure', source: 1, credits: 5 })];
  const sources = [source('csprng', [8]), source('pure', [1])];
  await ledger.commit([segment(2, drawn, { sources })], [ANSWER]);
  const later = segment(3, [entry(4, { issuedAtMs: LATER_MS })], { committedAtMs: LATER_MS });
  await ledger.commit([later, waiting()], []);
  await ledger.putLog([STATE], { key: STATE.key, expected: undefined, sealed: [1, 2, 3] });
  assert.deepEqual(await ledger.expire(0, NOON_MS + 2), { answers: 0, segments: 1 });
  return { ledger, store };
}

/** The problems in the books once a body was run past their rules. */
async function problemsAfter(body: () => Body<void>): Promise<readonly string[]> {
  const { ledger, store } = await filledBooks();
  store.within(body());
  const { ok, problems } = await ledger.audit();
  assert.equal(ok, problems.length === 0);
  return problems;
}

function put<K extends Key, V>(table: SharedTable<K, V>, at: K, value: V): () => Body<void> {
  return () => tx.put(table, at, value);
}

function gone<K extends Key, V>(table: SharedTable<K, V>, ...keys: K[]): () => Body<void> {
  return () => tx.remove(table, keys);
}

/** A record with some of its members changed, at its own place or at another one. */
function changed<K extends Key, V>(
  table: SharedTable<K, V>,
  at: K,
  more: Partial<V>,
  to = at,
): () => Body<void> {
  return function* () {
    const [value] = yield* tx.getAll(table, [at]);
    yield* tx.put(table, to, { ...value, ...more });
  };
}

/** Whether a day or an account is counted in another way. */
function counted(at: number, more: number): () => Body<void> {
  return function* () {
    const [counters] = yield* tx.getAll(T.USAGE, [at]);
    yield* tx.put(T.USAGE, at, counters.with(3, counters[3] + more) as typeof counters);
  };
}

const ofBlocks = (first: number) => ({ first, count: 1, left: 1, bytes: 32 });
const DAMAGED = encodeSegment(waiting()).with(12, 0xff);
const inPlace = (record: SegmentRecord, at = record.sequence) => put(T.SEGMENTS, at, encodeSegment(record));
const [ACCOUNT, KEY] = [account(2).id, key(1, '').keyId];
const [LOT, LOST, REFUSED] = [lotId(1), lotId(2), lotId(3)];
const JOB = (n: number) => job(n).key;
const DAY = ['simulator', TODAY] as const;
const USAGE_OF = 'the usage of account 1 on day';
const [IS_MISSING, IS_EXTRA] = ['is missing, and other records', 'is stored, and no other record'];
const WRONG = 'others imply';

/**
 * Changes of the books that break their rules, and a part of each problem that the audit then reports; it reports no
 * others.
 */
const PLANTS: readonly (readonly [body: () => Body<void>, ...problems: string[]])[] = [
  [gone(T.KEYS)],
  [changed(T.ACCOUNTS, ACCOUNT, { number: 5 }), 'dense: 5 stands at place 2'],
  [gone(T.ACCOUNTS, ACCOUNT), 'accounts: 1 are stored, 2 are counted'],
  [changed(T.KEYS, KEY, { accountId: 'none' }), 'belongs to no account'],
  [gone(T.KEYS, KEY), 'keys: 0 are stored, 1 are counted'],

  [gone(T.LOTS, REFUSED), 'lots: 3 are', 'lotStates', 'lotOrder ,-3', 'lotOrder simulator'],
  [gone(T.LOT_STATES, REFUSED), IS_MISSING],
  [gone(T.LOT_ORDER, ['', -3]), 'simulator,-3: is stored', IS_MISSING, IS_MISSING],
  [put(T.LOT_ORDER, ['simulator', -3], LOT), 'lotOrder simulator,-3: "lot_'],
  [gone(T.PENDING_LOTS, 4), `pendingLots 4: ${IS_MISSING}`],
  [put(T.PENDING_LOTS, 1, LOT), `pendingLots 1: ${IS_EXTRA}`],
  [gone(T.REVOCATIONS, LOST), 'revocations: 0 are stored, 1', IS_MISSING],
  [changed(T.LOT_STATES, LOT, { isWithdrawn: true }), IS_MISSING],

  [changed(T.HELD_LOTS, 1, { ordinal: 9 }), 'is held as 1, not 9'],
  [changed(T.HELD_LOTS, 1, { ordinal: 9 }, 9), 'is held twice', 'blocks from 1 on are of two'],
  [changed(T.HELD_LOTS, 3, { pure: ofBlocks(1) }), 'blocks from 1 on', 'block pure 5 is not'],
  [changed(T.LOTS, LOT, { accepted: false }), 'not accepted and has blocks', 'drew on'],
  [changed(T.HELD_LOTS, 1, { seed: ofBlocks(3) }), 'block seed 2 is not of the lot'],
  [changed(T.HELD_LOTS, 1, { seed: ofBlocks(1) }), 'blocks from 1', 'seed 2 is not of'],
  [gone(T.HELD_LOTS, 3), 'block pure 5 is not of the lot'],
  [gone(T.BLOCKS, ['pure', 5]), 'held with 1 pure blocks of 32 bytes left, and 0 of 0'],
  [
    changed(T.BLOCKS, ['seed', 2], { sealed: new Uint8Array(59) }),
    '1 seed blocks of 32 bytes left, and 1 of 31',
  ],

  [changed(T.JOBS, JOB(1), { lotId: null }), 'job job 1 is stored and has no lot'],
  [changed(T.JOBS, JOB(4), { lotId: lotId(9) }), 'is ended and has lot', 'is not stored'],
  [changed(T.JOBS, JOB(2), { lotId: null }), 'job job 2 is ended and has no lot'],
  [changed(T.JOBS, JOB(1), { lotId: LOST }), 'is of job job 1 and of job job 2'],
  [changed(T.JOBS, JOB(1), { job: stored(2) }), 'job job 2 is stored as job 1'],
  [gone(T.OPEN_JOBS, ['simulator', 3]), `openJobs simulator,3: ${IS_MISSING}`],
  [put(T.OPEN_JOBS, ['simulator', 4], JOB(4)), `simulator,4: ${IS_EXTRA}`],
  [changed(T.SPENDS, DAY, { micros: 1 }), 'others imply {"micros":800000,'],
  [changed(T.CHARGES, 'charge', { currency: 'EUR' }), 'a sum over currencies', WRONG],
  [gone(T.SPENDS, DAY), IS_MISSING],
  [gone(T.JOBS, JOB(4)), 'jobs: 3 are stored, 4 are counted', WRONG],
  [gone(T.CHARGES, 'charge'), 'charges: 0 are stored, 1', WRONG],
  [gone(T.SOURCE_NOTES, ['anu', 'offset']), 'sourceNotes: 0 are stored, 1'],

  [gone(T.DRAWS, DRAW.id), 'draws: 1 are stored, 2', IS_EXTRA, 'unknown draw draw_a'],
  [gone(T.OPEN_DRAWS, [1, DRAW.id]), `openDraws 1,draw_a: ${IS_MISSING}`],
  [put(T.OPEN_DRAWS, [1, 'draw_b'], 0), `openDraws 1,draw_b: ${IS_EXTRA}`],

  [inPlace(waiting(), 9), '4 is stored as 9', '9 is not listed', '4 repeats', USAGE_OF],
  [gone(T.SEGMENT_TIMES, [LATER_MS + 1, 4]), 'segment 4 is not listed by its time'],
  [put(T.SEGMENT_TIMES, [LATER_MS, 7], 0), '7 is listed by time but not readable'],
  [put(T.SEGMENTS, 4, DAMAGED), 'match its checksum', 'but not readable', 'is to be logged'],
  [changed(T.UNSEALED, 4, { count: 2 }), 'not stored with as many certificates'],
  [gone(T.UNSEALED, 4), `${USAGE_OF} ${LATER_DAY} is not the sum`],
  [inPlace(waiting({ requestId: entry(4).requestId })), '4 repeats a request id'],
  [inPlace(waiting({ mode: 'pure' }, source('pure', [8]))), 'which is not stored'],
  [inPlace(waiting({ mode: 'pure' }, source('pure', [3]))), 'which was not accepted'],
  [inPlace(waiting({ credits: 1 })), 'segment 4 spends credits outside pure mode'],

  [counted(USED, 1), WRONG],
  [put(T.USAGE, USED, newCounters()), 'is not the sum of its entries: 0 requests', WRONG],
  [gone(T.USAGE, USED), `${USAGE_OF} ${TODAY} is missing`, WRONG],
  [counted(USED_LATER, 1), '1 requests, 10 values, 120 bytes and 1 credits', WRONG],
  [put(T.USAGE, USED_LATER, newCounters()), 'is not the sum of its entries', WRONG],
  [gone(T.USAGE, USED_LATER), `${USAGE_OF} ${LATER_DAY} is missing`, WRONG],
  [put(T.USAGE, usageKey(LATER_DAY, 7), newCounters()), 'has no entries: 0', IS_MISSING],
  [changed(T.BALANCES, [202_611, 1], { credits: 6 }), 'balances 202611,1: {'],

  [gone(T.ANSWER_EXPIRY, [NOON_MS + 9, 1, ANSWER.keyDigest]), 'would never expire'],
  [gone(T.LOG, 'state'), 'logRecords: 0 are stored, 1'],
  [gone(T.SERIALS, [2, 0]), `serials 2,0: ${IS_MISSING}`, IS_EXTRA],
  [changed(T.SERIES, ['series_a', 1], { index: 1 }), WRONG],
  [changed(T.SERIES_COUNTS, 'series_a', { count: 2 }), 'has 1 answers, and 2 are counted'],
];

suite('an audit of the books', () => {
  test('counts the records of sound books', async () => {
    const { ledger } = await filledBooks();
    assert.deepEqual(await ledger.audit(), {
      ok: true,
      problems: [],
      ...{ segments: 3, certificates: 4, creditsSpent: 5, lots: 4, blocksUnclaimed: 2, blocksClaimed: 3 },
    });
  });

  for (const [i, [body, ...expected]] of PLANTS.entries())
    test(`reports what is wrong (${i + 1}): ${expected.join('; ') || 'nothing'}`, async () => {
      const problems = await problemsAfter(body);
      assert.equal(problems.length, expected.length, problems.join('\n'));
      for (const [at, problem] of problems.entries())
        assert.ok(problem.includes(expected[at]), `${problem} without ${expected[at]}`);
    });

  test('describes 100 problems, and says how many more there are', async () => {
    const problems = await problemsAfter(function* () {
      for (let n = 1; n <= 150; n++) yield* tx.put(T.KEYS, key(n, '').keyId, key(n, 'none'));
      yield* tx.put(T.COUNTS, 'keys', 150);
    });
    assert.deepEqual([problems.length, problems[100]], [101, 'and 50 more']);
  });
});
