import { html, type Markup } from './layout.ts';

/** What the status page draws of one source's last lots. */
export interface LotHistory {
  /** Oldest first; bits per bit, and the evidence of the alarm after each lot. */
  readonly estimates: readonly { readonly minEntropyPerBit: number; readonly alarmBits: number }[];
  readonly alarmBits: number;
}

/** How many p-values lie in each tenth of [0, 1]. */
interface PValueCounts {
  readonly counts: readonly number[];
  readonly blocks: number;
}

const WIDTH = 360;
const HEIGHT = 72;

/** The last lots of one source as two plots: min-entropy, and the alarm over lots. Each says in words what it shows. */
export function lotPlots(name: string, { estimates, alarmBits }: LotHistory): Markup[] {
  const entropy = estimates.map(({ minEntropyPerBit }) => minEntropyPerBit);
  const evidence = estimates.map((each) => each.alarmBits);
  return [
    lineOverLots(`Min-entropy of ${name}`, 'bits per bit', entropy, 1, 3),
    lineOverLots(`Alarm of ${name}`, `bits, alarm at ${alarmBits}`, evidence, alarmBits, 1),
  ];
}

/** A line over lots, oldest first, from zero up to `top` at least. */
function lineOverLots(
  label: string,
  unit: string,
  values: readonly number[],
  top: number,
  digits: number,
): Markup {
  const last = values.at(-1);
  const text = (value: number) => value.toFixed(digits);
  const words =
    last === undefined
      ? `${label}: no lot was assessed yet.`
      : `${label} over ${values.length} lots: last ${text(last)} ${unit}, least ${text(Math.min(...values))}, most ${text(Math.max(...values))}.`;
  const highest = Math.max(top, ...values);
  const x = (i: number) => ((WIDTH * (i + 0.5)) / Math.max(1, values.length)).toFixed(1);
  const y = (value: number) => (HEIGHT - (HEIGHT - 2) * (value / highest)).toFixed(1);
  // A dot of its own where there is no line to draw.
  const path =
    values.length === 1
      ? `0 ${y(values[0])}H${WIDTH}`
      : values.map((value, i) => `${x(i)} ${y(value)}`).join('L');
  return figure(
    label,
    last === undefined ? '–' : `${text(last)} ${unit}`,
    words,
    html`${values.length === 0 ? null : html`<path class="line" d="M${path}"/>`}`,
    ['oldest lot', `the last ${values.length} lots`, 'newest'],
  );
}

/** Ten bars, and the height at which all would stand if the p-values were exactly uniform. */
export function histogram(label: string, { counts, blocks }: PValueCounts): Markup {
  const blocksText = blocks === 1 ? '1 block' : `${blocks} blocks`;
  const total = counts.reduce((sum, count) => sum + count, 0);
  const shares = counts.map((count) => (total === 0 ? 0 : Math.round((100 * count) / total)));
  const words =
    total === 0
      ? `${label}: no block was tested yet.`
      : `${label}, ${total} of ${blocksText}, by tenths of 0 to 1: ${shares.join(', ')} %.`;
  const most = Math.max(1, ...counts);
  const step = WIDTH / counts.length;
  const bars = counts.map((count, i) => {
    const height = (HEIGHT - 2) * (count / most);
    return html`<rect class="pass" x="${(i * step + 1).toFixed(1)}" y="${(HEIGHT - height).toFixed(1)}" width="${(step - 2).toFixed(1)}" height="${height.toFixed(1)}"/>`;
  });
  const even = (HEIGHT - (HEIGHT - 2) * (total / counts.length / most)).toFixed(1);
  const line = total === 0 ? null : html`<path class="line" d="M0 ${even}H${WIDTH}"/>`;
  return figure(label, total === 0 ? '–' : `${total} rows`, words, html`${bars}${line}`, [
    'p = 0',
    blocksText,
    'p = 1',
  ]);
}

/** Bars of shares of one, left to right, whose values the text alternative lists. */
export function barPlot(label: string, named: readonly (readonly [string, number])[]): Markup {
  const words = `${label}: ${named.map(([name, value]) => `${name} ${value.toFixed(3)}`).join(', ')}.`;
  const values = named.map(([, value]) => value);
  const step = WIDTH / named.length;
  const bars = values.map((value, i) => {
    const height = HEIGHT * Math.min(1, value);
    return html`<rect class="pass" x="${(i * step).toFixed(1)}" y="${(HEIGHT - height).toFixed(1)}" width="${(step * 0.8).toFixed(1)}" height="${height.toFixed(1)}"/>`;
  });
  const range = `${Math.min(...values).toFixed(3)} to ${Math.max(...values).toFixed(3)}`;
  return figure(label, range, words, html`${bars}`, [named[0][0], named[named.length - 1][0]]);
}

/** A plot with the words at the ends of its axis, and between them. */
function figure(
  label: string,
  value: string,
  words: string,
  drawing: Markup,
  axis: readonly string[],
): Markup {
  return html`<figure class="plot">
<figcaption><span>${label}</span> <strong>${value}</strong></figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${words}">
<path class="base" d="M0 ${HEIGHT}H${WIDTH}"/>${drawing}</svg>
<p class="scale">${axis.map((each) => html`<span>${each}</span>`)}</p>
</figure>`;
}

/**
 * How far the share of ones of each channel lies from one half, in units of the deviation that chance gives: bars up and
 * down from the middle, and the band of three deviations in which 99.7 % of fair channels lie.
 */
export function onesSharePlot(shares: readonly number[], shots: number, noun: string): Markup {
  const deviation = shots > 0 ? 0.5 / Math.sqrt(shots) : 1;
  const widest = Math.max(4 * deviation, ...shares.map((share) => Math.abs(share - 0.5)));
  const middle = HEIGHT / 2;
  const scale = (middle - 1) / widest;
  const step = WIDTH / shares.length;
  const bars = shares.map((share, i) => {
    const height = Math.max(0.8, Math.abs(share - 0.5) * scale);
    const top = share >= 0.5 ? middle - height : middle;
    return html`<rect class="pass" x="${(i * step + 0.1 * step).toFixed(1)}" y="${top.toFixed(1)}" width="${(step * 0.8).toFixed(1)}" height="${height.toFixed(1)}"/>`;
  });
  const band = 3 * deviation * scale;
  const drawing = html`<rect class="band" x="0" y="${(middle - band).toFixed(1)}" width="${WIDTH}" height="${(2 * band).toFixed(1)}"/>
${bars}<path class="line thin" d="M0 ${middle}H${WIDTH}"/>`;
  const listed = shares.map((share, channel) => `${noun} ${channel} ${share.toFixed(4)}`).join(', ');
  const [least, most] = [Math.min(...shares), Math.max(...shares)];
  return figure(
    `Share of ones by ${noun}`,
    `${least.toFixed(4)} to ${most.toFixed(4)}`,
    `Share of ones: ${listed}. Three deviations of chance are ${(3 * deviation).toFixed(4)}.`,
    drawing,
    [
      `${noun} 0`,
      `middle 0.5 · band ± ${(3 * deviation).toFixed(4)}, three deviations`,
      `${noun} ${shares.length - 1}`,
    ],
  );
}
