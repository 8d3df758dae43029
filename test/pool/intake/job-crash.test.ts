import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Backend, BackendError, type JobReference } from '../../../src/backend/backend.ts';
import type { Wait } from '../../../src/core/clock.ts';
import { dayOf } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import { Collector } from '../../../src/pool/intake/collector.ts';
import { memoryLedger } from '../../support/memory-ledger.ts';
import { ScriptedAssessor } from '../fixtures.ts';
import { JobDouble } from './job-double.ts';
import { VirtualTime } from './virtual-time.ts';

const LOT_RAW_BITS = 64 * 1024;
/** The effects of a service on the outside, between which its death makes a difference. */
const EFFECTS: ReadonlySet<string> = new Set([
  'openJob',
  'submit',
  'putJob',
  'poll',
  'fetch',
  'addLot',
  'forget',
]);
const never = () => new Promise<never>(() => {});

/** A process that dies at its `dieAt`th effect, before it is made or after: nothing of it goes on from then. */
class MortalProcess {
  readonly effects: string[] = [];
  readonly #dieAt: number;
  readonly #isMade: boolean;

  constructor(dieAt: number, isMade: boolean) {
    this.#dieAt = dieAt;
    this.#isMade = isMade;
  }

  get isDead(): boolean {
    return this.effects.length >= this.#dieAt;
  }

  /** Returns the same calls, made by this process. */
  over<T extends object>(target: T): T {
    return new Proxy(target, {
      get: (_target, name: string) => {
        const member = target[name as keyof T];
        if (typeof member !== 'function' || name === 'estimate') return member;
        return (...args: unknown[]) => this.#call(name, () => member.apply(target, args));
      },
    });
  }

  wait(time: VirtualTime): Wait {
    return async (ms, signal) => {
      await (this.isDead ? never() : time.wait(ms, signal));
      if (this.isDead) await never();
    };
  }

  async #call(name: string, make: () => Promise<unknown>): Promise<unknown> {
    if (this.isDead) return never();
    if (EFFECTS.has(name)) this.effects.push(name);
    if (this.isDead && !this.#isMade) return never();
    const result = await make();
    return this.isDead ? never() : result;
  }
}

/** A service until it has nothing to do or dies. */
async function live(process: MortalProcess, provider: JobDouble, ledger: Ledger, time: VirtualTime) {
  const collector = new Collector({
    backend: process.over<Backend>(provider),
    store: process.over(ledger),
    assessor: new ScriptedAssessor(),
    clock: time.clock,
    log: silentLog,
    pureBytesHigh: 1,
    lotRawBits: LOT_RAW_BITS,
    onLot: async () => {},
    wait: process.wait(time),
  });
  collector.start();
  await time.pass(30_000);
  if (!process.isDead) await collector.stop();
}

/** Exactly one job was paid for, read once and forgotten, and every block is there once. */
async function assertOneJob(provider: JobDouble, ledger: Ledger, clock: { wallMs(): number }, when: string) {
  assert.equal(provider.started, 1, when);
  assert.equal(new Set(provider.keys).size, 1, when);
  assert.deepEqual([...new Set(provider.forgotten)], ['job 1'], when);
  assert.deepEqual(provider.cancelled, [], when);
  assert.deepEqual(await ledger.openJobs(provider.name), [], when);
  const lots = await ledger.lots(9);
  assert.equal(lots.length, 1, when);
  assert.equal(lots[0].rawSha256, provider.result(LOT_RAW_BITS, '1').rawSha256, when);
  const today = dayOf(clock.wallMs());
  const spends = await Promise.all([today, today - 1].map((day) => ledger.spent(provider.name, day)));
  assert.equal(spends[0].calls + spends[1].calls, 1, when);
  assert.deepEqual((await ledger.audit()).problems, [], when);
  // no log runs here that would release the lot
  await ledger.putLog([], undefined, { lotIds: [lots[0].id], atMs: clock.wallMs() });
  const blocks = [...(await ledger.claimBlocks('seed', 99)), ...(await ledger.claimBlocks('pure', 99))];
  const texts = blocks.map(({ bytes }) => Buffer.from(bytes).toString('hex'));
  assert.equal(texts.length, 66, when);
  assert.equal(new Set(texts).size, 66, when);
}

const JOB_STATES = [{ state: 'queued' }, { state: 'running' }, { state: 'done' }] as const;

describe('a service that dies in the middle of a job', () => {
  it('makes these effects if it does not die', async () => {
    const time = new VirtualTime();
    const [provider, ledger] = [new JobDouble(...JOB_STATES), memoryLedger(time.clock)];
    const process = new MortalProcess(Number.POSITIVE_INFINITY, true);
    await live(process, provider, ledger, time);
    const expected = [
      'openJob',
      'submit',
      'putJob',
      'poll',
      'poll',
      'poll',
      'fetch',
      'addLot',
      'forget',
      'putJob',
    ];
    assert.deepEqual(process.effects, expected);
    await assertOneJob(provider, ledger, time.clock, 'no death');
  });

  const EFFECT_COUNT = 10;
  const deaths = Array.from({ length: EFFECT_COUNT }, (_, i) => i + 1).flatMap((at) =>
    [false, true].map((isMade) => ({ at, isMade })),
  );

  for (const { at, isMade } of deaths) {
    it(`${isMade ? 'after' : 'before'} effect ${at}, and again anywhere: pays for one job, and makes one lot`, async () => {
      for (const second of [undefined, ...deaths.filter((death) => death.isMade !== isMade)]) {
        const time = new VirtualTime();
        const [provider, ledger] = [new JobDouble(...JOB_STATES), memoryLedger(time.clock)];
        const first = new MortalProcess(at, isMade);
        await live(first, provider, ledger, time);
        assert.equal(first.isDead, true);
        const when = [`died at ${first.effects.join(' ')} (${isMade ? 'made' : 'not made'})`];
        if (second !== undefined) {
          const process = new MortalProcess(second.at, second.isMade);
          await live(process, provider, ledger, time);
          when.push(`then at ${process.effects.join(' ')} (${second.isMade ? 'made' : 'not made'})`);
        }
        await live(new MortalProcess(Number.POSITIVE_INFINITY, true), provider, ledger, time);
        await assertOneJob(provider, ledger, time.clock, when.join(', '));
      }
    });
  }

  it('after it read results that can be read once: that job ends, and the next one gives the lot', async () => {
    const time = new VirtualTime();
    const [provider, ledger] = [new JobDouble(), memoryLedger(time.clock)];
    const fetchesOf = new Map<string, number>();
    const fetch = provider.fetch.bind(provider);
    provider.fetch = async (job: JobReference) => {
      const before = fetchesOf.get(job.jobId) ?? 0;
      fetchesOf.set(job.jobId, before + 1);
      if (before > 0) throw new BackendError('permanent', 'results that were read before');
      return fetch(job);
    };
    const first = new MortalProcess(5, true);
    await live(first, provider, ledger, time);
    assert.equal(first.effects.at(-1), 'fetch');
    await live(new MortalProcess(Number.POSITIVE_INFINITY, true), provider, ledger, time);
    assert.equal(provider.started, 2);
    const lots = await ledger.lots(9);
    assert.deepEqual(
      lots.map(({ rawSha256 }) => rawSha256),
      [provider.result(LOT_RAW_BITS, '2').rawSha256],
    );
    assert.deepEqual(await ledger.openJobs(provider.name), []);
    assert.deepEqual((await ledger.audit()).problems, []);
  });
});
