import { assessLot } from '../../../src/pool/intake/assess-lot.ts';
import type { Assessor } from '../../../src/pool/intake/assessor.ts';
import { HealthMonitor } from '../../../src/pool/intake/health.ts';
import { makeLot } from '../../../src/pool/intake/lots.ts';
import { ScriptedAssessor } from '../../pool/fixtures.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { type Model, modelBackend } from './models.ts';

/** SP 800-22 says yes to everything, as it does to conditioned bits; SP 800-90B is the real one. */
function assessor(): Assessor {
  return Object.assign(new ScriptedAssessor(), {
    assessLot: async (bits: Uint8Array, width: number, shots: number) => assessLot(bits, width, shots),
  });
}

/** The first lot of a source that claims full entropy, when the health tests have nothing against it. */
export async function firstLot(model: Model, bits: number) {
  const backend = modelBackend(model);
  const read = await backend.read(bits, new AbortController().signal);
  const health = new HealthMonitor({ width: model.width, minEntropyPerBit: 1 }).check(read);
  const { record, blocks } = await makeLot(backend, read, health, assessor(), new ManualClock());
  return { health, record, blocks };
}
