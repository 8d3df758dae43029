import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAccount, createKey, NO_OVERRIDES } from '../../../src/account/administration.ts';
import { loadConfig } from '../../../src/config/sources.ts';
import { systemClock } from '../../../src/core/clock.ts';
import type { Log } from '../../../src/core/log.ts';
import type { Tier } from '../../../src/core/vocabulary.ts';
import type { AccountOverrides } from '../../../src/ledger/records.ts';
import { type Service, startService } from '../../../src/service/service.ts';
import { soundBackend } from '../../support/backends.ts';
import { HttpClient, type HttpReply, type HttpRequest } from '../../support/http.ts';
import { type Document, DocumentSchemas } from '../../support/openapi.ts';
import { DrawMeter } from './draw-meter.ts';
import { factsOf, ROLES, type Role } from './roles.ts';

/** One of the fuzzer's accounts, and what its answers said so far. */
export interface Actor {
  readonly role: Role;
  readonly key: string;
  answers: number;
  credits: number;
}

const RESERVOIR_BYTES = 4 * 1024 * 1024;
const FOLLOWED_WITHIN_MS = 60_000;

/**
 * The real service on a real socket in this process, on a sound source, with an account for each role. In this process, so
 * that what it draws and what it logs is seen for each request, and a bug can be planted in it.
 */
export class World {
  readonly service: Service;
  readonly wire: HttpClient;
  readonly meter: DrawMeter;
  readonly document: Document;
  readonly schemas: DocumentSchemas;
  readonly actors: ReadonlyMap<Role, Actor>;
  /** What the service logged as a fault. */
  readonly faults: string[];
  /** Entropy that answers said they consumed. */
  consumedBytes = 0;
  /** How often each outcome came: a fuzzer that is only ever refused finds nothing. */
  readonly outcomes = new Map<string, number>();
  readonly #dataDir: string;

  private constructor(
    service: Service,
    meter: DrawMeter,
    faults: string[],
    document: Document,
    actors: ReadonlyMap<Role, Actor>,
    dataDir: string,
  ) {
    this.service = service;
    this.wire = new HttpClient(service.port);
    this.meter = meter;
    this.faults = faults;
    this.document = document;
    this.schemas = new DocumentSchemas(document);
    this.actors = actors;
    this.#dataDir = dataDir;
  }

  static async start(): Promise<World> {
    const dataDir = mkdtempSync(join(tmpdir(), 'qrn-fuzz-'));
    const meter = new DrawMeter();
    const faults: string[] = [];
    const config = loadConfig({
      QRN_DATA_DIR: dataDir,
      QRN_PORT: '0',
      QRN_DURABILITY: 'commit',
      QRN_RESERVOIR_BYTES: String(RESERVOIR_BYTES),
      QRN_LOG_LEVEL: 'error',
    });
    const service = await startService(config, faultLog(faults), { backend: soundBackend('fuzz') });
    await service.ready;
    const document = (await (await fetch(new URL('/openapi.json', service.baseUrl))).json()) as Document;
    const actors = new Map<Role, Actor>();
    for (const role of Object.keys(ROLES) as Role[]) {
      actors.set(role, { role, key: await keyFor(service, role), answers: 0, credits: 0 });
    }
    await followed(service, [...actors.values()]);
    return new World(service, meter, faults, document, actors, dataDir);
  }

  /** The request with the account's key. */
  as(role: Role, request: HttpRequest): HttpRequest {
    const { key } = this.actor(role);
    return { ...request, headers: [['Authorization', `Bearer ${key}`], ...request.headers] };
  }

  actor(role: Role): Actor {
    return this.actors.get(role)!;
  }

  saw(outcome: string): void {
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
  }

  send(request: HttpRequest): Promise<HttpReply> {
    return this.wire.send(request);
  }

  /** A JSON body of the service, asked for outside of what is fuzzed. */
  async json(path: string, role: Role = 'pure'): Promise<unknown> {
    const response = await fetch(new URL(path, this.service.baseUrl), {
      headers: { authorization: `Bearer ${this.actor(role).key}` },
    });
    return response.json();
  }

  /** The sum of a counter over its labels. */
  async counted(name: string): Promise<number> {
    const text = await (await fetch(new URL('/metrics', this.service.baseUrl))).text();
    const samples = text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'));
    return [...samples].reduce((sum, [, value]) => sum + Number(value), 0);
  }

  async stop(): Promise<void> {
    this.wire.close();
    await this.service.stop();
    this.meter.detach();
    rmSync(this.#dataDir, { recursive: true, force: true });
  }
}

function faultLog(faults: string[]): Log {
  const silent = () => {};
  return {
    debug: silent,
    info: silent,
    warn: silent,
    error: (facts, message) => faults.push(`${message}: ${JSON.stringify(facts)}`),
  };
}

async function keyFor(service: Service, role: Role): Promise<string> {
  const { tier, overrides, scopes } = factsOf(role);
  const account = await accountOf(service, role, tier, overrides);
  const created = await createKey(service.ledger, systemClock, {
    accountId: account,
    ...(scopes === undefined ? {} : { scopes }),
  });
  return created.text;
}

/** The command line gives limits of their own to Enterprise alone; in the books any account may have them. */
async function accountOf(
  { ledger }: Service,
  name: string,
  tier: Tier,
  overrides: Partial<AccountOverrides>,
): Promise<string> {
  const account = await createAccount(ledger, systemClock, { name, tier });
  await ledger.putAccount({ ...account, overrides: { ...NO_OVERRIDES, ...overrides } });
  return account.id;
}

/** The service follows its books within a second. */
async function followed(service: Service, actors: readonly Actor[]): Promise<void> {
  const deadline = performance.now() + FOLLOWED_WITHIN_MS;
  for (const { key, role } of actors) {
    const headers = { authorization: `Bearer ${key}` };
    for (;;) {
      const response = await fetch(new URL('/v1/health', service.baseUrl), { headers });
      await response.arrayBuffer();
      if (response.status !== 401) break;
      if (performance.now() > deadline) throw new Error(`the service does not see the account ${role}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
