import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { messageOf } from '../core/assert.ts';
import { LedgerError } from './ledger.ts';
import { type PackedError, packError, unpackError } from './packed-error.ts';

/** sockaddr_un has room for a path of 108 bytes on Linux and 104 on macOS, with the final zero. */
const SOCKET_PATH_BYTES_MAX = 103;
/** How long a start waits for a command that owns the folder: commands own it for a moment only. */
const COMMAND_LASTS_MS = 5_000;
const RETRY_MS = 20;
/** How long an owner may take to say who it is. */
const ANSWER_TIMEOUT_MS = 1_000;
/** How long a call may take: a service that starts may audit its ledger first. */
const CALL_TIMEOUT_MS = 15_000;
/** Far more than a line needs, which holds the record of an account, a key, a note or a revocation. */
const LINE_BYTES_MAX = 1 << 20;

/** A request to the owner: a call of its ledger or, without `call`, only who the owner is. */
interface Request {
  readonly call?: string;
  readonly args?: readonly unknown[];
}

/** The result of a call, and whether all readers of the directory have the change. */
export interface Served {
  readonly result: unknown;
  readonly isConfirmed: boolean;
}

interface Reply {
  readonly process: number;
  readonly isCommand: boolean;
  readonly served?: Served;
  readonly error?: PackedError;
}

type Handler = (call: string, args: readonly unknown[]) => Promise<Served>;

/** Another process owns the folder. */
export class FolderTaken extends LedgerError {
  constructor(message: string) {
    super('unusable', message);
  }
}

/**
 * Makes this process the owner of the folder, which listens on a socket. A killed owner does not answer there, so the socket
 * that it leaves behind blocks nobody. Throws FolderTaken when another server is running.
 */
export async function takeFolder(directory: string, isCommand = false): Promise<FolderOwner> {
  const path = socketPathOf(directory);
  for (let waitedMs = 0; waitedMs < COMMAND_LASTS_MS; waitedMs += RETRY_MS) {
    const owner = await listen(path, isCommand);
    if (owner !== undefined) return owner;
    const other = await ask(path, {}, ANSWER_TIMEOUT_MS);
    if (other === undefined) {
      if (process.platform !== 'win32') rmSync(path, { force: true });
    } else if (typeof other === 'string' || !other.isCommand || isCommand) {
      const who = typeof other === 'string' ? 'unknown' : other.process;
      throw new FolderTaken(`another server (process ${who}) is using ${directory}: stop it first`);
    }
    await sleep(RETRY_MS);
  }
  throw new FolderTaken(
    `${directory} was in use for ${COMMAND_LASTS_MS / 1_000} s by commands or by servers that start: wait until they end, and start again`,
  );
}

/** Whether a process owns the folder. Throws LedgerError `unusable` when it cannot be asked. */
export async function serverLives(directory: string): Promise<boolean> {
  return (await ask(socketPathOf(directory), {}, ANSWER_TIMEOUT_MS)) !== undefined;
}

/**
 * Has the owner of the folder make a call. Resolves with undefined when nobody owns the folder, with `late` when the owner did
 * not answer in time, and with `lost` when it ended before it answered: whether it made the call is unknown, and the caller
 * may repeat it. Throws what the call threw.
 */
export async function callOwner(
  directory: string,
  call: string,
  args: readonly unknown[],
  timeoutMs = CALL_TIMEOUT_MS,
): Promise<Served | 'lost' | 'late' | undefined> {
  const reply = await ask(socketPathOf(directory), { call, args }, timeoutMs);
  if (reply === undefined || typeof reply === 'string') return reply;
  if (reply.error !== undefined) {
    const error = unpackError(reply.error);
    if (error instanceof LedgerError && error.reason === 'stopped') return 'lost';
    throw error;
  }
  return reply.served ?? 'lost';
}

/**
 * The one process that writes a folder. Its socket tells who owns the folder, and takes the calls of commands: one line of
 * JSON as the request, one as the reply. The start number in the ledger is what finally keeps a second writer out.
 */
