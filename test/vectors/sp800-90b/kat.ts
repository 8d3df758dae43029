/**
 * sp800-90b.json: what NIST's tool printed for the inputs of inputs.ts (tool, version and build stand in
 * the file).
 */
import { readFileSync } from 'node:fs';

export type Details = Readonly<Record<string, Readonly<Record<string, number>>>>;

interface ChiSquareRecord {
  readonly score: number;
  readonly 'degrees of freedom': number;
  readonly 'p-value': number;
}

export interface KnownAnswer {
  readonly input: string;
  /** False when the input was read from the operating system: then only the predictors' counts are recorded. */
  readonly reproducible: boolean;
  readonly sha256: string;
  readonly distinct_symbols: number;
  readonly bits_per_symbol: number;
  readonly H_original: number;
  readonly H_bitstring: number | null;
  readonly assessed_min_entropy: number;
  readonly detail: { readonly H_original: Details; readonly H_bitstring?: Details };
  readonly iid: {
    readonly chi_square: {
      readonly independence: ChiSquareRecord;
      readonly 'goodness of fit': ChiSquareRecord;
    };
    readonly chi_square_passed: boolean;
    readonly lrs_passed: boolean;
  };
}

const file = new URL('sp800-90b.json', import.meta.url);
export const KNOWN_ANSWERS: readonly KnownAnswer[] = JSON.parse(readFileSync(file, 'utf8')).results;
