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
import type { WatchedSource } from '../observe/readings.ts';
import type { Assessor } from '../pool/intake/assessor.ts';
import { type BlockLevels, Collector, SEEDS_LOW, type SourceState } from '../pool/intake/collector.ts';
import { CopyTest } from '../pool/intake/copies.ts';
import { RawShotStore } from '../pool/intake/raw-shots.ts';
import type { Source } from '../pool/intake/read.ts';
import { SYSTEM_SAMPLE_INTERVAL_MS, sampleSystem } from '../pool/intake/system-sample.ts';
import { SeedSchedule } from '../pool/supply/seeds.ts';
import type { FrontCommands, FrontEvents } from './front-stack.ts';
import { lotRawBitsOf } from './sources.ts';

/** How often the pool looks for seeds that are due, and for new blocks. */
const SEED_CHECK_INTERVAL_MS = 250;

/**
 * How long a source may take for its first lot before the next source fills in its place. A stream takes seconds, a queue
 * at a provider hours.
 */
const START_GRACE_MS = 60_000;

/**
 * The csprng stream is first sampled when a client asks for the mode, and at the latest this long after the start: one thread
 * runs all tests, and a start has others to run first. A sample that fails is also tried again after this time.
 */
const FIRST_SAMPLE_MS = 60_000;

/** The entropy pool of a process: collectors fill the ledger, the schedule takes seeds, and the fronts are told. */
export interface Pool {
  /** The most preferred source first. */
  readonly sources: readonly WatchedSource[];
  readonly schedule: SeedSchedule;
  /** Returns the sample that certifies csprng answers; undefined until one was tested, null when the stream failed. */
  systemLot(): LotRecord | null | undefined;
  /** Begins to sample the csprng stream, if that has not begun since the start. */
  sampleSystem(): void;
  /** Resolves when the quantum modes can be served. The first csprng answers still wait for their sample. */
  readonly ready: Promise<void>;
  stop(): Promise<void>;
}

export interface PoolOptions {
  readonly ledger: Ledger;
  /** The most preferred first. Other nodes may have sources where this one has none. */
  readonly sources: readonly Source[];
  readonly assessor: Assessor;
  readonly config: Config;
  readonly log: Log;
  readonly clock: Clock;
  /** All fronts. Each is told of every seed and lot. */
  readonly fronts: readonly FrontEvents[];
  /** One of the fronts. Its streams are sampled for tests, and the pool is ready when it has pure bytes. */
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
  // `qrn lots revoke` waits until every front has dropped what it held of the lots
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
    for (const front of fronts) front.lotsAdded();
    const seeded = schedule.states().every(({ name }) => schedule.inForce(name) !== undefined);
    if (isReady || !seeded || !(await options.tested.fillPure())) return;
    isReady = true;
    for (const front of fronts) front.becomeReady();
    readiness.resolve();
  };
  // Entropy is served until the last source closes: lots that came before a source closed have passed their tests.
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
    isSampled = true;
    clearTimeout(nextSample);
    let againMs = SYSTEM_SAMPLE_INTERVAL_MS;
    try {
      const lot = await sampleSystem(sampled, stopping.signal);
      for (const front of fronts) front.installSystemLot(lot);
      installed = lot;
      if (lot === null)
        log.error(
          {},
          'csprng mode is not served: three samples of its stream in a row failed their tests; the generator of the operating system may be broken',
        );
    } catch (error) {
      if (stopping.signal.aborted) return;
      log.error(
        { reason: String(error) },
        'could not test a sample of the csprng stream; trying again in a minute',
      );
      againMs = FIRST_SAMPLE_MS; // The cause may be a full disk or a dead thread, not the stream: try again.
      // an earlier sample stays in use; it has the time at which it was taken
      if (installed === undefined) for (const front of fronts) front.installSystemLot(null);
      installed ??= null;
    }
    if (!stopping.signal.aborted) nextSample = setTimeout(sample, againMs);
  };
  let isSampled = false;
  let nextSample = setTimeout(sample, FIRST_SAMPLE_MS);
  // The first look uses what an earlier run left; the collectors start after it. If the look fails, the next one logs why.
  const firstLook = look()
    .catch(() => {})
    .then(() => {
      if (stopping.signal.aborted) return;
      for (const collector of collectors) collector.start();
    });
  const looks = every(SEED_CHECK_INTERVAL_MS, log, 'take new seeds and blocks', look);
  return {
    sources: options.sources.map((source, place) => ({ ...source, collector: collectors[place] })),
    schedule,
    systemLot: () => installed,
    sampleSystem() {
      if (!isSampled && !stopping.signal.aborted) void sample();
    },
    ready: readiness.promise,
    async stop() {
      stopping.abort();
      clearTimeout(nextSample);
      clearInterval(looks);
      schedule.close();
      await firstLook;
      await Promise.all(collectors.map((collector) => collector.stop()));
    },
  };
}

/** Makes one collector for each source. The policy decides which of them may fill at a time. */
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
  /** The level up to which the pool is filled with pure bytes. */
  readonly pureBytesHigh: number;
  readonly clock: Clock;
  /** Returns the states of the sources, the most preferred first. */
  readonly states: () => readonly SourceState[];
}

/**
 * Returns a function that decides whether the source with an index may read now. Under `share` every source may. Under
 * `priority` a source may when no source before it works, or when those do not keep up: the pool has less than a quarter of
 * its pure bytes, or less than half of the seeds at which a single source would read.
 */
export function fillingOrder({ policy, pureBytesHigh, clock, states }: FillingOrderOptions) {
  /** Monotonic time since which a source is `starting`, by its index. */
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
