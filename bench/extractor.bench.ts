import { toeplitzHash, toeplitzSeed } from '../src/pool/intake/extractor.ts';
import { keystream } from './support/keystream.ts';
import { alternate } from './support/rounds.ts';
import type { Report, Suite } from './support/suite.ts';
import { of, rowsOf } from './support/tables.ts';

/** Raw bits and output bits: lots at a rate of 0.1 to 0.9 bit per bit, a small lot, one of two blocks. */
const SIZES = [
  [1_048_576, 629_248],
  [4_194_304, 419_328],
  [4_194_304, 2_516_480],
  [4_194_304, 3_774_720],
  [8_388_608, 5_032_960],
] as const;

/** The Toeplitz hash of a whole lot, one core. */
export const extractor: Suite = {
  name: 'extractor',
  summary: 'ms of the Toeplitz hash of a whole lot, by output length',
  byDefault: false,
  async run(run): Promise<Report> {
    const raw = keystream(0)(2 ** 20);
    const key = Uint8Array.from({ length: 32 }, (_, i) => i);
    const contenders = SIZES.map(([rawBits, outputBits]) => {
      const seed = toeplitzSeed(key, rawBits, outputBits);
      const measure = async () => {
        const before = process.cpuUsage();
        toeplitzHash(raw, rawBits, seed, outputBits);
        const { user, system } = process.cpuUsage(before);
        return { cpuMs: (user + system) / 1_000 };
      };
      return { name: `${rawBits} raw bits, ${outputBits} output bits`, measure };
    });
    const columns = [of('CPU ms', 'cpuMs', { spread: true })];
    const rows = rowsOf(columns, await alternate(contenders, run.rounds));
    return { tables: [{ title: 'The Toeplitz hash of a whole lot', note: '', columns, rows }] };
  },
};
