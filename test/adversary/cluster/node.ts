import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { cpuTimeEver } from '../../support/process-usage.ts';
import { type Environment, SHORT_LOTS, TestServer, until } from '../../support/server.ts';

/** Processor time after which a start counts as failed: it takes 3 s. With less time used, the machine is slow. */
const READY_WITHIN_CORE_MS = 60_000;
/** Longer waits never succeed, however busy the machine is. */
export const PATIENCE_MS = 600_000;
const OUTPUT_KEPT = 20_000;
const NO_DATABASE = /PostgreSQL does not answer at/;
const LAST_WORDS = 400;
const END_KEPT = 4_000;
/** The reasons for which a node may end that nobody killed. */
const ENDS_FOR = /the node \W*node-\d+\W+was fenced|PostgreSQL does not answer at/;

export interface NodeOptions {
  readonly name: string;
  readonly dataDir: string;
  /** The URL of its PostgreSQL. */
  readonly url: string;
  /** The port on which it listens. */
  readonly port: number;
  readonly environment: Environment;
}

/** One node: the real service in its own process with its own data folder, which may be started many times. */
export class ClusterNode {
  readonly name: string;
  readonly dataDir: string;
  /** Count of starts. */
  starts = 0;
  /** Violations that its processes reported. */
  readonly violations = new Set<string>();
  isPaused = false;
  readonly #options: NodeOptions;
  #server: TestServer | undefined;
  #killed: TestServer | undefined;
  /** The end of its earlier processes' output. */
  #earlier = '';
  #isReady = false;

  constructor(options: NodeOptions) {
    this.#options = options;
    this.name = options.name;
    this.dataDir = options.dataDir;
    mkdirSync(this.dataDir, { recursive: true });
  }

  /** The end of all its output. */
  get output(): string {
    return withoutRequests(this.#earlier + (this.#server?.output() ?? '')).slice(-OUTPUT_KEPT);
  }

  /** The port on which it listens; undefined until it is ready. */
  get port(): number | undefined {
    return this.#isReady ? this.listeningPort : undefined;
  }

  get listeningPort(): number {
    return this.#options.port;
  }

  /** Processor time of the running process; 0 when none runs. */
  get coreMs(): number {
    const pid = this.#server?.process.pid;
    return pid === undefined ? 0 : (cpuTimeEver(pid) ?? 0);
  }

  get isRunning(): boolean {
    return this.#server !== undefined;
  }

  get environment(): Environment {
    const { name, dataDir, url, port, environment } = this.#options;
    const own = { QRN_DATA_DIR: dataDir, QRN_LEDGER: url, QRN_NODE: name, QRN_PORT: String(port) };
    return { ...own, ...environment };
  }

  /** Copies the secrets that all nodes share from another node. */
  copySecrets(from: ClusterNode): void {
    cpSync(join(from.dataDir, 'keys'), join(this.dataDir, 'keys'), { recursive: true });
  }

  /** Starts it without waiting. */
  launch(): void {
    if (this.#server !== undefined) throw new Error(`${this.name} runs already`);
    this.starts++;
    this.#earlier = this.output;
    const server = TestServer.spawn({ ...SHORT_LOTS, ...this.environment }, this.dataDir, {
      serveArgs: ['--no-demo'],
    });
    this.#server = server;
    this.isPaused = false;
    server.process.stdout!.on('data', () => {
      if (this.#server === server) this.#isReady ||= /^ready http:/m.test(server.output());
    });
    server.ended.then((how) => {
      const printed = withoutRequests(server.output());
      const lastWords = printed.slice(-END_KEPT);
      if (this.#killed !== server && !ENDS_FOR.test(lastWords))
        this.violations.add(`${this.name} ended by itself (${how}): ${lastWords}`);
      if (this.#server !== server) return;
      this.#earlier = this.output;
      this.#server = undefined;
      this.#isReady = false;
      this.isPaused = false;
    });
  }

  /**
   * Resolves when it is ready for every request; rejects with its output when it ends before. A start that found no
   * PostgreSQL is repeated, as a service manager does.
   */
  async ready(): Promise<void> {
    await untilReady(`${this.name} is ready`, [this], () => this.#isReady).catch((error: Error) => {
      throw new Error(`${error.message}\n${this.output}`);
    });
  }

  /** Starts it again if its last start found no PostgreSQL. */
  relaunch(): void {
    if (!this.isRunning && NO_DATABASE.test(this.output.slice(-LAST_WORDS))) this.launch();
  }

  async start(): Promise<void> {
    this.launch();
    await this.ready();
  }

  pause(): void {
    this.isPaused = this.#server?.process.kill('SIGSTOP') ?? false;
  }

  resume(): void {
    this.#server?.process.kill('SIGCONT');
    this.isPaused = false;
  }

  /** Resolves when it has ended. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#killed = server;
    const ended = server.kill(signal);
    if (this.isPaused && signal !== 'SIGKILL') this.resume();
    await ended;
  }
}

/** Waits until each node is ready or has ended. Nodes that found no PostgreSQL are started again meanwhile. */
export async function untilReady(
  what: string,
  nodes: readonly ClusterNode[],
  isReady: () => boolean,
): Promise<void> {
  const look = () => {
    for (const node of nodes) node.relaunch();
    if (isReady()) return true;
    if (nodes.every(({ isRunning }) => !isRunning)) throw new Error(`ended before: ${what}`);
    if (nodes.every(({ coreMs }) => coreMs >= READY_WITHIN_CORE_MS))
      throw new Error(`not so after ${READY_WITHIN_CORE_MS} ms of a processor: ${what}`);
    return false;
  };
  await until(what, look, PATIENCE_MS);
}

/** Removes the lines of single requests, which would displace more useful ones. */
function withoutRequests(text: string): string {
  return text
    .split('\n')
    .filter((line) => !line.endsWith('"msg":"request"}'))
    .join('\n');
}
