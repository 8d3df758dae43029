import type { RawRead, StreamBackend } from '../../../src/backend/backend.ts';
import { assessLot, assessorInPlace } from '../../../src/pool/intake/assess-lot.ts';
import type { Assessor } from '../../../src/pool/intake/assessor.ts';
import { HealthMonitor } from '../../../src/pool/intake/health.ts';
import { type Lot, makeLot } from '../../../src/pool/intake/lots.ts';
import { ShortLots } from '../../../src/pool/intake/short-lots.ts';
import { ScriptedAssessor } from '../../pool/fixtures.ts';
import { fixedBytes, rawRead, soundBackend } from '../../support/backends.ts';
import { uniforms } from '../../support/chance.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import {
  driftingChannel,
  filled,
  goodFirstMegabit,
  lateCopies,
  type Model,
  markov,
  modelBackend,
  noisyPeriod,
} from './models.ts';

/** Sources whose numbers are worse than they claim; what the first release credited them with. */
export const MODELS: readonly { readonly model: Model; readonly before: string }[] = [
  { model: goodFirstMegabit, before: 'accepted at 0.8, where the rest had 0.074' },
  { model: driftingChannel, before: 'not measured' },
  { model: lateCopies, before: 'not measured' },
  { model: noisyPeriod(65_537, 0.25), before: 'accepted at 0.79' },
  { model: markov(0.25), before: 'not measured' },
  { model: markov(0.75), before: '0.649 credited of 0.415' },
];

/** A short lot of 250,000 bits whose channel repeats its last bit with 0.35, behind good ones that fill a million. */
export const POOR_AMONG_SHORT = { lots: 7, poorFrom: 5, truth: 0.621 } as const;

/** The credited figure of each short lot, null where it was refused: good ones first, poor ones from `poorFrom` on. */
export async function shortLotCredits(): Promise<(number | null)[]> {
  const shortLots = new ShortLots();
  const poor = markov(0.35, 1);
  const rule = poor.rule(uniforms('poor among short'));
  const credits: (number | null)[] = [];
  for (let lot = 0; lot < POOR_AMONG_SHORT.lots; lot++) {
    const bits = 250_000;
    const good = soundRead(`good short ${lot}`, bits, 1);
    const read =
      lot < POOR_AMONG_SHORT.poorFrom ? good : { ...good, bits: filled(rule, bits, 1, lot * bits) };
    const { record, output } = await lotOf(read, shortLots);
    // The conditioner takes 320 assessed bits for 32 bytes.
    credits.push(record.accepted ? ((output.length / 32) * 320) / bits : null);
  }
  return credits;
}

/** Fair coins; `bits` is a multiple of 8 and of `width`. */
export function soundRead(label: string, bits: number, width: number): RawRead {
  const raw = new Uint8Array(bits / 8);
  fixedBytes(label)(raw);
  return rawRead(raw, width, bits / width);
}

/** The whole chain from a read to a lot, with the tests in place, for a source that may make every claim. */
export async function lotOf(read: RawRead, shortLots = new ShortLots()): Promise<Lot> {
  const backend: StreamBackend = { ...soundBackend(), origin: 'quantum-processor' };
  const { width } = read;
  const health = new HealthMonitor({ width, minEntropyPerBit: backend.claimedMinEntropyPerBit }).check(read);
  return makeLot(backend, read, health, assessorInPlace, new ManualClock(), shortLots);
}

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
