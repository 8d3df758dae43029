import { join } from 'node:path';
import { OwnedCells } from './account/cells.ts';
import { AccountDirectory } from './account/directory.ts';
import { TIER_ALLOWANCES } from './account/tiers.ts';
import { usageOf } from './account/usage.ts';
import type { Backend } from './backend/backend.ts';
import { createBackend } from './backend/select.ts';
import { createSystemSource } from './backend/system.ts';
import { CertificateIds } from './certificate/ids.ts';
import { type LedgerThread, startLedgerThread } from './certificate/ledger-thread.ts';
import type { Config } from './config.ts';
import { assert } from './core/assert.ts';
import { type Clock, systemClock } from './core/clock.ts';
import type { Log } from './core/log.ts';
import { SEEDED_TIERS } from './core/vocabulary.ts';
import { openSecretFile } from './crypto/key-files.ts';
import { Committer } from './delivery/committer.ts';
import { Delivery } from './delivery/deliver.ts';
import { EntropyDesk } from './delivery/desk.ts';
import { Idempotency } from './delivery/idempotency.ts';
import { DataAnswers } from './http/data-answers.ts';
import { DATA_ENDPOINT_DEFINITIONS } from './http/endpoints/table.ts';
import { type Front, startFront } from './http/front.ts';
import { logRoutes } from './http/log-routes.ts';
import { plainRoutes } from './http/plain-routes.ts';
import { Router } from './http/router.ts';
import { ASSESSED_BITS } from './pool/assessor.ts';
import { LotCatalog } from './pool/catalog.ts';
import { Collector } from './pool/collector.ts';
import { HealthMonitor } from './pool/health.ts';
import { SystemStream } from './pool/keystream.ts';
import { makeSystemLot } from './pool/lots.ts';
import { readBackend } from './pool/read.ts';
import { SeedSchedule } from './pool/seeds.ts';
import { healthReport } from './service/health-report.ts';
import type { Ledger } from './store/ledger.ts';
import { Workers } from './workers/dispatch.ts';

/** A running service. */
export interface Service {
  readonly port: number;
  /** Ends in /v1. */
  readonly baseUrl: string;
  readonly ledger: Ledger;
  /** Rejects when the service can no longer keep its promises and must stop. Never resolves. */
  readonly failed: Promise<never>;
  /** Resolves when every mode can be served. */
  readonly ready: Promise<void>;
  /** Answers what is under way, then stops everything. */
  stop(): Promise<void>;
}

/** How often seeds are looked at. */
const SEED_CHECK_INTERVAL_MS = 250;
/** How often limiter states are written down: what a killed process can forget of requests that were refused. */
const RATES_INTERVAL_MS = 1_000;
const EXPIRY_INTERVAL_MS = 60_000;
const DRAIN_DEADLINE_MS = 3_000;
const DAY_MS = 86_400_000;

/** Starts everything in the order in which it is needed; whatever was started is stopped again when a later step fails. */
export async function startService(config: Config, log: Log, clock: Clock = systemClock): Promise<Service> {
  const backend = createBackend(config.backend, clock); // an unknown name fails before anything is opened
  const { durability, logLevel } = config;
  const keysPath = join(config.dataDir, 'keys');
  const thread = await startLedgerThread({
    path: join(config.dataDir, 'ledger'),
    durability,
    logLevel,
    idsKeyPath: join(keysPath, 'certificate-ids'),
    keysPath,
    logName: config.logName,
  });
  try {
    return await startOn(thread, backend, config, log, clock);
  } catch (error) {
    await thread.stop();
    throw error;
  }
}

async function startOn(
  thread: LedgerThread,
  backend: Backend,
  config: Config,
  log: Log,
  clock: Clock,
): Promise<Service> {
  const { ledger } = thread;
  const workers = new Workers(config.workers, log);
  const pool = startPool(ledger, backend, workers, config, log, clock);
  const cells = await OwnedCells.open(ledger, clock);
  const directory = await AccountDirectory.open({ directory: ledger, cells, clock, log });
  directory.start();

  const secret = (name: string) => openSecretFile(join(config.dataDir, 'keys', name));
  const ids = new CertificateIds(secret('certificate-ids'));
  const idempotency = new Idempotency(ledger, secret('stored-answers'));
  const random = new SystemStream().reader;
  const delivery = new Delivery(pool.desk, workers, pool.catalog);
  const firstSequence = await ledger.nextSegment();

  const urls: Urls = { baseUrl: '', verifyUrlBase: '' };
  const committer = new Committer({
    books: ledger,
    ids,
    clock,
    log,
    firstSequence,
    context: () => ({ verifyUrlBase: urls.verifyUrlBase, poweredBy: config.poweredBy }),
  });
  const publicLog = logRoutes(thread.certificates);
  const router = new Router({
    directory,
    dataEndpoints: DATA_ENDPOINT_DEFINITIONS,
    routes: [
      ...publicLog.exact,
      ...plainRoutes({
        ready: () => pool.isReady(),
        health: () => healthReport({ ledger, committer, workers, clock, ...pool }),
        usage: (call) => {
          assert(call.account !== undefined, 'usage is asked for with a key');
          return usageOf(call.account, ledger, clock);
        },
        certificates: thread.certificates,
      }),
    ],
    prefixes: publicLog.prefixes,
    answers: (fail) =>
      new DataAnswers({ delivery, committer, idempotency, clock, random, poweredBy: config.poweredBy, fail }),
    clock,
    log,
    random,
    rateLimitFields: config.rateLimitFields,
  });
  const front = await startFront({
    host: config.host,
    port: config.port,
    handle: (exchange) => router.handle(exchange),
    log,
    clock,
  });
  Object.assign(urls, urlsOf(config, front));

  const upkeep = [
    every(RATES_INTERVAL_MS, log, () => ledger.saveRates(directory.rates())),
    every(EXPIRY_INTERVAL_MS, log, async () => {
      const nowMs = clock.wallMs();
      await ledger.expire(nowMs, nowMs - config.certificateRetentionDays * DAY_MS);
    }),
  ];

  return {
    port: front.port,
    baseUrl: urls.baseUrl,
    ledger,
    failed: thread.failed,
    ready: pool.ready,
    async stop() {
      await front.drain(DRAIN_DEADLINE_MS);
      await committer.drain();
      for (const timer of upkeep) clearInterval(timer);
      await pool.stop();
      directory.close();
      await ledger.saveRates(directory.rates());
      await workers.close();
      await thread.stop();
    },
  };
}

