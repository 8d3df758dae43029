import { ContextTree } from './context-tree.ts';
import { type PredictionEstimate, type PredictorRun, predictionEstimate } from './prediction.ts';

/** D: the longest context (SP 800-90B 6.3.9, step 1). */
const ORDERS = 16;
/** Pairs of context and successor that the model of one order may hold (6.3.9, step 4a). */
const PAIRS_MAX = 100_000;

/**
 * Multi Markov model with counting prediction estimate (SP 800-90B 6.3.9). The model of order d predicts the symbol that
 * followed the last d symbols most often, the largest among equals; the order that has been right most often so far makes
 * the prediction. Null with fewer than four symbols.
 *
 * A context that its model has not seen makes no prediction. As in NIST's tool that neither lengthens nor ends a run
 * of correct ones. And no longer context can have been seen then: whatever enters the model of one order enters all longer
 * ones, or they are full.
 */
export function multiMmc(symbols: Uint8Array, alphabetSize: number): PredictionEstimate | null {
  if (symbols.length < 4) return null;
  const run = alphabetSize === 2 ? predictBits(symbols) : predictSymbols(symbols);
  return predictionEstimate(run, alphabetSize);
}

/** Bits: a context of d bits is the number 1 followed by those bits, and its two counts stand side by side. */
function predictBits(bits: Uint8Array): PredictorRun {
  const counts = new Int32Array(4 << ORDERS);
  const pairs = new Int32Array(ORDERS + 1);
  const scores = new Int32Array(ORDERS + 1);
  let winner = 1;
  let correct = 0;
  let runLength = 0;
  let longestRun = 0;
  let history = bits[0];
  for (let i = 1; i < bits.length; i++) {
    const bit = bits[i];
    const champion = winner;
    const longest = Math.min(i, ORDERS);
    let isSeen = true;
    for (let d = 1; d <= longest; d++) {
      const context = ((1 << d) | (history & ((1 << d) - 1))) << 1;
      const zeros = counts[context];
      const ones = counts[context + 1];
      isSeen = isSeen && (zeros | ones) !== 0;
      if (isSeen && d < i) {
        if ((zeros > ones ? 0 : 1) === bit) {
          if (++scores[d] >= scores[winner]) winner = d;
          if (d === champion) {
            correct++;
            if (++runLength > longestRun) longestRun = runLength;
          }
        } else if (d === champion) runLength = 0;
      }
      if (counts[context + bit] === 0) {
        if (pairs[d] === PAIRS_MAX) continue;
        pairs[d]++;
      }
      counts[context + bit]++;
    }
    history = (history << 1) | bit;
  }
  return { predictions: bits.length - 2, correct, longestRun };
}

function predictSymbols(symbols: Uint8Array): PredictorRun {
  const tree = new ContextTree();
  const pairs = new Int32Array(ORDERS + 1);
  const scores = new Int32Array(ORDERS + 1);
  let winner = 1;
  let correct = 0;
  let runLength = 0;
  let longestRun = 0;
  for (let i = 1; i < symbols.length; i++) {
    const symbol = symbols[i];
    const champion = winner;
    const longest = Math.min(i, ORDERS);
    let context: number = ContextTree.ROOT;
    for (let d = 1; d <= longest; d++) {
      const shorter = context;
      context = tree.child(shorter, symbols[i - d]);
      if (context === ContextTree.NONE) {
        // Not seen, and so no longer one either. A full model has only full ones after it.
        if (pairs[d] === PAIRS_MAX) break;
        context = tree.addChild(shorter, symbols[i - d]);
      } else if (d < i) {
        if (tree.bestSymbol(context) === symbol) {
          if (++scores[d] >= scores[winner]) winner = d;
          if (d === champion) {
            correct++;
            if (++runLength > longestRun) longestRun = runLength;
          }
        } else if (d === champion) runLength = 0;
      }
      if (pairs[d] === PAIRS_MAX) {
        if (tree.hasSuccessor(context, symbol)) tree.countSuccessor(context, symbol);
      } else if (tree.countSuccessor(context, symbol) === 1) pairs[d]++;
    }
  }
  return { predictions: symbols.length - 2, correct, longestRun };
}
