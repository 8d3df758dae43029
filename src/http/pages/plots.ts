import { html, type Markup } from './layout.ts';

const WIDTH = 360;
const HEIGHT = 72;

type Limits = readonly [least: number, most: number];

/** The parts of a plot around its bars or lines. */
interface Frame {
  readonly label: string;
  /** The main result, in a few words. */
  readonly value: string;
  /** A description of the whole plot, for readers who cannot see it. */
  readonly words: string;
  /** The texts below the plot: at its ends, and between them. */
  readonly axis: readonly string[];
  readonly y: Limits;
  /** The y of a horizontal line. */
  readonly rule?: number;
  /** The limits in y of a horizontal stripe. */
  readonly band?: Limits;
  readonly style?: string;
}

/** The value of a bar, optionally with a CSS class for another colour. */
type Bar = number | { readonly y: number; readonly tone: string };

/** Draws a bar for each value, up or down from `from`, which is by default the least y. */
export function bars(values: readonly Bar[], frame: Frame & { readonly from?: number }): Markup {
  const width = WIDTH / Math.max(1, values.length);
  const from = placeOf(frame.from ?? frame.y[0], frame.y);
  const drawn = values.map((bar, i) => {
    const { y, tone } = typeof bar === 'number' ? { y: bar, tone: '' } : bar;
    const to = placeOf(y, frame.y);
    const left = Number(fixed((WIDTH * i) / values.length)) + 0.1 * width;
    return html`<rect class="${tone}" x="${fixed(left)}" y="${fixed(Math.min(from, to))}" width="${fixed(0.8 * width)}" height="${fixed(Math.max(0.8, Math.abs(from - to)))}"/>`;
  });
  return framed(html`${drawn}`, frame);
}

/** Returns the figure as SVG. Its colours come from the style sheet. */
function framed(drawn: Markup, { label, value, words, axis, y, rule, band, style = '' }: Frame): Markup {
  const [bottom, top] = (band ?? []).map((each) => placeOf(each, y));
  const stripe =
    band === undefined
      ? null
      : html`<rect class="band" x="0" y="${fixed(top)}" width="${WIDTH}" height="${fixed(bottom - top)}"/>`;
  const across =
    rule === undefined ? null : html`<path class="line thin" d="M0 ${fixed(placeOf(rule, y))}H${WIDTH}"/>`;
  return html`<figure class="plot ${style}">
<figcaption><span>${label}</span> <strong>${value}</strong></figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${words}">
${stripe}<path class="base" d="M0 ${HEIGHT}H${WIDTH}"/>${drawn}${across}</svg>
<p class="scale">${axis.map((each) => html`<span>${each}</span>`)}</p>
</figure>`;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

interface Figures {
  readonly unit: string;
  /** Decimal places. */
  readonly digits: number;
  /** The largest y is at least this. */
  readonly top: number;
  /** The texts at the ends of the axis. */
  readonly ends: readonly [begin: string, end: string];
  /** The limits of the x axis; by default from the first to the last point. */
  readonly x?: Limits;
  /** Points that are further apart are not joined. */
  readonly gap?: number;
}

/**
 * Draws figures as a line on an axis from zero, the newest last. Shows the newest as the value, and the least and the most
 * below.
 */
export function figuresPlot(label: string, points: readonly Point[], figures: Figures): Markup {
  const { unit, digits, top, ends, gap = Number.POSITIVE_INFINITY } = figures;
  const values = points.map(({ y }) => y);
  const text = (value: number) => value.toFixed(digits);
  const last = values.at(-1);
  const value = last === undefined ? '–' : `${text(last)} ${unit}`;
  const range =
    last === undefined
      ? 'nothing yet'
      : `least ${text(Math.min(...values))} · most ${text(Math.max(...values))}`;
  const y: Limits = [0, Math.max(top, ...values)];
  const [least, most] = figures.x ?? [0, Math.max(1, points.length - 1)];
  const at = ({ x }: Point) => fixed(WIDTH * Math.max(0, (x - least) / (most - least || 1)));
  // a single figure is drawn as a horizontal line
  const drawn = points.length === 1 && figures.x === undefined ? [points[0], { ...points[0], x: 1 }] : points;
  const runs: Point[][] = [];
  for (const point of drawn) {
    const before = runs.at(-1)?.at(-1);
    if (before === undefined || point.x - before.x > gap) runs.push([]);
    runs.at(-1)!.push(point);
  }
  const paths = runs.map((run) => run.map((point) => `${at(point)} ${fixed(placeOf(point.y, y))}`).join('L'));
  const areas = runs.map((run, i) => `M${at(run[0])} ${HEIGHT}L${paths[i]}L${at(run.at(-1)!)} ${HEIGHT}Z`);
  // a single point is drawn as a short line to the right
  const lines = runs.map((run, i) => (run.length === 1 ? `M${paths[i]}h2` : `M${paths[i]}`));
  return framed(html`<path class="area" d="${areas.join('')}"/><path class="line" d="${lines.join('')}"/>`, {
    label,
    value,
    words: `${label}: now ${value}, ${range}.`,
    axis: [ends[0], range, ends[1]],
    y,
  });
}

/** Returns the distance of a value from the top, rounded to a tenth of a pixel. */
function placeOf(value: number, [least, most]: Limits): number {
  return Number(fixed(HEIGHT - (HEIGHT - 2) * ((value - least) / (most - least || 1))));
}

function fixed(value: number): string {
  return value.toFixed(1);
}
