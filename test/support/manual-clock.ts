import type { Clock } from '../../src/core/clock.ts';

/** A clock that stands still until told otherwise. For tests and the simulation. */
export class ManualClock implements Clock {
  wall: number;
  monotonic: number;
  jump = 0;

  constructor(wallMs = 1_700_000_000_000, monotonicMs = 1_000) {
    this.wall = wallMs;
    this.monotonic = monotonicMs;
  }

  wallMs(): number {
    return this.wall;
  }

  monotonicMs(): number {
    return this.monotonic;
  }

  jumpMs(): number {
    return this.jump;
  }

  /** Lets `ms` milliseconds pass on both clocks. */
  advance(ms: number): void {
    this.wall += ms;
    this.monotonic += ms;
  }
}
