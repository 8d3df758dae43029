import { ContextTree } from './context-tree.ts';
import { predictBits } from './kernels.ts';
import { type Hits, predictionEstimate } from './prediction.ts';

/*
 * The predictors of SP 800-90B 6.3.7 to 6.3.10. Kernels run them on bits. On wider alphabets the functions below run
 * them: there, few sub-predictors are right each time, and only those are visited. Symbols are one per byte, each below
 * `alphabetSize`. All functions return null for fewer symbols than the predictor needs.
 */

/** Window lengths of MultiMCW (6.3.7). */
const WINDOWS = [63, 255, 1023, 4095] as const;

/**
 * Multi most common in window prediction estimate (6.3.7). Each window predicts its most common symbol, among equals the
 * most recent one. The window that has been right most often so far makes the prediction. Needs
 * 4,096 symbols.
 */
export function multiMcw(symbols: Uint8Array, alphabetSize: number) {
  if (symbols.length <= WINDOWS[3]) return null;
  const run =
    alphabetSize === 2 ? predictBits('multiMcw', symbols) : multiMcwOfSymbols(symbols, alphabetSize);
  return predictionEstimate({ ...run, predictions: symbols.length - WINDOWS[0] }, alphabetSize);
}

/** D of the lag predictor: count of lags tried (6.3.8). */
const LAGS = 128;

/**
 * Lag prediction estimate (6.3.8). Lag d predicts the symbol d places back; the lag that has been right most
 * often so far makes the prediction. Needs three symbols.
 */
export function lag(symbols: Uint8Array, alphabetSize: number) {
  if (symbols.length < 3) return null;
  const run = alphabetSize === 2 ? predictBits('lag', symbols) : lagOfSymbols(symbols, alphabetSize);
  return predictionEstimate({ ...run, predictions: symbols.length - 1 }, alphabetSize);
}

/** The longest context of MultiMMC (D, 6.3.9) and of LZ78Y (B, 6.3.10). */
const ORDERS = 16;
/** Pairs of context and successor that the model of one order may hold (6.3.9). */
const PAIRS_MAX = 100_000;

/**
 * Multi Markov model with counting prediction estimate (6.3.9). The model of order d predicts the symbol that
 * followed the last d symbols most often, among equals the largest. The order that has been right most often
 * so far makes the prediction. Needs four symbols.
 *
 * A model that has not seen the context makes no prediction. As in NIST's tool, that neither lengthens nor
 * ends a run of correct predictions. No longer context can have been seen then: whatever enters the model of one
 * order also enters those of all higher orders, unless they are full.
 */
export function multiMmc(symbols: Uint8Array, alphabetSize: number) {
  if (symbols.length < 4) return null;
  const run = alphabetSize === 2 ? predictBits('multiMmc', symbols) : multiMmcOfSymbols(symbols);
  return predictionEstimate({ ...run, predictions: symbols.length - 2 }, alphabetSize);
}

/** Contexts, of all lengths together, that the dictionary of LZ78Y may hold (6.3.10). */
const CONTEXTS_MAX = 65_536;

/**
 * LZ78Y prediction estimate (6.3.10). Every context that ends here and is in the dictionary has a most frequent
 * successor. The one with the largest count is the prediction, among equals that of the longest context. Needs 19
 * symbols.
 */
export function lz78y(symbols: Uint8Array, alphabetSize: number) {
  if (symbols.length < ORDERS + 3) return null;
  const run = alphabetSize === 2 ? predictBits('lz78y', symbols) : lz78yOfSymbols(symbols);
  return predictionEstimate({ ...run, predictions: symbols.length - ORDERS - 1 }, alphabetSize);
}

