import { type PredictionEstimate, type PredictorRun, predictionEstimate } from './prediction.ts';
import { ROUND_STEPS, Scoreboard } from './scoreboard.ts';

/** D: lags tried (SP 800-90B 6.3.8). */
const LAGS = 128;
/** Words that hold the 128 bits before a word, and one more for a lag that is no multiple of 32. */
const LAG_WORDS = 5;

/**
 * Lag prediction estimate (SP 800-90B 6.3.8). Lag d predicts the symbol d places back; the lag that has
 * been right most often so far makes the prediction. Null with fewer than three symbols.
 */
export function lag(symbols: Uint8Array, alphabetSize: number): PredictionEstimate | null {
  if (symbols.length < 3) return null;
  const run = alphabetSize === 2 ? predictBits(symbols) : predictSymbols(symbols, alphabetSize);
  return predictionEstimate(run, alphabetSize);
}

/** Bits: a lag is right where the stream equals itself moved up by it, so 32 places take one comparison. */
function predictBits(bits: Uint8Array): PredictorRun {
  const words = packLowFirst(bits);
  const board = new Scoreboard(LAGS);
  const hits = new Int32Array(LAGS);
  const made = new Int32Array(LAGS).fill(-1); // a lag that reaches back before the first bit never leads
  for (let from = 0; from < bits.length; from += ROUND_STEPS) {
    const word = from / ROUND_STEPS + LAG_WORDS;
    for (let d = 1; d <= LAGS; d++) {
      const back = word - (d >>> 5);
      const shift = d & 31;
      // In two shifts, for a shift by 32 would be none.
      const movedUp = (words[back] << shift) | ((words[back - 1] >>> 1) >>> (31 - shift));
      hits[d - 1] = ~(words[word] ^ movedUp);
    }
    // A place before the first bit is no hit.
    if (from < LAGS)
      for (let d = from + 1; d <= LAGS; d++) hits[d - 1] &= d - from < 32 ? -1 << (d - from) : 0;
    board.advance(hits, made, Math.min(ROUND_STEPS, bits.length - from));
  }
  return { predictions: bits.length - 1, correct: board.correct, longestRun: board.longestRun };
}

/**
 * Bit i of the stream as bit i mod 32 of a word, so that a shift up looks back; behind zero words for the
 * first lags.
 */
function packLowFirst(bits: Uint8Array): Int32Array {
  const words = new Int32Array(Math.ceil(bits.length / ROUND_STEPS) + LAG_WORDS);
  for (let i = 0; i < bits.length; i++) words[(i >>> 5) + LAG_WORDS] |= bits[i] << (i & 31);
  return words;
}

/**
 * Wider symbols: few lags are right each time, so those alone are visited, along a chain of equal symbols.
 */
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
