/** Steps that one mask of hits covers. */
export const ROUND_STEPS = 32;

/**
 * Which of an estimator's sub-predictors makes the prediction, on bits (SP 800-90B 6.3.7, 6.3.8 and 6.3.9):
 * the one right most often so far; among those that draw level in one step the last.
 *
 * Half of all sub-predictors are right each time, too many to count one by one. One whose score lies more
 * than a round behind the best cannot win within it, so its score is brought up to date once per round, by
 * a population count; on random bits only one or two are left to follow step by step.
 */
export class Scoreboard {
  readonly #scores: Int32Array;
  readonly #contenders: Int32Array;
  #winner = 0;
  #runLength = 0;
  /** Predictions of the winner that were right. */
  correct = 0;
  /** The longest run of them. */
  longestRun = 0;

  constructor(predictors: number) {
    this.#scores = new Int32Array(predictors);
    this.#contenders = new Int32Array(predictors);
  }

  /**
   * Takes in one round of `steps` steps (at most 32). Bit t of hits[p] says that sub-predictor p was right
   * at step t, bit t of made[p] that it predicted at all; later bits are ignored, and nothing may follow a
   * shorter round.
   */
  advance(hits: Int32Array, made: Int32Array, steps: number): void {
    const scores = this.#scores;
    const contenders = this.#contenders;
    const behind = scores[this.#winner] - ROUND_STEPS;
    let count = 0;
    for (let p = 0; p < scores.length; p++) {
      if (scores[p] >= behind) contenders[count++] = p;
      else scores[p] += populationCount(hits[p]);
    }
    for (let step = 0; step < steps; step++) {
      let winner = this.#winner;
      if ((hits[winner] >>> step) & 1) {
        this.correct++;
        if (++this.#runLength > this.longestRun) this.longestRun = this.#runLength;
      } else if ((made[winner] >>> step) & 1) this.#runLength = 0;
      for (let k = 0; k < count; k++) {
        const p = contenders[k];
        if ((hits[p] >>> step) & 1 && ++scores[p] >= scores[winner]) winner = p;
      }
      this.#winner = winner;
    }
  }
}

/** Ones in 32 bits, by adding neighbouring fields (H. S. Warren, Hacker's Delight, figure 5-2). */
function populationCount(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const nibbles = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
