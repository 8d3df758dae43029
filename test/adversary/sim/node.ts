import type { MessagePort } from 'node:worker_threads';
import { OwnedCells } from '../../../src/account/cells.ts';
import { SharedLimits } from '../../../src/account/shared-limits.ts';
import { OwnedRunningKeys } from '../../../src/answer/idempotency.ts';
import { CertificateArchive, certificateService } from '../../../src/certificate/archive.ts';
import { CertificateIds } from '../../../src/certificate/ids.ts';
import { keysDocument } from '../../../src/certificate/keys-document.ts';
import { BATCH_LEAVES, CertificateLog } from '../../../src/certificate/log.ts';
import type { Config } from '../../../src/config/config.ts';
import { type Clock, every } from '../../../src/core/clock.ts';
import { ApiError } from '../../../src/core/errors.ts';
import type { Log } from '../../../src/core/log.ts';
import { createMetricMemory } from '../../../src/core/metrics.ts';
import type { LogKeys } from '../../../src/crypto/key-files.ts';
import { DirectoryFeed } from '../../../src/ledger/directory-feed.ts';
import { type Ledger, LedgerError } from '../../../src/ledger/ledger.ts';
import { Retention } from '../../../src/ledger/retention.ts';
import { UNLIMITED } from '../../../src/pool/intake/read.ts';
import type { SeedInForce } from '../../../src/pool/supply/seeds.ts';
import {
  type FrontEvents,
  type FrontOptions,
  type FrontStack,
  type MainThread,
  startFrontStack,
} from '../../../src/service/front-stack.ts';
import { type Pool, startPool } from '../../../src/service/pool.ts';
import { Link } from '../../../src/workers/call.ts';
import type { Chance } from '../../support/chance.ts';
import { sequencesFrom, sinkInto } from '../../support/memory-ledger.ts';
import { NO_DRAWS } from '../../support/no-draws.ts';
import { SimFront } from './front.ts';
import type { SimMachine } from './machine.ts';
import { JOB_LIMITS, type SimSources } from './sources.ts';
import type { SimWorkers } from './workers.ts';

/** As service/service.ts has them. */
const RATES_INTERVAL_MS = 1_000;
const EXPIRY_INTERVAL_MS = 60_000;
const DRAIN_DEADLINE_MS = 3_000;
/** As ledger/postgres/directory.ts has it. */
const LOOK_INTERVAL_MS = 250;
/** As service/ledger-worker.ts has it. */
const SEAL_INTERVAL_MS = 150;
/** Of a message between two threads, on average. */
const LATENCY_MS = 0.3;

/** What lasts of a node beside its ledger. */
export interface NodeKeys {
  readonly ids: Uint8Array;
  readonly storedAnswers: Uint8Array;
  readonly log: LogKeys;
}

export interface NodeOptions {
  readonly machine: SimMachine;
  readonly random: Chance;
  readonly clock: Clock;
  readonly config: Config;
  readonly log: Log;
  readonly keys: NodeKeys;
  /** The ledger as the thread sees it: the main one, each front, the log of certificates and its second writer. */
  readonly ledgerFor: (of: 'main' | 'log' | 'other log' | number) => Ledger;
  readonly workers: SimWorkers;
  readonly sources: SimSources;
  /** Told of what a front is told, when the front hears it. */
  readonly seen: {
    seed(front: number, seed: SeedInForce, bytes: Uint8Array): void;
    withdrawn(front: number, lotIds: ReadonlySet<string>): void;
  };
}

interface NodeFront {
  readonly stack: FrontStack;
  readonly front: SimFront;
}

/**
 * One run of the service: what service/service.ts puts together, with the threads' messages, the sockets and the providers in the
 * simulation's hand. Everything that decides is the service's own.
 */
export class SimNode {
  readonly fronts: readonly NodeFront[];
  readonly pool: Pool;
  isReady = false;
  readonly #stop: () => Promise<void>;

