import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const START_DEADLINE_MS = 60_000;

/** The real service in a process of its own, on a port and a data folder of its own. */
export class TestServer {
  readonly dataDir: string;
  readonly baseUrl: string;
  readonly origin: string;
  /** The demo account's key: tier Pro. */
  readonly key: string;
  readonly process: ChildProcess;
  /** Everything it wrote, for a test that failed. */
  readonly output: () => string;

  private constructor(dataDir: string, baseUrl: string, process: ChildProcess, output: () => string) {
    this.dataDir = dataDir;
    this.baseUrl = baseUrl;
    this.origin = new URL(baseUrl).origin;
    this.key = readFileSync(join(dataDir, 'demo-key'), 'utf8').trim();
    this.process = process;
    this.output = output;
  }

  /**
   * Resolves when the service says that it is ready; rejects with its output when it does not get there. `descriptors`
   * limits its open files.
   */
  static async start(
    environment: Readonly<Record<string, string>> = {},
    dataDir = mkdtempSync(join(tmpdir(), 'qrn-test-')),
    { descriptors }: { readonly descriptors?: number } = {},
  ): Promise<TestServer> {
    const limit = descriptors === undefined ? '' : `ulimit -n ${descriptors} && `;
    const program = limit === '' ? process.execPath : 'sh';
    const args = limit === '' ? [] : ['-c', `${limit}exec "$0" "$@"`, process.execPath];
    const child = spawn(program, [...args, '--import', './scripts/stripped.mjs', 'src/main.ts', 'serve'], {
      cwd: root,
      env: { PATH: process.env['PATH'], QRN_DATA_DIR: dataDir, QRN_PORT: '0', ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const baseUrl = await new Promise<string>((resolve, reject) => {
      const fail = (why: string) => reject(new Error(`${why}; its output:\n${output}`));
      const deadline = setTimeout(() => {
        child.kill('SIGKILL');
        fail('the service did not get ready in time');
      }, START_DEADLINE_MS);
      const take = (chunk: Buffer) => {
        output += chunk.toString('utf8');
        const ready = /^ready (\S+)$/m.exec(output);
        if (ready === null) return;
        clearTimeout(deadline);
        resolve(ready[1]);
      };
      child.stdout.on('data', take);
      child.stderr.on('data', take);
      child.once('exit', (code, signal) => {
        clearTimeout(deadline);
        fail(`the service ended with ${code ?? signal}`);
      });
    });
    return new TestServer(dataDir, baseUrl, child, () => output);
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${this.baseUrl}${path}`, { headers: { authorization: `Bearer ${this.key}`, ...headers } });
  }

  batch(body: unknown, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${this.baseUrl}/batch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.key}`, 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  }

  /** Runs `qrn` beside the service and gives what it wrote to stdout; rejects on a non-zero exit. */
  async qrn(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await runQrn(this.dataDir, args);
    if (code !== 0) throw new Error(`qrn ${args.join(' ')} ended with ${code}: ${stderr}`);
    return stdout;
  }

  /** A new account of the tier, with its key. */
  async account(
    tier: string,
    ...options: string[]
  ): Promise<{ account_id: string; key_id: string; key: string }> {
    const made = JSON.parse(
      await this.qrn('accounts', 'create', '--name', tier, '--tier', tier, ...options, '--json'),
    );
    // the running service follows within a second
    for (let tries = 0; tries < 40; tries++) {
      const response = await this.get('/health', { authorization: `Bearer ${made.key}` });
      await response.arrayBuffer();
      if (response.status !== 401) return made;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error('the service does not see the new account');
  }

  kill(signal: NodeJS.Signals): Promise<number | NodeJS.Signals> {
    return new Promise((resolve) => {
      const ended = this.process.exitCode ?? this.process.signalCode;
      if (ended !== null) return resolve(ended);
      this.process.once('exit', (code, by) => resolve(code ?? by ?? 'SIGKILL'));
      this.process.kill(signal);
    });
  }

  /** Stops it as an operator would and removes its folder. Gives the exit code. */
  async stop(): Promise<number | NodeJS.Signals> {
    const code = await this.kill('SIGTERM');
    rmSync(this.dataDir, { recursive: true, force: true });
    return code;
  }
}

/** Runs `qrn` on a data folder. */
export function runQrn(
  dataDir: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, ['src/main.ts', ...args], {
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
