import { systemClock } from '../core/clock.ts';
import { fillRing } from '../pool/supply/keystream.ts';
import { makeValues } from './make.ts';
import type { ExpandTask, MadeByWorker } from './protocol.ts';
import { transferring } from './transfer.ts';

/** Worker entry: ChaCha20 expansion. Fills keystream rings and makes large answers. */
export default function expand(task: ExpandTask): number | MadeByWorker {
  if (task.task === 'fill-ring') return fillRing(task.order);
  const startedMs = systemClock.monotonicMs();
  const made = makeValues(task.order);
  const busyMs = systemClock.monotonicMs() - startedMs;
  const buffers = [made.buffer, made.octets, made.packed].flatMap((bytes) => (bytes ? [bytes.buffer] : []));
  return transferring({ ...made, busyMs }, buffers);
}
