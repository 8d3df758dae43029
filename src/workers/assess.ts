import { setPriority } from 'node:os';
import { wipe } from '../core/bytes.ts';
import { assessorInPlace } from '../pool/intake/assess-lot.ts';
import type { AssessTask } from './protocol.ts';

// Behind every thread that serves requests. On Linux this is the priority of the thread, elsewhere of the
// process.
if (process.platform === 'linux') setPriority(0, 10);

/** Worker entry: statistical assessment of lots, one task at a time, at low priority. The raw bits are erased. */
export default async function assess({ method, args, bits }: AssessTask): Promise<unknown> {
  const call: (...args: never[]) => Promise<unknown> = assessorInPlace[method];
  try {
    return await call(...(args as never[]));
  } finally {
    wipe(bits);
  }
}
