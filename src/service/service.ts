import { existsSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { type Cells, OwnedCells } from '../account/cells.ts';
import { SharedLimits } from '../account/shared-limits.ts';
import { type CommittedDraws, DrawKeeper } from '../answer/draw-keeper.ts';
import { Idempotency, OwnedRunningKeys } from '../answer/idempotency.ts';
import type { EntropySupply } from '../answer/supply.ts';
import type { Backend } from '../backend/backend.ts';
import { BeaconChains } from '../beacon/chains.ts';
import { fetchBeacon } from '../beacon/fetch.ts';
import { readIncarnations } from '../certificate/incarnation.ts';
import type { Config } from '../config/config.ts';
import { messageOf } from '../core/assert.ts';
import { atMostEvery, type Clock, every, GuardedClock } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { createMetricMemory } from '../core/metrics.ts';
import { KeyFileError, openSecretFile } from '../crypto/key-files.ts';
import { startFront } from '../http/front.ts';
import { metricsAlone } from '../http/info-routes.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { Retention } from '../ledger/retention.ts';
import { Monitor } from '../observe/monitor.ts';
import { Watch } from '../observe/watch.ts';
import { DeliveredSampler, type DeliveredStream } from '../pool/intake/delivered-sampler.ts';
import { UNLIMITED } from '../pool/intake/read.ts';
import type { SeedSchedule } from '../pool/supply/seeds.ts';
import { Workers } from '../workers/dispatch.ts';
import { startThread } from '../workers/thread.ts';
import {
  type FrontCommands,
  type FrontStack,
  type HeldFront,
  type MainThread,
  startFrontStack,
} from './front-stack.ts';
import type { FrontWorkerData, ThreadCommands } from './front-worker.ts';
import { type LedgerThread, openFrontSink, startLedgerThread } from './ledger-thread.ts';
import { type Pool, startPool } from './pool.ts';
import { assertSelfTests, type SelfTestedParts } from './self-tests.ts';
import { ledgerMemory, openSource, type Source } from './sources.ts';

/** A running service. */
export interface Service {
  readonly port: number;
  /** Ends in /v1. */
  readonly baseUrl: string;
  readonly ledger: Ledger;
  /** Rejects when the service can no longer keep its promises and must stop. Never resolves. */
  readonly failed: Promise<never>;
  /** Resolves when every mode can be served; the first csprng answers wait for the sample of their stream. */
  readonly ready: Promise<void>;
  /** Answers what is under way, then stops everything. */
  stop(): Promise<void>;
}

/** What tests put in the place of what the configuration names. */
export interface ServiceParts {
  readonly clock?: Clock;
  readonly backend?: Backend;
  /** Several, the most wanted first. */
  readonly backends?: readonly Backend[];
  /** Broken parts, which the self-tests must refuse. */
  readonly selfTested?: Partial<SelfTestedParts>;
}

/**
 * How often limiter states are written down: what a killed process can forget of requests that were refused.
 */
const RATES_INTERVAL_MS = 1_000;
const EXPIRY_INTERVAL_MS = 60_000;
const CLOCK_INTERVAL_MS = 5_000;
const CLOCK_JUMPED =
  'the system clock jumped: the service goes on by its own time, is not ready and deletes nothing; ' +
  'correct the clock, or restart the service if the clock is right now';
/** How often a piece of one seeded stream, delivered to nobody, is tested. */
const DELIVERED_SAMPLE_INTERVAL_MS = 60_000;
/** How often draws are looked at that are due. */
const DRAWS_INTERVAL_MS = 250;
/** How often fronts learn whether the database answers, and with what time. */
const DATABASE_INTERVAL_MS = 500;
const DRAIN_DEADLINE_MS = 3_000;
const FRONT_ENTRY = new URL('./front-worker.ts', import.meta.url);
/** The text of the metrics is made at most so often for those who do not ask for a fresh one. */
const METRICS_SHARED_MS = 1_000;
/**
 * Few ask for metrics; their connections are among the descriptors that the service needs itself
 * (front-stack.ts).
 */
const METRICS_CONNECTIONS_MAX = 8;

/**
 * Starts everything in the order in which it is needed, after the self-tests; the ledger is closed again when
 * a later step fails.
 */
export async function startService(
  config: Config,
  log: Log,
  { clock = new GuardedClock(), backend, backends = backend && [backend], selfTested }: ServiceParts = {},
): Promise<Service> {
  const { durability, logLevel, logColour } = config;
  const node = config.node || hostname();
  const cluster = config.ledger === '' ? null : { url: config.ledger, node };
  const settings = {
    path: join(config.dataDir, cluster === null ? 'ledger' : 'node'),
    cluster,
    durability,
    scrubBytesPerS: config.scrubMibPerS * 2 ** 20,
    logLevel,
    logColour,
    keysPath: join(config.dataDir, 'keys'),
    logName: config.logName,
    witnesses: config.witnesses,
    witnessQuorum: config.witnessQuorum,
    fronts: config.fronts - 1,
  };
  const thread = await startLedgerThread(settings, () => assertSelfTests(selfTested));
  const started: (() => Promise<unknown>)[] = [() => thread.stop()];
  try {
    const sources =
      backends?.map((each): Source => ({ backend: each, limits: UNLIMITED })) ??
      config.sources.map((each) => openSource(each, ledgerMemory(each.name, thread.ledger), clock));
    return await startOn(thread, sources, await portShared(config), log, clock, started);
  } catch (error) {
    for (const stop of started.reverse()) await stop();
    throw error;
  }
}

/** Several fronts listen on one port, which must have a number before the first of them does. */
async function portShared(config: Config): Promise<Config> {
  if (config.fronts === 1 || config.port !== 0) return config;
  const finder = createServer();
  await new Promise<void>((resolve, reject) => {
    finder.once('error', reject);
    finder.listen(0, config.host, resolve);
  });
  const { port } = finder.address() as AddressInfo;
  await new Promise((resolve) => finder.close(resolve));
  return { ...config, port };
}

/** `started` takes what must be stopped when a later step fails. */
async function startOn(
  thread: LedgerThread,
  sources: readonly Source[],
  config: Config,
  log: Log,
  clock: Clock,
  started: (() => Promise<unknown>)[],
): Promise<Service> {
  const { ledger } = thread;
  const workersEach = Math.max(1, Math.floor(config.workers / config.fronts));
  const workers = new Workers(workersEach, log);
  started.push(() => workers.close());
  const isShared = await ledger.isShared();
  const limits = isShared ? new SharedLimits({ limits: ledger, log }) : undefined;
  const cells = await OwnedCells.open(ledger, clock, limits);
  const secret = (name: string) => join(config.dataDir, 'keys', name);
  const keys = {
    certificateIds: openSecretFile(secret('certificate-ids')),
    incarnations: (await readIncarnations(ledger)) ?? [],
    storedAnswers: await openStoredAnswersKey(secret('stored-answers'), ledger, clock),
  };
  const [ownSink, ...sinks] = thread.sinks;
  const answers = await openFrontSink(ownSink, ledger, clock);
  const answersFailed = answers.failed.then((error) => {
    throw error;
  });
  answersFailed.catch(() => {}); // reaches whoever waits for the service's failure
  started.push(async () => answers.close());
  const metricMemory = createMetricMemory(config.fronts);
  const running = await OwnedRunningKeys.open(ledger, clock.wallMs(), isShared ? ledger : undefined);
  const keeper = await DrawKeeper.open({
    draws: ledger,
    idempotency: new Idempotency(ledger, keys.storedAnswers, running),
    chains: new BeaconChains(config.beacons, fetchBeacon),
    clock,
    log,
  });
  const metricsNow = async () => watching().metrics();
  const sharedMetrics = atMostEvery(METRICS_SHARED_MS, clock, metricsNow);
  const mainThread: MainThread = {
    hold: (...args) => running.hold(...args),
    reserve: (...args) => running.reserve(...args),
    release: (...args) => running.release(...args),
    ...committedDrawsOf(keeper),
    // fronts listen before there is a pool to ask
    askForSeed: async (group) => pool?.schedule.ensure(pool.schedule.add(group)) ?? false,
    askForSample: async () => (await poolStarted.promise).sampleSystem(),
    health: async () => watching().health(),
    metrics: (isFresh) => (isFresh ? metricsNow() : sharedMetrics()),
    status: async () => watching().status(),
  };
  let pool: Pool | undefined;
  const poolStarted = Promise.withResolvers<Pool>();
  let monitor: Monitor | undefined;
  const watching = (): Monitor => {
    if (monitor !== undefined) return monitor;
    throw new ApiError('overloaded', { message: 'The service is starting; retry shortly.', retryAfterS: 1 });
  };
  const main = await startFrontStack({
    config,
    log,
    clock,
    ledger,
    keyedLookUps: thread.keyedLookUps,
    certificates: thread.certificates,
    cells,
    workers,
    mainThread,
    keys,
    sink: answers.sink,
    metrics: { memory: metricMemory, shard: 0 },
  });
  started.push(() => main.drain(0));
  if (limits !== undefined) {
    await limits.look();
    limits.start();
    started.push(() => limits.close());
  }
  const own: Config = { ...config, port: main.port, sources: [], ledger: '' }; // no secret goes to another thread
  const served = {
    ...mainThread,
    cellOf: cells.cellOf.bind(cells),
    ask: cells.ask.bind(cells),
  };
  const threads = thread.ports.map((ports, i) => {
    const metrics = { memory: metricMemory, shard: i + 1 };
    const data: Omit<FrontWorkerData, 'home'> = {
      ...{ config: own, ledger: ports, keys, sink: sinks[i], metrics, workers: workersEach },
    };
    return startThread<ThreadCommands, MainThread & Cells>(FRONT_ENTRY, {
      ...{ data, serve: served, name: 'a front thread', moved: Object.values(ports) },
    });
  });
  started.push(() => Promise.all(threads.map((each) => each.end())));
  await Promise.all(threads.map((each) => Promise.race([each.calls.start(), each.failed])));
  const fronts: readonly FrontCommands[] = [
    main,
    ...threads.map((each) => each.remote(['lotsRevoked', 'drain'])),
  ];
  const { metricsPort } = config;
  const metricsFront =
    typeof metricsPort === 'number'
      ? await startFront({
          host: config.host,
          port: metricsPort,
          engine: config.front,
          ...metricsAlone(mainThread.metrics, clock),
          log,
          clock,
          limits: { connectionsMax: METRICS_CONNECTIONS_MAX },
        })
      : undefined;
  if (metricsFront !== undefined) started.push(() => metricsFront.drain(0));
  const entropy = startPool({
    ledger,
    sources,
    assessor: workers,
    config,
    log,
    clock,
    fronts,
    fillPure: () => main.supply.pure.fill(1),
    systemStream: main.supply.system.reader,
  });
  pool = entropy;
  poolStarted.resolve(entropy);
  const streams = () => seededStreams(entropy.schedule, main.supply);
  const delivered = new DeliveredSampler({ streams, assessor: workers, clock, log });
  const watched = new Monitor(
    {
      ...entropy,
      ledger,
      checkpoint: () => thread.keyedLookUps.checkpoint(),
      draws: () => keeper.counts(),
      keptAnswerBytes: () => running.keptBytes(clock.wallMs()),
      witnesses: () => thread.keyedLookUps.witnesses(),
      delivered: () => delivered.states(),
      watch: new Watch({ metricMemory, ledger, clock }),
      pureBytesHigh: config.reservoirBytes,
      dataDir: config.dataDir,
      clock,
      startedAtMs: clock.wallMs(),
    },
    log,
  );
  watched.start();
  monitor = watched;
  const upkeep = [
    ...startUpkeep(ledger, main, config, log, clock),
    every(DRAWS_INTERVAL_MS, log, async () => keeper.lookAtDue()),
    ...(config.ledger === '' ? [] : [every(DATABASE_INTERVAL_MS, log, () => followDatabase(ledger, fronts))]),
    every(DELIVERED_SAMPLE_INTERVAL_MS, log, () => delivered.sampleNext()),
  ];
  return {
    port: main.port,
    baseUrl: main.baseUrl,
    ledger,
    failed: Promise.race([thread.failed, answersFailed, ...threads.map((each) => each.failed)]),
    ready: entropy.ready,
    async stop() {
      const draining = threads.map((each) => each.end((calls) => calls.drain(DRAIN_DEADLINE_MS)));
      await Promise.all([main.drain(DRAIN_DEADLINE_MS), ...draining]);
      await limits?.close();
      for (const timer of upkeep) clearInterval(timer);
      watched.stop();
      await metricsFront?.drain(0);
      await entropy.stop();
      main.close();
      await ledger.saveRates(main.directory.rates()).catch((error: unknown) => {
        log.warn({ reason: messageOf(error) }, 'the states of the rate limits are not stored');
      });
      await workers.close();
      answers.close();
      await thread.stop();
    },
  };
}

/**
 * A node is not ready while the database is away, its clock is another, or commits wait for a standby.
 * @internal for tests
 */
export async function followDatabase(
  ledger: Pick<Ledger, 'integrity'>,
  fronts: readonly HeldFront[],
): Promise<void> {
  const { database } = await ledger.integrity();
  const why = database?.isAway
    ? 'database-away'
    : database?.isSkewed
      ? 'clock-skewed'
      : database?.isStandbyLate
        ? 'standby-late'
        : null;
  for (const front of fronts) front.holdBack(why);
}

/** Throws KeyFileError when the key is gone and the ledger holds answers that only it opens: no other is made then. */
async function openStoredAnswersKey(
  path: string,
  ledger: Pick<Ledger, 'storedAnswerSizes'>,
  clock: Clock,
): Promise<Uint8Array<ArrayBuffer>> {
  if (existsSync(path)) return openSecretFile(path);
  const kept = await ledger.storedAnswerSizes(clock.wallMs());
  if (kept.length === 0) return openSecretFile(path);
  throw new KeyFileError(
    `${path} is missing, and the answers that are kept for an Idempotency-Key are lost without it: put it back from a copy of the keys ` +
      `folder, or make another, with which their requests are answered and charged again: \`openssl rand -base64 32 >${path}; chmod 600 ${path}\``,
  );
}

/** What fronts may call of the keeper: its methods, bound to it. */
function committedDrawsOf(keeper: DrawKeeper): CommittedDraws {
  return {
    chainOf: (...args) => keeper.chainOf(...args),
    knownDraw: (...args) => keeper.knownDraw(...args),
    openDraw: (...args) => keeper.openDraw(...args),
    drawCommitted: (...args) => keeper.drawCommitted(...args),
    drawRefused: (...args) => keeper.drawRefused(...args),
    cancelDraw: (...args) => keeper.cancelDraw(...args),
    openNonce: (...args) => keeper.openNonce(...args),
  };
}

/** The first front's keystreams that have a seed in force. */
function seededStreams(schedule: SeedSchedule, supply: EntropySupply): DeliveredStream[] {
  return schedule.states().flatMap(({ name, intervalMs, current }) => {
    const held = current && supply.seeded({ tier: current.tier, intervalMs });
    return held ? [{ name, reader: held.reader }] : [];
  });
}

/**
 * What is done now and then for all fronts. The meters are shared: one front's directory sees every
 * account's.
 */
function startUpkeep(
  ledger: Ledger,
  main: FrontStack,
  config: Config,
  log: Log,
  clock: Clock,
): NodeJS.Timeout[] {
  const retention = new Retention(ledger, config.certificateRetentionDays, { clock, log });
  let hasJumped = false;
  return [
    every(RATES_INTERVAL_MS, log, () => ledger.saveRates(main.directory.rates())),
    every(EXPIRY_INTERVAL_MS, log, () => retention.sweep()),
    every(CLOCK_INTERVAL_MS, log, async () => {
      const jumpMs = clock.jumpMs();
      if (jumpMs !== 0 && !hasJumped) log.error({ seconds: Math.round(jumpMs / 1_000) }, CLOCK_JUMPED);
      if (jumpMs === 0 && hasJumped)
        log.info({}, 'the system clock agrees with the time of this service again');
      hasJumped = jumpMs !== 0;
    }),
  ];
}
