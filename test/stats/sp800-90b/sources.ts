/**
 * Symbol sources of many kinds for property tests: independent, biased, periodic, sticky, replayed; all
 * from a seed.
 */
import fc from 'fast-check';
import { uniforms } from '../../support/chance.ts';

interface Source {
  readonly length: number;
  readonly alphabetSize: number;
  readonly seed: number;
  readonly kind: 'independent' | 'biased' | 'periodic' | 'sticky' | 'replayed' | 'rising';
  /** Probability that a symbol is replaced by an independent one. */
  readonly noise: number;
  readonly period: number;
}

function symbolsOf({ length, alphabetSize, seed, kind, noise, period }: Source): Uint8Array {
  const uniform = uniforms(seed);
  const any = (): number => Math.floor(uniform() * alphabetSize);
  const symbols = new Uint8Array(length);
  for (let i = 0; i < length; i++) {
    const regular: Record<Source['kind'], () => number> = {
      independent: any,
      biased: () => Math.floor(uniform() ** 4 * alphabetSize),
      periodic: () => (i < period ? any() : symbols[i - period]),
      sticky: () => (i === 0 ? any() : symbols[i - 1]),
      replayed: () => (i < length / 2 ? any() : symbols[i - Math.ceil(length / 2)]),
      rising: () => i % alphabetSize,
    };
    symbols[i] = uniform() < noise ? any() : regular[kind]();
  }
  return symbols;
}

/** Symbols with the size of their alphabet, `alphabetSizes` to choose from. */
export function sources(
  lengths: { readonly min: number; readonly max: number },
  alphabetSizes: readonly number[],
): fc.Arbitrary<{ symbols: Uint8Array; alphabetSize: number }> {
  return fc
    .record<Source>({
      length: fc.integer(lengths),
      alphabetSize: fc.constantFrom(...alphabetSizes),
      seed: fc.integer({ min: 0, max: 2 ** 31 }),
      kind: fc.constantFrom('independent', 'biased', 'periodic', 'sticky', 'replayed', 'rising'),
      noise: fc.constantFrom(0, 0, 0.01, 0.2),
      period: fc.integer({ min: 1, max: 150 }),
    })
    .map((source) => ({ symbols: symbolsOf(source), alphabetSize: source.alphabetSize }));
}
