import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unpack } from 'msgpackr';
import { createAccount, createKey } from '../../src/account/administration.ts';
import { OwnedCells } from '../../src/account/cells.ts';
import { OwnedRunningKeys } from '../../src/answer/idempotency.ts';
import {
  AT_SALT,
  DATA_START,
  type MadeByWorker,
  makeValues,
  type WorkerOrder,
} from '../../src/answer/make.ts';
import type { CertificateService } from '../../src/certificate/archive.ts';
import { loadConfig } from '../../src/config/sources.ts';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { ApiError } from '../../src/core/errors.ts';
import { silentLog } from '../../src/core/log.ts';
import { createMetricMemory } from '../../src/core/metrics.ts';
import type { EngineName } from '../../src/http/engine.ts';
import { type AccountOverrides, PURE_BLOCK_BYTES } from '../../src/ledger/records.ts';
import { type MainThread, startFrontStack } from '../../src/service/front-stack.ts';
import type { KeyedLookUps } from '../../src/service/ledger-link.ts';
import type { ValueRequest } from '../../src/values/value-request.ts';
import type { Workers } from '../../src/workers/dispatch.ts';
import { bytesOf } from '../support/chance.ts';
import { fetchWhole } from '../support/http.ts';
import * as records from '../support/ledger-records.ts';
import { memoryLedger, sequencesFrom, sinkInto } from '../support/memory-ledger.ts';

/**
 * Made in place of the requested values, which nobody reads. They take 16 bytes of entropy, and more text than a reply
 * has after the values.
 */
const OTHERS: ValueRequest = {
  ...{ kind: 'weighted', items: ['a', 'b'].map((each) => each.repeat(40)), weights: [1, 1], count: 128 },
};

/** Workers that make nothing before they are told to. */
class HeldWorkers {
  readonly threads = 1;
  /** The time that they report for an answer, in ms. */
  busyMs = 1;
  /** Orders taken so far, held ones included. */
  taken = 0;
  /** The memory that each order came with. */
  readonly memories: ArrayBuffer[] = [];
  readonly #held: (() => void)[] = [];

  get held(): number {
    return this.#held.length;
  }

  get queueLength(): number {
    return this.#held.length;
  }

