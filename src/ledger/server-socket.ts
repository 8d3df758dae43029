import { createHash } from 'node:crypto';
import { chmodSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LedgerError } from './ledger.ts';
import { type PackedError, packError, unpackError } from './packed-error.ts';

/** Room for a path in sockaddr_un: 108 bytes on Linux, 104 on macOS, with its closing zero. */
const SOCKET_PATH_BYTES_MAX = 103;
/** A command has the folder for a moment: whoever starts meanwhile waits so long for it. */
const COMMAND_LASTS_MS = 5_000;
const RETRY_MS = 20;
/** How long an owner may take to say who it is. */
const ANSWER_TIMEOUT_MS = 1_000;
/** How long a call may take: a service that starts may audit its ledger first. */
const CALL_TIMEOUT_MS = 15_000;
/** A line is a record of an account, a key, a note or a withdrawal. */
const LINE_BYTES_MAX = 1 << 20;

/** What is asked of the owner: a call of its ledger, or only who it is. */
interface Request {
  readonly call?: string;
  readonly args?: readonly unknown[];
}

/** What a call gave, and whether all who serve by it have it. */
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

/** Another process has the folder. */
export class FolderTaken extends LedgerError {
  constructor(message: string) {
    super('unusable', message);
  }
}

/**
 * Takes the folder for this process: a socket that only a living owner answers, so that what a killed process
 * left behind blocks nobody. Throws FolderTaken when another server lives.
 */
export async function takeFolder(directory: string, isCommand = false): Promise<FolderOwner> {
  const path = socketPathOf(directory);
  for (let waitedMs = 0; waitedMs < COMMAND_LASTS_MS; waitedMs += RETRY_MS) {
    const owner = await FolderOwner.listen(path, isCommand);
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

/** Whether a server uses the folder. Throws LedgerError `unusable` when it cannot be asked. */
export async function serverLives(directory: string): Promise<boolean> {
  return (await ask(socketPathOf(directory), {}, ANSWER_TIMEOUT_MS)) !== undefined;
}

/**
 * Has the owner of the folder make a call. Undefined when nobody has the folder; `lost` when the owner ended before it answered:
 * the call was made or not, and may be made again; `late` when the owner lives and did not answer in time. Throws what the call
 * threw.
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
 * The one process that writes a folder. What keeps a second writer out for good is the epoch; the socket in the folder says
 * who has it, and takes the calls of commands: one line of JSON there and one back.
 */
class FolderOwner {
  readonly #server: Server;
  readonly #isCommand: boolean;
  readonly #sockets = new Set<Socket>();
  readonly #handler = Promise.withResolvers<Handler>();
  readonly #running = new Set<Promise<void>>();
  #isDrained = false;

  private constructor(isCommand: boolean) {
    this.#isCommand = isCommand;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  /** Undefined when the path is taken. */
  static listen(path: string, isCommand: boolean): Promise<FolderOwner | undefined> {
    const owner = new FolderOwner(isCommand);
    const server = owner.#server;
    const { promise, resolve: settle, reject } = Promise.withResolvers<FolderOwner | undefined>();
    server.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') settle(undefined);
      else
        reject(new LedgerError('unusable', `cannot listen on ${path}: ${error.message}`, { cause: error }));
    });
    server.listen(path, () => {
      server.unref();
      if (process.platform !== 'win32') chmodSync(path, 0o600);
      settle(owner);
    });
    return promise;
  }

  /** Answers calls from now on; those that came before have waited. */
  serve(handle: Handler): void {
    this.#handler.resolve(handle);
  }

  /** Takes no more calls: they are repeated to the next owner. Resolves when those under way are answered. */
  async drain(): Promise<void> {
    this.#isDrained = true;
    this.#handler.promise.catch(() => {}); // told to those who wait
    this.#handler.reject(new LedgerError('stopped', 'the owner of the folder stops'));
    await Promise.all(this.#running);
  }

  release(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    return new Promise((done, fail) => this.#server.close((error) => (error ? fail(error) : done())));
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => socket.destroy()); // whoever asked went away: nothing to tell
    socket.unref();
    let text = '';
    socket.setEncoding('utf8');
    socket.on('data', (piece: string) => {
      text += piece;
      const end = text.indexOf('\n');
      if (end < 0) {
        if (text.length > LINE_BYTES_MAX) socket.destroy();
        return;
      }
      const line = text.slice(0, end);
      text = '';
      const answer = this.#answer(socket, line).finally(() => this.#running.delete(answer));
      this.#running.add(answer);
    });
  }

  async #answer(socket: Socket, line: string): Promise<void> {
    const who = { process: process.pid, isCommand: this.#isCommand };
    let reply: Reply = who;
    try {
      const { call, args = [] } = JSON.parse(line) as Request;
      if (call !== undefined) {
        if (this.#isDrained) {
          socket.destroy();
          return;
        }
        const handle = await this.#handler.promise;
        reply = { ...who, served: await handle(call, args) };
      }
    } catch (error) {
      reply = { ...who, error: packError(error) };
    }
    // destroyed meanwhile: nobody reads it
    await new Promise<void>((resolve) => {
      socket.once('close', () => resolve());
      socket.end(`${JSON.stringify(reply)}\n`, () => resolve());
    });
  }
}

/** Where the owner of the folder listens. */
export function socketPathOf(directory: string): string {
  const name = createHash('sha256').update(resolve(directory)).digest('hex').slice(0, 32);
  if (process.platform === 'win32') return `\\\\.\\pipe\\qrn-${name}`;
  const inside = join(resolve(directory), 'server.sock');
  if (Buffer.byteLength(inside) <= SOCKET_PATH_BYTES_MAX) return inside;
  return join(tmpdir(), `qrn-${name}.sock`);
}

/** Undefined when nobody listens; `lost` when the owner hung up, `late` when it took too long. */
function ask(
  path: string,
  request: Request,
  timeoutMs: number,
): Promise<Reply | 'lost' | 'late' | undefined> {
  const { promise, resolve: settle, reject } = Promise.withResolvers<Reply | 'lost' | 'late' | undefined>();
  const socket = connect(path);
  let text = '';
  socket.setEncoding('utf8');
  let isLate = false;
  socket.setTimeout(timeoutMs, () => {
    isLate = true;
    socket.destroy();
  });
  socket.on('connect', () => socket.write(`${JSON.stringify(request)}\n`));
  socket.on('data', (piece: string) => {
    text += piece;
  });
  socket.on('error', (error: NodeJS.ErrnoException) => {
    // Refused: the owner is dead. Gone: it released the path between our two calls. Else: it lives, or ended just now.
    if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') settle(undefined);
    else if (error.code === 'ECONNRESET' || error.code === 'EPIPE') settle('lost');
    else
      reject(
        new LedgerError(
          'unusable',
          `cannot ask at ${path} whether a server is using the folder (${error.message}): run this as the user of the service, who may read and write it`,
        ),
      );
  });
  socket.on('close', () => {
    if (text.endsWith('\n')) settle(JSON.parse(text) as Reply);
    else settle(isLate ? 'late' : 'lost');
  });
  return promise;
}