  private constructor(fronts: readonly NodeFront[], pool: Pool, stop: () => Promise<void>) {
    this.fronts = fronts;
    this.pool = pool;
    this.#stop = stop;
    pool.ready.then(() => (this.isReady = true));
  }

  static async start(options: NodeOptions): Promise<SimNode> {
    const { machine, random, clock, config, log, keys, workers, sources, seen } = options;
    const { certificates, stopSealing } = await startLog(options);
    const isShared = await options.ledgerFor('main').isShared();
    const looks: NodeJS.Timeout[] = [];
    /** A node of several looks for what others have changed, as ledger/postgres/directory.ts does. */
    const ledgerFor = (of: 'main' | number): Ledger => {
      const ledger = options.ledgerFor(of);
      if (!isShared) return ledger;
      const feed = new DirectoryFeed((since) => ledger.directoryChanges(since), clock);
      looks.push(every(LOOK_INTERVAL_MS, log, async () => void (await feed.push())));
      const follow: Ledger['follow'] = (reader) => feed.follow(reader);
      return new Proxy(ledger, {
        get: (_target, name) => (name === 'follow' ? follow : ledger[name as 'follow']),
      });
    };
    const ledger = ledgerFor('main');
    const limits = isShared ? new SharedLimits({ limits: ledger, log }) : undefined;
    const cells = await OwnedCells.open(ledger, clock, limits);
    const running = await OwnedRunningKeys.open(ledger, clock.wallMs(), isShared ? ledger : undefined);
    const memory = createMetricMemory(config.fronts);
    let pool: Pool | undefined;
    const unwatched = async () => {
      throw new ApiError('overloaded', { retryAfterS: 1 });
    };
    const mainThread: MainThread = {
      hold: (digest, fingerprint) => running.hold(digest, fingerprint),
      reserve: (...args) => running.reserve(...args),
      release: (...args) => running.release(...args),
      cellsOf: (...args) => cells.cellsOf(...args),
      ask: (...args) => cells.ask(...args),
      askForSeed: async (group) => pool?.schedule.ensure(pool.schedule.add(group)) ?? false,
      askForSample: async () => pool?.sampleSystem(),
      ...NO_DRAWS,
      health: unwatched,
      metrics: unwatched,
      status: unwatched,
    };
    const fronts: NodeFront[] = [];
    const told: FrontEvents[] = [];
    for (let i = 0; i < config.fronts; i++) {
      // one front shares its thread with what all ask, and each other one has a link to it (workers/thread.ts)
      const [port, farPort] = portPair(machine, random);
      const link = new Link<FrontEvents, MainThread>(port, { serve: mainThread });
      const far = new Link<MainThread, FrontEvents>(farPort, {
        get serve() {
          return watchedFront(fronts[i].stack, i, seen);
        },
        after: { installSeed: (_seed, quantumSeed) => void quantumSeed.fill(0) },
      });
      const ownLedger = ledgerFor(i);
      const { from } = await ownLedger.leaseSequences(); // as nodes have them, each a range of its own
      fronts.push(
        await startFront({
          config,
          log,
          clock,
          ledger: ownLedger,
          keyedLookUps: { ...certificates, usage: (...args) => ownLedger.usage(...args) },
          certificates,
          workers: workers.asWorkers(),
          mainThread: i === 0 ? mainThread : far.calls,
          keys: { certificateIds: keys.ids, incarnations: [], storedAnswers: keys.storedAnswers },
          sink: sinkInto(ownLedger, sequencesFrom(from)),
          metrics: { memory, shard: i },
        }),
      );
      told.push(i === 0 ? watchedFront(fronts[i].stack, i, seen) : link.remote(['lotsRevoked']));
    }
    limits?.start();
    pool = startPool({
      ledger,
      sources: [
        { backend: sources.processor(), limits: JOB_LIMITS },
        { backend: sources.stream(), limits: UNLIMITED },
      ],
      assessor: workers,
      config,
      log,
      clock,
      fronts: told,
      tested: fronts[0].stack,
    });
    const started = pool;
    const retention = new Retention(ledger, config.certificateRetentionDays, { clock, log });
    const upkeep = [
      every(RATES_INTERVAL_MS, log, () => ledger.saveRates(cells.rates())),
      every(EXPIRY_INTERVAL_MS, log, () => retention.sweep()),
    ];
    return new SimNode(fronts, started, async () => {
      await Promise.all(fronts.map(({ stack }) => stack.drain(DRAIN_DEADLINE_MS)));
      await limits?.close();
      for (const timer of [...upkeep, ...looks]) clearInterval(timer);
      await started.stop();
      for (const { stack } of fronts) stack.close();
      await ledger.saveRates(cells.rates());
      await stopSealing();
    });
  }