interface Urls {
  baseUrl: string;
  verifyUrlBase: string;
}

/** Where clients reach the service, unless the operator says otherwise. */
function urlsOf(config: Config, front: Front): Urls {
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  const origin = `http://${host}:${front.port}`;
  return {
    baseUrl: config.baseUrl ?? `${origin}/v1`,
    verifyUrlBase: config.verifyUrlBase ?? `${origin}/verify`,
  };
}

export interface Pool {
  readonly catalog: LotCatalog;
  readonly desk: EntropyDesk;
  readonly collector: Collector;
  readonly schedule: SeedSchedule;
  readonly ready: Promise<void>;
  isReady(): boolean;
  stop(): Promise<void>;
}

/** The entropy pool: the collector fills the ledger, the schedule takes seeds, the desk serves. */
function startPool(
  ledger: Ledger,
  backend: Backend,
  workers: Workers,
  config: Config,
  log: Log,
  clock: Clock,
): Pool {
  const catalog = new LotCatalog(ledger);
  const schedule = new SeedSchedule(ledger, catalog, clock, log);
  const desk = new EntropyDesk({
    store: ledger,
    workers,
    catalog,
    clock,
    log,
    askForSeed: (group) => schedule.ensure(schedule.add(group)),
  });
  schedule.onSeed((seed, quantumSeed) => desk.installSeed(seed, quantumSeed, catalog.get(seed.lotId)));
  for (const tier of SEEDED_TIERS) schedule.add({ tier, intervalMs: TIER_ALLOWANCES[tier].seedIntervalMs! });

  let isReady = false;
  const readiness = Promise.withResolvers<void>();
  const look = async () => {
    await schedule.refresh();
    desk.pure.keepFilled();
    const seeded = schedule.states().every(({ name }) => schedule.inForce(name) !== undefined);
    if (isReady || !seeded || !desk.hasSystemLot || desk.pure.available() === 0) return;
    isReady = true;
    readiness.resolve();
  };
  const collector = new Collector({
    backend,
    store: ledger,
    assessor: workers,
    clock,
    log,
    pureBytesHigh: config.reservoirBytes,
    onLot: look,
    onClosed: () => {
      schedule.close();
      desk.pure.close();
    },
  });
  const stopping = new AbortController();
  const systemLot = installSystemLot(ledger, desk, workers, clock, stopping.signal);
  systemLot.catch((error: unknown) => {
    if (!stopping.signal.aborted) log.error({ reason: String(error) }, 'system source not assessed');
  });
  collector.start();
  const timer = every(SEED_CHECK_INTERVAL_MS, log, look);
  return {
    catalog,
    desk,
    collector,
    schedule,
    ready: readiness.promise,
    isReady: () => isReady,
    async stop() {
      stopping.abort();
      clearInterval(timer);
      await collector.stop();
      await systemLot.catch(() => {}); // told above
      desk.close();
    },
  };
}

/** Tests the system source and keeps the result as the lot that csprng answers are certified by. */
async function installSystemLot(
  ledger: Ledger,
  desk: EntropyDesk,
  workers: Workers,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const source = createSystemSource(clock);
  const read = await readBackend(source, ASSESSED_BITS, signal);
  const { width, claimedMinEntropyPerBit: minEntropyPerBit } = { ...source, width: read.width };
  const health = new HealthMonitor({ width, minEntropyPerBit }).check(read);
  const lot = await makeSystemLot(source, read, health, workers, clock);
  await ledger.addLot(lot, []);
  if (lot.accepted) desk.installSystemLot(lot);
}

/** Runs `work` again and again, never twice at a time; a failure is logged and the next turn tries again. */
function every(intervalMs: number, log: Log, work: () => Promise<unknown>): NodeJS.Timeout {
  let running = false;
  return setInterval(async () => {
    if (running) return;
    running = true;
    try {
      await work();
    } catch (error) {
      log.error({ reason: error instanceof Error ? error.message : String(error) }, 'upkeep failed');
    } finally {
      running = false;
    }
  }, intervalMs);
}
