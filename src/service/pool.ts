import { TIER_ALLOWANCES } from '../account/tiers.ts';
import type { Backend } from '../backend/backend.ts';
import { createSystemSource } from '../backend/system.ts';
import type { Config } from '../config.ts';
import { assert } from '../core/assert.ts';
import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import { SEEDED_TIERS } from '../core/vocabulary.ts';
import { ASSESSED_BITS, type Assessor } from '../pool/assessor.ts';
import { LotCatalog } from '../pool/catalog.ts';
import { Collector } from '../pool/collector.ts';
import { HealthMonitor } from '../pool/health.ts';
import { makeSystemLot } from '../pool/lots.ts';
import { readBackend } from '../pool/read.ts';
import { SeedSchedule } from '../pool/seeds.ts';
import type { Ledger } from '../store/ledger.ts';
import type { LotRecord } from '../store/records.ts';
import { every } from './every.ts';
import type { FrontEvents } from './front-stack.ts';

/** How often seeds are looked at. */
const SEED_CHECK_INTERVAL_MS = 250;

/** The entropy pool of a process: the collector fills the ledger, the schedule takes seeds, the fronts are told. */
export interface Pool {
  readonly collector: Collector;
  readonly schedule: SeedSchedule;
  /** The lot that csprng answers are certified by; undefined until it is tested. */
  systemLot(): LotRecord | undefined;
  /** Resolves when every mode can be served. */
  readonly ready: Promise<void>;
  stop(): Promise<void>;
}

export interface PoolOptions {
  readonly ledger: Ledger;
  readonly backend: Backend;
  readonly assessor: Assessor;
  readonly config: Config;
  readonly log: Log;
  readonly clock: Clock;
  /** All fronts; each is told of every seed and lot. */
  readonly fronts: readonly FrontEvents[];
  /** Pure bytes at hand in the first front: without any the pool is not ready. */
  readonly pureAvailable: () => number;
}

export function startPool(options: PoolOptions): Pool {
  const { ledger, backend, assessor, config, log, clock, fronts } = options;
  const catalog = new LotCatalog(ledger);
  const schedule = new SeedSchedule(ledger, catalog, clock, log);
  schedule.onSeed((seed, quantumSeed) => {
    const lot = catalog.get(seed.lotId);
    for (const front of fronts) front.installSeed(seed, quantumSeed, lot);
  });
  for (const tier of SEEDED_TIERS) {
    const intervalMs = TIER_ALLOWANCES[tier].seedIntervalMs;
    assert(intervalMs !== null, 'a seeded tier has an interval');
    schedule.add({ tier, intervalMs });
  }

  const stopping = new AbortController();
  const readiness = Promise.withResolvers<void>();
  let isReady = false;
  let installed: LotRecord | undefined;
  const revoked = new Set<string>();
  const withdrawRevoked = async () => {
    const fresh = (await ledger.revocations()).map(({ lotId }) => lotId).filter((id) => !revoked.has(id));
    if (fresh.length === 0) return;
    for (const id of fresh) revoked.add(id);
    schedule.retire(new Set(fresh));
    for (const front of fronts) front.lotsRevoked(new Set(fresh));
  };
  const look = async () => {
    await withdrawRevoked();
    await schedule.refresh();
    for (const front of fronts) front.lotsCame();
    const seeded = schedule.states().every(({ name }) => schedule.inForce(name) !== undefined);
    if (isReady || !seeded || installed === undefined || options.pureAvailable() === 0) return;
    isReady = true;
    for (const front of fronts) front.becomeReady();
    readiness.resolve();
  };
  const collector = new Collector({
    backend,
    store: ledger,
    assessor,
    clock,
    log,
    pureBytesHigh: config.reservoirBytes,
    onLot: look,
    onClosed: () => {
      schedule.close();
      for (const front of fronts) front.tapClosed();
    },
  });
  const systemLot = assessSystemSource(ledger, assessor, clock, stopping.signal).then((lot) => {
    if (!lot.accepted) throw new Error(`the system source was refused: ${lot.rejection}`);
    for (const front of fronts) front.installSystemLot(lot);
    installed = lot;
  });
  systemLot.catch((error: unknown) => {
    if (!stopping.signal.aborted) log.error({ reason: String(error) }, 'csprng mode cannot be served');
  });
  collector.start();
  const timer = every(SEED_CHECK_INTERVAL_MS, log, look);
  return {
    collector,
    schedule,
    systemLot: () => installed,
    ready: readiness.promise,
    async stop() {
      stopping.abort();
      clearInterval(timer);
      schedule.close();
      await collector.stop();
    },
  };
}

/** Tests the system source and keeps the result as the lot that csprng answers are certified by. */
async function assessSystemSource(
  ledger: Ledger,
  assessor: Assessor,
  clock: Clock,
  signal: AbortSignal,
): Promise<LotRecord> {
  const source = createSystemSource(clock);
  const read = await readBackend(source, ASSESSED_BITS, signal);
  const { claimedMinEntropyPerBit: minEntropyPerBit } = source;
  const health = new HealthMonitor({ width: read.width, minEntropyPerBit }).check(read);
  const lot = await makeSystemLot(source, read, health, assessor, clock);
  await ledger.addLot(lot, []);
  return lot;
}