function multiMcwOfSymbols(symbols: Uint8Array, alphabetSize: number): Hits {
  const windows = WINDOWS.map((length) => new SymbolWindow(symbols, length, alphabetSize));
  const scores = new Int32Array(WINDOWS.length);
  let winner = 0;
  let correct = 0;
  let runLength = 0;
  let longestRun = 0;
  for (let i = WINDOWS[0]; i < symbols.length; i++) {
    const symbol = symbols[i];
    if (windows[winner].mostCommon === symbol) {
      correct++;
      if (++runLength > longestRun) longestRun = runLength;
    } else runLength = 0;
    for (let j = 0; j < WINDOWS.length && i >= WINDOWS[j]; j++) {
      if (windows[j].mostCommon === symbol && ++scores[j] >= scores[winner]) winner = j;
      windows[j].advance(i);
    }
  }
  return { correct, longestRun };
}

/** The last `length` symbols, and which of them is most common. */
class SymbolWindow {
  readonly symbols: Uint8Array;
  readonly length: number;
  readonly counts: Int32Array;
  /** Last place of each symbol. */
  readonly lastPlaces: Int32Array;
  /** The most common symbol; among equals the one that occurred last. */
  mostCommon = 0;

  constructor(symbols: Uint8Array, length: number, alphabetSize: number) {
    this.symbols = symbols;
    this.length = length;
    this.counts = new Int32Array(alphabetSize);
    this.lastPlaces = new Int32Array(alphabetSize);
    for (let i = 0; i < length; i++) this.#append(i);
  }

  /** Adds the symbol at `place` and removes the oldest one. */
  advance(place: number): void {
    const oldest = this.symbols[place - this.length];
    const losesMostCommon = oldest === this.mostCommon;
    this.counts[oldest]--;
    this.#append(place);
    if (losesMostCommon) this.#search();
  }

  #append(place: number): void {
    const symbol = this.symbols[place];
    this.lastPlaces[symbol] = place;
    if (++this.counts[symbol] >= this.counts[this.mostCommon]) this.mostCommon = symbol;
  }

  #search(): void {
    const { counts, lastPlaces } = this;
    for (let symbol = 0; symbol < counts.length; symbol++) {
      const lead = counts[symbol] - counts[this.mostCommon];
      if (lead > 0 || (lead === 0 && lastPlaces[symbol] > lastPlaces[this.mostCommon]))
        this.mostCommon = symbol;
    }
  }
}

/** Follows a chain of equal symbols, which visits just the lags that predict correctly. */
function lagOfSymbols(symbols: Uint8Array, alphabetSize: number): Hits {
  const scores = new Int32Array(LAGS + 1);
  const lastPlaces = new Int32Array(alphabetSize).fill(-1);
  /** For each of the last 128 places, the place before it that holds the same symbol. */
  const previous = new Int32Array(LAGS);
  lastPlaces[symbols[0]] = 0;
  previous[0] = -1;
  let winner = 1;
  let correct = 0;
  let runLength = 0;
  let longestRun = 0;
  for (let i = 1; i < symbols.length; i++) {
    const symbol = symbols[i];
    if (symbols[i - winner] === symbol) {
      correct++;
      if (++runLength > longestRun) longestRun = runLength;
    } else runLength = 0;
    const oldest = Math.max(0, i - LAGS);
    for (let place = lastPlaces[symbol]; place >= oldest; place = previous[place % LAGS]) {
      const d = i - place;
      if (++scores[d] >= scores[winner]) winner = d;
    }
    previous[i % LAGS] = lastPlaces[symbol];
    lastPlaces[symbol] = i;
  }
  return { correct, longestRun };
}

function multiMmcOfSymbols(symbols: Uint8Array): Hits {
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
        // An unseen context has no seen longer one. If this model is full, so are those of all higher orders.
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
  return { correct, longestRun };
}

function lz78yOfSymbols(symbols: Uint8Array): Hits {
  const tree = new ContextTree();
  const path = new Int32Array(ORDERS + 1);
  path[0] = ContextTree.ROOT;
  let contexts = 0;
  let correct = 0;
  let runLength = 0;
  let longestRun = 0;
  for (let i = ORDERS; i < symbols.length; i++) {
    const symbol = symbols[i];
    // While the dictionary has room, the tree gets the whole path. When the room runs out on the way, only the longer
    // contexts enter the dictionary; the shorter ones stay in the tree with no successor counted.
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
  return { correct, longestRun };
}
