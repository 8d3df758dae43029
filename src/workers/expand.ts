import { fillRing } from '../pool/keystream.ts';
import { makeValues } from './make.ts';
import type { ExpandTask, MadeValues } from './protocol.ts';
import { transferring } from './transfer.ts';

/** Worker entry: ChaCha20 expansion. Fills keystream rings and makes large answers. */
export default function expand(task: ExpandTask): number | MadeValues {
  if (task.task === 'fill-ring') return fillRing(task.order);
  const made = makeValues(task.order);
  const buffers = made.octets === undefined ? [made.buffer.buffer] : [made.buffer.buffer, made.octets.buffer];
  return transferring(made, buffers);
}
