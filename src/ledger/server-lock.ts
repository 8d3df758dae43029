import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { LedgerError } from './ledger.ts';

/** Room for a path in sockaddr_un: 108 bytes on Linux, 104 on macOS, with its closing zero. */
const SOCKET_PATH_BYTES_MAX = 103;
/** A stale socket is removed and tried again; more than a few rounds means that servers race for the folder. */
const ATTEMPTS_MAX = 5;

/** Says that a server lives on the folder. It is for the message: what keeps a second writer out is the epoch. */
export interface ServerLock {
  release(): Promise<void>;
}

/**
 * Takes the folder for this process: a socket that only a living owner answers, so that what a killed process left
 * behind blocks nobody. Throws LedgerError `unusable` when another server lives.
 */
export async function acquireServerLock(directory: string): Promise<ServerLock> {
  const path = socketPathOf(directory);
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const server = await listen(path);
    if (server !== undefined) return { release: () => close(server) };
    const owner = await askOwner(path);
    if (owner !== undefined) {
      throw new LedgerError(
        'unusable',
        `another server (process ${owner}) is using ${directory}: stop it first`,
      );
    }
    if (process.platform !== 'win32') rmSync(path, { force: true });
  }
  throw new LedgerError('unusable', `cannot take ${directory}: other servers are starting on it`);
}

function socketPathOf(directory: string): string {
  const name = createHash('sha256').update(resolve(directory)).digest('hex').slice(0, 32);
  if (process.platform === 'win32') return `\\\\.\\pipe\\qrn-${name}`;
  const inside = join(resolve(directory), 'server.sock');
  if (Buffer.byteLength(inside) <= SOCKET_PATH_BYTES_MAX) return inside;
  return join(tmpdir(), `qrn-${name}.sock`);
}

/** A server that answers with its process id, or undefined when the path is taken. */
function listen(path: string): Promise<Server | undefined> {
  const { promise, resolve: settle, reject } = Promise.withResolvers<Server | undefined>();
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy()); // whoever asked went away: nothing to tell
    socket.end(String(process.pid));
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

/** The process id that the living owner answers; undefined when nobody listens. */
function askOwner(path: string): Promise<string | undefined> {
  const { promise, resolve: settle, reject } = Promise.withResolvers<string | undefined>();
  const socket = connect(path);
  let answer = '';
  socket.setEncoding('utf8');
  socket.on('data', (text: string) => {
    answer += text;
  });
  socket.on('end', () => settle(answer === '' ? 'unknown' : answer));
  socket.on('error', (error: NodeJS.ErrnoException) => {
    // Refused: the owner is dead. Gone: it released the path between our two calls. Reset: it lives and hung up.
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
