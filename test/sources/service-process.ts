import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { HealthReport } from '../../src/http/plain-routes.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** No figure of the service: what a busy machine needs, and what a test that hangs is ended by. */
const READY_DEADLINE_MS = 120_000;
const UNTIL_TRIES_MAX = 12_000;
const UNTIL_INTERVAL_MS = 10;

export type Environment = Readonly<Record<string, string>>;

/** One lot fills the pool. */
export const SMALL_POOL: Environment = { QRN_RESERVOIR_BYTES: '65536' };

/** A folder of its own, gone with the test. */
export function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'qrn-end-to-end-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The service as an operator starts it: a process of its own, told by its environment alone what its sources are. */
export class ServiceProcess {
  readonly dataDir: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | NodeJS.Signals>;
  #output = '';
  #onOutput = () => {};

  /** It ends with the test, whatever that comes to. */
  constructor(t: TestContext, environment: Environment, dataDir = temporaryFolder(t)) {
    this.dataDir = dataDir;
    this.#child = spawn(process.execPath, ['src/main.ts', 'serve'], {
      cwd: root,
      env: {
        PATH: process.env['PATH'],
        QRN_DATA_DIR: dataDir,
        QRN_PORT: '0',
        QRN_LOG_LEVEL: 'debug',
        ...SMALL_POOL,
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      stream.on('data', (chunk: Buffer) => {
        this.#output += chunk.toString('utf8');
        this.#onOutput();
      });
    }
    this.#ended = new Promise((resolve) => {
      this.#child.once('close', (code, signal) => resolve(code ?? signal ?? 'SIGKILL'));
    });
    t.after(() => this.kill());
  }

  /** All that it wrote to stdout and stderr. */
  get output(): string {
    return this.#output;
  }

  /** Resolves when every mode can be served; rejects with its output when it does not get there. */
  async ready(): Promise<void> {
    let deadline: NodeJS.Timeout | undefined;
    const isReady = new Promise<void>((resolve, reject) => {
      deadline = setTimeout(
        () => reject(new Error(`not ready in time:\n${this.#output}`)),
        READY_DEADLINE_MS,
      );
      this.#ended.then((end) => reject(new Error(`ended with ${end}:\n${this.#output}`)));
      this.#onOutput = () => /^ready \S+$/m.test(this.#output) && resolve();
      this.#onOutput();
    });
    try {
      await isReady;
    } finally {
      clearTimeout(deadline);
    }
  }

  /** Waits for what it does by and by; rejects with its output when that does not come, or it ends before. */
  async until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
    for (let tries = 0; !(await isSo()); tries++) {
      const isOver = this.#child.exitCode !== null || this.#child.signalCode !== null;
      assert.ok(tries < UNTIL_TRIES_MAX && !isOver, `waited for: ${what}; its output:\n${this.#output}`);
      await new Promise((resolve) => setTimeout(resolve, UNTIL_INTERVAL_MS));
    }
  }

  /** A path of the origin, e.g. `/v1/health`. */
  get(path: string): Promise<Response> {
    const [, baseUrl] = /^ready (\S+)$/m.exec(this.#output) ?? [];
    assert.ok(baseUrl !== undefined, 'the service is ready');
    const key = readFileSync(join(this.dataDir, 'demo-key'), 'utf8').trim();
    return fetch(new URL(path, baseUrl), { headers: { authorization: `Bearer ${key}` } });
  }

  async keys(): Promise<unknown> {
    return (await this.get('/.well-known/qrn-keys.json')).json();
  }

  async checks(): Promise<HealthReport['checks']> {
    const report = (await (await this.get('/v1/health')).json()) as HealthReport;
    return report.checks;
  }

  /** As a crash ends it. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  /** As an operator ends it. */
  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    const end = await this.#ended;
    const isLate = this.#output.includes('not stopped in time'); // the machine's doing, and nothing that is looked at here
    assert.ok(end === 0 || isLate, `ended with ${end}:\n${this.#output}`);
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
