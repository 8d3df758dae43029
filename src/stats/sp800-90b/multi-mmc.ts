import { ContextTree } from './context-tree.ts';
import { type PredictionEstimate, type PredictorRun, predictionEstimate } from './prediction.ts';
import { ROUND_STEPS, Scoreboard } from './scoreboard.ts';

/** D: the longest context (SP 800-90B 6.3.9). */
const ORDERS = 16;
/** Pairs of context and successor that the model of one order may hold (6.3.9). */
const PAIRS_MAX = 100_000;

/**
 * Multi Markov model with counting prediction estimate (SP 800-90B 6.3.9). The model of order d predicts
 * the symbol that followed the last d symbols most often, the largest among equals; the order that has been
 * right most often so far makes the prediction. Null with fewer than four symbols.
 *
 * A context that its model has not seen makes no prediction. As in NIST's tool that neither lengthens nor
 * ends a run of correct ones. And no longer context can have been seen then: whatever enters the model of
 * one order enters all longer ones, or they are full.
 */
export function multiMmc(symbols: Uint8Array, alphabetSize: number): PredictionEstimate | null {
  if (symbols.length < 4) return null;
  const run = alphabetSize === 2 ? predictBits(symbols) : predictSymbols(symbols);
  return predictionEstimate(run, alphabetSize);
}

function predictBits(bits: Uint8Array): PredictorRun {
  const models = Array.from({ length: ORDERS }, (_, index) => new BitModel(bits, index + 1));
  const board = new Scoreboard(ORDERS);
  const hits = new Int32Array(ORDERS);
  const made = new Int32Array(ORDERS);
  for (let from = 0; from < bits.length; from += ROUND_STEPS) {
    const end = Math.min(from + ROUND_STEPS, bits.length);
    for (let j = 0; j < ORDERS; j++) {
      models[j].advance(from, end);
      hits[j] = models[j].hits;
      made[j] = models[j].made;
    }
    board.advance(hits, made, end - from);
  }
  return { predictions: bits.length - 2, correct: board.correct, longestRun: board.longestRun };
}

/** The model of one order on bits: for every context how often 0 and 1 followed it, side by side. */
class BitModel {
  readonly #bits: Uint8Array;
  readonly #order: number;
  readonly #counts: Int32Array;
  #pairs = 0;
  /** Of the last round, by place: the predictions that were right, and those that were made. */
  hits = 0;
  made = 0;

  constructor(bits: Uint8Array, order: number) {
    this.#bits = bits;
    this.#order = order;
    this.#counts = new Int32Array(2 << order);
  }

  /** Predicts and then counts the bits from..end-1, at most 32. */
  advance(from: number, end: number): void {
    const bits = this.#bits;
    const counts = this.#counts;
    const mask = (1 << this.#order) - 1;
    const first = Math.max(from, this.#order);
    let context = 0;
    for (let i = first - this.#order; i < first && i < end; i++) context = (context << 1) | bits[i];
    let hits = 0;
    let made = 0;
    for (let i = first; i < end; i++) {
      const bit = bits[i];
      const zeros = counts[2 * context];
      const ones = counts[2 * context + 1];
      if ((zeros | ones) !== 0) {
        // The sign of ones - zeros is set when 0 is predicted. A branch would go the wrong way on every
        // other random bit.
        made |= 1 << (i - from);
        hits |= (((ones - zeros) >>> 31) ^ bit) << (i - from);
      }
      const pair = 2 * context + bit;
      if (counts[pair] !== 0) counts[pair]++;
      else if (this.#pairs < PAIRS_MAX) {
        counts[pair] = 1;
        this.#pairs++;
      }
      context = ((context << 1) | bit) & mask;
    }
    this.hits = hits;
    this.made = made;
  }
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
