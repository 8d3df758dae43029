import { createHash } from 'node:crypto';
import { unpackBits } from '../stats/sp800-90b/alphabet.ts';
import { assessNonIid, ESTIMATORS, type NonIidAssessment } from '../stats/sp800-90b/assess.ts';
import { additionalIidTests, type IidTests } from '../stats/sp800-90b/iid.ts';
import { assessRestarts, type RestartAssessment } from '../stats/sp800-90b/restart.ts';
import { openBitFile } from './bit-file.ts';
import { CommandError, facts, table } from './command.ts';

/** Symbols of the sequential data set and of the restart matrix (SP 800-90B 3.1.1). */
const SYMBOLS = 1_000_000;

/**
 * How symbols lie in a file: bits packed eight to a byte, or one symbol of 1 to 8 bits a byte, as NIST's
 * tools read them.
 */
type SymbolForm = 'packed-bits' | { readonly symbolBits: number };

export interface DossierOptions {
  readonly form: SymbolForm;
  /** A file of 1,000 restarts with 1,000 symbols each, row by row, in the same form. */
  readonly restarts: string | undefined;
  /** H_submitter: what the maker of the source claims, in bits per symbol. */
  readonly claim: number | undefined;
}

/**
 * What SP 800-90B asks of a noise source from outside: the initial estimate, the tests for IID, the restart
 * tests.
 */
export interface EntropyDossier {
  readonly path: string;
  readonly bitsPerSymbol: number;
  /** SHA-256 (hex) of the symbols as they lie in the file. */
  readonly sha256: string;
  readonly entropy: NonIidAssessment;
  readonly claim: number | null;
  /** H_I of 3.1.3: the least of the estimates and the claim, in bits per symbol. */
  readonly hInitial: number;
  /** Null for a source that only ever says one thing. */
  readonly iid: IidTests | null;
  readonly restarts: (RestartAssessment & { readonly path: string; readonly sha256: string }) | null;
}

/**
 * Assesses the first 1,000,000 symbols of a file. Throws a CommandError for a file that is too short or holds
 * other symbols.
 */
export async function assessDossier(path: string, options: DossierOptions): Promise<EntropyDossier> {
  const { form, claim = null } = options;
  const bitsPerSymbol = form === 'packed-bits' ? 1 : form.symbolBits;
  const { symbols, sha256 } = await readSymbols(path, form);
  const matrix = options.restarts === undefined ? undefined : await readSymbols(options.restarts, form);
  const entropy = assessNonIid(symbols, bitsPerSymbol);
  const hInitial = Math.min(entropy.minEntropyPerSymbol, claim ?? bitsPerSymbol);
  const isConstant = symbols.every((symbol) => symbol === symbols[0]);
  if (matrix !== undefined && hInitial === 0) {
    throw new CommandError(`${path} has no entropy: there is nothing that restarts could confirm`);
  }
  return {
    path,
    bitsPerSymbol,
    sha256,
    entropy,
    claim,
    hInitial,
    iid: isConstant ? null : additionalIidTests(symbols),
    restarts:
      matrix === undefined
        ? null
        : {
            ...assessRestarts(matrix.symbols, bitsPerSymbol, hInitial),
            path: options.restarts ?? '',
            sha256: matrix.sha256,
          },
  };
}

async function readSymbols(path: string, form: SymbolForm): Promise<{ symbols: Uint8Array; sha256: string }> {
  const isPacked = form === 'packed-bits';
  const file = await openBitFile(path, 'packed', isPacked ? SYMBOLS : 8 * SYMBOLS);
  try {
    const { bytes, bitLength } = await file.next();
    const count = isPacked ? bitLength : bitLength / 8;
    if (count < SYMBOLS) {
      const expected = isPacked ? '125,000 packed bytes' : '1,000,000 bytes, one symbol each';
      throw new CommandError(
        `${path} holds ${count.toLocaleString('en')} symbols; at least 1,000,000 are needed (${expected})`,
      );
    }
    const symbols = isPacked ? unpackBits(bytes, SYMBOLS) : bytes;
    const width = isPacked ? 1 : form.symbolBits;
    const wide = symbols.findIndex((symbol) => symbol >>> width !== 0);
    if (wide >= 0) {
      throw new CommandError(
        `${path}: byte ${wide} is ${symbols[wide]}, which is not a symbol of ${width} bits`,
      );
    }
    return { symbols, sha256: createHash('sha256').update(bytes).digest('hex') };
  } finally {
    await file.close();
  }
}

