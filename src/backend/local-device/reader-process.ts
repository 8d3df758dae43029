import { spawnSync } from 'node:child_process';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { isatty } from 'node:tty';
import { type Failure, identityOf, type Order, type Report } from './reader-protocol.ts';

/**
 * The process that reads a device. A read may block in the driver without limit. It ignores an AbortSignal and holds a
 * thread of libuv's pool, for which a process waits before it ends. Not every driver supports O_NONBLOCK, and some then
 * give very little (virtio-rng: 64 bytes a call). So the read blocks in this process, which SIGKILL ends. It gets one
 * order and then sends reports until its parent kills it.
 */

/**
 * Bytes of one read(2). A generator of 1 kB/s then delivers every 4 seconds. It is also the size of Linux' buffer of a
 * serial line (N_TTY_BUF_SIZE).
 */
const PIECE_BYTES = 4096;
/** The pause between reads of an empty FIFO. In that time its 64 KiB fill at 6 MB/s; no generator is as fast. */
const FIFO_LOOK_MS = 10;

const report = (message: Report) => process.send?.(message);

/** Opens the ordered device. Without O_NONBLOCK, opening a FIFO would wait for a writer even if bytes are in it. */
async function openDevice({ path, isFifo, baud }: Order): Promise<FileHandle | Failure> {
  const flags = constants.O_RDONLY | constants.O_NOCTTY;
  if (isFifo) return open(path, flags | constants.O_NONBLOCK);
  if (baud === null) return open(path, flags);
  // With O_NONBLOCK a serial line opens without a carrier. Set its mode, which holds for other handles of the line too,
  // then open it again for reading. The first handle keeps DTR up until then.
  const line = await open(path, flags | constants.O_NONBLOCK);
  try {
    const words = rawMode(line, baud);
    return words === undefined ? await open(path, flags) : { step: 'line', words };
  } finally {
    await line.close();
  }
}

/** Sets a serial line to eight raw bits. Returns what stty objects to; undefined if it succeeds. */
function rawMode(line: FileHandle, baud: number): string | undefined {
  const mode = ['raw', '-echo', 'cs8', '-parenb', '-cstopb', '-crtscts', 'clocal', 'cread', String(baud)];
  const { status, stderr, error } = spawnSync('stty', mode, {
    stdio: [line.fd, 'ignore', 'pipe'],
    encoding: 'utf8',
    env: { LC_ALL: 'C' },
  });
  if (error !== undefined) return error.message;
  return status === 0 ? undefined : stderr.trim();
}

async function findFault(device: FileHandle, order: Order): Promise<Failure | undefined> {
  if (identityOf(await device.stat({ bigint: true })) !== order.identity) return { step: 'changed' };
  // In its default mode a serial line drops and changes bytes: 3 is an interrupt, 13 becomes 10.
  if (order.baud === null && isatty(device.fd)) return { step: 'mode' };
  return undefined;
}

/** Reads `count` bytes and passes each piece on. Resolves to the failure if it ends early. */
async function readBytes(
  device: FileHandle,
  { isFifo, count }: { readonly isFifo: boolean; readonly count: number },
  take: (piece: Uint8Array) => void,
): Promise<Failure | undefined> {
  const piece = new Uint8Array(Math.min(PIECE_BYTES, count));
  let left = count;
  while (left > 0) {
    const size = await readSome(device, piece.subarray(0, Math.min(piece.length, left)));
    if (size === 0 && !isFifo) return { step: 'ended' };
    if (size > 0) {
      take(piece.subarray(0, size));
      left -= size;
      continue;
    }
    // A FIFO has no writer while a feeder restarts between blocks.
    if (size === 0) report({ type: 'no-writer' });
    await sleep(FIFO_LOOK_MS);
  }
  return undefined;
}

/** Resolves to how many bytes were read: 0 at the end, -1 if a FIFO has a writer that has written nothing yet. */
async function readSome(device: FileHandle, target: Uint8Array): Promise<number> {
  try {
    return (await device.read(target, 0, target.length)).bytesRead;
  } catch (error) {
    if (codeOf(error) === 'EAGAIN') return -1;
    throw error;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

async function carryOut(order: Order): Promise<Failure | undefined> {
  report({ type: 'opening' });
  const device = await openDevice(order);
  if ('step' in device) return device;
  report({ type: 'opened' });
  const { isFifo, discardBytes } = order;
  return (
    (await findFault(device, order)) ??
    (await readBytes(device, { isFifo, count: discardBytes }, () => report({ type: 'discarded' }))) ??
    (await readBytes(device, { isFifo, count: order.bytes }, (bytes) => report({ type: 'bytes', bytes })))
  );
}

// A normal exit would wait for the blocked read.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
process.once('message', (order: Order) => {
  carryOut(order).then(
    (failure) => failure !== undefined && report({ type: 'failed', failure }),
    (error: unknown) => {
      if (codeOf(error) === '') throw error;
      report({ type: 'failed', failure: { step: 'call', code: codeOf(error), words: String(error) } });
    },
  );
});
