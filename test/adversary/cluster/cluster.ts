import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAccount, createKey } from '../../../src/account/administration.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import { Database } from '../../../src/ledger/postgres/connection.ts';
import { fence } from '../../../src/ledger/postgres/node.ts';
import { SEGMENT_TIMES } from '../../../src/ledger/tables.ts';
import { Chance } from '../../support/chance.ts';
import { Link } from '../../support/link.ts';
import { administer } from '../../support/postgres.ts';
import type { PostgresPair } from '../../support/postgres-pair.ts';
import { freePort } from '../../support/programs.ts';
import type { Environment } from '../../support/server.ts';
import { audit } from './auditor.ts';
import { type Accounts, Load, type LoadAccount } from './load.ts';
import { ClusterNode, PATIENCE_MS } from './node.ts';
import { openTool } from './tool.ts';

/** What an account may spend in the month of the test: more than a short run requests, unless it is to run dry. */
export interface Totals {
  readonly requests: number;
  readonly credits: number;
}

export interface ClusterOptions {
  readonly nodes: number;
  /** The PostgreSQL servers with the books. */
  readonly pair: PostgresPair;
  /** The totals of every account but the steady one, which never runs dry. */
  readonly totals: Totals;
  /** Picks nodes and moments; by default always the same. */
  readonly chance?: Chance;
  /** Environment of every node, e.g. with a planted fault. */
  readonly environment?: Environment;
  /** Environment of one node, by its number from 1 on. */
  readonly ownEnvironment?: (number: number) => Environment;
  /** Tells which nodes the start waits for; by default all. */
  readonly isAwaited?: (number: number) => boolean;
}

const STEADY: Totals = { requests: 1_000_000, credits: 1_000_000 };

/** Nodes that share one PostgreSQL, each over a link that can be cut, and clients that ask all of them. */
export class Cluster {
  readonly nodes: readonly ClusterNode[];
  readonly links: readonly Link[];
  readonly load: Load;
  readonly accounts: Accounts;
  readonly chance: Chance;
  readonly #pair: PostgresPair;
  readonly #folder: string;

  private constructor(
    { pair, chance = new Chance('cluster') }: ClusterOptions,
    folder: string,
    nodes: readonly ClusterNode[],
    links: readonly Link[],
    accounts: Accounts,
  ) {
    this.#pair = pair;
    this.#folder = folder;
    this.nodes = nodes;
    this.links = links;
    this.accounts = accounts;
    this.chance = chance;
    this.load = new Load(nodes, accounts, chance.fork('load'));
  }

  static async start(options: ClusterOptions): Promise<Cluster> {
    const folder = mkdtempSync(join(tmpdir(), 'qrn-cluster-nodes-'));
    const links: Link[] = [];
    const nodes: ClusterNode[] = [];
    try {
      for (let number = 1; number <= options.nodes; number++) {
        const link = await Link.open(options.pair.port);
        links.push(link);
        const name = `node-${number}`;
        const dataDir = join(folder, name);
        const own = options.ownEnvironment?.(number);
        const environment = { QRN_LOG_LEVEL: 'info', ...options.environment, ...own };
        const url = options.pair.url(link.port);
        nodes.push(new ClusterNode({ name, dataDir, url, port: await freePort(), environment }));
      }
      const [first, ...others] = nodes;
      await first.start();
      for (const node of others) {
        node.copySecrets(first);
        node.launch();
      }
      const accounts = await makeAccounts(options.pair.url(), folder, options.totals);
      const { isAwaited = () => true } = options;
      await Promise.all(others.filter((_, at) => isAwaited(at + 2)).map((node) => node.ready()));
      return new Cluster(options, folder, nodes, links, accounts);
    } catch (error) {
      await Promise.all(nodes.map((node) => node.kill()));
      for (const link of links) link.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
      throw error;
    }
  }

  get url(): string {
    return this.#pair.url();
  }

  /** Fences a node, as `qrn cluster fence` does. */
  async fence(name: string): Promise<void> {
    const database = new Database({ url: this.url, log: silentLog, patienceMs: PATIENCE_MS });
    try {
      await fence(database, name, silentLog);
    } finally {
      await database.close();
    }
  }

  /** Returns the count of the node's segments in the books. */
  async segmentsOf(name: string): Promise<number> {
    const { rows: nodes } = await administer<{ number: number }>(
      this.url,
      'SELECT number FROM qrn.node WHERE name = $1',
      [name],
    );
    const { rows } = await administer<{ count: string }>(
      this.url,
      `SELECT count(*) FROM qrn.record WHERE part = '${SEGMENT_TIMES.name}' AND value = ANY($1)`,
      [nodes.map(({ number }) => SEGMENT_TIMES.codec.encode(number))],
    );
    return Number(rows[0].count);
  }

  /** Points all nodes at the present primary. Connections to the old one are gone with it. */
  follow(): void {
    for (const link of this.links) link.retarget(this.#pair.port);
  }

  /** Stops and fences every node, and compares the books with the clients' records; returns the violations in words. */
  async audit(): Promise<string[]> {
    for (const link of this.links) link.heal();
    await Promise.all(this.nodes.map((node) => node.kill('SIGTERM')));
    for (const { name } of this.nodes) await this.fence(name);
    const audited = await audit(this.url, this.nodes[0].dataDir, this.load);
    return [...audited, ...this.nodes.flatMap(({ violations }) => [...violations])];
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.kill()));
    for (const link of this.links) link.close();
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

async function makeAccounts(url: string, folder: string, totals: Totals): Promise<Accounts> {
  const ledger = await openTool(url, folder);
  const make = async (name: string, { requests, credits }: Totals = totals): Promise<LoadAccount> => {
    const overrides = { requestsPerMonth: requests, creditsPerMonth: credits };
    const account = await createAccount(ledger, systemClock, {
      name,
      tier: 'enterprise',
      overrides: { requestsPerMinute: null, seedIntervalMs: null, ...overrides },
    });
    const key = await createKey(ledger, systemClock, { accountId: account.id });
    return {
      id: account.id,
      key: key.text,
      keyId: key.record.keyId,
      requestsMax: requests,
      creditsMax: credits,
    };
  };
  try {
    return {
      steady: await make('steady', STEADY),
      plain: await make('plain'),
      pure: await make('pure'),
      keyed: await make('keyed'),
    };
  } finally {
    await ledger.close();
  }
}
