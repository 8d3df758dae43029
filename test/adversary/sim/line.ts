import type { Chance } from '../../support/chance.ts';
import type { SimMachine } from './machine.ts';

const LATENCY_MS = 0.3;

/** A message port between two threads of a process: everything arrives, in order, and a little later. */
export class Line {
  readonly #machine: SimMachine;
  readonly #random: Chance;
  #lastAtMs = 0;

  constructor(machine: SimMachine, random: Chance) {
    this.#machine = machine;
    this.#random = random;
  }

  send(deliver: () => void): void {
    const { nowMs } = this.#machine;
    const atMs = Math.max(nowMs + this.#random.gap(LATENCY_MS), this.#lastAtMs + 1e-3);
    this.#lastAtMs = atMs;
    this.#machine.after(atMs - nowMs, deliver);
  }
}
