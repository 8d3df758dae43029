import { type PredictionEstimate, type PredictorRun, predictionEstimate } from './prediction.ts';

/** D: lags tried (SP 800-90B 6.3.8, step 1). */
const LAGS = 128;
const WORD_BITS = 32;

/**
 * Lag prediction estimate (SP 800-90B 6.3.8). Lag d predicts the symbol d places back; the lag that has been right most
 * often so far makes the prediction. Null with fewer than three symbols.
 */
export function lag(symbols: Uint8Array, alphabetSize: number): PredictionEstimate | null {
  if (symbols.length < 3) return null;
  const run = alphabetSize === 2 ? predictBits(symbols) : predictSymbols(symbols, alphabetSize);
  return predictionEstimate(run, alphabetSize);
}

/**
 * Bits: half of all lags are right each time, too many to count one by one. A lag whose score lies more than 32 behind the
 * best cannot win within the next 32 bits, so its score is brought up to date once per word, by a population count.
 */
function predictBits(bits: Uint8Array): PredictorRun {
  const words = packLowFirst(bits);
  const board = new Scoreboard(bits);
  const every = Int32Array.from({ length: LAGS }, (_, index) => index + 1);
  const contenders = new Int32Array(LAGS);
  const wordsEnd = Math.floor(bits.length / WORD_BITS);
  // The first 128 bits lie behind no full set of lags, the last few fill no word.
  const firstWord = Math.min(LAGS / WORD_BITS, wordsEnd);
  for (let i = 1; i < firstWord * WORD_BITS; i++) board.step(i, every, Math.min(i, LAGS));
  for (let word = firstWord; word < wordsEnd; word++) {
    const count = board.bringUpToDate(words, word, contenders);
    for (let i = word * WORD_BITS; i < (word + 1) * WORD_BITS; i++) board.step(i, contenders, count);
  }
  for (let i = Math.max(1, wordsEnd * WORD_BITS); i < bits.length; i++)
    board.step(i, every, Math.min(i, LAGS));
  return { predictions: bits.length - 1, correct: board.correct, longestRun: board.longestRun };
}

class Scoreboard {
  readonly bits: Uint8Array;
  readonly scores = new Int32Array(LAGS + 1);
  winner = 1;
  correct = 0;
  runLength = 0;
  longestRun = 0;

  constructor(bits: Uint8Array) {
    this.bits = bits;
  }

  /** Predicts bit i, then scores the first `count` of `lags`, which rise (6.3.8, steps 3a to 3d). */
  step(i: number, lags: Int32Array, count: number): void {
    const { bits, scores } = this;
    const bit = bits[i];
    let winner = this.winner;
    if (bits[i - winner] === bit) {
      this.correct++;
      if (++this.runLength > this.longestRun) this.longestRun = this.runLength;
    } else this.runLength = 0;
    for (let k = 0; k < count; k++) {
      const d = lags[k];
      if (bits[i - d] === bit && ++scores[d] >= scores[winner]) winner = d;
    }
    this.winner = winner;
  }

  /** Adds a whole word's hits to every lag that cannot win within it; lists the others and gives their number. */
  bringUpToDate(words: Int32Array, word: number, contenders: Int32Array): number {
    const { scores } = this;
    const behind = scores[this.winner] - WORD_BITS;
    const current = words[word];
    let count = 0;
    for (let d = 1; d <= LAGS; d++) {
      if (scores[d] >= behind) {
        contenders[count++] = d;
        continue;
      }
      const back = word - (d >>> 5);
      const shift = d & 31;
      const shifted =
        shift === 0 ? words[back] : (words[back] << shift) | (words[back - 1] >>> (WORD_BITS - shift));
      scores[d] += WORD_BITS - populationCount(current ^ shifted);
    }
    return count;
  }
}

/** Bit i of the stream is bit i mod 32 of word i / 32, so that a shift up looks back in the stream. */
function packLowFirst(bits: Uint8Array): Int32Array {
  const words = new Int32Array(Math.ceil(bits.length / WORD_BITS));
  for (let i = 0; i < bits.length; i++) words[i >>> 5] |= bits[i] << (i & 31);
  return words;
}

/** Ones in 32 bits, by adding neighbouring fields (H. S. Warren, Hacker's Delight, figure 5-2). */
function populationCount(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const nibbles = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** Wider symbols: few lags are right each time, so those alone are visited, along a chain of equal symbols. */
function predictSymbols(symbols: Uint8Array, alphabetSize: number): PredictorRun {
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
  return { predictions: symbols.length - 1, correct, longestRun };
}
