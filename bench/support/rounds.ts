import { type Summary, summarize } from '../../test/support/statistics.ts';

/** The results of one contender in one round, by quantity; undefined where a quantity cannot be measured. */
export type Sample = Readonly<Record<string, number | undefined>>;

export interface Contender {
  readonly name: string;
  /** Measures once. The warm-up is a round whose result is dropped, and may be shorter. */
  measure(phase: 'warm-up' | 'round'): Promise<Sample>;
}

/**
 * The results of contenders that took turns. A shared machine, or a changing clock, affects all of them together,
 * so only the quotient within one round counts, and its median over the rounds.
 */
export class Rounds {
  readonly #samples = new Map<string, Sample[]>();

  add(name: string, sample: Sample): void {
    const samples = this.#samples.get(name);
    if (samples === undefined) this.#samples.set(name, [sample]);
    else samples.push(sample);
  }

  get names(): readonly string[] {
    return [...this.#samples.keys()];
  }

  of(name: string, quantity: string): Summary | undefined {
    return summarize(this.#values(name, quantity));
  }

  /** `name` divided by `baseline`, round by round. */
  ratio(name: string, baseline: string, quantity: string): Summary | undefined {
    const below = this.#values(baseline, quantity);
    return summarize(this.#values(name, quantity).map((value, round) => quotient(value, below[round])));
  }

  #values(name: string, quantity: string): (number | undefined)[] {
    return (this.#samples.get(name) ?? []).map((sample) => sample[quantity]);
  }
}

function quotient(above: number | undefined, below: number | undefined): number | undefined {
  return above === undefined || below === undefined ? undefined : above / below;
}

/**
 * Measures every contender once as warm-up and then in `rounds` rounds in alternating order, forwards, backwards,
 * forwards, so that a drift within a round favours none of them.
 */
export async function alternate(contenders: readonly Contender[], rounds: number): Promise<Rounds> {
  const result = new Rounds();
  for (const contender of contenders) await contender.measure('warm-up');
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? contenders : contenders.toReversed();
    for (const contender of order) result.add(contender.name, await contender.measure('round'));
  }
  return result;
}
