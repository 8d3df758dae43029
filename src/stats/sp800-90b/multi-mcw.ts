import { type PredictionEstimate, type PredictorRun, predictionEstimate } from './prediction.ts';
import { ROUND_STEPS, Scoreboard } from './scoreboard.ts';

/** Window lengths (SP 800-90B 6.3.7). All odd, so a window of bits never holds a tie. */
const WINDOWS = [63, 255, 1023, 4095] as const;

/**
 * Multi most common in window prediction estimate (SP 800-90B 6.3.7). Each window predicts its most common
 * symbol, the most recent one among equals; the window that has been right most often so far makes the
 * prediction. Null with fewer than 4,096 symbols.
 */
export function multiMcw(symbols: Uint8Array, alphabetSize: number): PredictionEstimate | null {
  if (symbols.length <= WINDOWS[3]) return null;
  const run = alphabetSize === 2 ? predictBits(symbols) : predictSymbols(symbols, alphabetSize);
  return predictionEstimate(run, alphabetSize);
}

function predictBits(bits: Uint8Array): PredictorRun {
  const board = new Scoreboard(WINDOWS.length);
  const hits = new Int32Array(WINDOWS.length);
  const made = new Int32Array(WINDOWS.length).fill(-1); // a window not yet full never leads
  const ones = new Int32Array(WINDOWS.length);
  for (let j = 0; j < WINDOWS.length; j++) for (let i = 0; i < WINDOWS[j]; i++) ones[j] += bits[i];
  for (let from = WINDOWS[0]; from < bits.length; from += ROUND_STEPS) {
    const end = Math.min(from + ROUND_STEPS, bits.length);
    for (let j = 0; j < WINDOWS.length; j++) {
      const length = WINDOWS[j];
      let count = ones[j];
      let hit = 0;
      for (let i = Math.max(from, length); i < end; i++) {
        const prediction = 2 * count > length ? 1 : 0;
        hit |= (prediction ^ bits[i] ^ 1) << (i - from);
        count += bits[i] - bits[i - length];
      }
      ones[j] = count;
      hits[j] = hit;
    }
    board.advance(hits, made, end - from);
  }
  return { predictions: bits.length - WINDOWS[0], correct: board.correct, longestRun: board.longestRun };
}

function predictSymbols(symbols: Uint8Array, alphabetSize: number): PredictorRun {
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
  return { predictions: symbols.length - WINDOWS[0], correct, longestRun };
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

  /** Takes in the symbol at `place` and lets the oldest one go. */
  advance(place: number): void {
    const oldest = this.symbols[place - this.length];
    if (oldest === this.symbols[place]) {
      // Counts stay; but the symbol is now the most recent, and so wins a tie.
      this.lastPlaces[oldest] = place;
      if (this.counts[oldest] === this.counts[this.mostCommon]) this.mostCommon = oldest;
      return;
    }
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
    let best = 0;
    for (let symbol = 1; symbol < counts.length; symbol++) {
      const lead = counts[symbol] - counts[best];
      if (lead > 0 || (lead === 0 && lastPlaces[symbol] > lastPlaces[best])) best = symbol;
    }
    this.mostCommon = best;
  }
}
