import { aptCutoff, rctCutoff } from '../../src/pool/intake/health.ts';

interface Channel {
  last: number;
  run: number;
  windowFirst: number;
  windowMatches: number;
}

/** The result of the plain tests on one read: alarms as `test channel observed`, in the order of channels. */
export interface PlainVerdict {
  readonly grade: 'pass' | 'intermittent' | 'permanent';
  readonly alarms: readonly string[];
}

/**
 * The slow obvious twin of the sample tests in HealthMonitor: SP 800-90B §4.4.1 and §4.4.2 one sample at a
 * time, as their steps are written. It knows no latch, no replay and no count in a row.
 */
export class PlainHealth {
  readonly #channels: Channel[];
  readonly #h: number;
  #filled = 0;
  #startup = 0;

  constructor(width: number, minEntropyPerBit: number) {
    this.#h = minEntropyPerBit;
    this.#channels = Array.from({ length: width }, () => ({
      last: -1,
      run: 0,
      windowFirst: -1,
      windowMatches: 0,
    }));
  }

  /** shots[shot][channel] is a bit. */
  check(shots: readonly (readonly number[])[]): PlainVerdict {
    const longest = this.#channels.map(() => 0);
    const most = this.#channels.map(() => 0);
    for (const shot of shots) {
      this.#channels.forEach((channel, index) => {
        const bit = shot[index];
        channel.run = bit === channel.last ? channel.run + 1 : 1;
        channel.last = bit;
        longest[index] = Math.max(longest[index], channel.run);
        if (this.#filled === 0) {
          channel.windowFirst = bit;
          channel.windowMatches = 0;
        }
        if (bit === channel.windowFirst) channel.windowMatches++;
        most[index] = Math.max(most[index], channel.windowMatches);
      });
      this.#filled = (this.#filled + 1) % 1024;
    }
    // A window that goes on has its matches of earlier reads in it, even when this read adds none.
    return this.#verdict(longest, most, shots.length);
  }

  #verdict(longest: readonly number[], most: readonly number[], shots: number): PlainVerdict {
    const alarms: string[] = [];
    let permanent = false;
    longest.forEach((run, index) => {
      if (run >= rctCutoff(this.#h, 30)) alarms.push(`rct ${index} ${run}`);
      if (most[index] >= aptCutoff(this.#h, 30)) alarms.push(`apt ${index} ${most[index]}`);
      permanent ||= run >= rctCutoff(this.#h, 60) || most[index] >= aptCutoff(this.#h, 60);
    });
    if (alarms.some((alarm) => alarm.startsWith('apt'))) this.#filled = 0;
    if (this.#startup < 1024) {
      this.#startup = alarms.length > 0 ? 0 : this.#startup + shots;
      if (alarms.length === 0 && this.#startup < 1024) alarms.push(`startup null ${this.#startup}`);
    }
    if (alarms.length === 0) return { grade: 'pass', alarms };
    return { grade: permanent ? 'permanent' : 'intermittent', alarms };
  }
}