  async make(order: WorkerOrder): Promise<MadeByWorker> {
    this.taken++;
    this.memories.push(order.memory.buffer);
    assert.ok(
      order.memory.every((byte, at) => byte === 0 || (at >= AT_SALT && at < DATA_START)),
      'nothing but a salt is in it',
    );
    await new Promise<void>((resolve) => this.#held.push(resolve));
    return { ...makeValues({ ...order, values: OTHERS }), busyMs: this.busyMs };
  }

  /** Lets all held answers be made. */
  release(): void {
    for (const go of this.#held.splice(0)) go();
  }

  /** Lets all held answers be made, as workers that are told to stop finish what they have begun. */
  async close(): Promise<void> {
    this.release();
    await turn();
  }

  /** The front expands for itself. */
  async expand(): Promise<Uint8Array<ArrayBuffer>[]> {
    throw new ApiError('overloaded', { retryAfterS: 1 });
  }
}

/** The time of this machine, and as much as a test adds. */
export class AheadClock implements Clock {
  readonly jumpMs = systemClock.jumpMs;
  /** Offset of the wall clock alone. */
  wallAheadMs = 0;
  aheadMs = 0;

  wallMs(): number {
    return systemClock.wallMs() + this.aheadMs + this.wallAheadMs;
  }

  monotonicMs(): number {
    return systemClock.monotonicMs() + this.aheadMs;
  }
}

/** A clock of which every look is `stepMs` after the one before. */
export function steppingClock(stepMs: number): Clock {
  let monotonicMs = 1_000;
  return { wallMs: systemClock.wallMs, monotonicMs: () => (monotonicMs += stepMs), jumpMs: () => 0 };
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: {
    readonly data?: { readonly values?: readonly unknown[] } & Readonly<Record<string, unknown>>;
    readonly error?: {
      readonly code: string;
      readonly status: number;
      readonly request_id: string;
      readonly details?: Readonly<Record<string, unknown>>;
    };
    readonly metadata?: { readonly entropy_consumed_bytes: number };
    readonly quantum_credits?: { readonly remaining: number; readonly used: number };
  };
}

/**
 * Starts a real front on a real socket, with a ledger in memory and slow parts in the place of the quick ones: `pureBlocks`
 * blocks in the reservoir, and a lasting seed for enterprise accounts with default figures.
 */
export async function overloadedFront(
  clock: Clock,
  pureBlocks: number,
  {
    engine = 'uws',
    ...ofMainThread
  }: { readonly engine?: EngineName } & Partial<Pick<MainThread, 'ask' | 'askForSeed' | 'cellsOf'>> = {},
) {
  const dataDir = mkdtempSync(join(tmpdir(), 'qrn-overload-'));
  const ledger = memoryLedger(clock);
  const workers = new HeldWorkers();
  /** Usage is looked up no sooner than the gate resolves. */
  const lookUps: { gate: Promise<void> } = { gate: Promise.resolve() };
  const lot = records.lot(1, { accepted: true });
  const drawn = bytesOf('overload');
  const secret = () => new Uint8Array(drawn(32));
  const block = () => ({ kind: 'pure', bytes: new Uint8Array(drawn(PURE_BLOCK_BYTES)) }) as const;
  await ledger.addLot(lot, Array.from({ length: pureBlocks }, block));
  const running = new OwnedRunningKeys();
  /** Makes answers durable; a test may let it refuse them. */
  const sink = sinkInto(ledger, sequencesFrom(1));
  const nobody = async (): Promise<never> => {
    throw new Error('nobody asks for this here');
  };
  const cells = await OwnedCells.open(ledger, clock);
  /** The counts of the front. */
  const metrics = createMetricMemory(1);
  const stack = await startFrontStack({
    ...{ log: silentLog, clock, ledger, sink },
    config: loadConfig({ QRN_DATA_DIR: dataDir, QRN_PORT: '0', QRN_FRONT: engine }),
    keyedLookUps: {
      async usage(...args: Parameters<KeyedLookUps['usage']>) {
        await lookUps.gate;
        return ledger.usage(...args);
      },
    } as KeyedLookUps,
    certificates: { held: async () => null } as Partial<CertificateService> as CertificateService,
    workers: workers as unknown as Workers, // whose fields are private
    mainThread: {
      hold: (...args) => running.hold(...args),
      release: (...args) => running.release(...args),
      cellsOf: (...args) => cells.cellsOf(...args),
      ask: (...args) => cells.ask(...args),
      askForSeed: async () => false,
      askForSample: async () => {},
      ...{ openDraw: nobody, settleDraw: nobody, cancelDraw: nobody, openNonce: nobody },
      ...{ health: nobody, metrics: nobody, status: nobody },
      ...ofMainThread,
    },
    keys: { certificateIds: secret(), incarnations: [], storedAnswers: secret() },
    metrics: { memory: metrics, shard: 0 },
  });
  /** Installs a seed for enterprise accounts with this interval; it lasts. */
  const installSeed = (intervalMs: number) => {
    const seed = { tier: 'enterprise', generation: 1, lotId: lot.id, seededAtMs: clock.wallMs() } as const;
    const place = { index: 0, releasedAtMs: 0, dueAtMonotonicMs: Number.POSITIVE_INFINITY };
    stack.installSeed({ ...seed, ...place, group: `enterprise/${intervalMs}` }, secret(), lot);
  };
  installSeed(300_000);

  async function asked(key: string, path: string, init: RequestInit): Promise<Reply> {
    const headers = { ...init.headers, 'x-api-key': key };
    const response = await fetchWhole(`${stack.baseUrl}${path}`, { ...init, headers });
    const body = bodyOf(response.headers, Buffer.from(await response.arrayBuffer()));
    return { status: response.status, headers: response.headers, body };
  }
  const get = (key: string, path: string, headers: Record<string, string> = {}) =>
    asked(key, path, { headers });
  return {
    ...{ workers, ledger, stack, metrics, lookUps, installSeed, sink, get },
    /** The key of a new enterprise account that the front knows already. */
    async account(
      overrides: Partial<AccountOverrides> = {},
      { name = 'overload', expiresAtMs = null }: { name?: string; expiresAtMs?: number | null } = {},
    ): Promise<string> {
      const wish = { name, tier: 'enterprise', overrides } as const;
      const { id: accountId } = await createAccount(ledger, clock, wish);
      const { text } = await createKey(ledger, clock, { accountId, expiresAtMs });
      while ((await get(text, '/usage')).status === 401) await turn();
      return text;
    },
    batch(key: string, body: object, headers: Record<string, string> = {}): Promise<Reply> {
      const fields = { 'content-type': 'application/json', ...headers };
      return asked(key, '/batch', { method: 'POST', headers: fields, body: JSON.stringify(body) });
    },
    async stop(): Promise<void> {
      await stack.drain(1_000);
      stack.close();
      await ledger.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
export type OverloadedFront = Awaited<ReturnType<typeof overloadedFront>>;

function bodyOf(headers: Headers, bytes: Buffer): Reply['body'] {
  const isPacked = headers.get('content-type') === 'application/msgpack';
  return isPacked ? unpack(bytes) : JSON.parse(bytes.toString('utf8'));
}

/** Waits some milliseconds for sockets and timers. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5));
}
