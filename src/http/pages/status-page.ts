import type { Origin } from '../../core/vocabulary.ts';
import type { HealthStatus } from '../plain-routes.ts';
import { banner } from './certificate-page.ts';
import { html, type Markup } from './layout.ts';
import { type LotHistory, lotPlots } from './lot-plots.ts';

/** What anybody may know of a running service: nothing of accounts, keys or single requests. */
export interface StatusFacts {
  readonly atMs: number;
  readonly startedAtMs: number;
  readonly version: string;
  readonly status: HealthStatus;
  /** Every check of /v1/health by name. */
  readonly checks: readonly { readonly name: string; readonly status: HealthStatus }[];
  /** The most wanted first; at least one. */
  readonly sources: readonly StatusSource[];
  readonly pure: { readonly bytes: number; readonly highBytes: number; readonly secondsLeft: number | null };
  readonly seeds: {
    readonly onHand: number;
    readonly secondsLeft: number | null;
    readonly inForce: boolean;
  };
  readonly csprngReady: boolean;
  readonly requestsPerS: number;
  readonly commitP50Ms: number | null;
  readonly logEntries: number;
  /** The last hour, oldest first. */
  readonly history: readonly StatusPoint[];
}

export interface StatusSource {
  readonly name: string;
  readonly origin: Origin;
  /** The processor that the newest lot came from. */
  readonly backend: string | null;
  readonly state: string;
  readonly lastLotAtMs: number | null;
  /** Of the bytes that all sources gave since the start; null when none did. */
  readonly share: number | null;
  readonly lots: LotHistory;
}

export interface StatusPoint {
  readonly atMs: number;
  readonly status: HealthStatus;
  readonly pureBytes: number;
  readonly seeds: number;
  readonly requestsPerS: number;
  readonly commitMaxMs: number;
}

const HOUR_MS = 3_600_000;
const STRIP_PIECES = 60;

/** The front page: what this is, what it draws on, how it does. */
export function statusMain(facts: StatusFacts): Markup {
  return html`<h1>Quantum Random Number Service</h1>
<p class="lead">Random numbers over HTTP whose entropy comes from a quantum processor, each answer with a certificate that anyone can
check.</p>
${sourceBanner(facts)}
${statusBanner(facts)}
<section aria-labelledby="hour"><h2 id="hour">The last hour</h2>
${healthStrip(facts)}
<div class="plots">${plots(facts)}</div></section>
<section aria-labelledby="modes"><h2 id="modes">Entropy modes now</h2>${modes(facts)}</section>
<section aria-labelledby="sources"><h2 id="sources">Sources</h2>${sourceList(facts)}</section>
<section aria-labelledby="lots"><h2 id="lots">The last lots</h2>
<p>Each lot is one read of a source. These figures can refute randomness; they do not prove it.</p>
<div class="plots">${facts.sources.flatMap(({ name, lots }) => lotPlots(name, lots))}</div></section>
<section aria-labelledby="links"><h2 id="links">Use it</h2>
<ul class="links">
<li><a href="/docs">Documentation</a> with examples that run, and a form to try each call</li>
<li><a href="/openapi.json">OpenAPI 3.1 document</a> for code generators</li>
<li><a href="/verify">Check a certificate</a>, here or with <a href="/assets/qrn-verify.mjs" download>the verifier as one file</a></li>
<li><a href="/log/checkpoint">Signed checkpoint</a> of the log, with ${grouped(facts.logEntries)} entries</li>
</ul></section>
<p class="hint">Version ${facts.version}, running since <time datetime="${isoOf(facts.startedAtMs)}">${utcText(facts.startedAtMs)}</time>.
This page is as of <time datetime="${isoOf(facts.atMs)}">${utcText(facts.atMs)}</time>; reload for a newer one.</p>`;
}

