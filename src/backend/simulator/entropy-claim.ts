import type { Component } from './components.ts';
import { type CheckedNoise, outcomeProbabilities } from './noise.ts';

/**
 * Min-entropy per raw bit that the simulated device may claim (H_submitter), against somebody who knows the
 * noise: for every shot which gates failed and which readouts were replaced.
 *
 * A readout with errors (e01, e10) is a perfect one with probability 1 - f, f = e01 + e10, and a fixed answer
 * otherwise. Let pMax be the likeliest outcome of k noiseless measured qubits. Where a set F of readouts is
 * fixed, the rest is guessed with at most 2^|F| pMax (a marginal sums 2^|F| outcomes), so all are guessed
 * with at most pMax · Π(1 + f_i). With probability 1 - (1 - p)^gates some gate failed, which is counted as
 * known:
 *
 *   guess <= (1 - p)^gates · min(1, pMax · Π(1 + f_i)) + 1 - (1 - p)^gates,   H = -log2(guess) / k.
 *
 * For one ideal H and one readout this is exactly 1 - log2(1 + e01 + e10). It is never above the entropy of
 * the bias that is seen from outside, in which e01 and e10 may cancel. The claim is the worst component's.
 */
export function claimedMinEntropyPerBit(components: readonly Component[], noise: CheckedNoise): number {
  let claim = 1;
  for (const component of components) {
    const guess = guessingProbability(component, noise);
    claim = Math.min(claim, -Math.log2(guess) / component.measured.length);
  }
  return Math.max(0, claim);
}

function guessingProbability(component: Component, noise: CheckedNoise): number {
  let guess = outcomeProbabilities(component, noise.bias).reduce((most, p) => Math.max(most, p), 0);
  for (const channel of component.channels) {
    const { e01, e10 } = noise.readout[channel];
    guess *= 1 + e01 + e10;
  }
  const allGatesWork = (1 - noise.depolarizing) ** component.gates.length;
  return allGatesWork * Math.min(1, guess) + (1 - allGatesWork);
}
