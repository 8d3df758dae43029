import { html, type Markup } from './html.ts';

/** A series over time, oldest first. */
export interface Series {
  readonly label: string;
  readonly unit: string;
  readonly points: readonly { readonly atMs: number; readonly value: number }[];
  /** Text of a value without its unit. */
  readonly text: (value: number) => string;
  /** The top of the plot, at least. */
  readonly atLeast: number;
}

const WIDTH = 360;
const HEIGHT = 72;
/** A gap this long, a stop of the service or of its machine, is not drawn over. */
const GAP_MS = 45_000;

/**
 * A line over a span of time that ends at `endMs`, from zero up, as SVG that takes its colours from the style sheet.
 * What it shows is also said in words, for whoever does not see it.
 */
export function plot(series: Series, endMs: number, spanMs: number): Markup {
  const { label, unit, points, text, atLeast } = series;
  const values = points.map(({ value }) => value);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const top = Math.max(atLeast, most);
  const now = values.at(-1);
  const words =
    now === undefined
      ? `${label}: nothing was recorded yet.`
      : `${label}: now ${text(now)} ${unit}, least ${text(least)}, most ${text(most)}.`;
  const x = (atMs: number) => (WIDTH * (1 - (endMs - atMs) / spanMs)).toFixed(1);
  const y = (value: number) => (HEIGHT - (HEIGHT - 2) * (value / top)).toFixed(1);
  const lines = runsOf(points).map((run) => {
    const path = run.map(({ atMs, value }) => `${x(atMs)} ${y(value)}`).join('L');
    const [from, to] = [x(run[0].atMs), x(run[run.length - 1].atMs)];
    return html`<path class="area" d="M${from} ${HEIGHT}L${path}L${to} ${HEIGHT}Z"/><path class="line" d="M${path}"/>`;
  });
  return html`<figure class="plot">
<figcaption><span>${label}</span> <strong>${now === undefined ? '–' : `${text(now)} ${unit}`}</strong></figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${words}">
<path class="base" d="M0 ${HEIGHT}H${WIDTH}"/>${lines}</svg>
<p class="scale"><span>an hour ago</span><span>least ${values.length === 0 ? '–' : text(least)} · most ${values.length === 0 ? '–' : text(most)}</span><span>now</span></p>
</figure>`;
}

/** The points in runs without gaps. */
function runsOf(points: Series['points']): Series['points'][] {
  const runs: { atMs: number; value: number }[][] = [];
  let lastMs = Number.NEGATIVE_INFINITY;
  for (const point of points) {
    if (point.atMs - lastMs > GAP_MS) runs.push([]);
    runs[runs.length - 1].push(point);
    lastMs = point.atMs;
  }
  return runs;
}