/** The one source, or the loudest of several: what is not quantum is said before what is. */
function sourceBanner({ sources }: StatusFacts): Markup {
  const [first] = sources;
  if (sources.every(({ origin }) => origin === first.origin)) return originBanner(first, sources);
  const others = sources.filter(({ origin }) => !isQuantum(origin));
  if (others.length === 0) {
    return banner('good', 'Quantum processors and devices are the sources.', stateWords(sources));
  }
  return banner(
    'wait',
    'MIXED: not every source is a quantum one.',
    `${others.map(({ name, origin }) => `${name} is ${ORIGIN_WORDS[origin]}`).join('; ')}. Every answer names the origin of what it drew on.`,
  );
}

function isQuantum(origin: Origin): boolean {
  return origin === 'quantum-processor' || origin === 'qrng-device';
}

const ORIGIN_WORDS: Readonly<Record<Origin, string>> = {
  'quantum-processor': 'a quantum processor',
  'qrng-device': 'a quantum device',
  simulated: 'simulated',
  replay: 'a replay of bits recorded earlier',
  system: 'the generator of the operating system',
};

/** All sources have the origin of `first`. */
function originBanner(first: StatusSource, sources: readonly StatusSource[]): Markup {
  const backends = sources.map(({ backend, name }) => backend ?? name).join(', ');
  const [is, several] = sources.length === 1 ? ['The source is', false] : ['The sources are', true];
  switch (first.origin) {
    case 'simulated':
      return banner(
        'wait',
        'SIMULATED: no quantum processor is connected.',
        `${is} ${backends}, ${several ? 'programs that simulate one' : 'a program that simulates one'}. The statistics are real, the quantum origin is not; every answer and every certificate says so.`,
      );
    case 'replay':
      return banner(
        'wait',
        'REPLAY: no source is live.',
        `Bits recorded earlier from ${backends} are played back; every answer says so.`,
      );
    case 'system':
      return banner(
        'wait',
        'No quantum source.',
        `${is} ${backends}, the generator of the operating system; every answer says so.`,
      );
    case 'quantum-processor':
      return banner(
        'good',
        several ? 'Quantum processors are the sources.' : 'A quantum processor is the source.',
        stateWords(sources),
      );
    case 'qrng-device':
      return banner(
        'good',
        several ? 'Quantum devices are the sources.' : 'A quantum device is the source.',
        stateWords(sources),
      );
  }
}

function stateWords(sources: readonly StatusSource[]): string {
  return `${sources.map(({ backend, name, state }) => `${backend ?? name}, state: ${state}`).join('; ')}.`;
}

function sourceList({ sources }: StatusFacts): Markup {
  return html`<dl>${sources.map(({ name, origin, state, share, lastLotAtMs }) => {
    const works = state === 'ok' || state === 'standby';
    const given = share === null ? '' : `, gave ${Math.round(100 * share)} % of the bytes since the start`;
    const last =
      lastLotAtMs === null
        ? html`, no lot yet`
        : html`, newest lot <time datetime="${isoOf(lastLotAtMs)}">${utcText(lastLotAtMs)}</time>`;
    return html`<div><dt><code>${name}</code></dt>
<dd><strong class="${works ? 'works' : 'closed'}">${state}</strong>, ${ORIGIN_WORDS[origin]}${given}${last}</dd></div>`;
  })}</dl>`;
}

const STATUS_WORDS: Readonly<Record<HealthStatus, string>> = {
  pass: 'Everything works.',
  warn: 'Working, with warnings.',
  fail: 'Nothing can be answered now.',
};
const TONES = { pass: 'good', warn: 'wait', fail: 'bad' } as const;

function statusBanner({ status, checks }: StatusFacts): Markup {
  const wrong = checks
    .filter((check) => check.status !== 'pass')
    .map((check) => `${check.name} (${check.status})`);
  const detail =
    wrong.length === 0
      ? `All ${checks.length} checks pass.`
      : `Not as it should be: ${[...new Set(wrong)].join(', ')}.`;
  return banner(TONES[status], STATUS_WORDS[status], detail);
}

