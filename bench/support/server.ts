import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestServer } from '../../test/support/server.ts';
import { endWithUs, removeWithUs } from './children.ts';
import type { Subject } from './suite.ts';

/** A server that runs as a separate process on loopback. */
export interface Server {
  /** http://127.0.0.1:PORT */
  readonly origin: string;
  readonly pid: number;
  /** Header fields that its clients add. */
  readonly headers: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** The service of a subject, ready, with the key of an enterprise account, which has no limits. */
export interface Service extends Server {
  readonly server: TestServer;
}

/** One lot of the default size fills it, so no lot is made and assessed during a measurement. */
const RESERVOIR_BYTES = 65_536;
const PEER_START_DEADLINE_MS = 20_000;

/**
 * Starts the service with the allocator settings of `npm start`; `environment` holds more QRN_ settings. The data are
 * in bench/out because that is on a disk, which /tmp need not be.
 */
export async function startService(
  subject: Subject,
  environment: Readonly<Record<string, string>> = {},
): Promise<Service> {
  const module = new URL('test/support/server.ts', subject.root).href;
  const { TestServer } = (await import(module)) as typeof import('../../test/support/server.ts');
  const dataDir = join(dataFolder(), 'data');
  const settings = {
    MALLOC_ARENA_MAX: '2',
    MALLOC_MMAP_THRESHOLD_: '1048576',
    QRN_RESERVOIR_BYTES: String(RESERVOIR_BYTES),
    QRN_SOURCE_SIMULATOR_LOT_BITS: undefined,
    QRN_LOG_LEVEL: 'error',
    ...environment,
  };
  const server = await TestServer.start(settings, dataDir);
  endWithUs(server.process);
  try {
    const { key } = await server.account('enterprise');
    const headers = { authorization: `Bearer ${key}` };
    await fillReservoir(server, headers, Number(settings.QRN_RESERVOIR_BYTES));
    const stop = async () => {
      await server.stop();
    };
    return { server, origin: server.origin, pid: server.process.pid!, headers, stop };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** Returns a new folder on the disk of the project or of QRN_BENCH_DIR; it is removed when this process ends. */
export function dataFolder(): string {
  const out = process.env['QRN_BENCH_DIR'] ?? fileURLToPath(new URL('../out/', import.meta.url));
  mkdirSync(out, { recursive: true });
  const folder = mkdtempSync(join(out, 'data-'));
  removeWithUs(folder);
  return folder;
}

/** Resolves when that many bytes for pure mode are available. */
async function fillReservoir(
  server: TestServer,
  headers: Record<string, string>,
  bytes: number,
): Promise<void> {
  for (;;) {
    // The document of the health-check draft, which revisions before 5888d84 also answer.
    const response = await server.get('/health', { ...headers, accept: 'application/health+json' });
    const { checks } = (await response.json()) as { checks: Record<string, { observedValue: number }[]> };
    const level = checks['pool:pure'] ?? checks['pool:pure_bytes']; // the name in revisions before 113762d
    if (level === undefined) throw new Error('health does not tell how many pure bytes lie ready');
    if (level[0].observedValue >= bytes) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Calls `use`, and stops every server that it kept when it has ended. */
export async function withServers<T>(
  use: (keep: <S extends Server>(server: S) => S) => Promise<T>,
): Promise<T> {
  const servers: Server[] = [];
  try {
    return await use((server) => {
      servers.push(server);
      return server;
    });
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

/** Starts a program that prints `ready URL` when it is ready; rejects with its output if it ends before. */
export async function startPeer(command: string, args: readonly string[]): Promise<Server> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  endWithUs(child);
  let output = '';
  const origin = await new Promise<string>((resolve, reject) => {
    const fail = (why: string) => {
      clearTimeout(deadline);
      reject(new Error(`${[command, ...args].join(' ')}: ${why}\n${output}`));
    };
    const deadline = setTimeout(() => {
      child.kill('SIGKILL');
      fail('not ready in time');
    }, PEER_START_DEADLINE_MS);
    const take = (chunk: Buffer) => {
      output += chunk.toString('utf8');
      const ready = /^ready (\S+)$/m.exec(output);
      if (ready === null) return;
      clearTimeout(deadline);
      resolve(ready[1]);
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.once('error', (error) => fail(error.message));
    child.once('exit', (code, signal) => fail(`ended with ${code ?? signal}`));
  });
  const stop = () =>
    new Promise<void>((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) return resolve();
      child.once('exit', () => resolve());
      child.kill('SIGKILL');
    });
  return { origin, pid: child.pid!, headers: {}, stop };
}
