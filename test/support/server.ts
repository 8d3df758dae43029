import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { qrn } from '../../src/cli/commands.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { HealthReport } from '../../src/http/plain-routes.ts';
import { fetchWhole } from './http.ts';
import { cpuTimeEver } from './process-usage.ts';
import { runCommand } from './run-command.ts';
import { scratchFolder } from './scratch-folder.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Time limit for a start, which is not a figure of the service but what a busy machine needs at most. */
const READY_DEADLINE_MS = 120_000;

/** Settings of the service; undefined leaves one at the service's own default. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Set by test/mutants/run.ts: the change that test/mutants/plant.ts makes in one source. */
const MUTANT = process.env['MUTANT_PLANTED'];

/** Options of Node for a child that loads the service: it takes sources whose types were stripped before. */
export const STRIPPED: readonly string[] = ['--import', `${root}scripts/stripped.mjs`, ...plantingOf(MUTANT)];

function plantingOf(mutant: string | undefined): string[] {
  return mutant === undefined ? [] : ['--import', `${root}test/mutants/plant.ts`];
}

/** Raw bits of a lot that gets each judgement that a lot can get. */
export const ASSESSED_LOT_BITS = 2_000_000;

/**
 * The simulator's lots have one qubit, with two windows of raw bits, which have one order where there is one channel
 * (test/pool/intake tests both), and one of conditioned ones. One lot fills the small reservoir: the tests of a dozen shorter
 * lots, while a test runs, take three times the processor time.
 */
const SMALL_RESERVOIR = { QRN_RESERVOIR_BYTES: '65536' };
const ASSESSED_LOTS = {
  QRN_SOURCE_SIMULATOR_LOT_BITS: String(ASSESSED_LOT_BITS),
  QRN_SOURCE_SIMULATOR_QUBITS: '1',
};
/** Lots for a service that is killed over and over, each start of which reads lots again, or whose memory is measured. */
export const SHORT_LOTS = { QRN_SOURCE_SIMULATOR_LOT_BITS: '131072' };
/** Variables that may leave the simulator out of the sources, which then has no options. */
const SOURCE_SETTINGS = ['QRN_BACKEND', 'QRN_SOURCES', 'QRN_CONFIG'];

/** The settings, with a small reservoir that one lot of one qubit fills. */
export function withSmallPool(environment: Environment): Environment {
  if (SOURCE_SETTINGS.some((name) => environment[name] !== undefined)) {
    return { ...SMALL_RESERVOIR, ...environment };
  }
  return { ...SMALL_RESERVOIR, ...ASSESSED_LOTS, ...environment };
}

/** Settings of a service whose wall clock is wrong by as many milliseconds as the file says, which may change meanwhile. */
export function withWallClock(file: string): Environment {
  const clock = new URL('wall-clock.ts', import.meta.url);
  clock.searchParams.set('offset', file);
  return { NODE_OPTIONS: `--disable-warning=ExperimentalWarning --import ${clock.href}` };
}

/** An origin whose pages may call the shared server, and on which a browser has all that needs a secure context. */
export const ALLOWED_ORIGIN = 'http://localhost:8';

/** The settings of a `shared` server: pages of two origins that may call, and a log line for each request. */
const SHARED: Environment = {
  QRN_CORS_ORIGINS: `https://app.example,${ALLOWED_ORIGIN}`,
  QRN_ACCESS_LOG_SAMPLE: '1',
};

/** The settings of a shared server on the other engine. */
export const ON_NODE: Environment = { QRN_FRONT: 'node' };

/**
 * The settings of a shared server with everything switched on: three fronts, of which two run beside the main thread.
 */
export const ALL_ON: Environment = {
  QRN_FRONTS: '3',
  QRN_METRICS_PORT: 'public',
  QRN_STRICT_PARAMETERS: '1',
};

/** Pauses between two looks of `until`: what is awaited for long is looked at seldom. */
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 100;

/** Polls until the condition holds; throws after about `withinMs`, naming what was awaited. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  withinMs = 60_000,
): Promise<void> {
  const end = performance.now() + withinMs;
  for (let pauseMs = FIRST_PAUSE_MS; !(await holds()); pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    assert.ok(performance.now() < end, `waited ${withinMs} ms for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** Variables that `npm start` sets for the service, which a test of memory needs too. */
export const shippedStart: SpawnOptions = {
  shell: JSON.parse(readFileSync(`${root}package.json`, 'utf8')).scripts.start.replace(
    /exec .*/,
    'exec "$0" "$@"',
  ),
};

interface SpawnOptions {
  readonly serveArgs?: readonly string[];
  /** A shell script that ends in a call of `exec` with its arguments, so that signals reach the service. */
  readonly shell?: string;
}

