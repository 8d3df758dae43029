import { durationText, grouped } from '../../core/figures.ts';
import type { EntropyMode, Origin } from '../../core/vocabulary.ts';
import type { HealthStatus } from '../plain-routes.ts';
import { banner } from './certificate-page.ts';
import { type Content, html, type Markup, section, time } from './layout.ts';
import { bars, figuresPlot } from './plots.ts';
import { originWords, sourceBanner } from './source-banner.ts';

/** The public facts about a running service. They contain nothing about accounts, keys or single requests. */
export interface StatusFacts {
  readonly atMs: number;
  readonly startedAtMs: number;
  readonly version: string;
  readonly status: HealthStatus;
  /** Every check of /v1/health by name. */
  readonly checks: readonly { readonly name: string; readonly status: HealthStatus }[];
  /** The sources in the order of preference; at least one. */
  readonly sources: readonly StatusSource[];
  readonly pure: { readonly bytes: number; readonly highBytes: number; readonly secondsLeft: number | null };
  readonly seeds: {
    readonly onHand: number;
    readonly secondsLeft: number | null;
    readonly inForce: boolean;
  };
  readonly csprngReady: boolean;
  readonly modes: readonly ModeFigures[];
  readonly logEntries: number;
  /** The last hour, oldest first. */
  readonly history: readonly StatusPoint[];
}

export interface StatusSource {
  readonly name: string;
  readonly origin: Origin;
  /** True if only the operator vouches for the origin. */
  readonly isDeclared: boolean;
  /** The processor that the newest lot came from. */
  readonly backend: string | null;
  readonly state: string;
  /** The newest lot, accepted or not; `atMs` is the end of its read. */
  readonly lastLot: { readonly id: string; readonly atMs: number } | null;
  /** Share of the bytes that all sources gave since the start; null when none gave any. */
  readonly share: number | null;
  readonly lots: LotHistory;
}

/** The results of the last lots of one source. */
interface LotHistory {
  /** Oldest first: the min-entropy in bits per bit, and the evidence of the alarm in bits after each lot. */
  readonly estimates: readonly { readonly minEntropyPerBit: number; readonly alarmBits: number }[];
  /** The evidence at which the alarm is raised, in bits. */
  readonly alarmBits: number;
}

/** The answered requests in a mode, refusals included. */
interface ModeFigures {
  readonly mode: EntropyMode;
  readonly lastMinute: number;
  readonly sinceStart: number;
  /** Milliseconds at the 50th, 95th and 99th percentile; null when there was no request. */
  readonly latencyMs: readonly [p50: number, p95: number, p99: number] | null;
}

export interface StatusPoint {
  readonly atMs: number;
  readonly status: HealthStatus;
  readonly pureBytes: number;
  readonly seeds: number;
  readonly requestsPerS: number;
  readonly commitMaxMs: number;
}

/** Returns the page on the state of the service, now and over the last hour. */
export function statusMain(facts: StatusFacts): Markup {
  const span = spanOf(facts.atMs, facts.startedAtMs);
  return html`<h1>Status</h1>
<p class="lead">Version ${facts.version}, running since ${time(facts.startedAtMs)}.
Figures as of <span id="as-of">${time(facts.atMs)}</span><span id="freshness">; reload for newer ones.</span></p>
${sourceBanner(facts)}
${statusBanner(facts)}
${section('modes', 'Entropy modes now', modes(facts))}
${section('traffic', 'Requests and latency', modeTable(facts))}
<section aria-labelledby="hour"><h2 id="hour">Recent past</h2>
${healthStrip(facts.history, span)}
<div class="plots">${hourPlots(facts)}</div></section>
${section('sources', 'Sources', sourceList(facts))}
<section aria-labelledby="lots"><h2 id="lots">The last lots</h2>
<p>Each lot is one read of a source. These figures can refute randomness, but they cannot prove it. The raw bits of a lot are never
shown, because values of pure mode can be computed from them.</p>
<div class="plots">${facts.sources.flatMap(lotPlots)}</div></section>
<p class="hint">The <a href="/log/checkpoint">signed log</a> has ${grouped(facts.logEntries)} entries. Programs
can read <code>GET /v1/health</code> with an API key.</p>`;
}

