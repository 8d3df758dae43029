import { join } from 'node:path';
import { TIER_ALLOWANCES } from '../account/tiers.ts';
import type { Config, SourcePolicy } from '../config/config.ts';
import { assert } from '../core/assert.ts';
import { type Clock, every } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import { SEEDED_TIERS } from '../core/vocabulary.ts';
import { fromBase64 } from '../crypto/base64.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { LotRecord } from '../ledger/records.ts';
import type { Assessor } from '../pool/intake/assessor.ts';
import { type BlockLevels, Collector, SEEDS_LOW, type SourceState } from '../pool/intake/collector.ts';
import { CopyTest } from '../pool/intake/copies.ts';
import { RawShotStore } from '../pool/intake/raw-shots.ts';
import { SYSTEM_SAMPLE_INTERVAL_MS, sampleSystem } from '../pool/intake/system-sample.ts';
import { SeedSchedule } from '../pool/supply/seeds.ts';
import type { FrontCommands, FrontEvents } from './front-stack.ts';
import { lotRawBitsOf, type Source } from './sources.ts';

/** How often seeds are looked at. */
const SEED_CHECK_INTERVAL_MS = 250;

/**
 * A source that has begun is given this long for its first lot before the next one is called in: a stream
 * takes seconds, a queue at a provider hours.
 */
const START_GRACE_MS = 60_000;

/**
 * The csprng stream is first sampled when somebody asks for the mode, and otherwise so long after the start. One thread
 * runs all tests, and a start has others to run. A sample that could not be taken is tried again so long after.
 */
const FIRST_SAMPLE_MS = 60_000;

/**
 * The entropy pool of a process: collectors fill the ledger, the schedule takes seeds, the fronts are told.
 */
export interface Pool {
  /** The most wanted first. */
  readonly sources: readonly PooledSource[];
  readonly schedule: SeedSchedule;
  /** The sample that csprng answers are certified by; undefined until one was tested, null when the stream failed. */
  systemLot(): LotRecord | null | undefined;
  /** Has the csprng stream sampled now, if it was not since the start. */
  sampleSystem(): void;
  /** Resolves when the quantum modes can be served. A csprng answer waits for the first sample by itself. */
  readonly ready: Promise<void>;
  stop(): Promise<void>;
}

/** A source with the one who reads it. */
interface PooledSource extends Source {
  readonly collector: Pick<Collector, 'status'>;
}

export interface PoolOptions {
  readonly ledger: Ledger;
  /** The most wanted first; none on a node that others feed. */
  readonly sources: readonly Source[];
  readonly assessor: Assessor;
  readonly config: Config;
  readonly log: Log;
  readonly clock: Clock;
  /** All fronts; each is told of every seed and lot. */
  readonly fronts: readonly FrontEvents[];
  /** One of them, whose streams are those that are tested. The pool is ready when it has pure bytes. */
  readonly tested: Pick<FrontCommands, 'fillPure' | 'sample'>;
}

