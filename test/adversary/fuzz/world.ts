import { rmSync } from 'node:fs';
import { silentLog } from '../../../src/core/log.ts';
import type { EntropyMode, Scope, Tier } from '../../../src/core/vocabulary.ts';
import type { AccountOverrides } from '../../../src/ledger/records.ts';
import type { Service } from '../../../src/service/service.ts';
import { soundBackend } from '../../support/backends.ts';
import { askOnce, fetchWhole, type HttpReply, type HttpRequest } from '../../support/http.ts';
import { type Document, DocumentSchemas } from '../../support/openapi.ts';
import { LocalService } from '../../support/service.ts';
import { DrawMeter } from './draw-meter.ts';

/**
 * The sender of a fuzzed request: the specification's limits of its tier, raised where the fuzzer should not run into
 * them.
 */
interface RoleFacts {
  readonly tier: Tier;
  readonly overrides: Partial<AccountOverrides>;
  /** Undefined means all. */
  readonly scopes?: readonly Scope[];
  readonly modes: readonly EntropyMode[];
  readonly defaultMode: EntropyMode;
  /** Pure bytes a month; undefined means no limit. */
  readonly credits?: number;
  readonly isThrottled?: true;
}

export type Role = 'csprng' | 'seeded' | 'pure' | 'poor' | 'throttled' | 'reader';

const FREE = { modes: ['csprng'], defaultMode: 'csprng', credits: 0 } as const;
const DEVELOPER = { modes: ['quantum-seeded', 'csprng'], defaultMode: 'quantum-seeded', credits: 0 } as const;
const ENTERPRISE = { modes: ['quantum-seeded', 'pure', 'csprng'], defaultMode: 'quantum-seeded' } as const;
const FAST: Partial<AccountOverrides> = { requestsPerMinute: 1_000_000, requestsPerMonth: 1_000_000_000 };
const SLOW: Partial<AccountOverrides> = { requestsPerMinute: 1, requestsPerMonth: 1_000 };

export const ROLES: Readonly<Record<Role, RoleFacts>> = {
  csprng: { tier: 'free', overrides: FAST, ...FREE },
  seeded: { tier: 'developer', overrides: FAST, ...DEVELOPER },
  pure: { tier: 'enterprise', overrides: {}, ...ENTERPRISE },
  poor: { tier: 'enterprise', overrides: { creditsPerMonth: 500 }, ...ENTERPRISE, credits: 500 },
  throttled: { tier: 'enterprise', overrides: SLOW, ...ENTERPRISE, isThrottled: true },
  reader: { tier: 'enterprise', overrides: {}, ...ENTERPRISE, scopes: ['entropy:read', 'usage:read'] },
};

/** One of the fuzzer's accounts, and the totals that its answers stated. */
export interface Actor {
  readonly role: Role;
  readonly key: string;
  answers: number;
  credits: number;
}

export const RESERVOIR_BYTES = 256 * 1024;

/**
 * The real service on a real socket in this process, with a sound source and an account for each role. In this process
 * a test can see what each request draws and logs, and plant bugs.
 */
export class World {
  readonly service: Service;
  readonly meter: DrawMeter;
  readonly document: Document;
  readonly schemas: DocumentSchemas;
  readonly actors: ReadonlyMap<Role, Actor>;
  /** The faults that the service logged. */
  readonly faults: string[];
  /** Certificates of the answers to strange requests. */
  readonly strangeCertificates = new Set<string>();
  /** Total of the entropy that answers stated as consumed. */
  consumedBytes = 0;
  /** Count of each outcome: a fuzzer that is only ever refused finds nothing. */
  readonly outcomes = new Map<string, number>();
  readonly #local: LocalService;

  private constructor(
    local: LocalService,
    meter: DrawMeter,
    faults: string[],
    document: Document,
    actors: ReadonlyMap<Role, Actor>,
  ) {
    this.#local = local;
    this.service = local.service;
    this.meter = meter;
    this.faults = faults;
    this.document = document;
    this.schemas = new DocumentSchemas(document);
    this.actors = actors;
  }

  static async start(): Promise<World> {
    const meter = new DrawMeter();
    const faults: string[] = [];
    const local = await LocalService.start(
      { QRN_DURABILITY: 'commit', QRN_RESERVOIR_BYTES: String(RESERVOIR_BYTES), QRN_LOG_LEVEL: 'error' },
      { backend: soundBackend('fuzz', 1) }, // one channel: each lot is tested in one order
      {
        log: { ...silentLog, error: (facts, message) => faults.push(`${message}: ${JSON.stringify(facts)}`) },
      },
    );
    const { service } = local;
    await service.ready;
    // Makes the service sample the stream now, and not between two readings of the meter.
    const first = await local.ask('/uuid?entropy_mode=csprng');
    const document = (await (await fetchWhole(new URL('/openapi.json', service.baseUrl))).json()) as Document;
    const actors = new Map<Role, Actor>();
    for (const role of Object.keys(ROLES) as Role[]) {
      const { tier, overrides, scopes } = ROLES[role];
      actors.set(role, { role, key: await local.account(tier, overrides, scopes), answers: 0, credits: 0 });
    }
    const world = new World(local, meter, faults, document, actors);
    const { metadata } = first.body as { metadata: { entropy_consumed_bytes: number } };
    world.consumedBytes = metadata.entropy_consumed_bytes;
    return world;
  }

  /** Returns the request with the account's key. */
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
    return askOnce(this.service.port, request, { isHead: request.method === 'HEAD' });
  }

  /** Fetches a JSON body of the service below /v1, apart from the fuzzed requests. */
  async json(path: string, role: Role = 'pure'): Promise<unknown> {
    return (await this.#local.ask(path, this.actor(role).key)).body;
  }

  counted(name: string): Promise<number> {
    return this.#local.counted(name);
  }

  async stop(): Promise<void> {
    await this.#local.stop();
    this.meter.detach();
    rmSync(this.#local.dataDir, { recursive: true, force: true });
  }
}
