import { type MadeByWorker, makeValues } from '../answer/make.ts';
import { systemClock } from '../core/clock.ts';
import { fillRing } from '../pool/supply/keystream.ts';
import { type ExpandTask, transferring } from './protocol.ts';

/** Worker entry: ChaCha20 expansion. Fills keystream rings and makes large answers. */
export default function expand(task: ExpandTask): number | MadeByWorker {
  if (task.task === 'fill-ring') return fillRing(task.order);
  const startedMs = systemClock.monotonicMs();
  const made = makeValues(task.order);
  const busyMs = systemClock.monotonicMs() - startedMs;
  const buffers = [made.bytes, ...made.left].map((bytes) => bytes.buffer);
  return transferring({ ...made, busyMs }, buffers);
}