/** Plots the last lots of a source: their min-entropy and the evidence of the alarm. */
function lotPlots({ name, lots: { estimates, alarmBits } }: StatusSource): Markup[] {
  type Estimate = (typeof estimates)[number];
  const plot = (what: string, of: (each: Estimate) => number, unit: string, digits: number, top: number) => {
    const points = estimates.map((each, x) => ({ x, y: of(each) }));
    return figuresPlot(`${what} of ${name}`, points, { unit, digits, top, ends: ['oldest lot', 'newest'] });
  };
  return [
    plot('Min-entropy', (each) => each.minEntropyPerBit, 'bits per bit', 3, 1),
    plot('Alarm', (each) => each.alarmBits, `bits, alarm at ${alarmBits}`, 1, alarmBits),
  ];
}

function sourceList({ sources }: StatusFacts): Markup {
  return html`<dl>${sources.map((source) => {
    const { name, state, share, lastLot } = source;
    const works = state === 'ok' || state === 'standby';
    const given =
      share === null ? '' : `, provided ${Math.round(100 * share)} % of the bytes since the start`;
    const last =
      lastLot === null
        ? html`, no lot yet`
        : html`, <a href="/lots/${lastLot.id}">newest lot</a> ${time(lastLot.atMs)}`;
    return html`<div><dt><code>${name}</code></dt>
<dd><strong class="tone ${works ? 'good' : 'bad'}">${state}</strong>, ${originWords(source)}${given}${last}</dd></div>`;
  })}</dl>`;
}

const STATUS_WORDS: Readonly<Record<HealthStatus, string>> = {
  pass: 'Everything works.',
  warn: 'The service works, with warnings.',
  fail: 'The service cannot answer requests now.',
};
const TONES = { pass: 'good', warn: 'wait', fail: 'bad' } as const;

function statusBanner({ status, checks }: StatusFacts): Markup {
  const wrong = checks
    .filter((check) => check.status !== 'pass')
    .map((check) => `${check.name} (${check.status})`);
  const detail =
    wrong.length === 0
      ? `All ${checks.length} checks pass.`
      : `These checks do not pass: ${[...new Set(wrong)].join(', ')}.`;
  return banner(TONES[status], STATUS_WORDS[status], detail);
}

function modes(facts: StatusFacts): Markup {
  const { pure, seeds, csprngReady, sources } = facts;
  const isClosed = sources.every(({ state }) => state === 'closed');
  // a service without a lot yet is gathering entropy: that is no fault
  const isStarting = !isClosed && sources.every(({ lastLot }) => lastLot === null);
  const served: ModeState = ['good', 'Served'];
  const missing: ModeState = isStarting ? ['wait', 'Gathering entropy'] : ['bad', 'Not served'];
  const rows: [mode: string, state: ModeState, what: Content][] = [
    [
      'quantum-seeded',
      seeds.inForce ? served : missing,
      `${grouped(seeds.onHand)} seeds available${lasting(seeds.secondsLeft)}`,
    ],
    [
      'pure',
      pure.bytes > 0 && !isClosed ? served : missing,
      `${(pure.bytes / MEBIBYTE).toFixed(2)} MiB available${lasting(pure.secondsLeft)}`,
    ],
    [
      'csprng',
      csprngReady ? served : ['good', 'Ready'],
      csprngReady
        ? 'system entropy, no quantum origin'
        : 'system entropy; the first request starts its test and waits for one or two seconds',
    ],
  ];
  return html`<dl>${rows.map(
    ([mode, [tone, word], what]) => html`<div><dt><code>${mode}</code></dt>
<dd><strong class="tone ${tone}">${word}</strong>, ${what}</dd></div>`,
  )}</dl>`;
}

/** The CSS class of a state, and its name. */
type ModeState = readonly [tone: 'good' | 'wait' | 'bad', word: string];

function modeTable(facts: StatusFacts): Markup {
  const rows = facts.modes.map(({ mode, lastMinute, sinceStart, latencyMs }) => {
    const latency = latencyMs === null ? ['–', '–', '–'] : latencyMs.map(milliseconds);
    const cells = [grouped(lastMinute), grouped(sinceStart), ...latency];
    return html`<tr><th scope="row"><code>${mode}</code></th>${cells.map((text) => html`<td>${text}</td>`)}</tr>`;
  });
  return html`<div class="tables nowrap" tabindex="0" role="region" aria-label="Requests and latency by mode"><table>
<thead><tr><th scope="col">Mode</th><th scope="col">Last minute</th><th scope="col">Since the start</th>
<th scope="col">p50, ms</th><th scope="col">p95, ms</th><th scope="col">p99, ms</th></tr></thead><tbody>${rows}</tbody></table></div>
<p class="hint">Latency is the time from reading a request to passing the reply to the socket, estimated from a histogram of the last minute.
If the last minute had no such request, it is the latency since the start.</p>`;
}