  /** As SIGTERM does it. */
  stop(): Promise<void> {
    return this.#stop();
  }
}

async function startFront(around: FrontOptions): Promise<NodeFront> {
  const front = new SimFront();
  return { stack: await startFrontStack({ ...around, listen: (options) => front.listen(options) }), front };
}

/**
 * What the ledger thread does beside the ledger: certificates and their log. The log has a second writer, as if another
 * node took itself for the one that seals.
 */
async function startLog({ clock, keys, ledgerFor, log }: NodeOptions) {
  const ledger = ledgerFor('log');
  const ids = new CertificateIds(keys.ids);
  const openLog = (store: Ledger) => CertificateLog.open({ store, ids, keys: keys.log, clock });
  const certificateLog = await openLog(ledger);
  const otherLog = await openLog(ledgerFor('other log'));
  const archive = new CertificateArchive({ books: ledger, entropy: ledger, ids, log: certificateLog });
  let isStopping = false;
  const keepSealing = async (writer: CertificateLog) => {
    while (!isStopping) {
      let sealed = 0;
      try {
        sealed = await writer.seal();
      } catch (error) {
        const isSlower = error instanceof LedgerError && error.reason === 'conflict';
        if (!isSlower) log.error({ reason: String(error) }, 'certificates not logged');
      }
      if (sealed < BATCH_LEAVES) await new Promise((resolve) => setTimeout(resolve, SEAL_INTERVAL_MS));
    }
  };
  const sealing = Promise.all([keepSealing(certificateLog), keepSealing(otherLog)]);
  return {
    certificates: certificateService(archive, certificateLog, keysDocument(keys.log)),
    stopSealing: async () => {
      isStopping = true;
      await sealing;
    },
  };
}

function watchedFront(stack: FrontStack, front: number, seen: NodeOptions['seen']): FrontEvents {
  return {
    installSeed: (seed, bytes, lot) => {
      seen.seed(front, seed, bytes);
      stack.installSeed(seed, bytes, lot);
    },
    installSystemLot: (lot) => stack.installSystemLot(lot),
    lotsCame: () => stack.lotsCame(),
    lotsRevoked: async (lotIds) => {
      await stack.lotsRevoked(lotIds);
      seen.withdrawn(front, lotIds);
    },
    sourcesClosed: () => stack.sourcesClosed(),
    becomeReady: () => stack.becomeReady(),
  };
}

/** A message port between two threads of a process: everything arrives as a copy, in order, and a little later. */
function portPair(machine: SimMachine, random: Chance): readonly MessagePort[] {
  const receivers: ((message: unknown) => void)[] = [];
  return [0, 1].map((end) => {
    let lastAtMs = 0;
    const port = {
      on(event: string, receive: (message: unknown) => void) {
        if (event === 'message') receivers[end] = receive;
      },
      postMessage(message: unknown, moves: ArrayBuffer[] = []) {
        const copy = structuredClone(message, { transfer: moves });
        const { nowMs } = machine;
        lastAtMs = Math.max(nowMs + random.gap(LATENCY_MS), lastAtMs + 1e-3);
        machine.after(lastAtMs - nowMs, () => receivers[1 - end](copy));
      },
      close() {},
    };
    return port as unknown as MessagePort;
  });
}
