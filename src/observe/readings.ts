import { readFileSync } from 'node:fs';
import type { WitnessState } from '../certificate/witnessed.ts';
import { type Clock, dayOf } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';
import type { DrawCounts } from '../draws/keeper.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { freeBytesOf } from '../ledger/lmdb/data-file.ts';
import type { LotRecord, SourceSpend, SpendLimits } from '../ledger/records.ts';
import type { SourceStatus } from '../pool/intake/collector.ts';
import type { DeliveredState } from '../pool/intake/delivered-sampler.ts';
import { estimateOf, type Source } from '../pool/intake/read.ts';
import type { SeedSchedule } from '../pool/supply/seeds.ts';
import type { Watch } from './watch.ts';

/** The version of this service, from its manifest. */
export const SERVICE_VERSION: string = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
).version;

/** A source with the collector that reads it. */
export interface WatchedSource extends Source {
  readonly collector: { status(): SourceStatus };
}

/** A quantum source. Its last lot may come from before a restart. */
export interface SourceReading extends SourceStatus {
  /** What the source spent on this UTC day; null for a source that costs nothing. */
  readonly spend: DaySpend | null;
}

export interface DaySpend extends Omit<SourceSpend, 'source' | 'day'> {
  readonly limits: SpendLimits;
}

export interface ReadingSources {
  readonly ledger: Pick<Ledger, 'blockLevels' | 'pendingLots' | 'integrity' | 'lots' | 'spent'>;
  /** The quantum sources, the most preferred first. */
  readonly sources: readonly WatchedSource[];
  readonly schedule: Pick<SeedSchedule, 'states' | 'inForce'>;
  /** Returns the lot that certifies csprng answers; undefined until it is tested, null when the stream failed. */
  readonly systemLot: () => LotRecord | null | undefined;
  /** Returns the test results of samples of the streams that answers are drawn from. */
  readonly delivered: () => readonly DeliveredState[];
  /** Returns the newest signed checkpoint of the log. */
  readonly checkpoint: () => Promise<string>;
  /** Returns the bytes of answers that are kept for Idempotency-Keys. */
  readonly keptAnswerBytes: () => number;
  readonly draws: () => DrawCounts;
  /** Returns the witnesses of the log; none without QRN_WITNESSES. */
  readonly witnesses: () => Promise<readonly WitnessState[]>;
  readonly watch: Watch;
  /** The level up to which the pool is filled with pure bytes. */
  readonly pureBytesHigh: number;
  readonly dataDir: string;
  readonly clock: Clock;
  readonly startedAtMs: number;
}

/** How many of the newest lots are searched for each source's last lot after a restart. */
const LOTS_LOOKED_AT = 64;

/** The state of a service at one moment, from which health, metrics and the status page are made. */
export type Readings = Readonly<Awaited<ReturnType<typeof takeReadings>>>;

export async function takeReadings(from: ReadingSources) {
  const { ledger, watch, clock, startedAtMs, pureBytesHigh } = from;
  const [levels, pending, integrity, sources, checkpoint, witnesses] = await Promise.all([
    ledger.blockLevels(),
    unlessAway(ledger.pendingLots(LOTS_LOOKED_AT), []),
    ledger.integrity(),
    sourceReadings(from),
    from.checkpoint(),
    from.witnesses(),
  ]);
  const atMs = clock.wallMs();
  const { user, system } = process.cpuUsage();
  return {
    atMs,
    startedAtMs,
    /** How far the system's clock jumped from the time that the service uses; 0 when they agree. */
    clockJumpMs: clock.jumpMs(),
    levels,
    /** Lots that cannot be drawn from yet, because their leaves are not signed or, with witnesses, not cosigned. */
    pendingLots: {
      lots: pending.length,
      oldestMs: pending.length === 0 ? 0 : Math.max(0, atMs - pending[0].finishedAtMs),
    },
    pureBytesHigh,
    pureBytesPerS: watch.pureBytesPerS(),
    sources,
    systemLot: from.systemLot(),
    seeds: seedReadings(from, atMs),
    delivered: from.delivered(),
    totals: watch.totals(),
    minute: watch.lastMinute(),
    modes: watch.modes(),
    ledger: watch.writability(),
    integrity,
    diskFreeBytes: freeBytesOf(from.dataDir),
    keptAnswerBytes: from.keptAnswerBytes(),
    draws: from.draws(),
    /** Count of the leaves of the log. */
    logEntries: Number(checkpoint.split('\n')[1]), // c2sp.org/tlog-checkpoint: the second line is the size
    witnesses,
    /** CPU time and memory of the process, as the operating system counts them. */
    use: { cpuSeconds: (user + system) / 1e6, residentBytes: process.memoryUsage.rss() },
  };
}

/** Resolves with `otherwise` while the database is away, which `integrity` reports. */
function unlessAway<T>(asked: Promise<T>, otherwise: T): Promise<T> {
  return asked.catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 'storage_unavailable') return otherwise;
    throw error;
  });
}

async function sourceReadings({ ledger, sources, clock }: ReadingSources): Promise<SourceReading[]> {
  const statuses = sources.map(({ collector }) => collector.status());
  const areNew = statuses.every(({ lastLot }) => lastLot !== undefined);
  const earlier = areNew ? [] : await unlessAway(ledger.lots(LOTS_LOOKED_AT), []);
  const day = dayOf(clock.wallMs());
  return Promise.all(
    statuses.map(async (status, place) => ({
      ...status,
      lastLot: status.lastLot ?? earlier.find(({ source }) => source === status.name),
      spend: await daySpend(sources[place], day, ledger),
    })),
  );
}

/** Resolves with the spend of a UTC day; null for a source that costs nothing. */
export async function daySpend(
  { backend, limits }: Source,
  day: number,
  ledger: Pick<Ledger, 'spent'>,
): Promise<DaySpend | null> {
  const price = estimateOf(backend, 1);
  if (price === undefined) return null;
  const { amount, calls } = await ledger.spent(backend.name, day);
  return { amount, calls, currency: price.currency, limits };
}

/**
 * Returns the seed of each group. A group is a tier and an interval in ms, e.g. `pro/3600000`. Age and generation are null
 * before the first seed.
 */
function seedReadings({ schedule }: ReadingSources, atMs: number) {
  return schedule.states().map(({ name, intervalMs, current }) => ({
    group: name,
    intervalMs,
    ageMs: current === undefined ? null : atMs - current.seededAtMs,
    generation: current?.generation ?? null,
    inForce: schedule.inForce(name) !== undefined,
  }));
}

/** Returns the seconds until pure bytes run out at the rate of the last minutes, without new lots; null when none are drawn. */
export function pureSecondsLeft({ levels, pureBytesPerS }: Readings): number | null {
  return pureBytesPerS > 0 ? levels.pure.bytes / pureBytesPerS : null;
}

/** Returns the seconds until the last seed on hand is taken, without new lots. Every group takes one seed per interval. */
export function seedSecondsLeft({ levels, seeds }: Readings): number | null {
  const seedsPerS = seeds.reduce((sum, { intervalMs }) => sum + 1000 / intervalMs, 0);
  return seedsPerS > 0 ? levels.seed.blocks / seedsPerS : null;
}
