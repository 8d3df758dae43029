import type { HealthStatus } from '../plain-routes.ts';
import { html, type Markup } from './layout.ts';
import type { StatusPoint } from './status-page.ts';

const HOUR_MS = 3_600_000;
/** A service that has just started fills at least a part of the plots from its first minute on. */
const SPAN_MIN_MS = 300_000;
const STRIP_PIECES = 60;
const WIDTH = 360;
const HEIGHT = 72;
/** A gap this long, a stop of the service or of its machine, is not drawn over. */
const GAP_MS = 45_000;

/** The recent past: an hour, or less while the service has not run for so long. */
interface Span {
  readonly endMs: number;
  readonly ms: number;
  /** What stands where it begins. */
  readonly begin: string;
}

/** A series over time, oldest first. */
interface Series {
  /** Of the parts that the page's script writes anew. */
  readonly key: string;
  readonly label: string;
  readonly unit: string;
  readonly points: readonly { readonly atMs: number; readonly value: number }[];
  /** Text of a value without its unit. */
  readonly text: (value: number) => string;
  /** The top of the plot, at least. */
  readonly atLeast: number;
}

/** A plot in parts that change while the page is open. */
interface DrawnSeries {
  readonly value: string;
  readonly words: string;
  readonly range: string;
  /** Paths of SVG: the line over the points, and the area below it. */
  readonly line: string;
  readonly area: string;
}

export function spanOf(atMs: number, startedAtMs: number): Span {
  const ms = Math.min(HOUR_MS, Math.max(SPAN_MIN_MS, atMs - startedAtMs));
  const minutes = Math.round(ms / 60_000);
  return { endMs: atMs, ms, begin: minutes === 60 ? 'an hour ago' : `${minutes} minutes ago` };
}

/** What the hour's plots are made of. */
export function hourSeries(history: readonly StatusPoint[], pureHighBytes: number): Series[] {
  const series = (
    key: string,
    label: string,
    unit: string,
    of: (point: StatusPoint) => number,
    atLeast: number,
    digits: number,
  ): Series => ({
    key,
    label,
    unit,
    points: history.map((point) => ({ atMs: point.atMs, value: of(point) })),
    text: (value) => value.toFixed(digits),
    atLeast,
  });
  return [
    series('requests', 'Requests', 'per s', ({ requestsPerS }) => requestsPerS, 1, 1),
    series('commit', 'Slowest commit', 'ms', ({ commitMaxMs }) => commitMaxMs, 10, 1),
    series(
      'pure',
      'Pure bytes on hand',
      'MiB',
      ({ pureBytes }) => pureBytes / 2 ** 20,
      pureHighBytes / 2 ** 20,
      2,
    ),
    series('seeds', 'Seeds on hand', 'seeds', ({ seeds }) => seeds, 64, 0),
  ];
}

/**
 * A line over a span of time, from zero up, as SVG that takes its colours from the style
 * sheet. What it shows is also said in words, for whoever does not see it.
 */
export function plot(series: Series, span: Span): Markup {
  const { key, label } = series;
  const { value, words, range, line, area } = drawn(series, span);
  return html`<figure class="plot">
<figcaption><span>${label}</span> <strong data-live="${key}-value">${value}</strong></figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${words}" data-live-label="${key}-words">
<path class="base" d="M0 ${HEIGHT}H${WIDTH}"/><path class="area" d="${area}" data-live-path="${key}-area"/><path class="line" d="${line}" data-live-path="${key}-line"/></svg>
<p class="scale"><span data-live="begin">${span.begin}</span><span data-live="${key}-range">${range}</span><span>now</span></p>
</figure>`;
}

/** The parts of a plot that the page's script writes anew, by the names that `plot` gives them. */
export function liveParts(series: Series, span: Span): Record<string, string> {
  const { key } = series;
  const parts = Object.entries(drawn(series, span)).map(([name, text]) => [`${key}-${name}`, text]);
  return Object.fromEntries(parts) as Record<string, string>;
}

function drawn({ label, unit, points, text, atLeast }: Series, span: Span): DrawnSeries {
  const values = points.map(({ value }) => value);
  const now = values.at(-1);
  if (now === undefined)
    return { value: '–', words: `${label}: nothing was recorded yet.`, range: '', line: '', area: '' };
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const top = Math.max(atLeast, most);
  const x = (atMs: number) => (WIDTH * Math.max(0, 1 - (span.endMs - atMs) / span.ms)).toFixed(1);
  const y = (value: number) => (HEIGHT - (HEIGHT - 2) * (value / top)).toFixed(1);
  const within = points.filter(({ atMs }) => span.endMs - atMs <= span.ms);
  const lines = runsOf(within).map((run) => {
    const path = run.map(({ atMs, value }) => `${x(atMs)} ${y(value)}`).join('L');
    const [from, to] = [x(run[0].atMs), x(run[run.length - 1].atMs)];
    return { line: `M${path}`, area: `M${from} ${HEIGHT}L${path}L${to} ${HEIGHT}Z` };
  });
  return {
    value: `${text(now)} ${unit}`,
    words: `${label}: now ${text(now)} ${unit}, least ${text(least)}, most ${text(most)}.`,
    range: `least ${text(least)} · most ${text(most)}`,
    line: lines.map(({ line }) => line).join(''),
    area: lines.map(({ area }) => area).join(''),
  };
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

/** Sixty pieces of the span, the worst status of each; also told in words. */
export function healthStrip(history: readonly StatusPoint[], { endMs, ms, begin }: Span): Markup {
  const pieces = Array.from({ length: STRIP_PIECES }, (_, i) => {
    const fromMs = endMs - ms + (i * ms) / STRIP_PIECES;
    const within = history.filter((point) => point.atMs >= fromMs && point.atMs < fromMs + ms / STRIP_PIECES);
    return worst(within.map(({ status }) => status));
  });
  const recorded = pieces.filter((piece) => piece !== 'none').length;
  const share = (status: HealthStatus) => pieces.filter((piece) => piece === status).length;
  const words =
    recorded === 0
      ? 'nothing was recorded yet'
      : `${share('pass')} of ${recorded} recorded pieces pass, ${share('warn')} with warnings, ${share('fail')} failing`;
  const bars = pieces.map((status, i) => {
    const height = { pass: 12, warn: 20, fail: 28, none: 3 }[status];
    return html`<rect class="${status}" x="${i * 6}" y="${28 - height}" width="5" height="${height}"/>`;
  });
  return html`<figure class="plot strip"><figcaption><span>Health</span> <strong>${words}</strong></figcaption>
<svg viewBox="0 0 360 28" preserveAspectRatio="none" role="img" aria-label="Health since ${begin}: ${words}.">${bars}</svg>
<p class="scale"><span>${begin}</span><span>taller is worse</span><span>now</span></p></figure>`;
}

function worst(statuses: readonly HealthStatus[]): HealthStatus | 'none' {
  if (statuses.length === 0) return 'none';
  if (statuses.includes('fail')) return 'fail';
  return statuses.includes('warn') ? 'warn' : 'pass';
}
