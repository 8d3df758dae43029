import type { MessagePort } from 'node:worker_threads';
import { certificateService } from '../../../src/certificate/archive.ts';
import { CertificateIds } from '../../../src/certificate/ids.ts';
import { keysDocument } from '../../../src/certificate/keys-document.ts';
import { BATCH_LEAVES, CertificateLog } from '../../../src/certificate/log.ts';
import type { Config } from '../../../src/config/config.ts';
import { type Clock, every } from '../../../src/core/clock.ts';
import type { Log } from '../../../src/core/log.ts';
import type { LogKeys } from '../../../src/crypto/key-files.ts';
import { DirectoryFeed } from '../../../src/ledger/directory-feed.ts';
import { type Ledger, LedgerError } from '../../../src/ledger/ledger.ts';
import type { Assessor } from '../../../src/pool/intake/assessor.ts';
import { UNLIMITED } from '../../../src/pool/intake/read.ts';
import type { SeedInForce } from '../../../src/pool/supply/seeds.ts';
import {
  FRONT_TOLD,
  type FrontCommands,
  type FrontStack,
  type MainThread,
  startFrontStack,
} from '../../../src/service/front-stack.ts';
import type { FrontData, RunningFront } from '../../../src/service/front-thread.ts';
import type { LedgerPorts } from '../../../src/service/ledger-link.ts';
import { type FrontSinkData, type LedgerOfFront, openFrontSink } from '../../../src/service/ledger-thread.ts';
import { type Service, startService } from '../../../src/service/service.ts';
import { Link } from '../../../src/workers/call.ts';
import type { Workers } from '../../../src/workers/dispatch.ts';
import type { Chance } from '../../support/chance.ts';
import { SimFront } from './front.ts';
import type { SimMachine } from './machine.ts';
import { JOB_LIMITS, type SimSources } from './sources.ts';

/** As in ledger/postgres/directory.ts. */
const LOOK_INTERVAL_MS = 250;
/** As in service/ledger-worker.ts. */
const SEAL_INTERVAL_MS = 150;
/** Mean time of a message between two threads. */
const LATENCY_MS = 0.3;

/** The lasting state of a node besides its ledger. */
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
  /** The ledger as the thread sees it: the main one, each front, the log of certificates. */
  readonly ledgerFor: (of: 'main' | 'log' | number) => Ledger;
  /** Returns where the front makes its answers durable. */
  readonly sinkFor: (front: number) => FrontSinkData;
  readonly workers: Workers & Assessor;
  readonly sources: SimSources;
  /** Callbacks for what a front is told, at the moment it hears it. */
  readonly seen: {
    seed(front: number, seed: SeedInForce, bytes: Uint8Array): void;
    withdrawn(front: number, lotIds: ReadonlySet<string>): void;
  };
}

interface NodeFront {
  readonly stack: FrontStack;
  readonly front: SimFront;
}

/** One run of the service from its composition root, with simulated ports. All decisions are the service's own. */
export class SimNode {
  readonly fronts: readonly NodeFront[];
  isReady = false;
  readonly #service: Service;

  private constructor(fronts: readonly NodeFront[], service: Service) {
    this.fronts = fronts;
    this.#service = service;
    service.ready.then(() => (this.isReady = true));
    service.failed.catch(() => {}); // the simulation knows of it, and ends the process
  }

