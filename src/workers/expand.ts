import { type MadeByWorker, makeValues } from '../answer/make.ts';
import { systemClock } from '../core/clock.ts';
import { expandPieces } from '../pool/supply/keystream.ts';
import { type ExpandTask, transferring } from './protocol.ts';

/** Worker entry: expands pieces of keystreams and makes large answers. */
export default function expand(task: ExpandTask): Uint8Array<ArrayBuffer>[] | MadeByWorker {
  if (task.task === 'expand') {
    const pieces = expandPieces(task.order);
    return transferring(
      pieces,
      pieces.map(({ buffer }) => buffer),
    );
  }
  const startedMs = systemClock.monotonicMs();
  const made = makeValues(task.order);
  const busyMs = systemClock.monotonicMs() - startedMs;
  const buffers = [made.bytes, ...made.left].map((bytes) => bytes.buffer);
  return transferring({ ...made, busyMs }, buffers);
}
