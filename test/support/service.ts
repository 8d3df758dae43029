import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createAccount, createKey, NO_OVERRIDES } from '../../src/account/administration.ts';
import type { Backend } from '../../src/backend/backend.ts';
import { loadConfig } from '../../src/config/sources.ts';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { type Log, silentLog } from '../../src/core/log.ts';
import type { Scope, Tier } from '../../src/core/vocabulary.ts';
import type { HealthReport } from '../../src/http/plain-routes.ts';
import type { AccountOverrides } from '../../src/ledger/records.ts';
import { UNLIMITED } from '../../src/pool/intake/read.ts';
import { type Service, startService } from '../../src/service/service.ts';
import { fetchWhole } from './http.ts';
import { freshSums } from './prometheus.ts';
import { type Environment, until, withSmallPool } from './server.ts';

export interface Asked<Body = unknown> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

/** Replacements for parts of the system. */
interface LocalParts {
  readonly clock?: Clock;
  readonly backend?: Backend;
  /** Several, the most wanted first. */
  readonly backends?: readonly Backend[];
}

/**
 * The real service on a real socket in this process, on sources of the test's own, with an account of tier Pro. In this
 * process, so that tests can give it backends, see what it draws and plant bugs in it.
 */
export class LocalService {
  readonly service: Service;
  readonly dataDir: string;
  readonly key: string;
  #stopped: Promise<void> | undefined;

  private constructor(service: Service, dataDir: string, key: string) {
    this.service = service;
    this.dataDir = dataDir;
    this.key = key;
  }

  /** A given folder is the caller's to remove. */
  static async start(
    environment: Environment,
    { clock, backend, backends = backend && [backend] }: LocalParts,
    { dataDir, log = silentLog }: { readonly dataDir?: string; readonly log?: Log } = {},
  ): Promise<LocalService> {
    const folder = dataDir ?? mkdtempSync(join(tmpdir(), 'qrn-local-'));
    const fixed = { QRN_DATA_DIR: folder, QRN_PORT: '0', QRN_LOG_LEVEL: 'silent' };
    const service = await startService(loadConfig(withSmallPool({ ...fixed, ...environment })), log, {
      ...(clock && { clock }),
      ...(backends && { openSources: () => backends.map((each) => ({ backend: each, limits: UNLIMITED })) }),
    });
    const account = await createAccount(service.ledger, systemClock, { name: 'a', tier: 'pro' });
    const { text } = await createKey(service.ledger, systemClock, { accountId: account.id });
    return new LocalService(service, folder, text);
  }

  /** Starts a service that is stopped with the test. Its folder is removed unless it was given. */
  static async startFor(
    t: TestContext,
    environment: Environment,
    parts: LocalParts = {},
    dataDir?: string,
  ): Promise<LocalService> {
    const own = dataDir ?? mkdtempSync(join(tmpdir(), 'qrn-local-'));
    let local: LocalService | undefined;
    t.after(async () => {
      await local?.stop();
      if (dataDir === undefined) rmSync(own, { recursive: true, force: true });
    });
    local = await LocalService.start(environment, parts, { dataDir: own });
    return local;
  }

  get origin(): string {
    return new URL(this.service.baseUrl).origin;
  }

  readonly ask = async <Body = unknown>(path: string, key = this.key): Promise<Asked<Body>> => {
    const response = await fetchWhole(`${this.service.baseUrl}${path}`, { headers: { 'x-api-key': key } });
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as Body,
    };
  };

  readonly checks = async (): Promise<HealthReport['checks']> =>
    (await this.ask<{ data: HealthReport }>('/health')).body.data.checks;

  /** The states of its sources, without the system's. */
  readonly states = async (): Promise<unknown[]> => {
    const all = (await this.checks())['source:state'].slice(0, -1);
    return all.map(({ observedValue }) => observedValue);
  };

  /** The key of a new account of the tier, which the service knows. In the books an account of any tier may have overrides. */
  async account(
    tier: Tier,
    overrides: Partial<AccountOverrides> = {},
    scopes?: readonly Scope[],
  ): Promise<string> {
    const { ledger } = this.service;
    const account = await createAccount(ledger, systemClock, { name: tier, tier });
    await ledger.putAccount({ ...account, overrides: { ...NO_OVERRIDES, ...overrides } });
    const { text } = await createKey(ledger, systemClock, {
      accountId: account.id,
      ...(scopes && { scopes }),
    });
    await this.knows(text);
    return text;
  }

  /** The sum of a metric over its labels. */
  async counted(family: string): Promise<number> {
    return (await freshSums(this.origin))(family);
  }

  /** Resolves when it follows its books so far that it knows the key. */
  knows(key: string): Promise<void> {
    return until('the key is known', async () => (await this.ask('/health', key)).status !== 401);
  }

  stop(): Promise<void> {
    this.#stopped ??= this.service.stop();
    return this.#stopped;
  }
}
