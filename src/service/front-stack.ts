import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import type { Cells } from '../account/cells.ts';
import { AccountDirectory } from '../account/directory.ts';
import { usageOf } from '../account/usage.ts';
import { Answers } from '../answer/answers.ts';
import { ReplyMemory } from '../answer/buffer.ts';
import { Committer } from '../answer/commit.ts';
import { Idempotency, type RunningKeys } from '../answer/idempotency.ts';
import { EntropySupply } from '../answer/supply.ts';
import { CertificateIds } from '../certificate/ids.ts';
import type { Incarnation } from '../certificate/incarnation.ts';
import { type Config, localOrigin } from '../config/config.ts';
import { assert } from '../core/assert.ts';
import type { Clock } from '../core/clock.ts';
import { LIMITS } from '../core/limits.ts';
import type { Log } from '../core/log.ts';
import { MetricShard } from '../core/metrics.ts';
import { SYSTEM_GENERATOR } from '../crypto/system-entropy.ts';
import type { CommittedDraws } from '../draws/keeper.ts';
import type { Budget } from '../fair/budget.ts';
import { Fair } from '../fair/fair.ts';
import { demoRoute } from '../http/demo-routes.ts';
import { drawRoutes } from '../http/draws/routes.ts';
import { DRAWING_ENDPOINT_DEFINITIONS } from '../http/endpoints/table.ts';
import { startFront } from '../http/front.ts';
import { infoRoutes, type MetricsText } from '../http/info-routes.ts';
import { logRoutes } from '../http/log-routes.ts';
import { loadPageAssets } from '../http/pages/assets.ts';
import type { StatusFacts } from '../http/pages/status-page.ts';
import { unknownPage, verifyRoutes } from '../http/pages/verify-routes.ts';
import { type HealthReport, plainRoutes, type Readiness } from '../http/plain-routes.ts';
import { randomOrgRoute } from '../http/random-org/invoke.ts';
import { RpcSigner } from '../http/random-org/signed.ts';
import { RequestRecord } from '../http/request-record.ts';
import { Router } from '../http/router.ts';
import type { LotRecord } from '../ledger/records.ts';
import type { SegmentSink } from '../ledger/segment-sink.ts';
import { FrontGauges } from '../observe/front-gauges.ts';
import { SERVICE_VERSION } from '../observe/readings.ts';
import { systemReader } from '../pool/supply/keystream.ts';
import type { SeedGroup, SeedInForce } from '../pool/supply/seeds.ts';
import type { Workers } from '../workers/dispatch.ts';
import type { LedgerOfFront } from './ledger-thread.ts';

/**
 * File descriptors that the service needs for itself, besides connections. It uses 44 with one front and one worker and 78
 * with four of each (counted in /proc/self/fd). The rest is for files and sockets that are opened on demand: PDF
 * certificates, providers, the journal.
 */
const OWN_DESCRIPTORS = 64;
const OWN_DESCRIPTORS_PER_THREAD = 16;

/** Connections of a front even when descriptors or memory are too few for everything. */
const CONNECTIONS_MIN = 16;

/** Unfinished request heads take at most one part in this many of the memory. */
const HEADS_SHARE = 4;

/** What the main thread of a process does for each of its fronts. */
export interface MainThread extends RunningKeys, CommittedDraws, Cells {
  /** Takes a seed for the group, which reaches every front. Resolves with false when there is none. */
  askForSeed(group: SeedGroup): Promise<boolean>;
  /** Samples the csprng stream, if it has not been sampled. The sample reaches every front. */
  askForSample(): Promise<void>;
  health(): Promise<HealthReport>;
  /** Makes the text for Prometheus. */
  metrics: MetricsText;
  status(): Promise<StatusFacts>;
}

/** Events that a front is told of, in the order in which they happen. */
export interface FrontEvents {
  installSeed(seed: SeedInForce, quantumSeed: Uint8Array, lot: LotRecord): void;
  /** Sets the sample that certifies csprng answers from now on; null when the stream failed its tests. */
  installSystemLot(lot: LotRecord | null): void;
  /** There may be new blocks to claim. */
  lotsAdded(): void;
  /** The operator revoked these lots. Resolves when the front holds nothing that was drawn from them. */
  lotsRevoked(lotIds: ReadonlySet<string>): Promise<void>;
  /** Every quantum source is closed: there will be no more pure bytes. */
  sourcesClosed(): void;
  becomeReady(): void;
  /** Tells the front why this node is not ready at present; null when it is again. */
  holdBack(why: Readiness | null): void;
}

/** The calls on a front that need no reply. */
export const FRONT_TOLD: readonly (keyof FrontEvents)[] = [
  'installSeed',
  'installSystemLot',
  'lotsAdded',
  'sourcesClosed',
  'becomeReady',
  'holdBack',
];

