import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Ledger, LedgerError } from '../../src/ledger/ledger.ts';
import { faultsOf, faultyLedger, InjectedFault } from '../support/faulty-ledger.ts';
import { openTestLedger } from '../support/ledger-folder.ts';
import {
  account,
  answer,
  block,
  DAY_MS,
  filledSegment,
  job,
  key,
  lot,
  lotId,
  NO_LIMITS,
  NOON_MS,
  spend,
  submitted,
  TODAY,
} from '../support/ledger-records.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { MemoryLedger } from '../support/memory-ledger.ts';
import { release } from '../support/released-lots.ts';

/**
 * Random histories, run by the model and by LMDB, each behind the same faults. The driver does what a caller may: it
 * repeats a call that was rejected for an unknown reason, with the same ids. After each step both answer the same
 * questions alike, and the audit finds nothing.
 */

const RETRIES_MAX = 40;
const ACCOUNTS = 3;
const LOTS = 4;
const SEQUENCES = 12;
const CALM = 0.6;

/** The same faulty ledger twice: over the model and over the real one. */
interface Side {
  readonly ledger: Ledger;
  readonly clock: ManualClock;
}
interface Real extends Side {
  restart(): Promise<void>;
}

type Outcome = { readonly value: unknown } | { readonly refused: string };

/** Repeats until the answer is known, as a caller with an id in hand does. */
async function insist(call: () => Promise<unknown>): Promise<Outcome> {
  for (let attempt = 0; attempt < RETRIES_MAX; attempt++) {
    try {
      return { value: await call() };
    } catch (error) {
      if (error instanceof LedgerError) return { refused: error.reason };
      if (!(error instanceof InjectedFault)) throw error;
    }
  }
  throw new Error(`no answer in ${RETRIES_MAX} attempts`);
}

async function observe({ ledger }: Side): Promise<unknown> {
  const ask = async (question: () => Promise<unknown>) => insist(question);
  const numbers = Array.from({ length: ACCOUNTS }, (_, i) => i + 1);
  return {
    changes: await ask(() => ledger.directoryChanges(2)),
    accounts: await ask(() => ledger.accounts()),
    keys: await ask(() => ledger.keys()),
    lots: await ask(() => ledger.lots(10)),
    revocations: await ask(() => ledger.revocations()),
    levels: await ask(() => ledger.blockLevels()),
    segments: await ask(() => ledger.segmentsFrom(0, 100)),
    unsealed: await ask(() => ledger.unsealed(100)),
    balances: await ask(() => ledger.balances(202611)),
    later: await ask(() => ledger.balances(202612)),
    usage: await Promise.all(numbers.map((number) => ask(() => ledger.usage(number, 0)))),
    rates: await ask(() => ledger.loadRates(NOON_MS)),
    answers: await Promise.all(
      numbers.map((n) => ask(() => ledger.storedAnswer(n, answer(n, n, 0).keyDigest))),
    ),
    head: await ask(() => ledger.getLog('head')),
    spent: await Promise.all([TODAY, TODAY + 1].map((day) => ask(() => ledger.spent('simulator', day)))),
    jobs: await ask(() => ledger.openJobs('simulator')),
    note: await ask(() => ledger.sourceNote('simulator', 'offset')),
    audit: await ledger.audit(),
  };
}

class Step implements fc.AsyncCommand<Side, Real> {
  readonly #name: string;
  readonly #run: (side: Side) => Promise<unknown>;

  constructor(name: string, run: (side: Side) => Promise<unknown>) {
    this.#name = name;
    this.#run = run;
  }

  check(): boolean {
    return true;
  }

  async run(model: Side, real: Real): Promise<void> {
    const expected = await this.#run(model);
    assert.deepEqual(await this.#run(real), expected);
    const after = await observe(real);
    assert.deepEqual(after, await observe(model));
  }

  toString(): string {
    return this.#name;
  }
}

class Restart implements fc.AsyncCommand<Side, Real> {
  check(): boolean {
    return true;
  }

  async run(model: Side, real: Real): Promise<void> {
    await real.restart();
    assert.deepEqual(await observe(real), await observe(model));
  }

