import { html, type Markup } from './layout.ts';

const WIDTH = 360;
const HEIGHT = 72;

interface PlotPoint {
  readonly x: number;
  readonly y: number;
  /** Class of its bar, which gives it another colour than the accent. */
  readonly tone?: string;
}

/** Everything about a plot but its points. */
interface PlotLimits {
  readonly as: 'bars' | 'line';
  readonly label: string;
  /** What the reader should take from it, in a few words. */
  readonly value: string;
  /** All that it shows, for whoever does not see it. */
  readonly words: string;
  /** Words below the plot: at its ends, and between them. */
  readonly axis: readonly string[];
  readonly x: readonly [least: number, most: number];
  readonly y: readonly [least: number, most: number];
  /** Where bars begin; the least y when nothing else is said. */
  readonly from?: number;
  /** A line across, at this y. */
  readonly rule?: number;
  /** A stripe across, between these two. */
  readonly band?: readonly [least: number, most: number];
  /** Points that are further apart are not joined. */
  readonly gap?: number;
  readonly style?: string;
}

/** A line or bars, as SVG that takes its colours from the style sheet. */
export function plot(points: readonly PlotPoint[], limits: PlotLimits): Markup {
  const { label, value, words, axis, rule, band, style = '' } = limits;
  const { y } = scalesOf(limits);
  const { line, area } = pathsOf(points, limits);
  const stripe =
    band === undefined
      ? null
      : html`<rect class="band" x="0" y="${y(band[1])}" width="${WIDTH}" height="${fixed(Number(y(band[0])) - Number(y(band[1])))}"/>`;
  const drawn =
    limits.as === 'bars'
      ? barsOf(points, limits)
      : html`<path class="area" d="${area}"/><path class="line" d="${line}"/>`;
  return html`<figure class="plot ${style}">
<figcaption><span>${label}</span> <strong>${value}</strong></figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${words}">
${stripe}<path class="base" d="M0 ${HEIGHT}H${WIDTH}"/>${drawn}${rule === undefined ? null : html`<path class="line thin" d="M0 ${y(rule)}H${WIDTH}"/>`}</svg>
<p class="scale">${axis.map((each) => html`<span>${each}</span>`)}</p>
</figure>`;
}

interface Figures {
  readonly unit: string;
  /** Decimal places. */
  readonly digits: number;
  /** The plot reaches up to this at least. */
  readonly top: number;
  /** What stands at its ends. */
  readonly ends: readonly [begin: string, end: string];
  /** From where to where it reaches; from the first to the last point when nothing else is said. */
  readonly x?: PlotLimits['x'];
  readonly gap?: number;
}

/** A line of figures from zero up, the newest last: the newest is the value, and the least and the most stand below it. */
export function figuresPlot(label: string, points: readonly PlotPoint[], figures: Figures): Markup {
  const { unit, digits, top, ends, gap } = figures;
  const values = points.map(({ y }) => y);
  const text = (value: number) => value.toFixed(digits);
  const last = values.at(-1);
  const value = last === undefined ? '–' : `${text(last)} ${unit}`;
  const range =
    last === undefined
      ? 'nothing yet'
      : `least ${text(Math.min(...values))} · most ${text(Math.max(...values))}`;
  // one figure is a line too
  const drawn = points.length === 1 && figures.x === undefined ? [points[0], { ...points[0], x: 1 }] : points;
  return plot(drawn, {
    ...{ as: 'line', label, value, ...(gap !== undefined && { gap }) },
    words: `${label}: now ${value}, ${range}.`,
    axis: [ends[0], range, ends[1]],
    x: figures.x ?? [0, Math.max(1, points.length - 1)],
    y: [0, Math.max(top, ...values)],
  });
}

/** How a value of each axis becomes a coordinate. */
function scalesOf({ x, y }: PlotLimits): { x(value: number): string; y(value: number): string } {
  const share = (value: number, [least, most]: readonly [number, number]) =>
    (value - least) / (most - least || 1);
  return {
    x: (value) => fixed(WIDTH * Math.max(0, share(value, x))),
    y: (value) => fixed(HEIGHT - (HEIGHT - 2) * share(value, y)),
  };
}

function pathsOf(points: readonly PlotPoint[], limits: PlotLimits): { line: string; area: string } {
  const scales = scalesOf(limits);
  const runs: PlotPoint[][] = [];
  for (const point of points) {
    const last = runs.at(-1)?.at(-1);
    if (last === undefined || point.x - last.x > (limits.gap ?? Number.POSITIVE_INFINITY)) runs.push([]);
    runs.at(-1)!.push(point);
  }
  const drawn = runs.map((run) => {
    const path = run.map(({ x, y }) => `${scales.x(x)} ${scales.y(y)}`).join('L');
    const [from, to] = [scales.x(run[0].x), scales.x(run.at(-1)!.x)];
    // a single point is drawn to the right end, where its successor will stand
    const line = run.length === 1 ? `M${path}h2` : `M${path}`;
    return { line, area: `M${from} ${HEIGHT}L${path}L${to} ${HEIGHT}Z` };
  });
  return { line: drawn.map(({ line }) => line).join(''), area: drawn.map(({ area }) => area).join('') };
}

/** A bar stands on its x and is as wide as the space to the next. */
function barsOf(points: readonly PlotPoint[], limits: PlotLimits): Markup[] {
  const { x, y } = scalesOf(limits);
  const width = WIDTH / Math.max(1, points.length);
  const from = Number(y(limits.from ?? limits.y[0]));
  return points.map(({ x: at, y: value, tone = '' }) => {
    const to = Number(y(value));
    const height = Math.max(0.8, Math.abs(from - to));
    return html`<rect class="${tone}" x="${fixed(Number(x(at)) + 0.1 * width)}" y="${fixed(Math.min(from, to))}" width="${fixed(0.8 * width)}" height="${fixed(height)}"/>`;
  });
}

function fixed(value: number): string {
  return value.toFixed(1);
}
