import { wipe } from '../core/bytes.ts';
import { assessorInPlace } from '../pool/intake/assess-lot.ts';
import type { AssessTask } from './protocol.ts';

/** Worker entry: assesses lots, one task at a time, at low priority. Erases the raw bits afterwards. */
export default async function assess({ method, args, bits }: AssessTask): Promise<unknown> {
  const call: (...args: never[]) => Promise<unknown> = assessorInPlace[method];
  try {
    return await call(...(args as never[]));
  } finally {
    wipe(bits);
  }
}