/** The real service in a process of its own, on a port and a data folder of its own. */
export class TestServer {
  readonly dataDir: string;
  readonly process: ChildProcess;
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
  #isFolderKept = false;
  #output = '';
  #baseUrl = '';
  #key = '';
  #lastCommand: Promise<unknown> = Promise.resolve();
  /** The settings by which commands find its ledger. */
  readonly #place: Environment;

  private constructor(child: ChildProcess, dataDir: string, { QRN_LEDGER, QRN_NODE }: Environment) {
    this.dataDir = dataDir;
    this.#place = { QRN_DATA_DIR: dataDir, QRN_LEDGER, QRN_NODE };
    this.process = child;
    for (const stream of [child.stdout!, child.stderr!])
      stream.on('data', (chunk: Buffer) => {
        this.#output += chunk.toString('utf8');
      });
    this.ended = new Promise((resolve) => {
      child.once('close', (code, signal) => resolve(code ?? signal ?? 'SIGKILL'));
    });
  }

  /** Starts it and waits for nothing: `qrn serve` with these arguments, by this line of a shell. */
  static spawn(
    environment: Environment = {},
    dataDir = mkdtempSync(join(tmpdir(), 'qrn-test-')),
    { serveArgs = [], shell = 'exec "$0" "$@"' }: SpawnOptions = {},
  ): TestServer {
    const endsWithUs = new URL('ends-with-parent.ts', import.meta.url).href;
    const options = [...STRIPPED, '--import', endsWithUs, ...plantingOf(environment['MUTANT_PLANTED'])];
    const serve = [process.execPath, ...options, 'src/main.ts', 'serve', ...serveArgs];
    const child = spawn('sh', ['-c', shell, ...serve], {
      cwd: root,
      env: {
        PATH: process.env['PATH'],
        MUTANT_PLANTED: MUTANT,
        QRN_DATA_DIR: dataDir,
        QRN_PORT: '0',
        ...withSmallPool(environment),
      },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    return new TestServer(child, dataDir, environment);
  }

  /** Resolves when the service says that it is ready; rejects with its output when it does not get there. */
  static async start(...options: Parameters<typeof TestServer.spawn>): Promise<TestServer> {
    const server = TestServer.spawn(...options);
    try {
      return await server.ready();
    } catch (error) {
      server.process.kill('SIGKILL');
      throw error;
    }
  }

  /** Starts a server for one test: it is killed and its folder removed when the test ends, however it ends. */
  static spawnFor(t: TestContext, environment: Environment, dataDir?: string): TestServer {
    // hooks run in the order in which they are given: the folder goes when the server has ended
    let server: TestServer | undefined;
    t.after(() => server?.kill('SIGKILL'));
    server = TestServer.spawn({ QRN_LOG_LEVEL: 'debug', ...environment }, dataDir ?? scratchFolder());
    server.#isFolderKept = true; // the test looks into it
    return server;
  }

  static readonly #shared = new Map<Environment, Promise<TestServer>>();

  /**
   * The one server of this process with these settings. Its tests take accounts of their own where they count, and leave it
   * running: it ends with the process.
   */
  static shared(environment: Environment = SHARED): Promise<TestServer> {
    const known = TestServer.#shared.get(environment);
    if (known !== undefined) return known;
    const started = TestServer.start(environment).then((server) => {
      const { process: child, dataDir } = server;
      for (const each of [child, ...child.stdio]) (each as ChildProcess).unref();
      process.once('exit', () => {
        // nobody waits for it, so the system does not count its time as that of a child (test/run.ts)
        process.stdout.write(`# left running after ${cpuTimeEver(child.pid!) ?? 0} ms of processor time\n`);
        child.kill('SIGKILL');
        rmSync(dataDir, { recursive: true, force: true });
      });
      return server;
    });
    TestServer.#shared.set(environment, started);
    return started;
  }

  /** Resolves when it listens, which is before it has entropy. */
  async listening(): Promise<this> {
    const listening = /^listening on (\S+), /m;
    await this.until('the service listens', () => listening.test(this.#output), READY_DEADLINE_MS);
    this.#baseUrl = listening.exec(this.#output)![1];
    this.#key = readFileSync(join(this.dataDir, 'demo-key'), 'utf8').trim();
    return this;
  }

  async ready(): Promise<this> {
    await this.until('the service is ready', () => /^ready \S+$/m.test(this.#output), READY_DEADLINE_MS);
    this.#baseUrl = /^ready (\S+)$/m.exec(this.#output)![1];
    this.#key = readFileSync(join(this.dataDir, 'demo-key'), 'utf8').trim();
    return this;
  }

  /** Waits for what it does by and by; rejects with its output when that does not come, or it ends before. */
  async until(what: string, holds: () => boolean | Promise<boolean>, withinMs?: number): Promise<void> {
    const isOver = () => this.process.exitCode !== null || this.process.signalCode !== null;
    const told = () => `its output:\n${this.#output}`;
    await until(what, async () => (await holds()) || (isOver() && assert.fail('it ended')), withinMs).catch(
      (error: Error) => assert.fail(`${what}: ${error.message}; ${told()}`),
    );
  }

  /** E.g. http://127.0.0.1:3000/v1 */
  get baseUrl(): string {
    return this.#baseUrl;
  }

  get origin(): string {
    return new URL(this.#baseUrl).origin;
  }

  get port(): number {
    return Number(new URL(this.#baseUrl).port);
  }

  /** The demo account's key: tier Pro. */
  get key(): string {
    return this.#key;
  }

  /** Returns all its output on stdout and stderr. */
  output(): string {
    return this.#output;
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return fetchWhole(`${this.#baseUrl}${path}`, {
      headers: { authorization: `Bearer ${this.#key}`, ...headers },
    });
  }

  batch(body: unknown, headers: Record<string, string> = {}): Promise<Response> {
    return this.post('/batch', body, headers);
  }

  post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
    return fetchWhole(`${this.#baseUrl}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  }

  /** The public keys of its log. */
  async keys(): Promise<unknown> {
    return (await fetchWhole(`${this.origin}/.well-known/qrn-keys.json`)).json();
  }

  async checks(): Promise<HealthReport['checks']> {
    return ((await (await this.get('/health')).json()) as { data: HealthReport }).data.checks;
  }

  /**
   * Runs `qrn` on the service's folder and gives what it wrote to stdout; rejects on a non-zero exit. One after the other,
   * in this process: another would take half a second of processor time to load what is loaded here.
   */
  qrn(...args: string[]): Promise<string> {
    const run = async () => {
      const { status, out, talk } = await runCommand(qrn, args, this.#place, systemClock);
      if (status !== 0) throw new Error(`qrn ${args.join(' ')} ended with ${status}: ${talk}`);
      return out;
    };
    const ran = this.#lastCommand.then(run, run);
    this.#lastCommand = ran;
    return ran;
  }

  /** A new account of the tier, with its key. */
  async account(
    tier: string,
    ...options: string[]
  ): Promise<{ account_id: string; key_id: string; key: string }> {
    const made = JSON.parse(
      await this.qrn('accounts', 'create', '--name', tier, '--tier', tier, ...options, '--json'),
    );
    await this.knows(made.key);
    return made;
  }

  /** Resolves when it follows its books that far, within a second: the key is known. */
  async knows(key: string): Promise<void> {
    await this.until('the new key is known', async () => {
      const response = await this.get('/health', { authorization: `Bearer ${key}` });
      await response.arrayBuffer();
      return response.status !== 401;
    });
  }

  kill(signal: NodeJS.Signals): Promise<number | NodeJS.Signals> {
    this.process.kill(signal);
    return this.ended;
  }

  /** Stops it as an operator would and removes its folder, unless it belongs to a test. Gives the exit code. */
  async stop(): Promise<number | NodeJS.Signals> {
    const code = await this.kill('SIGTERM');
    if (!this.#isFolderKept) rmSync(this.dataDir, { recursive: true, force: true });
    return code;
  }

  /** None of the secrets stands in what it wrote to the terminal or to its folder. It has ended. */
  assertDiscreet(secrets: readonly string[]): void {
    const files = readdirSync(this.dataDir, { recursive: true, withFileTypes: true }).filter((each) =>
      each.isFile(),
    );
    assert.ok(files.length >= 5);
    for (const secret of secrets) {
      assert.ok(secret.length >= 8, 'a secret that is not found by chance');
      assert.ok(!this.#output.includes(secret), `${secret} is in the output`);
    }
    for (const { parentPath, name } of files) {
      const content = readFileSync(join(parentPath, name));
      const found = secrets.filter((secret) => content.includes(secret));
      assert.deepEqual(found, [], `secrets in ${name}`);
    }
  }
}

/** Runs `qrn` on a data folder in a process of its own, as a shell does. */
export function runQrn(
  dataDir: string,
  args: readonly string[],
  environment: Environment = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [...STRIPPED, 'src/main.ts', ...args], {
    cwd: root,
    env: { PATH: process.env['PATH'], QRN_DATA_DIR: dataDir, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString('utf8')));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString('utf8')));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr })));
}
