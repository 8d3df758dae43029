import type { RawRead, StreamBackend } from '../../../src/backend/backend.ts';
import type { EvidenceLevel } from '../../../src/ledger/records.ts';
import { assessLot, assessorInPlace } from '../../../src/pool/intake/assess-lot.ts';
import type { Assessor } from '../../../src/pool/intake/assessor.ts';
import { HealthMonitor } from '../../../src/pool/intake/health.ts';
import { type Lot, makeLot } from '../../../src/pool/intake/lots.ts';
import { ShortLots } from '../../../src/pool/intake/short-lots.ts';
import { ScriptedAssessor } from '../../pool/fixtures.ts';
import { fixedBytes, rawRead, soundBackend } from '../../support/backends.ts';
import { uniforms } from '../../support/chance.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { bellRead, fixedStrategies, QUANTUM_WINS, quantum, remembering, xRead } from './devices.ts';
import {
  driftingChannel,
  filled,
  goodFirstMegabit,
  lateCopies,
  type Model,
  markov,
  modelBackend,
} from './models.ts';

/** A read, and how much min-entropy a raw bit of it has against whoever made the device; null where nobody can say. */
export interface Trial {
  readonly read: RawRead;
  readonly truth: number | null;
}

/** A device and the claim that it is after, or, of an honest one, the claim that is its own. */
export interface Contender {
  readonly name: string;
  readonly rung: EvidenceLevel;
  /** What the first release made of it; empty where it was not tried. */
  readonly before: string;
  /** So many times more jobs than of others. */
  readonly jobsFactor?: number;
  /** One job; `trial` counts from 0. */
  readonly job: (random: () => number, trial: number) => Trial;
}

const UNKNOWN = null;
/** What somebody who wrote the program knows of its answers: all. */
const ALL_KNOWN = 0;

/** Coins that the device shares with whoever programmed it: no test of numbers tells them from others. */
function bell(
  device: ReturnType<typeof quantum>,
  test: Parameters<typeof bellRead>[1],
  random: () => number,
): RawRead {
  return bellRead(device, test, random, () => (random() < 0.5 ? 1 : 0));
}

function knownStates(
  isKnown: Parameters<typeof xRead>[0],
  test: Parameters<typeof xRead>[1],
  random: () => number,
  error = 0,
): Trial {
  const fill = fixedBytes(`raw ${random()}`);
  const { read, knownShare } = xRead(isKnown, test, random, error, fill);
  return { read, truth: 1 - knownShare };
}

const MANY_CLUSTERS = { clusters: 16_384, tested: 4096, shotsOrdered: 1 };

