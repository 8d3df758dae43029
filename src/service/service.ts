import { existsSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { OwnedCells } from '../account/cells.ts';
import { SharedLimits } from '../account/shared-limits.ts';
import { Idempotency, OwnedRunningKeys } from '../answer/idempotency.ts';
import { BeaconChains, type FetchJson } from '../beacon/chains.ts';
import { fetchBeacon } from '../beacon/fetch.ts';
import { readIncarnations } from '../certificate/incarnation.ts';
import type { Config } from '../config/config.ts';
import { messageOf } from '../core/assert.ts';
import { atMostEvery, type Clock, every, GuardedClock } from '../core/clock.ts';
import { closeAll } from '../core/close-all.ts';
import { ApiError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { createMetricMemory } from '../core/metrics.ts';
import { KeyFileError, openSecretFile } from '../crypto/key-files.ts';
import { DrawKeeper } from '../draws/keeper.ts';
import { startFront } from '../http/front.ts';
import { metricsAlone } from '../http/info-routes.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { retention } from '../ledger/retention.ts';
import { Monitor } from '../observe/monitor.ts';
import { Watch } from '../observe/watch.ts';
import type { Assessor } from '../pool/intake/assessor.ts';
import { DeliveredSampler, type DeliveredStream } from '../pool/intake/delivered-sampler.ts';
import type { Source } from '../pool/intake/read.ts';
import type { SeedSchedule } from '../pool/supply/seeds.ts';
import { AssessmentThread } from '../workers/dispatch.ts';
import type { FrontCommands, FrontEvents, FrontOptions, Listening, MainThread } from './front-stack.ts';
import { type FrontData, openFront, type RunningFront, startFrontThread } from './front-thread.ts';
import { type LedgerThread, startLedgerThread } from './ledger-thread.ts';
import type { LedgerSettings } from './ledger-worker.ts';
import { type Pool, startPool } from './pool.ts';
import { assertSelfTests, type SelfTestedParts } from './self-tests.ts';
import { ledgerMemory, openSource } from './sources.ts';

/** A running service. */
export interface Service extends Listening {
  readonly ledger: Ledger;
  /** Rejects when the service can no longer keep its promises and must stop. Never resolves. */
  readonly failed: Promise<never>;
  /** Resolves when every mode can be served. The first csprng answers still wait for the sample of their stream. */
  readonly ready: Promise<void>;
  /** Answers the requests under way, then stops everything. */
  stop(): Promise<void>;
}

/** What a front gets from the thread that starts it. */
interface FrontContext {
  readonly mainThread: MainThread;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * What the service needs from outside: time, disk, network, threads and sources. Tests and the simulation replace some of
 * them. Everything else is put together here, once.
 */
export interface ServicePorts {
  readonly clock: Clock;
  /** Starts the thread that owns the ledger. `checkFirst` throws when nothing may be opened. */
  readonly startLedger: (settings: LedgerSettings, checkFirst: () => void) => Promise<LedgerThread>;
  /** Opens the secrets of the node, which lie beside the ledger. */
  readonly openKeys: (config: Config, ledger: Ledger, clock: Clock) => Promise<FrontOptions['keys']>;
  /** Starts the front with the index `place`, from 0. */
  readonly startFront: (place: number, data: FrontData, context: FrontContext) => Promise<RunningFront>;
  /** Starts the thread that tests lots. */
  readonly startAssessor: (log: Log) => Assessor & { close(): Promise<void> };
  /** Returns the sources, the most preferred first. */
  readonly openSources: (config: Config, ledger: Ledger, clock: Clock) => readonly Source[];
  readonly fetchBeacon: FetchJson;
  /** Replaces parts that the self-tests test. */
  readonly selfTested: Partial<SelfTestedParts>;
}

const SYSTEM_PORTS: Omit<ServicePorts, 'clock'> = {
  startLedger: startLedgerThread,
  openKeys,
  // a thread for the only front would take 32 MiB and make nothing faster (SPEC-NOTES, where a front runs)
  startFront: (place, data, { mainThread, clock, log }) =>
    place === 0 ? openFront(data, mainThread, clock, log) : startFrontThread(data, mainThread),
  startAssessor: (log) => new AssessmentThread(log),
  openSources: ({ sources }, ledger, clock) =>
    sources.map((each) => openSource(each, ledgerMemory(each.name, ledger), clock)),
  fetchBeacon,
  selfTested: {},
};

/** How often limiter states are saved. A killed process forgets at most this much of the requests that it did not answer. */
const RATES_INTERVAL_MS = 1_000;
const EXPIRY_INTERVAL_MS = 60_000;
const CLOCK_INTERVAL_MS = 5_000;
const CLOCK_JUMPED =
  'the system clock jumped: the service keeps its own time, is not ready and deletes nothing; ' +
  'correct the clock, or restart the service if the clock is right now';
/** How often a sample of one seeded stream is tested. The sample is delivered to nobody. */
const DELIVERED_SAMPLE_INTERVAL_MS = 60_000;
/** How often the service looks for draws that are due. */
const DRAWS_INTERVAL_MS = 250;
/** How often fronts learn whether the database answers, keeps up, and has the same time. */
const DATABASE_INTERVAL_MS = 500;
const DRAIN_DEADLINE_MS = 3_000;
/** The age up to which a text of the metrics serves requests that do not ask for a new one. */
const METRICS_SHARED_MS = 1_000;
/** Few clients ask for metrics. Their connections are among the descriptors that the service needs itself (front-stack.ts). */
const METRICS_CONNECTIONS_MAX = 8;

/**
 * How much V8 may inline into one function, for all threads of the process. An answer is a few hundred calls of small
 * functions: with V8's own limits, 460 and 920 bytes of bytecode, the front took 15 % more CPU and the ledger's thread 5 %
 * more.
 */
const INLINING = ['--max-inlined-bytecode-size=1000', '--max-inlined-bytecode-size-cumulative=4000'];

/** Runs the self-tests, and starts all parts in the order in which they are needed. Stops them again when a step fails. */
export async function startService(
  config: Config,
  log: Log,
  given: Partial<ServicePorts> = {},
): Promise<Service> {
  for (const flag of INLINING) setFlagsFromString(flag);
  const ports: ServicePorts = { clock: new GuardedClock(), ...SYSTEM_PORTS, ...given };
  const { durability, logLevel, logColour, logName, witnesses, witnessQuorum, fronts } = config;
  const node = config.node || hostname();
  const cluster = config.ledger === '' ? null : { url: config.ledger, node };
  const settings = {
    path: join(config.dataDir, cluster === null ? 'ledger' : 'node'),
    cluster,
    scrubBytesPerS: config.scrubMibPerS * 2 ** 20,
    keysPath: join(config.dataDir, 'keys'),
    ...{ durability, logLevel, logColour, logName, witnesses, witnessQuorum, fronts },
  };
  const thread = await ports.startLedger(settings, () => assertSelfTests(ports.selfTested));
  const stops: Stop[] = [() => thread.stop()];
  try {
    return await startOn(thread, await portShared(config), log, ports, stops);
  } catch (error) {
    await stopAll(stops, log).catch(() => {}); // stopAll has logged it, and the error of the start matters more
    throw error;
  }
}

/** Stops a part of the service. */
type Stop = () => unknown;

/** Stops the parts, the last started first. When one does not stop, rejects after all others have stopped. */
async function stopAll(stops: readonly Stop[], log: Log): Promise<void> {
  const told = (stop: Stop) => async () => {
    try {
      await stop();
    } catch (error) {
      log.warn({ reason: messageOf(error) }, 'a part of the service failed to stop');
      throw error;
    }
  };
  await closeAll(stops.map(told));
}

/** Returns the configuration with a port number, which several fronts need before they listen on the same port. */
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

/** Starts all parts on the ledger's thread. Adds to `stops` how to stop each part, in the order of the starts. */
async function startOn(
  thread: LedgerThread,
  config: Config,
  log: Log,
  ports: ServicePorts,
  stops: Stop[],
): Promise<Service> {
  const { clock } = ports;
  const { ledger } = thread;
  const sources = ports.openSources(config, ledger, clock);
  const assessor = ports.startAssessor(log);
  stops.push(() => assessor.close());
  const isShared = await ledger.isShared();
  const limits = isShared ? new SharedLimits({ limits: ledger, log }) : undefined;
  const cells = await OwnedCells.open(ledger, clock, limits);
  const keys = await ports.openKeys(config, ledger, clock);
  const metricMemory = createMetricMemory(config.fronts);
  const running = await OwnedRunningKeys.open(ledger, clock.wallMs(), isShared ? ledger : undefined);
  const keeper = await DrawKeeper.open({
    draws: ledger,
    idempotency: new Idempotency(ledger, keys.storedAnswers, running),
    chains: new BeaconChains(config.beacons, ports.fetchBeacon),
    clock,
    log,
  });
  const metricsNow = async () => watching().metrics();
  const sharedMetrics = atMostEvery(METRICS_SHARED_MS, clock, metricsNow);
  const mainThread: MainThread = {
    ...methodsOf(running),
    ...methodsOf(keeper),
    ...methodsOf(cells),
    // fronts listen before the pool is started
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
    throw new ApiError('overloaded', { message: 'The service is starting. Retry shortly.', retryAfterS: 1 });
  };
  const own: Config = { ...config, sources: [], ledger: '' }; // sends no secret to other threads
  const workers = Math.max(1, Math.floor(config.workers / config.fronts));
  const starting = thread.fronts.map((each, place) => {
    const data = { ...each, config: own, keys, workers, metrics: { memory: metricMemory, shard: place } };
    return ports.startFront(place, data, { mainThread, clock, log });
  });
  for (const each of await Promise.allSettled(starting)) {
    if (each.status === 'rejected') continue;
    const { commands, end } = each.value;
    stops.push(() => commands.drain(0).finally(end));
  }
  const listening = await Promise.all(starting);
  const fronts = listening.map(({ commands }) => commands);
  const [{ port, baseUrl }] = listening;
  const [tested] = fronts;
  if (limits !== undefined) {
    limits.start();
    stops.push(() => limits.close());
  }
  stops.push(() =>
    ledger.saveRates(cells.rates()).catch((error: unknown) => {
      log.warn(
        { reason: messageOf(error) },
        'could not save the states of the rate limits: accounts begin with full limits at the next start',
      );
    }),
  );
  const { metricsPort } = config;
  const metricsFront =
    typeof metricsPort === 'number'
      ? await startFront({
          host: config.host,
          port: metricsPort,
          portSetting: 'QRN_METRICS_PORT',
          sharePort: false,
          tls: null,
          engine: config.front,
          handle: metricsAlone(mainThread.metrics),
          log,
          clock,
          limits: { connectionsMax: METRICS_CONNECTIONS_MAX },
        })
      : undefined;
  if (metricsFront !== undefined) stops.push(() => metricsFront.drain(0));
  const entropy = startPool({
    ledger,
    sources,
    assessor,
    config,
    log,
    clock,
    fronts,
    tested,
  });
  stops.push(() => entropy.stop());
  pool = entropy;
  poolStarted.resolve(entropy);
  const streams = () => seededStreams(entropy.schedule, tested);
  const delivered = new DeliveredSampler({ streams, assessor, clock, log });
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
  stops.push(() => watched.stop());
  monitor = watched;
  const upkeep = [
    ...startUpkeep(ledger, cells, config, log, clock),
    every(DRAWS_INTERVAL_MS, log, 'end the draws that are due', async () => keeper.endDueDraws()),
    ...(config.ledger === ''
      ? []
      : [
          every(DATABASE_INTERVAL_MS, log, 'read the state of PostgreSQL', () =>
            followDatabase(ledger, fronts),
          ),
        ]),
    every(DELIVERED_SAMPLE_INTERVAL_MS, log, 'test a sample of a seeded stream', () =>
      delivered.sampleNext(),
    ),
  ];
  stops.push(
    () => {
      for (const timer of upkeep) clearInterval(timer);
    },
    () => Promise.all(fronts.map((front) => front.drain(DRAIN_DEADLINE_MS))),
  );
  return {
    port,
    baseUrl,
    ledger,
    failed: Promise.race([thread, ...listening].map(({ failed }) => failed)),
    ready: entropy.ready,
    stop: () => stopAll(stops, log),
  };
}

/**
 * Tells the fronts whether the node is ready: not while the database is away, their clocks differ, or commits wait for a
 * standby.
 * @internal for tests
 */
export async function followDatabase(
  ledger: Pick<Ledger, 'integrity'>,
  fronts: readonly Pick<FrontEvents, 'holdBack'>[],
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

/** Opens the keys in the data folder, and makes them when the folder is new. */
async function openKeys({ dataDir }: Config, ledger: Ledger, clock: Clock): Promise<FrontOptions['keys']> {
  const path = (name: string) => join(dataDir, 'keys', name);
  return {
    certificateIds: openSecretFile(path('certificate-ids')),
    incarnations: (await readIncarnations(ledger)) ?? [],
    storedAnswers: await openStoredAnswersKey(path('stored-answers'), ledger, clock),
  };
}

/** Throws KeyFileError, and makes no new key, when the key is missing and the ledger has answers that only it can open. */
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

/** Returns the methods of an object, bound to it, to serve them to another thread. */
function methodsOf<T extends object>(of: T): Pick<T, keyof T> {
  const [, ...names] = Object.getOwnPropertyNames(Object.getPrototypeOf(of)) as (keyof T)[]; // the constructor is the first
  const bound = names.map((name) => [name, (of[name] as () => unknown).bind(of)]);
  return Object.fromEntries(bound) as Pick<T, keyof T>;
}

/** Returns the front's keystreams that have a seed in force. */
function seededStreams(schedule: SeedSchedule, front: FrontCommands): DeliveredStream[] {
  return schedule.states().flatMap(({ name, intervalMs, current }) => {
    if (current === undefined) return [];
    const group = { tier: current.tier, intervalMs };
    return [{ name, draw: (size) => front.sample(group, size) }];
  });
}

/** Starts the periodic work for all fronts. */
function startUpkeep(
  ledger: Ledger,
  cells: OwnedCells,
  config: Config,
  log: Log,
  clock: Clock,
): NodeJS.Timeout[] {
  const sweep = retention(ledger, config.certificateRetentionDays, { clock, log });
  let hasJumped = false;
  return [
    every(RATES_INTERVAL_MS, log, 'save the states of the rate limits', () =>
      ledger.saveRates(cells.rates()),
    ),
    every(EXPIRY_INTERVAL_MS, log, 'delete expired records', sweep),
    every(CLOCK_INTERVAL_MS, log, 'check the system clock', async () => {
      const jumpMs = clock.jumpMs();
      if (jumpMs !== 0 && !hasJumped) log.error({ seconds: Math.round(jumpMs / 1_000) }, CLOCK_JUMPED);
      if (jumpMs === 0 && hasJumped)
        log.info({}, 'the system clock agrees with the time of the service again: the service can be ready');
      hasJumped = jumpMs !== 0;
    }),
  ];
}