export interface FrontOptions extends LedgerOfFront {
  readonly config: Config;
  readonly log: Log;
  readonly clock: Clock;
  readonly workers: Workers;
  readonly mainThread: MainThread;
  /** Secrets of the node, 32 bytes each, and the ledger's incarnations, whose numbers are in certificate ids. */
  readonly keys: {
    readonly certificateIds: Uint8Array;
    readonly incarnations: readonly Incarnation[];
    readonly storedAnswers: Uint8Array;
  };
  /** Makes this front's answers durable. */
  readonly sink: SegmentSink;
  /** The memory in which all fronts count, and the index of this front's part. */
  readonly metrics: { readonly memory: SharedArrayBuffer; readonly shard: number };
  /** Replaces the front that listens on a socket, in a simulation. */
  readonly listen?: typeof startFront;
}

/** The calls on a front, in whichever thread it runs. */
export interface FrontCommands extends FrontEvents {
  /** Claims pure bytes. Resolves with false when there are none to claim. */
  fillPure(): Promise<boolean>;
  /** See EntropySupply.sample. */
  sample(group: SeedGroup | undefined, size: number): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** Stops listening, and answers the requests under way. */
  drain(deadlineMs: number): Promise<void>;
}

/** Where clients reach a front. */
export interface Listening {
  readonly port: number;
  /** The URL, which ends in /v1. */
  readonly baseUrl: string;
}

/** One front with all its parts. */
export interface FrontStack extends FrontCommands, Listening {
  readonly supply: EntropySupply;
  readonly committer: Committer;
  /** The budget of memory for replies. */
  readonly memory: Budget;
  readonly directory: AccountDirectory;
  /** Erases the entropy that the front still holds. */
  close(): void;
}

/** Builds the stack and starts listening. */
export async function startFrontStack(options: FrontOptions): Promise<FrontStack> {
  const { config, log, clock, ledger, keyedLookUps, certificates, mainThread, workers } = options;
  const supply = new EntropySupply({
    store: ledger,
    expand: (order) => workers.expand(order),
    clock,
    log,
    askForSeed: (group) => mainThread.askForSeed(group),
    askForSample: () => mainThread.askForSample(),
  });
  const directory = await AccountDirectory.open({
    ledger,
    cells: mainThread,
    clock,
    isShared: await ledger.isShared(),
  });
  const shard = new MetricShard(options.metrics.memory, options.metrics.shard);
  const gauges = new FrontGauges(shard);
  const isLogged = config.logLevel === 'debug' || config.logLevel === 'info';
  const record = new RequestRecord({
    ...{ shard, log, clock },
    logSample: isLogged ? config.accessLogSample : 0, // makes no lines that the log would drop
  });
  let ready = false;
  let heldBack: Readiness | null = null;
  const names = { poweredBy: config.poweredBy, baseUrl: '', verifyUrlBase: '' };
  const committing = {
    sink: options.sink,
    ids: new CertificateIds(options.keys.certificateIds, options.keys.incarnations),
    clock,
    log,
    context: () => ({
      verifyUrlBase: names.verifyUrlBase,
      systemGenerator: SYSTEM_GENERATOR,
    }),
    onCommit: gauges.onCommit,
    // With a skewed clock the node would take other nodes' stored answers for expired, and charge a retry again.
    isHeldBack: () => heldBack === 'clock-skewed',
  };
  const notReady = () => (clock.jumpMs() !== 0 ? 'clock-jumped' : options.sink.refusal?.why);
  const committer = new Committer(committing);
  const keptCommitter = new Committer(committing);
  const replyMemory = new ReplyMemory();
  const fair = new Fair(clock, () => replyMemory.waitingBytes);
  const { memory } = fair;
  const random = systemReader();
  const assets = loadPageAssets();
  const idempotency = new Idempotency(ledger, options.keys.storedAnswers, mainThread);
  const answers = new Answers({
    supply,
    workers,
    fair,
    memory: replyMemory,
    committer,
    keptCommitter,
    idempotency,
    record,
    clock,
    random,
    names,
    reservoirBytes: config.reservoirBytes,
    askCredits: (...args) => mainThread.ask(...args),
  });
  const router = new Router({
    names,
    directory,
    dataEndpoints: DRAWING_ENDPOINT_DEFINITIONS,
    routes: [
      ...logRoutes(certificates),
      ...verifyRoutes(certificates, (document) => workers.drawPdf(document), assets),
      ...plainRoutes({
        readiness: () => heldBack ?? notReady() ?? (ready ? 'ready' : 'starting'),
        health: () => mainThread.health(),
        usage: (call) => {
          assert(call.account !== undefined, 'usage is asked for with a key');
          return usageOf(call.account, keyedLookUps, clock);
        },
        certificates: keyedLookUps,
        held: () => certificates.held(),
        poweredBy: config.poweredBy,
        strictParameters: config.strictParameters,
        drawPdf: (document) => workers.drawPdf(document),
      }),
      ...drawRoutes({
        answers,
        committedDraws: mainThread,
        random,
        nodeSecret: options.keys.storedAnswers,
        certificates,
        strictParameters: config.strictParameters,
      }),
      randomOrgRoute({
        answers,
        directory,
        idempotency,
        clock,
        usage: (account) => usageOf(account, keyedLookUps, clock),
        signer: new RpcSigner(options.keys.storedAnswers),
      }),
      demoRoute({ answers, directory, clock, random }),
      ...infoRoutes(
        {
          status: () => mainThread.status(),
          hasDemo: () => directory.demo() !== undefined,
          facts: () => ({ baseUrl: names.baseUrl, version: SERVICE_VERSION }),
          metrics:
            typeof config.metricsPort === 'number' || config.metricsPort === 'off'
              ? undefined
              : (isFresh) => mainThread.metrics(isFresh),
          areMetricsPublic: config.metricsPort === 'public',
          clock,
        },
        assets,
      ),
    ],
    answers,
    clock,
    log,
    rateLimitFields: config.rateLimitFields,
    strictParameters: config.strictParameters,
    record,
    corsOrigins: config.corsOrigins,
    unknownPage: (exchange) => unknownPage(exchange, assets),
  });
  const front = await (options.listen ?? startFront)({
    host: config.host,
    port: config.port,
    portSetting: 'QRN_PORT',
    sharePort: config.fronts > 1,
    tls: config.tls,
    engine: config.front,
    handle: (exchange, refused, isLate) => router.handle(exchange, refused, isLate),
    log,
    clock,
    fair,
    random,
    limits: {
      connectionsMax: Math.min(
        connectionsMax(descriptorLimit(), config.fronts, config.fronts + config.workers),
        connectionsWithin(memoryLimit(), config.fronts),
      ),
    },
  });
  Object.assign(names, urlsOf(config, front.port));
  gauges.start({ front, committer, workers, supply });
  return {
    port: front.port,
    baseUrl: names.baseUrl,
    supply,
    committer,
    memory,
    directory,
    installSeed: (seed, quantumSeed, lot) => supply.installSeed(seed, quantumSeed, lot),
    installSystemLot: (lot) => supply.installSystemLot(lot),
    lotsAdded: () => supply.pure.keepFilled(),
    lotsRevoked: async (lotIds) => supply.withdraw(lotIds),
    fillPure: () => supply.pure.fill(1),
    sample: async (group, size) => supply.sample(group, size),
    sourcesClosed: () => supply.pure.close(),
    becomeReady: () => {
      ready = true;
    },
    holdBack: (why) => {
      heldBack = why;
    },
    async drain(deadlineMs) {
      await front.drain(deadlineMs);
      await workers.close(); // they finish what they have begun, also for clients that have left
      await Promise.all([committer.drain(), keptCommitter.drain()]);
      gauges.stop();
      directory.close();
    },
    close: () => supply.close(),
  };
}