/** The dossier as `--json` prints it; the quantities have the standard's names. */
export function describedDossier({ entropy, iid, restarts, ...dossier }: EntropyDossier) {
  return {
    sp800_90b: {
      estimators: entropy.estimators,
      bitstring_estimators: entropy.bitstringEstimators,
      h_original: entropy.hOriginal,
      h_bitstring: entropy.hBitstring,
      h_submitter: dossier.claim,
      h_initial: dossier.hInitial,
      min_entropy_per_bit: dossier.hInitial / dossier.bitsPerSymbol,
      bits_per_symbol: dossier.bitsPerSymbol,
      symbols: SYMBOLS,
      sha256: dossier.sha256,
      iid_tests: iid && {
        independence_p: iid.independence.pValue,
        goodness_of_fit_p: iid.goodnessOfFit.pValue,
        repeat_length: iid.repeatLength.length,
        repeat_length_p: iid.repeatLength.pValue,
        passed: iid.passed,
      },
    },
    restarts: restarts && {
      sanity_cutoff: restarts.cutoff,
      largest_count: restarts.maxCount,
      sane: restarts.isSane,
      h_rows: restarts.hRows,
      h_columns: restarts.hColumns,
      validated: restarts.isValid,
      min_entropy_per_symbol: restarts.minEntropy,
      sha256: restarts.sha256,
    },
  };
}

/** The dossier for a person. */
export function readableDossier({ entropy, iid, restarts, ...dossier }: EntropyDossier): string {
  const { bitsPerSymbol, claim, hInitial } = dossier;
  const figure = (value: number | null | undefined) => value?.toFixed(6) ?? 'does not apply';
  const { estimators, bitstringEstimators } = entropy;
  const rows = ESTIMATORS.map((name) => [
    name,
    figure(estimators[name]),
    ...(bitstringEstimators === null ? [] : [figure(bitstringEstimators[name])]),
  ]);
  const head = ['ESTIMATOR', 'PER SYMBOL', ...(bitstringEstimators === null ? [] : ['PER BIT OF ITS BITS'])];
  const parts = [
    facts({
      file: dossier.path,
      assessed: `1,000,000 symbols of ${bitsPerSymbol} bit${bitsPerSymbol === 1 ? '' : 's'}`,
      sha256: dossier.sha256,
    }),
    `SP 800-90B 6.3, non-IID estimators\n\n${table(head, rows)}`,
    facts({
      H_original: figure(entropy.hOriginal),
      H_bitstring: figure(entropy.hBitstring),
      H_submitter: claim === null ? 'not given' : figure(claim),
      H_I: `${figure(hInitial)} bits per symbol, ${figure(hInitial / bitsPerSymbol)} per bit`,
    }),
    iidText(iid),
  ];
  if (restarts !== null) parts.push(restartsText(restarts));
  return parts.join('\n');
}

function iidText(iid: IidTests | null): string {
  if (iid === null) return 'SP 800-90B 5.2: the source only ever says one thing\n';
  const p = (value: number) => value.toPrecision(4);
  const { independence, goodnessOfFit, repeatLength, passed } = iid;
  return `SP 800-90B 5.2, tests for an IID source\n\n${facts({
    independence: `p ${p(independence.pValue)}`,
    'goodness of fit': `p ${p(goodnessOfFit.pValue)}`,
    'longest repeat': `${repeatLength.length} symbols, p ${p(repeatLength.pValue)}`,
    verdict: passed
      ? 'not refuted; an IID claim needs the permutation tests of 5.1 as well, which this tool does not run'
      : 'not IID',
  })}`;
}

function restartsText(restarts: NonNullable<EntropyDossier['restarts']>): string {
  const { path, sha256, cutoff, maxCount, isSane, hRows, hColumns, isValid, minEntropy } = restarts;
  return `SP 800-90B 3.1.4, restart tests\n\n${facts({
    file: path,
    sha256,
    'sanity test': `${isSane ? 'pass' : 'FAIL'}: the most common symbol of a row or column occurs ${maxCount} times, at most ${cutoff} are allowed`,
    H_r: hRows === null ? 'not computed' : `${hRows.toFixed(6)} bits per symbol, row by row`,
    H_c: hColumns === null ? 'not computed' : `${hColumns.toFixed(6)} bits per symbol, column by column`,
    validation: isValid
      ? `pass: min-entropy ${minEntropy?.toFixed(6)} bits per symbol, the least of H_r, H_c and H_I`
      : 'FAIL: no entropy may be credited',
  })}`;
}
