import { createHash } from 'node:crypto';
import { unpackBits } from '../stats/sp800-90b/alphabet.ts';
import { assessNonIid } from '../stats/sp800-90b/assess.ts';
import { additionalIidTests, type IidTests } from '../stats/sp800-90b/iid.ts';
import { assessRestarts, type RestartAssessment } from '../stats/sp800-90b/restart.ts';
import { sequencesOf } from './bit-file.ts';
import { CommandError, type Report } from './command.ts';

/** The number of symbols in the sequential data set, and in the restart matrix (SP 800-90B 3.1.1). */
const SYMBOLS = 1_000_000;

export interface DossierOptions {
  /**
   * Bits of a symbol, 1 to 8, one symbol a byte as NIST's tools read them; undefined for bits packed eight to a byte.
   */
  readonly symbolBits: number | undefined;
  /** The file of 1,000 restarts with 1,000 symbols each, row by row, in the same form. */
  readonly restarts: string | undefined;
  /** H_submitter: the min-entropy that the maker of the source claims, in bits per symbol. */
  readonly claim: number | undefined;
}

/**
 * Runs what SP 800-90B asks of a noise source on the first 1,000,000 symbols of a file: the initial estimate, the tests
 * for IID and the restart tests, under the standard's names. Throws a CommandError for a file that is too short or
 * holds other symbols.
 */
export async function assessDossier(path: string, options: DossierOptions): Promise<Report> {
  const { symbolBits, restarts, claim = null } = options;
  const bitsPerSymbol = symbolBits ?? 1;
  const { symbols, sha256 } = await readSymbols(path, symbolBits);
  const matrix = restarts === undefined ? undefined : await readSymbols(restarts, symbolBits);
  const entropy = assessNonIid(symbols, bitsPerSymbol);
  // H_I of 3.1.3: the least of the estimates and the claim, in bits per symbol
  const hInitial = Math.min(entropy.minEntropyPerSymbol, claim ?? bitsPerSymbol);
  if (matrix !== undefined && hInitial === 0) {
    throw new CommandError(
      `the estimated entropy of ${path} is 0, so the restart tests cannot confirm anything`,
    );
  }
  const isConstant = symbols.every((symbol) => symbol === symbols[0]);
  const data = {
    sp800_90b: {
      estimators: entropy.estimators,
      bitstring_estimators: entropy.bitstringEstimators,
      h_original: entropy.hOriginal,
      h_bitstring: entropy.hBitstring,
      h_submitter: claim,
      h_initial: hInitial,
      min_entropy_per_bit: hInitial / bitsPerSymbol,
      bits_per_symbol: bitsPerSymbol,
      symbols: SYMBOLS,
      sha256,
      // null for a source whose symbols are all the same
      iid_tests: isConstant ? null : describedIid(additionalIidTests(symbols)),
    },
    restarts:
      matrix === undefined
        ? null
        : {
            ...describedRestarts(assessRestarts(matrix.symbols, bitsPerSymbol, hInitial)),
            sha256: matrix.sha256,
          },
  };
  const isRefuted = data.restarts?.validated === false;
  const verdict = isRefuted ? 'FAIL: the restarts refute the estimate, so no entropy may be credited' : '';
  return { data, shown: [{ file: path, ...data }, verdict, MEANING] };
}

const MEANING =
  'Explanation: h_initial is the entropy in bits per symbol that may be claimed; with restarts, only if they validate it.\n' +
  'The IID tests are those of section 5.2. An IID claim also requires the permutation tests of section 5.1, which this tool\n' +
  'does not run. docs/evidence.md explains each figure.';

async function readSymbols(path: string, symbolBits: number | undefined) {
  const isPacked = symbolBits === undefined;
  for await (const { bytes, bitLength } of sequencesOf(path, 'packed', isPacked ? SYMBOLS : 8 * SYMBOLS)) {
    const count = isPacked ? bitLength : bitLength / 8;
    if (count < SYMBOLS) {
      const expected = isPacked ? '125,000 packed bytes' : '1,000,000 bytes, one symbol each';
      throw new CommandError(
        `${path} contains ${count.toLocaleString('en')} symbols, but at least 1,000,000 are required (${expected})`,
      );
    }
    const symbols = isPacked ? unpackBits(bytes, SYMBOLS) : bytes;
    const width = symbolBits ?? 1;
    const wide = symbols.findIndex((symbol) => symbol >>> width !== 0);
    if (wide >= 0) {
      throw new CommandError(
        `${path}: byte ${wide} is ${symbols[wide]}, which is not a symbol of ${width} bits`,
      );
    }
    return { symbols, sha256: createHash('sha256').update(bytes).digest('hex') };
  }
  throw new CommandError(`${path} is empty`);
}

function describedIid({ independence, goodnessOfFit, repeatLength, passed }: IidTests) {
  return {
    independence_p: independence.pValue,
    goodness_of_fit_p: goodnessOfFit.pValue,
    repeat_length: repeatLength.length,
    repeat_length_p: repeatLength.pValue,
    passed,
  };
}

function describedRestarts(restarts: RestartAssessment) {
  return {
    sanity_cutoff: restarts.cutoff,
    largest_count: restarts.maxCount,
    sane: restarts.isSane,
    h_rows: restarts.hRows,
    h_columns: restarts.hColumns,
    validated: restarts.isValid,
    min_entropy_per_symbol: restarts.minEntropy,
  };
}
