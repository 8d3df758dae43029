import type { ChshWitness, RawRead, XBasisWitness } from '../../../src/backend/backend.ts';
import { CHSH_SETTINGS } from '../../../src/backend/circuit.ts';
import { rawRead } from '../../support/backends.ts';
import { filled } from './models.ts';

/** Devices that answer Bell tests and X-basis tests, honest ones and others. Nothing here is taken from the code that judges them. */

export const QUANTUM_WINS = (2 + Math.SQRT2) / 4;

/** Whether a run of a pair wins: the answers of the device to one drawn setting, the same for a whole cluster. */
export type Device = (cluster: number, setting: number, run: number) => boolean;

interface Experiment {
  readonly clusters: number;
  readonly shotsOrdered: number;
  /** Runs that the device reports of a cluster; all of them when left out. */
  readonly kept?: (wins: boolean[]) => boolean[];
}

/**
 * A Bell test of one pair: the settings are drawn here, after the device's program was fixed. `coin` gives the bit of the first side, which
 * the device may share with whoever programmed it: always 0 where nobody looks at single bits.
 */
export function bellRead(
  device: Device,
  { clusters, shotsOrdered, kept = (wins) => wins }: Experiment,
  random: () => number,
  coin: () => number = () => 0,
): RawRead {
  const settings: number[] = [];
  const wins: boolean[] = [];
  const clusterShots = new Uint32Array(clusters);
  for (let cluster = 0; cluster < clusters; cluster++) {
    const setting = Math.floor(4 * random());
    const runs = kept(Array.from({ length: shotsOrdered }, (_, run) => device(cluster, setting, run)));
    clusterShots[cluster] = runs.length;
    for (const won of runs) {
      settings.push(setting);
      wins.push(won);
    }
  }
  // Sides are equal where that wins: in all settings but the last.
  let first = 0;
  const bits = filled(
    (shot, side) => {
      if (side === 0) first = coin();
      return side === 1 && wins[shot] !== (settings[shot] !== 3) ? 1 - first : first;
    },
    wins.length,
    2,
  );
  const witness: ChshWitness = {
    kind: 'chsh',
    settings: Uint8Array.from(settings),
    clusterShots,
    shotsOrdered,
    drawn: '',
  };
  return { ...rawRead(bits, 2, wins.length), witness };
}

/** A deterministic local strategy answers a(x) and b(y); the best win three settings of four. */
function localStrategy(answers: number): (setting: number) => boolean {
  return (setting) => {
    const [x, y] = CHSH_SETTINGS[setting];
    const a = (answers >> x) & 1;
    const b = (answers >> (2 + y)) & 1;
    return (a === b) === (setting !== 3);
  };
}

/** A strategy of its own for each cluster, of the eight that win three of four settings: fixed before the settings are drawn. */
export function fixedStrategies(clusters: number, random: () => number): Device {
  const program = Array.from({ length: clusters }, () => {
    for (;;) {
      const strategy = localStrategy(Math.floor(16 * random()));
      if ([0, 1, 2, 3].filter(strategy).length === 3) return strategy;
    }
  });
  return (cluster, setting) => program[cluster](setting);
}

/** A local device that loses in the setting that came least often so far. */
export function remembering(): Device {
  const seen = [0, 0, 0, 0];
  return (_, setting, run) => {
    if (run === 0) seen[setting]++;
    return setting !== seen.indexOf(Math.min(...seen));
  };
}

export function quantum(random: () => number, wins = QUANTUM_WINS): Device {
  return () => random() < wins;
}

export interface XTest {
  readonly clusters: number;
  readonly tested: number;
  readonly shotsOrdered: number;
  readonly width: number;
}

/**
 * An X-basis test whose tested clusters are drawn here. The adversary knows the Z outcome where `isKnown`, which makes the X
 * outcome of that bit a fair coin; elsewhere the state is |+> and X errs with `error`.
 */
export function xRead(
  isKnown: (cluster: number, shot: number, channel: number) => boolean,
  { clusters, tested, shotsOrdered, width }: XTest,
  random: () => number,
  error = 0,
  fill: (raw: Uint8Array<ArrayBuffer>) => void = () => {},
): { read: RawRead; knownShare: number } {
  const order = Array.from({ length: clusters }, (_, cluster) => cluster);
  for (let at = 0; at < tested; at++) {
    const other = at + Math.floor((clusters - at) * random());
    [order[at], order[other]] = [order[other], order[at]];
  }
  const bits = filled(
    (shot, channel) => {
      const known = isKnown(order[Math.floor(shot / shotsOrdered)], shot % shotsOrdered, channel);
      return random() < (known ? 0.5 : error) ? 1 : 0;
    },
    tested * shotsOrdered,
    width,
  );
  const raw = order.slice(tested).sort((a, b) => a - b);
  let known = 0;
  for (const cluster of raw) {
    for (let shot = 0; shot < shotsOrdered; shot++) {
      for (let channel = 0; channel < width; channel++) known += isKnown(cluster, shot, channel) ? 1 : 0;
    }
  }
  const shots = raw.length * shotsOrdered;
  const witness: XBasisWitness = {
    kind: 'x-basis',
    bits,
    shots: tested * shotsOrdered,
    testedClusters: tested,
    rawClusters: raw.length,
    shotsOrdered,
    drawn: '',
  };
  const rawBits = new Uint8Array(Math.ceil((shots * width) / 8));
  fill(rawBits);
  const read = { ...rawRead(rawBits, width, shots), witness };
  return { read, knownShare: known / (shots * width) };
}