interface FolderOwner {
  /** Answers calls with `handle` from now on. Calls that came earlier have waited. */
  serve(handle: Handler): void;
  /** Accepts no more calls: callers repeat them to the next owner. Resolves when the calls under way are answered. */
  drain(): Promise<void>;
  release(): Promise<void>;
}

/** Returns undefined when the path is taken. */
async function listen(path: string, isCommand: boolean): Promise<FolderOwner | undefined> {
  const sockets = new Set<Socket>();
  const running = new Set<Promise<void>>();
  const handler = Promise.withResolvers<Handler>();
  let isDrained = false;
  const who = { process: process.pid, isCommand };

  /** Returns undefined for a call that the caller must repeat to the next owner. */
  async function replyTo(line: string): Promise<Reply | undefined> {
    try {
      const { call, args = [] } = JSON.parse(line) as Request;
      if (call === undefined) return who;
      if (isDrained) return undefined;
      const handle = await handler.promise;
      return { ...who, served: await handle(call, args) };
    } catch (error) {
      return { ...who, error: packError(error) };
    }
  }

  async function answer(socket: Socket, line: string): Promise<void> {
    const reply = await replyTo(line);
    if (reply === undefined) socket.destroy();
    else
      await new Promise<void>((resolve) => {
        socket.once('close', () => resolve()); // a destroyed socket never ends
        socket.end(`${JSON.stringify(reply)}\n`, () => resolve());
      });
  }

  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy()); // the caller is gone
    socket.unref();
    let line = '';
    socket.setEncoding('utf8');
    socket.on('data', (piece: string) => {
      line += piece;
      if (line.endsWith('\n')) {
        const answered = answer(socket, line).finally(() => running.delete(answered));
        running.add(answered);
      } else if (line.length > LINE_BYTES_MAX) socket.destroy();
    });
  });
  try {
    await once(server.listen(path), 'listening');
  } catch (error) {
    if (codeOf(error) === 'EADDRINUSE') return undefined;
    throw new LedgerError('unusable', `cannot listen on ${path}: ${messageOf(error)}`, { cause: error });
  }
  server.unref();
  if (process.platform !== 'win32') chmodSync(path, 0o600);
  return {
    serve: (handle) => handler.resolve(handle),
    async drain() {
      isDrained = true;
      handler.promise.catch(() => {}); // waiting calls get the error
      handler.reject(new LedgerError('stopped', 'the owner of the folder stops'));
      await Promise.all(running);
    },
    async release() {
      for (const socket of sockets) socket.destroy();
      await promisify(server.close.bind(server))();
    },
  };
}

/** Returns the path at which the owner of the folder listens. */
export function socketPathOf(directory: string): string {
  const name = createHash('sha256').update(resolve(directory)).digest('hex').slice(0, 32);
  if (process.platform === 'win32') return `\\\\.\\pipe\\qrn-${name}`;
  const inside = join(resolve(directory), 'server.sock');
  if (Buffer.byteLength(inside) <= SOCKET_PATH_BYTES_MAX) return inside;
  return join(tmpdir(), `qrn-${name}.sock`);
}

/** Resolves with undefined when nobody listens, `lost` when the owner hung up, `late` when it took too long. */
async function ask(
  path: string,
  request: Request,
  timeoutMs: number,
): Promise<Reply | 'lost' | 'late' | undefined> {
  const late = new Error('late');
  const socket = connect(path).setTimeout(timeoutMs, () => socket.destroy(late));
  socket.write(`${JSON.stringify(request)}\n`);
  try {
    const reply = await text(socket);
    return reply.endsWith('\n') ? (JSON.parse(reply) as Reply) : 'lost';
  } catch (error) {
    if (error === late) return 'late';
    const code = codeOf(error) ?? '';
    // ECONNREFUSED: the owner is dead. ENOENT: it removed the socket since we tried to listen. Otherwise it may still run.
    if (code === 'ECONNREFUSED' || code === 'ENOENT') return undefined;
    if (HUNG_UP.includes(code)) return 'lost';
    throw new LedgerError(
      'unusable',
      `cannot ask at ${path} whether a server is using the folder (${messageOf(error)}): run this as the user of the service, who may read and write it`,
    );
  }
}

const HUNG_UP: readonly string[] = ['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'];

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
