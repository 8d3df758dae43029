import type { RawRead, StreamBackend } from '../../../src/backend/backend.ts';
import { assessLot, assessorInPlace } from '../../../src/pool/intake/assess-lot.ts';
import type { Assessor } from '../../../src/pool/intake/assessor.ts';
import { HealthMonitor } from '../../../src/pool/intake/health.ts';
import { type Lot, makeLot } from '../../../src/pool/intake/lots.ts';
import { ShortLots } from '../../../src/pool/intake/short-lots.ts';
import { ScriptedAssessor } from '../../pool/fixtures.ts';
import { fixedBytes, rawRead, soundBackend } from '../../support/backends.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { type Model, modelBackend } from './models.ts';

/** Returns fair coins; `bits` is a multiple of 8 and of `width`. */
export function soundRead(label: string, bits: number, width: number): RawRead {
  const raw = new Uint8Array(bits / 8);
  fixedBytes(label)(raw);
  return rawRead(raw, width, bits / width);
}

/** Runs the whole chain from a read to a lot, with the tests replaced, for a source that may make every claim. */
export async function lotOf(read: RawRead): Promise<Lot> {
  const backend: StreamBackend = { ...soundBackend(), origin: 'quantum-processor' };
  const { width } = read;
  const health = new HealthMonitor({ width, minEntropyPerBit: backend.claimedMinEntropyPerBit }).check(read);
  return makeLot(backend, read, health, assessorInPlace, new ManualClock(), new ShortLots());
}

/** An assessor whose SP 800-22 accepts everything, as it does conditioned bits, and whose SP 800-90B is real. */
function assessor(): Assessor {
  return Object.assign(new ScriptedAssessor(), {
    assessLot: async (bits: Uint8Array, width: number, shots: number) => assessLot(bits, width, shots),
  });
}

/** Makes the first lot of a source that claims full entropy, if the health tests accept it. */
export async function firstLot(model: Model, bits: number) {
  const backend = modelBackend(model);
  const read = await backend.read(bits, new AbortController().signal);
  const health = new HealthMonitor({ width: model.width, minEntropyPerBit: 1 }).check(read);
  const { record, blocks } = await makeLot(backend, read, health, assessor(), new ManualClock());
  return { health, record, blocks };
}
