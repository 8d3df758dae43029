import { type RawRead, type StreamBackend, wholeShots } from '../../../src/backend/backend.ts';
import { rawRead, soundBackend } from '../../support/backends.ts';
import { uniforms } from '../../support/chance.ts';

/** Returns the bit of a channel in a shot; called for every bit once, in the order of the raw noise. */
type Rule = (shot: number, channel: number) => number;

/** A source with false claims: its bits depend on the label alone, and have less entropy than it claims. */
export interface Model {
  readonly name: string;
  readonly width: number;
  /** True min-entropy of a bit in the long run. */
  readonly minEntropyPerBit: number;
  rule(random: () => number): Rule;
}

function filled(rule: Rule, shots: number, width: number, firstShot = 0): Uint8Array<ArrayBuffer> {
  const bits = new Uint8Array(Math.ceil((shots * width) / 8));
  for (let shot = 0, at = 0; shot < shots; shot++) {
    for (let channel = 0; channel < width; channel++, at++) {
      bits[at >>> 3] |= rule(firstShot + shot, channel) << (7 - (at & 7));
    }
  }
  return bits;
}

/** Returns reads of a model, one after the other. */
export function readsOf(
  { width, rule }: Pick<Model, 'width' | 'rule'>,
  label: string,
): (shots: number) => RawRead {
  const next = rule(uniforms(label));
  let shot = 0;
  return (shots) => {
    const bits = filled(next, shots, width, shot);
    shot += shots;
    return rawRead(bits, width, shots, label);
  };
}

export function modelBackend(model: Model): StreamBackend {
  const read = readsOf(model, model.name);
  return {
    ...soundBackend(),
    name: model.name,
    quantumBackend: model.name,
    claimedMinEntropyPerBit: 1,
    read: async (bits) => read(wholeShots(bits, model.width)),
  };
}

const ofLargest = (probability: number) => -Math.log2(probability);
const coin = (random: () => number, ones = 0.5) => (random() < ones ? 1 : 0);
const percent = (share: number) => `${Math.round(share * 100)} %`;

export const sound = (width = 16): Model => ({
  name: `sound of ${width}`,
  width,
  minEntropyPerBit: 1,
  rule: (random) => () => coin(random),
});

/** Channels that always read `value`. */
export const stuck = (channels: readonly number[], value = 0, width = 16): Model => ({
  name: `${channels.length} of ${width} channels stuck at ${value}`,
  width,
  minEntropyPerBit: 1 - channels.length / width,
  rule: (random) => (_shot, channel) => (channels.includes(channel) ? value : coin(random)),
});

/** One channel reads 1 with this probability. */
export const biased = (ones: number, width = 16): Model => ({
  name: `one of ${width} channels 1 at ${percent(ones)}`,
  width,
  minEntropyPerBit: 1 - (1 - ofLargest(Math.max(ones, 1 - ones))) / width,
  rule: (random) => (_shot, channel) => coin(random, channel === 0 ? ones : 0.5),
});

/** Each shot repeats the one `shots` shots before it, or bits if there is one channel. */
export const periodic = (shots: number, width = 1): Model => ({
  name: `period of ${shots} shots of ${width}`,
  width,
  minEntropyPerBit: 0,
  rule: (random) => {
    const pattern = Array.from({ length: shots * width }, () => coin(random));
    return (shot, channel) => pattern[(shot % shots) * width + channel];
  },
});

/** A repeating pattern of which each bit is flipped with this probability. */
export const noisyPeriod = (bits: number, flips: number): Model => ({
  name: `period of ${bits} bits with ${percent(flips)} of noise`,
  width: 1,
  minEntropyPerBit: ofLargest(1 - flips),
  rule: (random) => {
    const pattern = Array.from({ length: bits }, () => coin(random));
    return (shot) => pattern[shot % bits] ^ coin(random, flips);
  },
});

/** A channel repeats the neighbour before it with this probability beyond chance. */
export const neighbours = (copied: number, width = 16): Model => ({
  name: `neighbours copied at ${percent(copied)}, ${width} channels`,
  width,
  minEntropyPerBit: (1 + (width - 1) * ofLargest((1 + copied) / 2)) / width,
  rule: (random) => {
    let before = 0;
    return (_shot, channel) => {
      before = channel > 0 && random() < copied ? before : coin(random);
      return before;
    };
  },
});

/** Each channel keeps its value from the last shot with this probability. */
export const markov = (stay: number, width = 16): Model => ({
  name: `shots that stay at ${percent(stay)}, ${width} channels`,
  width,
  minEntropyPerBit: ofLargest(Math.max(stay, 1 - stay)),
  rule: (random) => {
    const last = Array.from({ length: width }, () => coin(random));
    return (_shot, channel) => (last[channel] ^= random() < stay ? 0 : 1);
  },
});

/** A million good bits, followed by 0101... with 5 % of errors. */
export const goodFirstMegabit: Model = {
  name: 'a good first megabit',
  width: 1,
  minEntropyPerBit: 0.074,
  rule: (random) => (shot) => (shot < 1_000_000 ? coin(random, 0.5) : (shot & 1) ^ coin(random, 0.05)),
};

/** One channel of eight degrades over 2.2 Mbit, from a fair coin to one that is 1 nine times out of ten. */
export const driftingChannel: Model = {
  name: 'a channel that drifts',
  width: 8,
  minEntropyPerBit: 0.94,
  rule: (random) => (shot, channel) =>
    coin(random, channel === 5 ? 0.5 + 0.4 * Math.min(1, shot / 275_000) : 0.5),
};

/** Half of the channels repeat the other half, a shot later. */
export const lateCopies: Model = {
  name: 'channels copied a shot later',
  width: 8,
  minEntropyPerBit: 0.5,
  rule: (random) => {
    let before: number[] = [0, 0, 0, 0];
    let now: number[] = [];
    return (_shot, channel) => {
      if (channel === 0) [before, now] = [now.length === 4 ? now : before, []];
      if (channel >= 4) return before[channel - 4];
      now[channel] = coin(random, 0.5);
      return now[channel];
    };
  },
};
