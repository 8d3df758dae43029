import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PLANT, VARIABLE } from '../../mutants/plant.ts';
import { type Environment, STRIPPED, until, withSmallPool } from '../../support/server.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const READY_WITHIN_MS = 120_000;
const OUTPUT_KEPT = 20_000;
const NO_DATABASE = /PostgreSQL does not answer at/;
const LAST_WORDS = 400;
const END_KEPT = 4_000;
/** Why a node may end that nobody killed. */
const ENDS_FOR = /the node \W*node-\d+\W+was fenced|PostgreSQL does not answer at/;
/** Nobody alters parcels here: such a refusal burns the blocks of an honest node. */
const ALTERED = /refused a parcel (?:whose|that was altered)[^"\n]*/g;
/** Each start of a killed node reads lots again: short ones, whose tests cost a fifth. */
const SHORT_LOTS = { QRN_SOURCE_SIMULATOR_LOT_BITS: '131072' };

export interface NodeOptions {
  readonly name: string;
  readonly dataDir: string;
  /** Its PostgreSQL. */
  readonly url: string;
  /** Where it is to listen. */
  readonly port: number;
  readonly environment: Environment;
  /** The folder of its release; this one unless given. */
  readonly release?: string | undefined;
}

/** One node: the real service in a process of its own, with a data folder of its own, which may be started many times. */
export class ClusterNode {
  readonly name: string;
  readonly dataDir: string;
  /** Times that it was started. */
  starts = 0;
  /** What no node may ever do, as its processes told it. */
  readonly violations = new Set<string>();
  /** The end of everything that it wrote. */
  output = '';
  isPaused = false;
  readonly #options: NodeOptions;
  #process: ChildProcess | undefined;
  #killed: ChildProcess | undefined;
  #isReady = false;

  constructor(options: NodeOptions) {
    this.#options = options;
    this.name = options.name;
    this.dataDir = options.dataDir;
    mkdirSync(this.dataDir, { recursive: true });
  }

  /** Where it listens; undefined until it is ready. */
  get port(): number | undefined {
    return this.#isReady ? this.listeningPort : undefined;
  }

  get listeningPort(): number {
    return this.#options.port;
  }

  get isRunning(): boolean {
    return this.#process !== undefined;
  }

  get environment(): Environment {
    const { name, dataDir, url, port, environment } = this.#options;
    const own = { QRN_DATA_DIR: dataDir, QRN_LEDGER: url, QRN_NODE: name, QRN_PORT: String(port) };
    return { ...own, ...environment };
  }

  /** Takes the secrets that all nodes share from another one. */
  copySecrets(from: ClusterNode): void {
    cpSync(join(from.dataDir, 'keys'), join(this.dataDir, 'keys'), { recursive: true });
  }

  /** Starts it and waits for nothing. */
  launch(): void {
    if (this.#process !== undefined) throw new Error(`${this.name} runs already`);
    this.starts++;
    const planted = this.environment[VARIABLE] === undefined ? [] : ['--import', PLANT];
    const child = spawn(process.execPath, [...STRIPPED, ...planted, 'src/main.ts', 'serve', '--no-demo'], {
      cwd: this.#options.release ?? root,
      env: { PATH: process.env['PATH'], ...withSmallPool({ ...SHORT_LOTS, ...this.environment }) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#process = child;
    this.isPaused = false;
    let printed = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        const text = chunk.toString('utf8');
        const output = withoutRequests(this.output + text);
        for (const [told] of output.matchAll(ALTERED)) this.violations.add(`${this.name} ${told}`);
        this.output = output.slice(-OUTPUT_KEPT);
        printed = (printed + text).slice(-OUTPUT_KEPT);
        if (this.#process === child && !this.#isReady) this.#isReady = /^ready http:/m.test(printed);
      });
    child.once('close', (code, signal) => {
      const lastWords = withoutRequests(printed).slice(-END_KEPT);
      if (this.#killed !== child && !ENDS_FOR.test(lastWords))
        this.violations.add(`${this.name} ended by itself (${code ?? signal}): ${lastWords}`);
      if (this.#process !== child) return;
      this.#process = undefined;
      this.#isReady = false;
      this.isPaused = false;
    });
  }

  /**
   * Resolves when it is ready for every request; rejects with its output when it ends before. A start that found no
   * PostgreSQL is made again, as a service manager does.
   */
  async ready(): Promise<void> {
    await until(
      `${this.name} is ready`,
      () => {
        this.relaunch();
        if (this.#process === undefined) throw new Error(`${this.name} ended:\n${this.output}`);
        return this.#isReady;
      },
      READY_WITHIN_MS,
    ).catch((error: Error) => {
      throw new Error(`${error.message}\n${this.output}`);
    });
  }

  /** Starts it again when its last start found no PostgreSQL. */
  relaunch(): void {
    if (this.#process === undefined && NO_DATABASE.test(this.output.slice(-LAST_WORDS))) this.launch();
  }

  async start(): Promise<void> {
    this.launch();
    await this.ready();
  }

  pause(): void {
    this.isPaused = this.#process?.kill('SIGSTOP') ?? false;
  }

  resume(): void {
    this.#process?.kill('SIGCONT');
    this.isPaused = false;
  }

  /** Resolves when it has ended. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#process;
    if (child === undefined) return;
    const closed = once(child, 'close');
    this.#killed = child;
    child.kill(signal);
    if (this.isPaused && signal !== 'SIGKILL') this.resume();
    await closed;
  }

  /** Resolves when it has ended by itself. */
  async ended(withinMs: number): Promise<void> {
    await until(`${this.name} ends`, () => this.#process === undefined, withinMs);
  }
}

/** Without the lines of single requests, which would drive out what tells more. */
function withoutRequests(text: string): string {
  return text
    .split('\n')
    .filter((line) => !line.endsWith('"msg":"request"}'))
    .join('\n');
}