  toString(): string {
    return 'restart';
  }
}

const accountNumber = fc.integer({ min: 1, max: ACCOUNTS });
const lotNumber = fc.integer({ min: 1, max: LOTS });
const jobNumber = fc.integer({ min: 1, max: 4 });
/** Room for a few of the charges of a day, or for all. */
const limits = fc.record({
  amountPerDay: fc.constantFrom(null, 0.3, 0.6),
  callsPerDay: fc.constantFrom(null, 3),
});
const sequence = fc.integer({ min: 1, max: SEQUENCES });
const kind = fc.constantFrom('pure', 'seed');

const commands = [
  fc.record({ n: accountNumber, name: fc.constantFrom('a', 'b') }).map(({ n, name }) => {
    return new Step(`create ${n} ${name}`, ({ ledger }) =>
      insist(() => ledger.createAccount(account(n, { name }))),
    );
  }),
  fc.record({ n: accountNumber, number: accountNumber }).map(({ n, number }) => {
    return new Step(`put account ${n} as ${number}`, ({ ledger }) =>
      insist(() => ledger.putAccount({ ...account(n, { tier: 'business' }), number })),
    );
  }),
  fc.record({ n: accountNumber, revoked: fc.boolean() }).map(({ n, revoked }) => {
    const record = key(n, account(n).id, { revokedAtMs: revoked ? NOON_MS : null });
    return new Step(`put key ${n} ${revoked}`, ({ ledger }) => insist(() => ledger.putKey(record)));
  }),
  fc
    .record({
      n: lotNumber,
      blocks: fc.integer({ min: 0, max: 5 }),
      accepted: fc.boolean(),
      ofJob: fc.option(jobNumber, { nil: undefined }),
    })
    .map((given) => {
      const { n, blocks, accepted, ofJob } = given;
      const jobKey = ofJob === undefined ? undefined : job(ofJob).key;
      const content = Array.from({ length: blocks }, (_, i) =>
        block(i % 2 === 0 ? 'pure' : 'seed', n * 16 + i),
      );
      return new Step(`lot ${n} of ${blocks} ${accepted} by ${jobKey}`, ({ ledger }) =>
        insist(() => ledger.addLot(lot(n, { accepted }), content, jobKey)),
      );
    }),
  fc.record({ count: fc.integer({ min: 1, max: 3 }), n: lotNumber }).map(({ count, n }) => {
    return new Step(`release ${count}, and ${n} if its turn is next`, ({ ledger }) =>
      insist(async () => {
        const lotIds = (await ledger.pendingLots(count)).map(({ id }) => id);
        await ledger.putLog([], undefined, { lotIds, atMs: NOON_MS + n });
        const [next] = await ledger.pendingLots(1);
        if (next === undefined || next.id === lotId(n)) await release(ledger, lotId(n));
      }),
    );
  }),
  fc.integer({ min: 0, max: 4 }).map((limit) => {
    return new Step(`pending ${limit}`, ({ ledger }) => insist(() => ledger.pendingLots(limit)));
  }),
  fc.record({ n: lotNumber, why: fc.constantFrom('x', 'y') }).map(({ n, why }) => {
    return new Step(`revoke ${n} ${why}`, ({ ledger }) =>
      insist(() => ledger.revokeLot({ lotId: lotId(n), why, atMs: NOON_MS + n })),
    );
  }),
  fc.record({ kind, max: fc.integer({ min: 0, max: 3 }) }).map(({ kind, max }) => {
    return new Step(`claim ${max} ${kind}`, ({ ledger }) => insist(() => ledger.claimBlocks(kind, max)));
  }),
  fc.record({ at: sequence, count: fc.integer({ min: 0, max: 3 }), account: accountNumber }).map((given) => {
    const { at, count, account } = given;
    const more = { accountNumber: account, issuedAtMs: NOON_MS + at * DAY_MS };
    return new Step(`commit ${at} of ${count} for ${account}`, ({ ledger }) =>
      insist(() =>
        ledger.commit([filledSegment(at, count, more)], [answer(account, account, NOON_MS + at * 1_000)]),
      ),
    );
  }),
  fc.uniqueArray(sequence, { minLength: 2, maxLength: 6 }).map((sequences) => {
    return new Step(`commit at once ${sequences}`, ({ ledger }) =>
      Promise.all(sequences.map((at) => insist(() => ledger.commit([filledSegment(at, 2)], [])))),
    );
  }),
  fc.record({ number: accountNumber, times: fc.integer({ min: 0, max: 3 }) }).map(({ number, times }) => {
    const admittedAtMs = Array.from({ length: times }, (_, i) => NOON_MS + i * 1_000);
    return new Step(`save rate ${number} ${times}`, ({ ledger }) =>
      insist(() => ledger.saveRates([{ accountNumber: number, tatMs: times, admittedAtMs }])),
    );
  }),
  fc.record({ now: sequence, before: sequence }).map(({ now, before }) => {
    return new Step(`expire ${now} ${before}`, async ({ ledger, clock }) => {
      clock.wall = Math.max(clock.wall, NOON_MS + now * 1_000);
      return insist(() => ledger.expire(NOON_MS + now * 1_000, NOON_MS + before));
    });
  }),
  fc.integer({ min: 0, max: 255 }).map((value) => {
    return new Step(`log ${value}`, ({ ledger }) =>
      insist(() => ledger.putLog([{ key: 'head', value: new Uint8Array([value]) }])),
    );
  }),
  fc.record({ from: fc.nat(3), to: fc.nat(3), at: sequence }).map(({ from, to, at }) => {
    const expected = from === 0 ? undefined : new Uint8Array([from]);
    return new Step(`step the log from ${from} to ${to} with segment ${at}`, ({ ledger }) =>
      insist(() =>
        ledger.putLog([{ key: 'head', value: new Uint8Array([to]) }], {
          key: 'head',
          expected,
          sealed: [at],
        }),
      ),
    );
  }),
  fc.record({ n: jobNumber, tomorrow: fc.boolean(), limits }).map(({ n, tomorrow, limits }) => {
    const opened = job(n, { day: TODAY + Number(tomorrow) });
    return new Step(`open job ${n} ${tomorrow} ${JSON.stringify(limits)}`, ({ ledger }) =>
      insist(() => ledger.openJob(opened, limits)),
    );
  }),
  fc
    .record({
      n: jobNumber,
      state: fc.constantFrom('intended', 'submitted', 'stored', 'ended'),
      memo: fc.constantFrom('', 'x'),
      failure: fc.constantFrom('', '', 'failed'),
      tomorrow: fc.constantFrom(false, false, true),
    })
    .map(({ n, state, memo, failure, tomorrow }) => {
      const more = { memo, day: TODAY + Number(tomorrow) };
      const record = state === 'intended' ? job(n, more) : submitted(n, { ...more, state, failure });
      return new Step(`put job ${n} ${state} ${memo} ${failure} ${tomorrow}`, ({ ledger }) =>
        insist(() => ledger.putJob(record)),
      );
    }),
  fc
    .record({ n: jobNumber, amount: fc.constantFrom(0, 0.1, 0.25), euro: fc.boolean(), limits })
    .map((given) => {
      const { n, amount, euro, limits } = given;
      const charged = spend(amount, euro ? { currency: 'EUR' } : {});
      return new Step(`charge ${n} ${amount} ${euro} ${JSON.stringify(limits)}`, ({ ledger }) =>
        insist(() => ledger.charge(`charge ${n}`, charged, limits)),
      );
    }),
  fc.record({ n: jobNumber, of: lotNumber }).map(({ n, of }) => {
    return new Step(`run job ${n} to lot ${of}`, async ({ ledger }) => [
      await insist(() => ledger.openJob(job(n), NO_LIMITS)),
      await insist(() => ledger.putJob(submitted(n))),
      await insist(() => ledger.addLot(lot(of), [block('pure', of * 16)], job(n).key)),
    ]);
  }),
  fc.constantFrom('1', '2').map((value) => {
    return new Step(`note ${value}`, ({ ledger }) =>
      insist(() => ledger.putSourceNote('simulator', 'offset', value)),
    );
  }),
  fc.constant(new Restart()),
];

/** Runs that many random histories on the model and on LMDB with this durability; those of a smaller number are the first of these. */
export function ledgerModel(durability: 'fsync' | 'commit', numRuns: number): void {
  test(`random histories with faults: LMDB (${durability}) does what the model does`, async () => {
    const histories = fc.commands(commands, { maxCommands: 25, size: 'max' });
    const property = fc.asyncProperty(histories, fc.integer(), async (history, simSeed) => {
      const path = mkdtempSync(join(tmpdir(), 'qrn-ledger-'));
      const clock = new ManualClock(NOON_MS);
      let inner = await openTestLedger(path, { durability, clock });
      const modelClock = new ManualClock(NOON_MS);
      const memory = new MemoryLedger(modelClock, { keepsPending: true });
      const model: Side = { ledger: faultyLedger(() => memory, faultsOf(simSeed, CALM)), clock: modelClock };
      const real: Real = {
        ledger: faultyLedger(() => inner, faultsOf(simSeed, CALM)),
        clock,
        restart: async () => {
          await inner.close();
          inner = await openTestLedger(path, { durability, clock });
        },
      };
      try {
        await fc.asyncModelRun(() => ({ model, real }), history);
      } finally {
        await inner.close();
        rmSync(path, { recursive: true, force: true });
      }
    });
    await fc.assert(property, { numRuns, endOnFailure: false });
  });
}