/** Writes a latency. The first bucket ends at half a millisecond, so smaller values cannot be distinguished. */
function milliseconds(ms: number): string {
  if (ms < 0.5) return '≤ 0.5';
  return ms < 10 ? ms.toFixed(1) : grouped(Math.round(ms));
}

/** Says how long a stock lasts without new lots; '' for a stock that nobody draws on. */
function lasting(seconds: number | null): string {
  if (seconds === null) return '';
  return `, enough for ${durationText(1_000 * seconds)} without new lots`;
}

const MEBIBYTE = 2 ** 20;
const HOUR_MS = 3_600_000;
/** The shortest time that the plots show. It is less than an hour, so that a service that has just started fills a part of them. */
const SPAN_MIN_MS = 300_000;
const STRIP_PIECES = 60;
/** Points further apart are not joined: the service or its machine was stopped between them. */
const GAP_MS = 45_000;

/** The time that the plots show: an hour, or less while the service has not run for so long. */
interface Span {
  readonly endMs: number;
  readonly ms: number;
  /** The text at its beginning. */
  readonly begin: string;
}

function spanOf(atMs: number, startedAtMs: number): Span {
  const ms = Math.min(HOUR_MS, Math.max(SPAN_MIN_MS, atMs - startedAtMs));
  const minutes = Math.round(ms / 60_000);
  return { endMs: atMs, ms, begin: minutes === 60 ? 'an hour ago' : `${minutes} minutes ago` };
}

function hourPlots({ history, pure, atMs, startedAtMs }: StatusFacts): Markup[] {
  const { endMs, ms, begin } = spanOf(atMs, startedAtMs);
  const within = history.filter((point) => endMs - point.atMs <= ms);
  const frame = { ends: [begin, 'now'], x: [endMs - ms, endMs], gap: GAP_MS } as const;
  const plot = (
    label: string,
    of: (point: StatusPoint) => number,
    unit: string,
    digits: number,
    top: number,
  ) => {
    const points = within.map((point) => ({ x: point.atMs, y: of(point) }));
    return figuresPlot(label, points, { unit, digits, top, ...frame });
  };
  return [
    plot('Requests', ({ requestsPerS }) => requestsPerS, 'per s', 1, 1),
    plot('Slowest commit', ({ commitMaxMs }) => commitMaxMs, 'ms', 1, 10),
    plot(
      'Pure bytes available',
      ({ pureBytes }) => pureBytes / MEBIBYTE,
      'MiB',
      2,
      pure.highBytes / MEBIBYTE,
    ),
    plot('Seeds available', ({ seeds }) => seeds, 'seeds', 0, 64),
  ];
}

/** Draws the span in sixty pieces, each with its worst status: taller is worse. */
function healthStrip(history: readonly StatusPoint[], { endMs, ms, begin }: Span): Markup {
  const pieces = Array.from({ length: STRIP_PIECES }, (_, i) => {
    const fromMs = endMs - ms + (i * ms) / STRIP_PIECES;
    const within = history.filter((point) => point.atMs >= fromMs && point.atMs < fromMs + ms / STRIP_PIECES);
    return WORST_FIRST.find((status) => within.some((point) => point.status === status));
  });
  const share = (status: HealthStatus) => pieces.filter((piece) => piece === status).length;
  const recorded = pieces.filter((piece) => piece !== undefined).length;
  const words =
    recorded === 0
      ? 'nothing is recorded yet'
      : `${share('pass')} of ${recorded} recorded intervals without problems, ${share('warn')} with warnings, ${share('fail')} failing`;
  const drawn = pieces.map((piece) =>
    piece === undefined ? { y: 0, tone: 'none' } : { y: HEIGHTS[piece], tone: TONES[piece] },
  );
  return bars(drawn, {
    style: 'strip',
    label: 'Health',
    value: words,
    words: `Health since ${begin}: ${words}.`,
    axis: [begin, 'taller is worse', 'now'],
    y: [0, HEIGHTS.fail],
  });
}

const HEIGHTS = { pass: 3, warn: 5, fail: 7 } as const;
const WORST_FIRST = ['fail', 'warn', 'pass'] as const;
