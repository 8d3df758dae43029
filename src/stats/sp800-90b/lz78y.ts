import { ContextTree } from './context-tree.ts';
import { type PredictionEstimate, type PredictorRun, predictionEstimate } from './prediction.ts';

/** B: the longest context (SP 800-90B 6.3.10, step 1). */
const ORDERS = 16;
/** Contexts, of all lengths together, that the dictionary may hold (6.3.10, step 2). */
const CONTEXTS_MAX = 65_536;

/**
 * LZ78Y prediction estimate (SP 800-90B 6.3.10). Of all contexts that end here and are in the dictionary, the one with the
 * most frequent successor predicts it, the longest among equals. Null with fewer than 19 symbols.
 */
export function lz78y(symbols: Uint8Array, alphabetSize: number): PredictionEstimate | null {
  if (symbols.length < ORDERS + 3) return null;
  const run = alphabetSize === 2 ? predictBits(symbols) : predictSymbols(symbols);
  return predictionEstimate(run, alphabetSize);
}

/** Bits: a context of d bits is the number 1 followed by those bits, and its two counts stand side by side. */
function predictBits(bits: Uint8Array): PredictorRun {
  const counts = new Int32Array(4 << ORDERS);
  let contexts = 0;
  let history = 0;
  for (let i = 0; i < ORDERS; i++) history = (history << 1) | bits[i];
  let correct = 0;
  let runLength = 0;
  let longestRun = 0;
  for (let i = ORDERS; i < bits.length; i++) {
    const bit = bits[i];
    let prediction = -1;
    let mostOften = 0;
    for (let d = ORDERS; d >= 1; d--) {
      const context = ((1 << d) | (history & ((1 << d) - 1))) << 1;
      const zeros = counts[context];
      const ones = counts[context + 1];
      if ((zeros | ones) === 0) {
        if (contexts === CONTEXTS_MAX) continue;
        contexts++;
      } else if (zeros > ones) {
        if (zeros > mostOften) {
          mostOften = zeros;
          prediction = 0;
        }
      } else if (ones > mostOften) {
        mostOften = ones;
        prediction = 1;
      }
      counts[context + bit]++;
    }
    if (prediction === bit) {
      correct++;
      if (++runLength > longestRun) longestRun = runLength;
    } else runLength = 0;
    history = (history << 1) | bit;
  }
  return { predictions: bits.length - ORDERS - 1, correct, longestRun };
}

function predictSymbols(symbols: Uint8Array): PredictorRun {
  const tree = new ContextTree();
  const path = new Int32Array(ORDERS + 1);
  path[0] = ContextTree.ROOT;
  let contexts = 0;
  let correct = 0;
  let runLength = 0;
  let longestRun = 0;
  for (let i = ORDERS; i < symbols.length; i++) {
    const symbol = symbols[i];
    // While the dictionary has room the whole path is laid; at its last step only the longer contexts become members,
    // and the others stay as bare links that have counted nothing.
    const hasRoom = contexts < CONTEXTS_MAX;
    let deepest = 0;
    while (deepest < ORDERS) {
      const older = symbols[i - deepest - 1];
      let next = tree.child(path[deepest], older);
      if (next === ContextTree.NONE) {
        if (!hasRoom) break;
        next = tree.addChild(path[deepest], older);
      }
      path[++deepest] = next;
    }
    let prediction = -1;
    let mostOften = 0;
    for (let d = deepest; d >= 1; d--) {
      const context = path[d];
      const count = tree.bestCount(context);
      if (count === 0) {
        if (contexts === CONTEXTS_MAX) continue;
        contexts++;
      } else if (count > mostOften) {
        mostOften = count;
        prediction = tree.bestSymbol(context);
      }
      tree.countSuccessor(context, symbol);
    }
    if (prediction === symbol) {
      correct++;
      if (++runLength > longestRun) longestRun = runLength;
    } else runLength = 0;
  }
  return { predictions: symbols.length - ORDERS - 1, correct, longestRun };
}
