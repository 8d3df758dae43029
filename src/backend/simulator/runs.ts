import { hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { assert } from '../../core/assert.ts';
import { wipe } from '../../core/bytes.ts';
import type { Witness } from '../backend.ts';
import {
  bellChsh,
  CHSH_SETTINGS,
  type ChshSetting,
  type Circuit,
  circuitDepth,
  circuitSha256,
  circuitText,
  type Gate,
  type NamedCircuit,
  superposition,
  xCheck,
} from '../circuit.ts';
import { type ByteSource, RandomWords } from './coins.ts';
import { Measurement } from './measurement.ts';
import type { CheckedNoise } from './noise.ts';

/** What the simulated device does for one read, and what it says of itself. */
export interface Run {
  readonly width: number;
  /** Of the circuit that gives the raw bits. */
  readonly circuit: {
    readonly name: string;
    readonly sha256: string;
    readonly qubits: number;
    readonly depth: number;
  };
  readonly claimedMinEntropyPerBit: number;
  /** An aborted signal rejects with its reason. */
  take(shots: number, signal: AbortSignal): Promise<Shots>;
}

/** What one run gave; `bits` as RawRead packs them. */
export interface Shots {
  readonly bits: Uint8Array<ArrayBuffer>;
  readonly shots: number;
  readonly witness?: Witness;
}

/** Raw bits of one circuit and nothing beside them. */
export function plainRun(named: NamedCircuit, noise: CheckedNoise, source: ByteSource): Run {
  const { circuit } = named;
  const measurement = new Measurement(circuit, noise, source);
  return {
    width: measurement.width,
    circuit: {
      name: named.name,
      sha256: circuitSha256(circuit),
      qubits: circuit.qubits,
      depth: circuitDepth(circuit),
    },
    claimedMinEntropyPerBit: measurement.claimedMinEntropyPerBit,
    take: async (shots, signal) => ({ bits: await measurement.take(shots, signal), shots }),
  };
}

/** What a simulated device can say of its own settings. */
const DRAWN = 'The simulator drew the settings itself, cluster by cluster, and computed the answers.';

/**
 * Raw bits of `superposition`, and beside them `testShare` times as many clusters of `xCheck` on the same
 * qubits. The simulated device has no memory: it makes no difference where among the others a tested cluster
 * stands, so each kind is computed in one go.
 */
export function xCheckRun(
  testShare: number,
  clusterShots: number,
  noise: CheckedNoise,
  source: ByteSource,
): Run {
  const qubits = noise.readout.length;
  const raw = plainRun(superposition(qubits), noise, source);
  const test = new Measurement(xCheck(qubits).circuit, noise, source);
  return {
    ...raw,
    async take(shots, signal) {
      const rawClusters = Math.ceil(shots / clusterShots);
      const { bits } = await raw.take(rawClusters * clusterShots, signal);
      const testedClusters = Math.ceil(rawClusters * testShare);
      const tested = await test.take(testedClusters * clusterShots, signal);
      return {
        bits,
        shots: rawClusters * clusterShots,
        witness: {
          kind: 'x-basis',
          bits: tested,
          shots: testedClusters * clusterShots,
          testedClusters,
          rawClusters,
          shotsOrdered: clusterShots,
          drawn: DRAWN,
        },
      };
    },
  };
}

/**
 * Raw bits that are the outcomes of Bell tests: qubits 2k and 2k + 1 are a pair in the state of `bellChsh`,
 * and each cluster of `clusterShots` shots measures all pairs in one of the four settings, picked at random.
 */
export function bellRun(clusterShots: number, noise: CheckedNoise, source: ByteSource): Run {
  const qubits = noise.readout.length;
  const circuits = CHSH_SETTINGS.map((setting) => bellPairs(qubits, setting));
  const measurements = circuits.map((circuit) => new Measurement(circuit, noise, source));
  const words = new RandomWords(source);
  return {
    width: qubits,
    circuit: {
      name: `bell-chsh-${qubits}`,
      sha256: hash('sha256', circuits.map(circuitText).join(''), 'hex'),
      qubits,
      depth: circuitDepth(circuits[0]),
    },
    claimedMinEntropyPerBit: Math.min(...measurements.map((each) => each.claimedMinEntropyPerBit)),
    async take(asked, signal) {
      const clusters = Math.ceil(asked / clusterShots);
      const shots = clusters * clusterShots;
      const settings = new Uint8Array(shots);
      const shares = CHSH_SETTINGS.map(() => 0);
      await inSlices(shots, 1, (from, to) => {
        for (let shot = from; shot < to; shot++) {
          const isNew = shot % clusterShots === 0;
          settings[shot] = isNew ? words.word() >>> 30 : settings[shot - 1]; // the top two bits: one of four
          shares[settings[shot]]++;
        }
        words.eraseUsed();
      });
      const perSetting: Uint8Array<ArrayBuffer>[] = [];
      for (const [setting, measurement] of measurements.entries()) {
        perSetting.push(await measurement.take(shares[setting], signal));
      }
      const bits = await dealt(perSetting, settings, qubits);
      wipe(...perSetting);
      const witness = {
        kind: 'chsh',
        settings,
        clusterShots: new Uint32Array(clusters).fill(clusterShots),
        shotsOrdered: clusterShots,
        drawn: DRAWN,
      } as const;
      return { bits, shots, witness };
    },
  };
}

/** The circuit of `bellChsh` on each pair of neighbours. */
function bellPairs(qubits: number, setting: ChshSetting): Circuit {
  assert(qubits % 2 === 0, 'Bell tests are of pairs of qubits');
  const { gates } = bellChsh(setting).circuit;
  const measured = Array.from({ length: qubits }, (_, qubit) => qubit);
  const onPair = (first: number) =>
    gates.map((gate): Gate => {
      const qubit = gate.qubits[0] + first;
      if (gate.gate === 'cx') return { ...gate, qubits: [qubit, gate.qubits[1] + first] };
      return { ...gate, qubits: [qubit] };
    });
  return { qubits, measured, gates: measured.filter((qubit) => qubit % 2 === 0).flatMap(onPair) };
}

/** Each shot from the shots of its setting, in order. */
async function dealt(
  perSetting: readonly Uint8Array[],
  settings: Uint8Array,
  width: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const bits = new Uint8Array(Math.ceil((settings.length * width) / 8));
  const next = perSetting.map(() => 0);
  await inSlices(settings.length, width, (from, to) => {
    for (let shot = from; shot < to; shot++) {
      const setting = settings[shot];
      const source = perSetting[setting];
      for (let i = 0, at = shot * width, of = next[setting]; i < width; i++, at++, of++) {
        bits[at >>> 3] |= ((source[of >>> 3] >>> (7 - (of & 7))) & 1) << (7 - (at & 7));
      }
      next[setting] += width;
    }
  });
  return bits;
}

/**
 * Bits dealt between two turns of the event loop: 2 to 5 ms at 6 to 20 ns each (4 Mbit in a loop, Node 22,
 * two shared cores).
 */
const SLICE_BITS = 2 ** 18;

async function inSlices(
  shots: number,
  width: number,
  work: (from: number, to: number) => void,
): Promise<void> {
  const slice = Math.ceil(SLICE_BITS / width);
  for (let from = 0; from < shots; from += slice) {
    if (from > 0) await setImmediate();
    work(from, Math.min(shots, from + slice));
  }
}