export const ATTACKS: readonly Contender[] = [
  {
    name: 'local strategies fixed before the settings, 16 clusters',
    rung: 'bell-witness',
    before: 'the rung in 52 of 120 lots',
    jobsFactor: 100,
    job: (random) => {
      const test = { clusters: 16, shotsOrdered: 300 };
      return { read: bell(fixedStrategies(16, random), test, random), truth: ALL_KNOWN };
    },
  },
  {
    name: 'a local device that remembers all settings, 2,500 clusters',
    rung: 'bell-witness',
    before: '',
    job: (random) => {
      const test = { clusters: 2500, shotsOrdered: 2 };
      return { read: bell(remembering(), test, random), truth: ALL_KNOWN };
    },
  },
  {
    name: 'a local device that leaves out the runs that it lost',
    rung: 'bell-witness',
    before: '',
    job: (random) => {
      const kept = (wins: boolean[]) => wins.filter((won) => won);
      const test = { clusters: 2500, shotsOrdered: 4, kept };
      return { read: bell(fixedStrategies(2500, random), test, random), truth: ALL_KNOWN };
    },
  },
  {
    name: 'selected runs: S from 3 to 4, above every quantum device',
    rung: 'bell-witness',
    before: 'not measured',
    job: (random, trial) => {
      const s = 3 + (trial % 5) / 4;
      return {
        read: bell(quantum(random, 0.5 + s / 8), { clusters: 2500, shotsOrdered: 10 }, random),
        truth: UNKNOWN,
      };
    },
  },
  {
    name: 'clustered tests: known states in one of 16 parts, 2 tested',
    rung: 'source-independent',
    before: 'the rung in 34 of 40 lots',
    job: (random, trial) => {
      const test = { clusters: 16, tested: 2, shotsOrdered: 64, width: 16 };
      return knownStates((cluster) => cluster === trial % 16, test, random);
    },
  },
  {
    name: 'correlated channels: 2 % of shots known on all 128 channels',
    rung: 'source-independent',
    before: '321 bits credited to a piece that held 24.7',
    job: (random) => knownStates((cluster) => cluster % 50 === 0, { ...MANY_CLUSTERS, width: 128 }, random),
  },
  {
    name: 'known states in a sixteenth of the time',
    rung: 'source-independent',
    before: '',
    job: (random, trial) => {
      const from = (trial % 16) * 1024;
      const isKnown = (cluster: number) => cluster >= from && cluster < from + 1024;
      return knownStates(isKnown, { ...MANY_CLUSTERS, width: 16 }, random);
    },
  },
  {
    name: 'known states on one channel of 16',
    rung: 'source-independent',
    before: '',
    job: (random, trial) => {
      const isKnown = (_cluster: number, _shot: number, channel: number) => channel === trial % 16;
      return knownStates(isKnown, { ...MANY_CLUSTERS, width: 16 }, random);
    },
  },
  {
    name: 'a source that drifts: ever more states are known',
    rung: 'source-independent',
    before: '',
    job: (random) => {
      const isKnown = (cluster: number) => (cluster * 7919) % 16_384 < cluster / 5;
      return knownStates(isKnown, { ...MANY_CLUSTERS, width: 16 }, random);
    },
  },
];

export const HONEST: readonly Contender[] = [
  {
    name: 'an ideal pair, 1,400 clusters',
    rung: 'bell-witness',
    before: '',
    job: (random) => ({
      read: bell(quantum(random, QUANTUM_WINS), { clusters: 1400, shotsOrdered: 40 }, random),
      truth: UNKNOWN,
    }),
  },
  {
    name: 'CHSH at S = 2.6, 2,500 clusters',
    rung: 'bell-witness',
    before: '',
    job: (random) => ({
      read: bell(quantum(random, 0.5 + 2.6 / 8), { clusters: 2500, shotsOrdered: 40 }, random),
      truth: UNKNOWN,
    }),
  },
  ...[0, 0.01].map(
    (error): Contender => ({
      name: `a device with ${100 * error} % of X errors, 16,384 clusters of 8 shots`,
      rung: 'source-independent',
      before: '',
      job: (random) =>
        knownStates(() => false, { ...MANY_CLUSTERS, shotsOrdered: 8, width: 16 }, random, error),
    }),
  ),
  ...[0, 0.01].map(
    (error): Contender => ({
      name: `a device with ${100 * error} % of read-out errors, as published`,
      rung: 'calibrated',
      before: '',
      job: (random) => {
        const shots = 65_536;
        // A fair coin that errs as often in both directions is a fair coin.
        const read = soundRead(`calibrated ${random()}`, shots * 16, 16);
        const rates = new Array<number>(16).fill(error);
        const calibration = { readout_e01: rates, readout_e10: rates };
        const provenance = { ...read.provenance, circuit: 'superposition-16', calibration };
        return { read: { ...read, provenance }, truth: 1 - Math.log2(1 + 2 * error) };
      },
    }),
  ),
];

/** Sources whose numbers are worse than they claim; what the first release credited them with. */
export const MODELS: readonly { readonly model: Model; readonly before: string }[] = [
  { model: goodFirstMegabit, before: 'accepted at 0.8, where the rest had 0.074' },
  { model: driftingChannel, before: 'not measured' },
  { model: lateCopies, before: 'not measured' },
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
