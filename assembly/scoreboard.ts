/**
 * Chooses which of an estimator's sub-predictors makes the prediction (SP 800-90B 6.3.7, 6.3.8 and 6.3.9): the one right
 * most often so far; if several reach that score in one step, the last of them.
 *
 * Half of all sub-predictors are right each time, too many to count one by one. A sub-predictor that is more than a round
 * behind the best cannot win within the round, so a population count updates its score once per round. On random bits only
 * one or two are left to follow step by step.
 */

/** Count of steps that one mask of hits covers. */
export const ROUND_STEPS: i32 = 32;
const PREDICTORS_MAX: i32 = 128;

/** Bit t of word p: sub-predictor p was right at step t of this round. Bits after the last step are zero. */
export const HITS: usize = memory.data(4 * PREDICTORS_MAX, 16);
/** Bit t of word p: sub-predictor p made a prediction at step t. */
export const MADE: usize = memory.data(4 * PREDICTORS_MAX, 16);
const SCORES: usize = memory.data(4 * PREDICTORS_MAX, 16);
const CONTENDERS: usize = memory.data(4 * PREDICTORS_MAX, 16);

let predictors: i32 = 0;
let winner: usize = 0;
let runLength: i32 = 0;
let correctCount: i32 = 0;
let longest: i32 = 0;

/** Returns how many predictions of the winner were right. */
export function correct(): i32 {
  return correctCount;
}

/** Returns the length of the longest run of right predictions. */
export function longestRun(): i32 {
  return longest;
}

/** Sets both results, for a predictor that keeps no board. */
export function setHits(correct: i32, longestRun: i32): void {
  correctCount = correct;
  longest = longestRun;
}

/**
 * Starts with `count` sub-predictors, a multiple of four. `MADE` is initialized to predictions at every step; callers may
 * change it.
 */
export function beginBoard(count: i32): void {
  predictors = count;
  winner = 0;
  runLength = 0;
  correctCount = 0;
  longest = 0;
  memory.fill(SCORES, 0, 4 * PREDICTORS_MAX);
  memory.fill(MADE, 255, 4 * PREDICTORS_MAX);
}

/** Evaluates one round of `steps` steps (at most 32); a shorter one must be the last. */
export function advanceBoard(steps: i32): void {
  const behind = load<i32>(SCORES + (winner << 2)) - ROUND_STEPS;
  const count = findContenders(behind);
  if (count == 1 && load<i32>(MADE + (winner << 2)) == -1) {
    follow(load<u32>(HITS + (winner << 2)));
    return;
  }
  const end = CONTENDERS + (usize(count) << 2);
  let leader = winner;
  for (let step: i32 = 0; step < steps; step++) {
    if ((load<u32>(HITS + (leader << 2)) >>> step) & 1) {
      correctCount++;
      runLength++;
      if (runLength > longest) longest = runLength;
    } else if ((load<u32>(MADE + (leader << 2)) >>> step) & 1) runLength = 0;
    let best = load<i32>(SCORES + (leader << 2));
    for (let at = CONTENDERS; at < end; at += 4) {
      const p = usize(load<u32>(at));
      const score = load<i32>(SCORES + (p << 2)) + i32((load<u32>(HITS + (p << 2)) >>> step) & 1);
      const isHit = score > load<i32>(SCORES + (p << 2));
      store<i32>(SCORES + (p << 2), score);
      if (isHit && score >= best) {
        leader = p;
        best = score;
      }
    }
  }
  winner = leader;
}

/** Lists the sub-predictors that may win within this round, in order, and counts the hits of all others. */
@inline
function findContenders(behind: i32): i32 {
  let count: i32 = 0;
  const least = i32x4.splat(behind);
  for (let p: i32 = 0; p < predictors; p += 4) {
    const offset = usize(p) << 2;
    const scores = v128.load(SCORES + offset);
    const hits = v128.load(HITS + offset);
    const isContender = i32x4.ge_s(scores, least);
    const pairs = i16x8.extadd_pairwise_i8x16_u(i8x16.popcnt(hits));
    const counts = i32x4.extadd_pairwise_i16x8_u(pairs);
    v128.store(SCORES + offset, i32x4.add(scores, v128.andnot(counts, isContender)));
    if (v128.any_true(isContender)) {
      for (let lanes = i32x4.bitmask(isContender); lanes != 0; lanes &= lanes - 1) {
        store<i32>(CONTENDERS + (usize(count) << 2), p + ctz(lanes));
        count++;
      }
    }
  }
  return count;
}

/** Evaluates a whole round of a winner that no other can reach, by its hits alone. */
@inline
function follow(hits: u32): void {
  const count = i32(popcnt(hits));
  store<i32>(SCORES + (winner << 2), load<i32>(SCORES + (winner << 2)) + count);
  correctCount += count;
  if (hits == 0xffffffff) {
    runLength += ROUND_STEPS;
    longest = max(longest, runLength);
    return;
  }
  longest = max(longest, runLength + i32(ctz(~hits)));
  let inner: i32 = 0;
  for (let rest = hits; rest != 0; rest &= rest << 1) inner++;
  longest = max(longest, inner);
  runLength = i32(clz(~hits));
}