export function startPool(options: PoolOptions): Pool {
  const { ledger, assessor, log, clock, fronts } = options;
  const schedule = new SeedSchedule(ledger, clock, log);
  schedule.onSeed((...seed) => {
    for (const front of fronts) front.installSeed(...seed);
  });
  for (const tier of SEEDED_TIERS) {
    const intervalMs = TIER_ALLOWANCES[tier].seedIntervalMs;
    assert(intervalMs !== null, 'a seeded tier has an interval');
    schedule.add({ tier, intervalMs });
  }

  const stopping = new AbortController();
  const readiness = Promise.withResolvers<void>();
  let isReady = false;
  let installed: LotRecord | null | undefined;
  // `qrn lots revoke` waits until every front has dropped what it held
  const withdraw = async (lotIds: ReadonlySet<string>) => {
    if (lotIds.size === 0) return;
    schedule.retire(lotIds);
    await Promise.all(fronts.map((front) => front.lotsRevoked(lotIds)));
  };
  let following: Promise<void> | undefined;
  const follow = async () => {
    following ??= ledger.follow({
      async directoryChanged({ isWhole, revoked }) {
        if (stopping.signal.aborted) return;
        const ids = isWhole ? (await ledger.revocations()).map(({ lotId }) => lotId) : revoked;
        await withdraw(new Set(ids));
      },
    });
    await following.catch((error: unknown) => {
      following = undefined; // the next look tries again
      throw error;
    });
  };
  const look = async () => {
    await follow();
    await schedule.refresh();
    for (const front of fronts) front.lotsCame();
    const seeded = schedule.states().every(({ name }) => schedule.inForce(name) !== undefined);
    if (isReady || !seeded || !(await options.tested.fillPure())) return;
    isReady = true;
    for (const front of fronts) front.becomeReady();
    readiness.resolve();
  };
  // Entropy is served until the last source closes: lots of a source that closed earlier had passed their
  // tests.
  const closeSources = () => {
    if (!collectors.every(({ closed }) => closed)) return;
    schedule.close();
    for (const front of fronts) front.sourcesClosed();
  };
  const collectors = collectorsOf(options, look, closeSources);
  const draw = async (size: number) => {
    const drawn = await options.tested.sample(undefined, size);
    assert(drawn !== undefined, 'the csprng stream needs no seed');
    return drawn;
  };
  const sampled = { draw, store: ledger, assessor, clock, log };
  const sample = async () => {
    try {
      const lot = await sampleSystem(sampled, stopping.signal);
      for (const front of fronts) front.installSystemLot(lot);
      installed = lot;
      if (lot === null) log.error({}, 'csprng mode is not served: three samples of its stream were rejected');
    } catch (error) {
      if (stopping.signal.aborted) return;
      log.error(
        { reason: String(error) },
        'the csprng stream was not sampled; it is tried again in a minute',
      );
      clearTimeout(nextSample); // the stream is as good as before: a full disk or a dead thread keeps no sample
      nextSample = setTimeout(sample, FIRST_SAMPLE_MS);
      if (installed !== undefined) return; // an earlier sample stays: it tells when it was taken
      installed = null;
      for (const front of fronts) front.installSystemLot(null);
    }
  };
  let isSampled = false;
  const beginSampling = () => {
    if (isSampled || stopping.signal.aborted) return;
    isSampled = true;
    clearTimeout(nextSample);
    void sample();
  };
  let nextSample = setTimeout(beginSampling, FIRST_SAMPLE_MS);
  // What an earlier run left is put to use first, and filling begins after it. A failure is logged when the next look
  // fails too.
  const firstLook = look()
    .catch(() => {})
    .then(() => {
      if (stopping.signal.aborted) return;
      for (const collector of collectors) collector.start();
    });
  const timers = [every(SEED_CHECK_INTERVAL_MS, log, look), every(SYSTEM_SAMPLE_INTERVAL_MS, log, sample)];
  return {
    sources: options.sources.map((source, place) => ({ ...source, collector: collectors[place] })),
    schedule,
    systemLot: () => installed,
    sampleSystem: beginSampling,
    ready: readiness.promise,
    async stop() {
      stopping.abort();
      clearTimeout(nextSample);
      for (const timer of timers) clearInterval(timer);
      schedule.close();
      await firstLook;
      await Promise.all(collectors.map((collector) => collector.stop()));
    },
  };
}

/** One collector for each source; which of them may fill at a time is the policy's to say. */
function collectorsOf(
  { ledger, sources, assessor, config, log, clock }: PoolOptions,
  onLot: () => Promise<void>,
  onClosed: () => void,
): Collector[] {
  const { reservoirBytes: pureBytesHigh, sourcePolicy: policy } = config;
  const states = () => collectors.map(({ state }) => state);
  const isWanted = fillingOrder({ policy, pureBytesHigh, clock, states });
  const recipient = config.rawRecipient === '' ? undefined : fromBase64(config.rawRecipient);
  const rawShots = recipient && new RawShotStore(join(config.dataDir, 'raw'), recipient, config.rawBytes);
  const claims = sources.map(({ backend }) => backend.claimedMinEntropyPerBit);
  const copies = new CopyTest(Math.min(1, ...claims), sources.length);
  const collectors = sources.map(({ backend, limits }, place) => {
    return new Collector({
      backend,
      limits,
      store: ledger,
      assessor,
      clock,
      log,
      pureBytesHigh,
      copies,
      lotRawBits: lotRawBitsOf(backend),
      isWanted: (levels) => isWanted(place, levels),
      onLot,
      onClosed,
      ...(rawShots === undefined ? {} : { rawShots }),
    });
  });
  return collectors;
}

interface FillingOrderOptions {
  readonly policy: SourcePolicy;
  /** The level up to which pure bytes are kept. */
  readonly pureBytesHigh: number;
  readonly clock: Clock;
  /** States of the sources, the most wanted first. */
  readonly states: () => readonly SourceState[];
}

/**
 * Says whether the source at a place may read now. Under `share` all may. Under `priority` a source may when
 * none of those before it is at work, or when the pool is so low that they do not keep up: under a quarter of
 * its pure bytes, or at half the seeds at which a single source would read.
 */
export function fillingOrder({ policy, pureBytesHigh, clock, states }: FillingOrderOptions) {
  /** Monotonic time since which a source is `starting`, by its place. */
  const startingSinceMs: (number | undefined)[] = [];
  const isAtWork = (state: SourceState, place: number): boolean => {
    const nowMs = clock.monotonicMs();
    if (state !== 'starting') startingSinceMs[place] = undefined;
    if (state !== 'starting') return state === 'ok' || state === 'standby';
    startingSinceMs[place] ??= nowMs;
    return nowMs - startingSinceMs[place] < START_GRACE_MS;
  };
  return (place: number, { pure, seed }: BlockLevels): boolean => {
    if (policy === 'share') return true;
    if (pure.bytes < pureBytesHigh / 4 || seed.blocks < SEEDS_LOW / 2) return true;
    return !states().map(isAtWork).slice(0, place).includes(true);
  };
}