/** Returns the URLs at which clients reach the service: those of the configuration, or else of this machine. */
function urlsOf(config: Config, port: number): { baseUrl: string; verifyUrlBase: string } {
  const origin = localOrigin(config, port);
  return {
    baseUrl: config.baseUrl ?? `${origin}/v1`,
    verifyUrlBase: config.verifyUrlBase ?? `${origin}/verify`,
  };
}

/**
 * Returns how many connections each front may have open, so that a flood of them leaves descriptors for everything else. A
 * ledger that cannot open a file stops the service, and a listening socket that cannot accept spins (http/front.ts).
 * `threads` counts the fronts and the workers.
 */
export function connectionsMax(descriptorLimit: number, fronts: number, threads: number): number {
  const left = descriptorLimit - OWN_DESCRIPTORS - OWN_DESCRIPTORS_PER_THREAD * threads;
  return Math.min(LIMITS.connectionsMax, Math.max(CONNECTIONS_MIN, Math.floor(left / fronts)));
}

/**
 * Returns how many connections each front may have open with this much memory. Neither engine tells how much of an unfinished
 * request it holds, so every connection counts as one with the longest unfinished head. Together they take a quarter of the
 * memory at most.
 */
export function connectionsWithin(memoryBytes: number, fronts: number): number {
  const each = LIMITS.requestHeadBytesMax + LIMITS.requestHeadSpareBytes;
  const fitting = Math.floor(memoryBytes / HEADS_SHARE / each / fronts);
  return Math.min(LIMITS.connectionsMax, Math.max(CONNECTIONS_MIN, fitting));
}

/** Returns the bytes that this process may use: the limit of its control group (the lower of max and high), or all memory. */
export function memoryLimit(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

/** Returns the file descriptors that the system allows this process; infinite without a limit, and outside Linux. */
export function descriptorLimit(): number {
  let limits: string;
  try {
    limits = readFileSync('/proc/self/limits', 'utf8'); // process.report has the limit too, but takes 0.1 s
  } catch {
    return Number.POSITIVE_INFINITY;
  }
  const soft = /^Max open files +(\d+) /m.exec(limits)?.[1];
  return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
}
