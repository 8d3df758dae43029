import { ContextTree } from './context-tree.ts';
import { type PredictionEstimate, type PredictorRun, predictionEstimate } from './prediction.ts';

/** B: the longest context (SP 800-90B 6.3.10). */
const ORDERS = 16;
/** Contexts, of all lengths together, that the dictionary may hold (6.3.10). */
const CONTEXTS_MAX = 65_536;

/**
 * LZ78Y prediction estimate (SP 800-90B 6.3.10). Of all contexts that end here and are in the dictionary,
 * the one with the most frequent successor predicts it, the longest among equals. Null with fewer than 19
 * symbols.
 */
export function lz78y(symbols: Uint8Array, alphabetSize: number): PredictionEstimate | null {
  if (symbols.length < ORDERS + 3) return null;
  const run = alphabetSize === 2 ? predictBits(symbols) : predictSymbols(symbols);
  return predictionEstimate(run, alphabetSize);
}

/**
 * Bits: a context of d bits is the number 1 followed by those bits, and its two counts stand side by side.
 *
 * Every time a longer context counts y, so does its last bit s alone. Once some occurrence of y after s had
 * another bit before s, the contexts through the first one stay behind s for good: their count of y is
 * smaller, and they cannot predict. When all four (s, y) have been met after both bits, contexts of one bit
 * alone decide; on random bits after some dozen.
 *
 * Until then the stream lacks some word of three bits, so at most 42,760 contexts exist (those without 111)
 * but for some 256 that reach into the first 16 bits: the dictionary is never full.
 */
function predictBits(bits: Uint8Array): PredictorRun {
  const counts = new Int32Array(4 << ORDERS);
  /** For s and y, as 2s + y: which bits have come before s, 1 for 0 and 2 for 1. */
  const metAfter = new Uint8Array(4);
  let longest = ORDERS;
  let history = 0;
  for (let i = 0; i < ORDERS; i++) history = (history << 1) | bits[i];
  let correct = 0;
  let runLength = 0;
  let longestRun = 0;
  for (let i = ORDERS; i < bits.length; i++) {
    const bit = bits[i];
    let prediction = -1;
    let mostOften = 0;
    for (let d = longest; d >= 1; d--) {
      const context = ((1 << d) | (history & ((1 << d) - 1))) << 1;
      const zeros = counts[context];
      const ones = counts[context + 1];
      const count = Math.max(zeros, ones);
      if (count > mostOften) {
        mostOften = count;
        prediction = zeros > ones ? 0 : 1;
      }
      counts[context + bit]++;
    }
    if (prediction === bit) {
      correct++;
      if (++runLength > longestRun) longestRun = runLength;
    } else runLength = 0;
    if (longest > 1) {
      metAfter[(2 * history + bit) & 3] |= 1 + ((history >>> 1) & 1);
      if (metAfter.every((before) => before === 3)) longest = 1;
    }
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
    // While the dictionary has room the whole path is laid; at its last step only the longer contexts
    // become members, and the others stay as bare links that have counted nothing.
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
