import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { LedgerError } from './ledger.ts';

/** Room for a path in sockaddr_un: 108 bytes on Linux, 104 on macOS, with its closing zero. */
const SOCKET_PATH_BYTES_MAX = 103;
/**
 * A stale socket is removed and tried again; more than a few rounds means that servers race for the folder.
 */
const ATTEMPTS_MAX = 5;

/** How long a living server may take to answer: its thread may be in a long transaction. */
const ANSWER_TIMEOUT_MS = 1_000;

/**
 * Says that a server lives on the folder. It serves the error message and the commands that wait for the
 * server: what keeps a second writer out is the epoch.
 */
export interface ServerLock {
  /**
   * The directory version that each reader in the server goes by. The lock tells the lowest to whoever asks.
   */
  readonly appliedVersions: Map<string, number>;
  release(): Promise<void>;
}

/**
 * Takes the folder for this process: a socket that only a living owner answers, so that what a killed process
 * left behind blocks nobody. Throws LedgerError `unusable` when another server lives.
 */
export async function acquireServerLock(directory: string): Promise<ServerLock> {
  const path = socketPathOf(directory);
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const appliedVersions = new Map<string, number>();
    const server = await listen(path, () => answerOf(appliedVersions));
    if (server !== undefined) return { appliedVersions, release: () => close(server) };
    const answer = await askOwner(path);
    if (answer !== undefined) {
      throw new LedgerError(
        'unusable',
        `another server (process ${answer.split(' ')[0]}) is using ${directory}: stop it first`,
      );
    }
    if (process.platform !== 'win32') rmSync(path, { force: true });
  }
  throw new LedgerError('unusable', `cannot take ${directory}: other servers are starting on it`);
}

/**
 * Whether every reader in the server of the folder goes by this directory version or a later one. True also
 * when no server lives; false when the server does not answer in time or does not say. Throws LedgerError
 * `unusable` when it cannot be asked.
 */
export async function serverHasApplied(directory: string, version: number): Promise<boolean> {
  const answer = await askOwner(socketPathOf(directory));
  if (answer === undefined) return true;
  const applied = answer.split(' ')[1];
  return applied !== undefined && Number(applied) >= version;
}

/** Whether a server uses the folder. Throws LedgerError `unusable` when it cannot be asked. */
export async function serverLives(directory: string): Promise<boolean> {
  return (await askOwner(socketPathOf(directory))) !== undefined;
}

/** The process id, and the lowest directory version that a reader goes by; `Infinity` without readers. */
function answerOf(appliedVersions: ReadonlyMap<string, number>): string {
  return `${process.pid} ${Math.min(...appliedVersions.values())}`;
}

function socketPathOf(directory: string): string {
  const name = createHash('sha256').update(resolve(directory)).digest('hex').slice(0, 32);
  if (process.platform === 'win32') return `\\\\.\\pipe\\qrn-${name}`;
  const inside = join(resolve(directory), 'server.sock');
  if (Buffer.byteLength(inside) <= SOCKET_PATH_BYTES_MAX) return inside;
  return join(tmpdir(), `qrn-${name}.sock`);
}

/** A server that gives the answer to everyone who connects, or undefined when the path is taken. */
function listen(path: string, answer: () => string): Promise<Server | undefined> {
  const { promise, resolve: settle, reject } = Promise.withResolvers<Server | undefined>();
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy()); // whoever asked went away: nothing to tell
    socket.end(answer());
  });
  server.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EADDRINUSE') settle(undefined);
    else reject(new LedgerError('unusable', `cannot listen on ${path}: ${error.message}`, { cause: error }));
  });
  server.listen(path, () => {
    server.unref();
    settle(server);
  });
  return promise;
}

/** What the living owner answers, `unknown` when it takes too long; undefined when nobody listens. */
function askOwner(path: string): Promise<string | undefined> {
  const { promise, resolve: settle, reject } = Promise.withResolvers<string | undefined>();
  const socket = connect(path);
  let answer = '';
  socket.setEncoding('utf8');
  socket.setTimeout(ANSWER_TIMEOUT_MS, () => {
    settle('unknown');
    socket.destroy();
  });
  socket.on('data', (text: string) => {
    answer += text;
  });
  socket.on('end', () => settle(answer === '' ? 'unknown' : answer));
  socket.on('error', (error: NodeJS.ErrnoException) => {
    // Refused: the owner is dead. Gone: it released the path between our two calls. Reset: it lives and hung
    // up.
    if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') settle(undefined);
    else if (error.code === 'ECONNRESET' || error.code === 'EPIPE') settle('unknown');
    else
      reject(
        new LedgerError('unusable', `cannot ask the owner of ${path}: ${error.message}`, { cause: error }),
      );
  });
  return promise;
}

function close(server: Server): Promise<void> {
  return new Promise((done, fail) => server.close((error) => (error ? fail(error) : done())));
}
