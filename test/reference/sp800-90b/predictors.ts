/** The predictors of SP 800-90B 6.3.7 to 6.3.10 as plain as they can be said. Slow. */
import type { PredictorRun } from '../../../src/stats/sp800-90b/prediction.ts';

const NOTHING = -1;

/**
 * Scores sub-predictors and follows the winner; the part that three of the four share (6.3.7, steps 3b to
 * 3d).
 */
class Contest {
  readonly scores: number[];
  winner = 0;
  outcomes: boolean[] = [];

  constructor(size: number) {
    this.scores = new Array(size).fill(0);
  }

  /**
   * `predictions[j]` is NOTHING when sub-predictor j declines. A declining winner is passed over where
   * `skipsNothing`.
   */
  step(predictions: readonly number[], symbol: number, skipsNothing: boolean): void {
    const prediction = predictions[this.winner];
    if (prediction !== NOTHING || !skipsNothing) this.outcomes.push(prediction === symbol);
    predictions.forEach((each, j) => {
      if (each !== symbol) return;
      this.scores[j]++;
      if (this.scores[j] >= this.scores[this.winner]) this.winner = j;
    });
  }
}

function runOf(outcomes: readonly boolean[], predictions: number): PredictorRun {
  let longestRun = 0;
  let current = 0;
  for (const isRight of outcomes) {
    current = isRight ? current + 1 : 0;
    longestRun = Math.max(longestRun, current);
  }
  return { predictions, correct: outcomes.filter(Boolean).length, longestRun };
}

/** 6.3.7. */
export function plainMultiMcw(symbols: Uint8Array): PredictorRun {
  const windows = [63, 255, 1023, 4095];
  const contest = new Contest(windows.length);
  for (let i = 63; i < symbols.length; i++) {
    const predictions = windows.map((length) =>
      i < length ? NOTHING : mostCommon(symbols.subarray(i - length, i)),
    );
    contest.step(predictions, symbols[i], false);
  }
  return runOf(contest.outcomes, symbols.length - 63);
}

/** The most common symbol, among equals the one seen last. */
function mostCommon(window: Uint8Array): number {
  const counts = new Array(256).fill(0);
  for (const symbol of window) counts[symbol]++;
  const most = Math.max(...counts);
  return window.findLast((symbol) => counts[symbol] === most) ?? NOTHING;
}

/** 6.3.8. */
export function plainLag(symbols: Uint8Array): PredictorRun {
  const contest = new Contest(128);
  for (let i = 1; i < symbols.length; i++) {
    const predictions = Array.from({ length: 128 }, (_, j) => (i - j - 1 < 0 ? NOTHING : symbols[i - j - 1]));
    contest.step(predictions, symbols[i], false);
  }
  return runOf(contest.outcomes, symbols.length - 1);
}

/** The counts of successors of each context: context text to counts by symbol. */
type Dictionary = Map<string, Map<number, number>>;

const contextText = (symbols: Uint8Array, end: number, length: number): string =>
  symbols.subarray(end - length, end).join();

/** The most frequent successor and its count; the largest symbol among equals. */
function favourite(successors: Map<number, number>): [symbol: number, count: number] {
  const byRank = [...successors].sort((a, b) => b[1] - a[1] || b[0] - a[0]);
  return byRank[0];
}

function count(dictionary: Dictionary, context: string, symbol: number): void {
  const successors = dictionary.get(context) ?? new Map<number, number>();
  dictionary.set(context, successors.set(symbol, (successors.get(symbol) ?? 0) + 1));
}

/** 6.3.9, with at most `pairsMax` pairs a model. */
export function plainMultiMmc(symbols: Uint8Array, pairsMax = 100_000): PredictorRun {
  const models: Dictionary[] = Array.from({ length: 17 }, () => new Map());
  const pairs = new Array(17).fill(0);
  const contest = new Contest(16);
  for (let i = 1; i < symbols.length; i++) {
    const predictions = new Array(16).fill(NOTHING);
    for (let d = 1; d <= 16 && d <= i; d++) {
      const successors = models[d].get(contextText(symbols, i, d));
      if (successors !== undefined) predictions[d - 1] = favourite(successors)[0];
    }
    if (i >= 2) contest.step(predictions, symbols[i], true);
    for (let d = 1; d <= 16 && d <= i; d++) {
      const context = contextText(symbols, i, d);
      const isNew = models[d].get(context)?.get(symbols[i]) === undefined;
      if (isNew && pairs[d] === pairsMax) continue;
      if (isNew) pairs[d]++;
      count(models[d], context, symbols[i]);
    }
  }
  return runOf(contest.outcomes, symbols.length - 2);
}

/** 6.3.10, with at most `contextsMax` contexts. */
export function plainLz78y(symbols: Uint8Array, contextsMax = 65_536): PredictorRun {
  const dictionary: Dictionary = new Map();
  const outcomes: boolean[] = [];
  for (let i = 16; i < symbols.length; i++) {
    let prediction = NOTHING;
    let mostOften = 0;
    for (let d = 16; d >= 1; d--) {
      const successors = dictionary.get(contextText(symbols, i, d));
      if (successors === undefined) continue;
      const [symbol, times] = favourite(successors);
      if (times <= mostOften) continue;
      mostOften = times;
      prediction = symbol;
    }
    if (i > 16) outcomes.push(prediction === symbols[i]);
    for (let d = 16; d >= 1; d--) {
      const context = contextText(symbols, i, d);
      if (!dictionary.has(context) && dictionary.size >= contextsMax) continue;
      count(dictionary, context, symbols[i]);
    }
  }
  return runOf(outcomes, symbols.length - 17);
}
