import type { Markup } from './layout.ts';
import { bars } from './plots.ts';

/** Plots the number of p-values in each tenth of [0, 1]. The line is the height of each bar if they were exactly uniform. */
export function histogram(label: string, counts: readonly number[]): Markup {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const shares = counts.map((count) => Math.round((100 * count) / total));
  return bars(counts, {
    label,
    value: `${total} rows`,
    words: `${label}, ${total} of them, by tenths of 0 to 1: ${shares.join(', ')} %.`,
    axis: ['p = 0', 'p = 1'],
    y: [0, Math.max(...counts)],
    rule: total / counts.length,
  });
}

/** Plots named values between 0 and 1 as bars. */
export function barPlot(label: string, named: readonly (readonly [string, number])[]): Markup {
  const values = named.map(([, value]) => value);
  return bars(values, {
    label,
    value: `${Math.min(...values).toFixed(3)} to ${Math.max(...values).toFixed(3)}`,
    words: `${label}: ${named.map(([name, value]) => `${name} ${value.toFixed(3)}`).join(', ')}.`,
    axis: [named[0][0], named[named.length - 1][0]],
    y: [0, Math.max(1, ...values)],
  });
}

/**
 * Plots the deviation of each channel's share of ones from one half as bars up and down from the middle, with the band of three
 * standard deviations that contains 99.7 % of fair channels.
 */
export function onesSharePlot(shares: readonly number[], shots: number, noun: string): Markup {
  const deviation = shots > 0 ? 0.5 / Math.sqrt(shots) : 1;
  const widest = Math.max(4 * deviation, ...shares.map((share) => Math.abs(share - 0.5)));
  const [least, most] = [Math.min(...shares), Math.max(...shares)];
  const three = (3 * deviation).toFixed(4);
  const listed = shares.map((share, channel) => `${noun} ${channel} ${share.toFixed(4)}`).join(', ');
  return bars(shares, {
    label: `Share of ones by ${noun}`,
    value: `${least.toFixed(4)} to ${most.toFixed(4)}`,
    words: `Share of ones: ${listed}. Three standard deviations are ${three}.`,
    axis: [
      `${noun} 0`,
      `middle 0.5 · band ± ${three}, three standard deviations`,
      `${noun} ${shares.length - 1}`,
    ],
    y: [0.5 - widest, 0.5 + widest],
    from: 0.5,
    rule: 0.5,
    band: [0.5 - 3 * deviation, 0.5 + 3 * deviation],
  });
}
