/** The estimators run one by one, and their results under the names that NIST's tool prints. */
import assert from 'node:assert/strict';
import {
  collision,
  compression,
  markov,
  mostCommonValue,
} from '../../../src/stats/sp800-90b/closed-forms.ts';
import type { predictionEstimate } from '../../../src/stats/sp800-90b/prediction.ts';
import { lag, lz78y, multiMcw, multiMmc } from '../../../src/stats/sp800-90b/predictors.ts';
import {
  longestRepeatedSubstring,
  repeatedSubstrings,
  tTuple,
} from '../../../src/stats/sp800-90b/repeated-substrings.ts';
import { assertRelative } from '../../support/bit-sequences.ts';
import type { Details } from '../../vectors/sp800-90b/kat.ts';

type Detail = Record<string, number>;

/** Details of the estimators named in `names`, of symbols below `alphabetSize`. */
export function detailsOf(
  symbols: Uint8Array,
  alphabetSize: number,
  names: readonly string[],
): Record<string, Detail> {
  const repeats = repeatedSubstrings(symbols, Math.ceil(Math.log2(alphabetSize)));
  const run: Record<string, () => Detail> = {
    'Most Common Value': () => {
      const it = mostCommonValue(symbols, alphabetSize);
      return { 'Mode count': it.modeCount, 'p-hat': it.pHat, p_u: it.pUpper, 'min entropy': it.minEntropy };
    },
    Collision: () => {
      const it = applicable(collision(symbols));
      return {
        v: it.collisions,
        'Sum t_i': it.samplesUsed,
        'X-bar': it.mean,
        'sigma-hat': it.deviation,
        "X-bar'": it.meanLower,
        p: it.p,
        'min entropy': it.minEntropy,
      };
    },
    Markov: () => {
      const it = markov(symbols);
      const [[p00, p01], [p10, p11]] = it.transition;
      return {
        P_0: it.initial[0],
        P_1: it.initial[1],
        'P_{0,0}': p00,
        'P_{0,1}': p01,
        'P_{1,0}': p10,
        'P_{1,1}': p11,
        'p-hat_max': it.pMax,
        'min entropy': it.minEntropy,
      };
    },
    Compression: () => {
      const it = applicable(compression(symbols));
      return {
        'X-bar': it.mean,
        'sigma-hat': it.deviation,
        "X-bar'": it.meanLower,
        p: it.p,
        'min entropy': it.minEntropy,
      };
    },
    't-Tuple': () => {
      const it = applicable(tTuple(repeats));
      return { t: it.t, 'p-hat_max': it.pMax, p_u: it.pUpper, 'min entropy': it.minEntropy };
    },
    LRS: () => {
      const it = applicable(longestRepeatedSubstring(repeats));
      return { u: it.u, v: it.v, 'p-hat': it.pHat, p_u: it.pUpper, 'min entropy': it.minEntropy };
    },
    'MultiMCW Prediction': () => predictionDetail(multiMcw(symbols, alphabetSize)),
    'Lag Prediction': () => predictionDetail(lag(symbols, alphabetSize)),
    'MultiMMC Prediction': () => predictionDetail(multiMmc(symbols, alphabetSize)),
    'LZ78Y Prediction': () => predictionDetail(lz78y(symbols, alphabetSize)),
  };
  return Object.fromEntries(names.map((name) => [name, run[name]()]));
}

export function predictionDetail(estimate: ReturnType<typeof predictionEstimate> | null): Detail {
  const it = applicable(estimate);
  return {
    C: it.correct,
    r: it.longestRun + 1,
    N: it.predictions,
    P_global: it.pGlobal,
    "P_global'": it.pGlobalUpper,
    ...(it.pLocal === null ? {} : { P_local: it.pLocal }),
    'min entropy': it.minEntropy,
  };
}

function applicable<Estimate>(estimate: Estimate | null): Estimate {
  assert.ok(estimate !== null, 'the estimator applies');
  return estimate;
}

/** The same estimators and quantities; whole numbers equal, others within 1e-9 relative. */
export function assertDetails(actual: Details, expected: Details, label: string): void {
  assert.deepEqual(Object.keys(actual).sort(), Object.keys(expected).sort(), label);
  for (const [name, quantities] of Object.entries(expected)) {
    assert.deepEqual(Object.keys(actual[name]).sort(), Object.keys(quantities).sort(), `${label}, ${name}`);
    for (const [quantity, value] of Object.entries(quantities)) {
      const what = `${label}, ${name}, ${quantity}`;
      if (Number.isInteger(value)) assert.equal(actual[name][quantity], value, what);
      else assertClose(actual[name][quantity], value, what);
    }
  }
}

/** Equal within 1e-9 relative. */
export function assertClose(actual: number, expected: number, label: string): void {
  assertRelative(actual, expected, 1e-9, label);
}
