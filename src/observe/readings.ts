import { readFileSync } from 'node:fs';
import type { DrawCounts } from '../answer/draw-keeper.ts';
import type { Backend } from '../backend/backend.ts';
import type { WitnessState } from '../certificate/witnessed.ts';
import { type Clock, dayOf } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { freeBytesOf } from '../ledger/lmdb/data-file.ts';
import type { LotRecord, SpendLimits } from '../ledger/records.ts';
import type { SourceStatus } from '../pool/intake/collector.ts';
import type { DeliveredState } from '../pool/intake/delivered-sampler.ts';
import { estimateOf } from '../pool/intake/read.ts';
import type { SeedSchedule } from '../pool/supply/seeds.ts';
import type { Watch } from './watch.ts';

/** The version of this service, from its manifest. */
export const SERVICE_VERSION: string = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
).version;

/** A source that is watched: what it is, what it may cost, and the collector that reads it. */
export interface WatchedSource {
  readonly backend: Backend;
  readonly limits: SpendLimits;
  readonly collector: { status(): SourceStatus };
}

/** A quantum source; its last lot may be one from before a restart. */
export interface SourceReading extends SourceStatus {
  /** What it took of its provider on this UTC day; null for a source that costs nothing. */
  readonly spend: DaySpend | null;
}

export interface DaySpend {
  readonly amount: number;
  readonly currency: string;
  readonly calls: number;
  readonly limits: SpendLimits;
}

export interface ReadingSources {
  readonly ledger: Pick<Ledger, 'blockLevels' | 'pendingLots' | 'integrity' | 'lots' | 'spent'>;
  /** The quantum sources, the most wanted first. */
  readonly sources: readonly WatchedSource[];
  readonly schedule: Pick<SeedSchedule, 'states' | 'inForce'>;
  /** The lot of the system source that csprng answers are certified by; undefined until it is tested, null when it failed. */
  readonly systemLot: () => LotRecord | null | undefined;
  /** What was found in samples of the streams that answers are drawn from. */
  readonly delivered: () => readonly DeliveredState[];
  /** The newest signed checkpoint of the log. */
  readonly checkpoint: () => Promise<string>;
  /** Bytes of answers that are kept for Idempotency-Keys. */
  readonly keptAnswerBytes: () => number;
  readonly draws: () => DrawCounts;
  /** Those that cosign the log; none without QRN_WITNESSES. */
  readonly witnesses: () => Promise<readonly WitnessState[]>;
  readonly watch: Watch;
  /** The level up to which pure bytes are kept. */
  readonly pureBytesHigh: number;
  readonly dataDir: string;
  readonly clock: Clock;
  readonly startedAtMs: number;
}

/** Lots looked through for the newest of each quantum source after a restart. */
const LOTS_LOOKED_AT = 64;

/** Where a service stands at one moment: what health, metrics and the status page are made from. */
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
    /** How far the system's clock jumped from the time that the service goes by; 0 when they agree. */
    clockJumpMs: clock.jumpMs(),
    levels,
    /** Nothing is drawn from these yet: their leaf is not signed, or where witnesses are asked for, not cosigned. */
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
    /** Of the log of this service: certificates and revocations. */
    logEntries: Number(checkpoint.split('\n')[1]), // c2sp.org/tlog-checkpoint: the second line is the size
    witnesses,
    /** What the process uses, as the operating system counts it. */
    use: { cpuSeconds: (user + system) / 1e6, residentBytes: process.memoryUsage.rss() },
  };
}

/** What was asked for; `otherwise` while the database is away, which the readings say by themselves. */
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

/** The spend of a UTC day; null for a source that costs nothing. */
export async function daySpend(
  { backend, limits }: Pick<WatchedSource, 'backend' | 'limits'>,
  day: number,
  ledger: Pick<Ledger, 'spent'>,
): Promise<DaySpend | null> {
  const price = estimateOf(backend, 1);
  if (price === undefined) return null;
  const { amount, calls } = await ledger.spent(backend.name, day);
  return { amount, calls, currency: price.currency, limits };
}

/** Of each group: tier and interval in milliseconds, e.g. `pro/3600000`. Null when no seed was taken yet. */
function seedReadings({ schedule }: ReadingSources, atMs: number) {
  return schedule.states().map(({ name, intervalMs, current }) => ({
    group: name,
    intervalMs,
    ageMs: current === undefined ? null : atMs - current.seededAtMs,
    generation: current?.generation ?? null,
    inForce: schedule.inForce(name) !== undefined,
  }));
}

/**
 * Seconds until pure bytes run out at the rate of the last minutes, without new lots; null when none are
 * drawn.
 */
export function pureSecondsLeft({ levels, pureBytesPerS }: Readings): number | null {
  return pureBytesPerS > 0 ? levels.pure.bytes / pureBytesPerS : null;
}

/**
 * Seconds until the last seed on hand is taken, without new lots: every group takes one at each of its
 * intervals.
 */
export function seedSecondsLeft({ levels, seeds }: Readings): number | null {
  const seedsPerS = seeds.reduce((sum, { intervalMs }) => sum + 1000 / intervalMs, 0);
  return seedsPerS > 0 ? levels.seed.blocks / seedsPerS : null;
}