  static async start(options: NodeOptions): Promise<SimNode> {
    const { config, log, clock, keys, workers, sources } = options;
    const fronts: NodeFront[] = [];
    const looks: NodeJS.Timeout[] = [];
    const isShared = await options.ledgerFor('main').isShared();
    /** A node of several looks for what others have changed, as ledger/postgres/directory.ts does. */
    const ledgerFor = (of: 'main' | number): Ledger => {
      const ledger = options.ledgerFor(of);
      if (!isShared) return ledger;
      const feed = new DirectoryFeed((since) => ledger.directoryChanges(since), clock);
      looks.push(every(LOOK_INTERVAL_MS, log, 'follow the directory', async () => void (await feed.push())));
      const follow: Ledger['follow'] = (reader) => feed.follow(reader);
      return new Proxy(ledger, {
        get: (_target, name) => (name === 'follow' ? follow : ledger[name as 'follow']),
      });
    };
    const { certificates, stopSealing } = await startLog(options);
    const lookUpsOf = (ledger: Ledger) => ({
      ...certificates,
      usage: (...args: Parameters<Ledger['usage']>) => ledger.usage(...args),
      witnesses: async () => [],
    });
    const service = await startService(config, log, {
      clock,
      startLedger: async () => {
        const ledger = ledgerFor('main');
        return {
          ...{ ledger, certificates, keyedLookUps: lookUpsOf(ledger), failed: NEVER },
          fronts: Array.from({ length: config.fronts }, (_, i) => ({
            ledger: NO_PORTS,
            sink: options.sinkFor(i),
          })),
          async stop() {
            for (const timer of looks) clearInterval(timer);
            await stopSealing();
          },
        };
      },
      openKeys: async () => ({
        certificateIds: keys.ids,
        incarnations: [],
        storedAnswers: keys.storedAnswers,
      }),
      startFront: async (place, data, { mainThread }) => {
        const ledger = ledgerFor(place);
        const lookUps = { ledger, certificates, keyedLookUps: lookUpsOf(ledger) };
        const opened = await openFront(place, data, mainThread, options, lookUps);
        fronts[place] = opened.front;
        return opened.running;
      },
      startAssessor: () => workers,
      openSources: () => [
        { backend: sources.processor, limits: JOB_LIMITS },
        { backend: sources.stream, limits: UNLIMITED },
      ],
      fetchBeacon: () => Promise.reject(new Error('no beacon is in this world')),
    });
    return new SimNode(fronts, service);
  }

  /** Stops as SIGTERM does. */
  stop(): Promise<void> {
    return this.#service.stop();
  }
}

const NEVER = new Promise<never>(() => {});
/** The simulation joins the threads itself. */
const NO_PORTS = {} as LedgerPorts;

/** The first front shares its thread with what all ask, and each other one has a link to it (workers/thread.ts). */
async function openFront(
  place: number,
  { config, keys, metrics, sink: sinkData }: FrontData,
  mainThread: MainThread,
  { machine, random, clock, log, workers, seen }: NodeOptions,
  lookUps: LedgerOfFront,
): Promise<{ front: NodeFront; running: RunningFront }> {
  const [port, farPort] = portPair(machine, random);
  let served: FrontCommands;
  const link = new Link<FrontCommands, MainThread>(port, { serve: mainThread, told: FRONT_TOLD });
  const far = new Link<MainThread, FrontCommands>(farPort, {
    get serve() {
      return served;
    },
    after: { installSeed: (_seed, quantumSeed) => void quantumSeed.fill(0) },
  });
  const { sink, close } = await openFrontSink(sinkData, lookUps.ledger, clock);
  const front = new SimFront();
  const stack = await startFrontStack({
    ...{ config, log, clock, ...lookUps, keys, metrics, sink },
    workers,
    mainThread: place === 0 ? mainThread : far.calls,
    listen: (options) => front.listen(options),
  });
  served = watchedFront(stack, place, seen);
  const { port: listensOn, baseUrl } = stack;
  const commands = place === 0 ? served : link.calls;
  const end = async () => {
    stack.close();
    close();
  };
  return { front: { stack, front }, running: { port: listensOn, baseUrl, commands, failed: NEVER, end } };
}

/**
 * Starts what the ledger's thread does besides the ledger: certificates and their log, which every node of several
 * seals as if alone.
 */
async function startLog({ clock, keys, ledgerFor, log }: NodeOptions) {
  const ledger = ledgerFor('log');
  const ids = new CertificateIds(keys.ids);
  const writer = await CertificateLog.open({ store: ledger, ids, keys: keys.log, clock });
  let isStopping = false;
  const keepSealing = async () => {
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
  const sealing = keepSealing();
  return {
    certificates: certificateService({
      ledger,
      ids,
      log: writer,
      keys: keysDocument(keys.log),
    }),
    stopSealing: async () => {
      isStopping = true;
      await sealing;
    },
  };
}

/** The front, which tells of what it is told. */
function watchedFront(stack: FrontStack, front: number, seen: NodeOptions['seen']): FrontCommands {
  return {
    ...stack,
    installSeed: (seed, bytes, lot) => {
      seen.seed(front, seed, bytes);
      stack.installSeed(seed, bytes, lot);
    },
    lotsRevoked: async (lotIds) => {
      await stack.lotsRevoked(lotIds);
      seen.withdrawn(front, lotIds);
    },
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
