import {
  applyReadout,
  type CheckedNoise,
  type Component,
  outcomeProbabilities,
  type PauliError,
} from '../../src/backend/simulator/noise.ts';

interface History {
  readonly errors: readonly PauliError[];
  readonly weight: number;
}

/** Every way in which the gates of a component can fail, and how likely it is: 4^n to 16^n of them. */
export function histories(component: Component, depolarizing: number): History[] {
  let all: History[] = [{ errors: [], weight: 1 }];
  component.gates.forEach(({ qubits }, gate) => {
    const kinds = qubits.length === 2 ? 15 : 3;
    all = all.flatMap(({ errors, weight }) => [
      { errors, weight: weight * (1 - depolarizing) },
      ...Array.from({ length: kinds }, (_, kind) => ({
        errors: [...errors, { gate, pauli: kind + 1 }],
        weight: (weight * depolarizing) / kinds,
      })),
    ]);
  });
  return all.filter(({ weight }) => weight > 0);
}

/** The slow obvious twin of the samplers: the outcome distribution as a sum over all error histories. */
export function exactDistribution(component: Component, noise: CheckedNoise): Float64Array {
  const mixture = new Float64Array(2 ** component.measured.length);
  for (const { errors, weight } of histories(component, noise.depolarizing)) {
    outcomeProbabilities(component, noise.bias, errors).forEach((probability, outcome) => {
      mixture[outcome] += weight * probability;
    });
  }
  applyReadout(
    mixture,
    component.channels.map((channel) => noise.readout[channel]),
  );
  return mixture;
}

/**
 * The probability with which somebody guesses a whole outcome who knows, shot by shot, every gate error and
 * which readouts were replaced by which fixed answer: a sum over all those cases of the likeliest outcome in
 * each.
 */
export function exactGuessingProbability(component: Component, noise: CheckedNoise): number {
  const count = component.measured.length;
  let guess = 0;
  for (const { errors, weight } of histories(component, noise.depolarizing)) {
    const ideal = outcomeProbabilities(component, noise.bias, errors);
    for (let replaced = 0; replaced < 2 ** count; replaced++) {
      let caseWeight = weight;
      component.channels.forEach((channel, bit) => {
        const { e01, e10 } = noise.readout[channel];
        caseWeight *= (replaced >> bit) & 1 ? e01 + e10 : 1 - e01 - e10;
      });
      const seen = new Float64Array(2 ** count);
      ideal.forEach((probability, outcome) => {
        seen[outcome & ~replaced] += probability;
      });
      guess += caseWeight * Math.max(...seen);
    }
  }
  return guess;
}
