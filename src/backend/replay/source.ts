import { declaredTextOrNull, lotBitsOption, minEntropyOption } from '../declared.ts';
import { anyText, oneOf, wholeNumber } from '../options.ts';
import { type OptionValues, sourceKind } from '../source-kind.ts';
import { Replay } from './replay.ts';

const options = {
  path: { meaning: 'the file of recorded bits', parse: anyText },
  format: {
    meaning: 'packed: eight bits to a byte, most significant first; ascii: the characters 0 and 1',
    fallback: 'packed',
    parse: oneOf('packed', 'ascii'),
  },
  width: {
    meaning: 'channels of one shot, where the file holds shots of several qubits one after the other',
    fallback: '1',
    parse: wholeNumber(1, 1024),
  },
  min_entropy: minEntropyOption,
  recorded_from: {
    meaning: 'what the bits were recorded from, in your words',
    fallback: '',
    parse: declaredTextOrNull,
  },
  lot_bits: lotBitsOption,
} as const;

export type ReplayOptions = OptionValues<typeof options>;

/** A file of recorded bits. Its origin is `replay`, whatever it was recorded from. */
export const replaySource = sourceKind({
  type: 'replay',
  summary: 'a file of recorded bits, each of them used once',
  options,
  create: (name, values, parts) => new Replay(name, values, parts),
});
