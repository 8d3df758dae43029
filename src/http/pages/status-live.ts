import { grouped } from '../../certificate/drawings.ts';
import { hourSeries, liveParts, spanOf } from './hour-plots.ts';
import { html, type Markup } from './layout.ts';
import type { ModeFigures, StatusFacts } from './status-page.ts';

/*
 * What changes on the status page while it is open. Each text has a key; the page holds it in an element that names the
 * key, and an event of `/events` brings all of them anew. Both are made here, so they cannot differ.
 */

/** How long a browser waits before it asks for the next event, in milliseconds. */
const EVENT_INTERVAL_MS = 2_000;

/** Every text by its key. */
export function liveTexts(facts: StatusFacts): Record<string, string> {
  const span = spanOf(facts.atMs, facts.startedAtMs);
  const series = hourSeries(facts.history, facts.pure.highBytes);
  const { pure, seeds } = facts;
  return {
    begin: span.begin,
    'as-of': `${new Date(facts.atMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`,
    'log-entries': grouped(facts.logEntries),
    'seeds-left': `${grouped(seeds.onHand)} seeds on hand${lasting(seeds.secondsLeft)}`,
    'pure-left': `${(pure.bytes / 2 ** 20).toFixed(2)} MiB on hand${lasting(pure.secondsLeft)}`,
    // what only a reload can show
    edition: editionOf(facts),
    ...Object.assign({}, ...series.map((each) => liveParts(each, span))),
    ...Object.assign({}, ...facts.modes.map(modeTexts)),
  };
}

/** Changes with whatever the events do not bring: the state of sources and checks, and the newest lots. */
function editionOf({ status, checks, sources, seeds, csprngReady }: StatusFacts): string {
  const wrong = checks.filter((each) => each.status !== 'pass').map(({ name }) => name);
  const states = sources.map(({ name, state, newestLot }) => `${name} ${state} ${newestLot?.id ?? ''}`);
  return [status, ...wrong, ...states, seeds.inForce, csprngReady].join(' ');
}

/** One event in the form of server-sent events (HTML, 9.2). The reply ends behind it; the browser asks again by itself. */
export function eventOf(facts: StatusFacts): string {
  return `retry: ${EVENT_INTERVAL_MS}\nid: ${facts.atMs}\ndata: ${JSON.stringify(liveTexts(facts))}\n\n`;
}

/** Requests and latency of each mode. */
export function modeTable(facts: StatusFacts): Markup {
  const rows = facts.modes.map((figures) => {
    const texts = modeTexts(figures);
    const cells = Object.entries(texts).map(([key, text]) => html`<td data-live="${key}">${text}</td>`);
    return html`<tr><th scope="row"><code>${figures.mode}</code></th>${cells}</tr>`;
  });
  return html`<div class="tables narrow" tabindex="0" role="region" aria-label="Requests and latency by mode"><table>
<thead><tr><th scope="col">Mode</th><th scope="col">Last minute</th><th scope="col">Since the start</th>
<th scope="col">p50, ms</th><th scope="col">p95, ms</th><th scope="col">p99, ms</th></tr></thead><tbody>${rows}</tbody></table></div>
<p class="hint">From a request read to its reply handed to the socket, estimated from counts in buckets: over the last minute, or since
the start where the last minute had no such request.</p>`;
}

function modeTexts({ mode, lastMinute, sinceStart, latencyMs }: ModeFigures): Record<string, string> {
  const [p50, p95, p99] = latencyMs === null ? ['–', '–', '–'] : latencyMs.map(milliseconds);
  const texts = { minute: grouped(lastMinute), start: grouped(sinceStart), p50, p95, p99 };
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [`${mode}-${name}`, text]));
}

/** The first bucket ends at half a millisecond: nothing below it is told apart. */
function milliseconds(ms: number): string {
  if (ms < 0.5) return '≤ 0.5';
  return ms < 10 ? ms.toFixed(1) : grouped(Math.round(ms));
}

/** How long a stock lasts without new lots; nothing for one that nobody draws on. */
function lasting(seconds: number | null): string {
  if (seconds === null) return '';
  const [size, unit] =
    seconds >= 172_800 ? [86_400, 'days'] : seconds >= 7_200 ? [3_600, 'hours'] : [60, 'minutes'];
  return `, enough for ${Math.floor(seconds / size)} ${unit} without new lots`;
}