/** Sixty pieces of a minute each, the worst status of the minute; also told in words. */
function healthStrip({ history, atMs }: StatusFacts): Markup {
  const pieces = Array.from({ length: STRIP_PIECES }, (_, i) => {
    const fromMs = atMs - HOUR_MS + (i * HOUR_MS) / STRIP_PIECES;
    const within = history.filter(
      (point) => point.atMs >= fromMs && point.atMs < fromMs + HOUR_MS / STRIP_PIECES,
    );
    return worst(within.map(({ status }) => status));
  });
  const minutes = (status: HealthStatus) => pieces.filter((piece) => piece === status).length;
  const words = `Health by minute: ${minutes('pass')} pass, ${minutes('warn')} with warnings, ${minutes('fail')} failing, ${pieces.filter((piece) => piece === 'none').length} not recorded.`;
  const bars = pieces.map((status, i) => {
    const height = { pass: 12, warn: 20, fail: 28, none: 3 }[status];
    return html`<rect class="${status}" x="${i * 6}" y="${28 - height}" width="5" height="${height}"/>`;
  });
  return html`<figure class="plot strip"><figcaption><span>Health</span> <strong>${words}</strong></figcaption>
<svg viewBox="0 0 360 28" preserveAspectRatio="none" role="img" aria-label="${words}">${bars}</svg>
<p class="scale"><span>an hour ago</span><span>taller is worse</span><span>now</span></p></figure>`;
}

function worst(statuses: readonly HealthStatus[]): HealthStatus | 'none' {
  if (statuses.length === 0) return 'none';
  if (statuses.includes('fail')) return 'fail';
  return statuses.includes('warn') ? 'warn' : 'pass';
}

function plots({ history, atMs, pure }: StatusFacts): Markup[] {
  const series = (of: (point: StatusPoint) => number) =>
    history.map((point) => ({ atMs: point.atMs, value: of(point) }));
  const draw = (
    label: string,
    unit: string,
    of: (point: StatusPoint) => number,
    atLeast: number,
    digits: number,
  ) =>
    plot({ label, unit, points: series(of), text: (value) => value.toFixed(digits), atLeast }, atMs, HOUR_MS);
  return [
    draw('Pure bytes on hand', 'MiB', ({ pureBytes }) => pureBytes / 2 ** 20, pure.highBytes / 2 ** 20, 2),
    draw('Seeds on hand', 'seeds', ({ seeds }) => seeds, 64, 0),
    draw('Requests', 'per s', ({ requestsPerS }) => requestsPerS, 1, 1),
    draw('Slowest commit', 'ms', ({ commitMaxMs }) => commitMaxMs, 10, 1),
  ];
}

function modes({ pure, seeds, csprngReady, sources }: StatusFacts): Markup {
  const isPureOpen = pure.bytes > 0 && !sources.every(({ state }) => state === 'closed');
  const rows: [mode: string, works: boolean, what: string][] = [
    ['quantum-seeded', seeds.inForce, `${grouped(seeds.onHand)} seeds on hand${lasting(seeds.secondsLeft)}`],
    ['pure', isPureOpen, `${(pure.bytes / 2 ** 20).toFixed(2)} MiB on hand${lasting(pure.secondsLeft)}`],
    ['csprng', csprngReady, 'system entropy, no quantum origin'],
  ];
  return html`<dl>${rows.map(
    ([mode, works, what]) => html`<div><dt><code>${mode}</code></dt>
<dd><strong class="${works ? 'works' : 'closed'}">${works ? 'Served' : 'Not served'}</strong>, ${what}</dd></div>`,
  )}</dl>`;
}

/** How long a stock lasts without new lots; nothing for one that nobody draws on. */
function lasting(seconds: number | null): string {
  if (seconds === null) return '';
  const [size, unit] =
    seconds >= 172_800 ? [86_400, 'days'] : seconds >= 7_200 ? [3_600, 'hours'] : [60, 'minutes'];
  return `, enough for ${Math.floor(seconds / size)} ${unit} without new lots`;
}

function grouped(value: number): string {
  return value.toLocaleString('en-US');
}

function isoOf(atMs: number): string {
  return new Date(atMs).toISOString();
}

function utcText(atMs: number): string {
  return `${isoOf(atMs).slice(0, 16).replace('T', ' ')} UTC`;
}

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
 * A line over a span of time that ends at `endMs`, from zero up, as SVG that takes its colours from the style
 * sheet. What it shows is also said in words, for whoever does not see it.
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
