import { grouped } from '../../certificate/drawings.ts';
import { type EntropyMode, isQuantum, type Origin } from '../../core/vocabulary.ts';
import type { EvidenceLevel } from '../../ledger/records.ts';
import type { HealthStatus } from '../plain-routes.ts';
import { evidenceLadder } from './certificate-drawings.ts';
import { banner } from './certificate-page.ts';
import { healthStrip, hourSeries, plot, spanOf } from './hour-plots.ts';
import { type Content, html, type Markup } from './layout.ts';
import { type LotHistory, lotPlots, onesSharePlot } from './lot-plots.ts';
import { liveTexts, modeTable } from './status-live.ts';

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
  readonly modes: readonly ModeFigures[];
  readonly requestsPerS: number;
  readonly commitP50Ms: number | null;
  readonly logEntries: number;
  /** The last hour, oldest first. */
  readonly history: readonly StatusPoint[];
}

export interface StatusSource {
  readonly name: string;
  readonly origin: Origin;
  /** Nobody but the operator says what the origin is. */
  readonly isDeclared: boolean;
  /** The processor that the newest lot came from. */
  readonly backend: string | null;
  readonly state: string;
  readonly lastLotAtMs: number | null;
  /** Of the bytes that all sources gave since the start; null when none did. */
  readonly share: number | null;
  readonly lots: LotHistory;
  readonly newestLot: NewestLot | null;
}

/** What is public of the newest lot that serves. Its raw bits never are: pure values can be computed from them. */
export interface NewestLot {
  readonly id: string;
  readonly rawBits: number;
  readonly minEntropyPerBit: number | null;
  /** Share of ones of each channel; null for lots that do not record it. */
  readonly onesShares: readonly number[] | null;
  /** Shots of each channel. */
  readonly shots: number;
  readonly claim: EvidenceLevel | null;
}

/** Requests that were answered in a mode, refusals included. */
export interface ModeFigures {
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

/** The front page: what this is, what it draws on, how it does. `hasDemo`: it may ask for answers of its own. */
export function statusMain(facts: StatusFacts, hasDemo: boolean): Markup {
  const span = spanOf(facts.atMs, facts.startedAtMs);
  const texts = liveTexts(facts);
  const live = (key: string) => html`<span data-live="${key}">${texts[key]}</span>`;
  return html`<h1>Quantum Random Number Service</h1>
<p class="lead">Random numbers over HTTP, each answer with a certificate that states where its entropy came from and that anyone can
check.</p>
${sourceBanner(facts)}
${statusBanner(facts)}
${hasDemo ? sampleSection() : null}
<section aria-labelledby="traffic"><h2 id="traffic">Requests and latency</h2>${modeTable(facts)}</section>
<section aria-labelledby="hour"><h2 id="hour">Recent past</h2>
${healthStrip(facts.history, span)}
<div class="plots">${hourSeries(facts.history, facts.pure.highBytes).map((series) => plot(series, span))}</div></section>
<section aria-labelledby="modes"><h2 id="modes">Entropy modes now</h2>${modes(facts, live)}</section>
<section aria-labelledby="sources"><h2 id="sources">Sources</h2>${sourceList(facts)}</section>
${facts.sources.map(newestLotSection)}
<section aria-labelledby="lots"><h2 id="lots">The last lots</h2>
<p>Each lot is one read of a source. These figures can refute randomness; they do not prove it.</p>
<div class="plots">${facts.sources.flatMap(({ name, lots }) => lotPlots(name, lots))}</div></section>
<section aria-labelledby="links"><h2 id="links">Use it</h2>
<ul class="links">
<li><a href="/docs">Documentation</a> with examples that run, and a form to try each call</li>
<li><a href="/openapi.json">OpenAPI 3.1 document</a> for code generators</li>
<li><a href="/verify">Check a certificate</a>, here or with <a href="/assets/qrn-verify.mjs" download>the verifier as one file</a></li>
<li><a href="/log/checkpoint">Signed checkpoint</a> of the log, with ${live('log-entries')} entries</li>
</ul></section>
<p class="hint">Version ${facts.version}, running since <time datetime="${isoOf(facts.startedAtMs)}">${utcText(facts.startedAtMs)}</time>.
These figures are as of ${live('as-of')}<span id="freshness">; reload for newer ones.</span></p>
<p id="edition" data-edition="${texts['edition']}" hidden><a href="/">Sources, checks or lots have changed: reload this page.</a></p>`;
}

/** Answers that the page asks for by itself; the script shows and verifies them. */
function sampleSection(): Markup {
  return html`<section class="samples scripted" aria-labelledby="samples"><h2 id="samples">Try it now</h2>
<p>Each button asks the service for a real answer, and the verifier in this page checks it against its certificate and the signed log.
These answers are public: whoever asks within the same second sees the same one.</p>
<div class="sample-pair">
<div><button type="button" id="die-button">Roll a die</button><p id="die" class="drawn" aria-live="polite">–</p>
<div id="die-checks" class="checks" role="status"></div></div>
<div><button type="button" id="bits-button">Draw 1,024 bits</button>
<svg id="raster" class="raster" viewBox="0 0 64 16" role="img" aria-label="No bits were drawn yet."><path d=""/></svg>
<div id="bits-checks" class="checks" role="status"></div></div>
</div></section>`;
}

function newestLotSection({ name, newestLot: lot }: StatusSource): Markup | null {
  if (lot === null) return null;
  const id = `newest-${name}`;
  const entropy =
    lot.minEntropyPerBit === null ? 'not assessed' : `${lot.minEntropyPerBit.toFixed(3)} per raw bit`;
  return html`<section aria-labelledby="${id}"><h2 id="${id}">Newest lot of ${name}</h2>
<p><a href="/lots/${lot.id}"><code>${lot.id}</code></a>: ${grouped(lot.rawBits)} raw bits, min-entropy ${entropy}. The raw bits of a
lot are never shown, because pure values can be computed from them.</p>
<div class="newest">
${lot.onesShares === null ? null : onesSharePlot(lot.onesShares, lot.shots, 'qubit')}
${lot.claim === null ? null : html`<div><h3>What it is evidence of</h3>${evidenceLadder(lot.claim)}</div>`}
</div></section>`;
}

/** The one source, or the loudest of several: what is not quantum is said before what is. */
function sourceBanner({ sources }: StatusFacts): Markup {
  const [first] = sources;
  const declared = sources.filter(({ isDeclared }) => isDeclared);
  if (declared.length > 0 && sources.every(({ origin }) => isQuantum(origin))) {
    return banner(
      'wait',
      'DECLARED: the origin of a source is not attested.',
      `The operator says that ${declared.map(({ name }) => name).join(', ')} ${declared.length === 1 ? 'is quantum' : 'are quantum'}; nothing attests it, and every answer of it says so. ${stateWords(sources)}`,
    );
  }
  if (sources.every(({ origin }) => origin === first.origin)) return originBanner(first, sources);
  const others = sources.filter(({ origin, isDeclared }) => isDeclared || !isQuantum(origin));
  if (others.length === 0) {
    return banner('good', 'Quantum processors and devices are the sources.', stateWords(sources));
  }
  return banner(
    'wait',
    'MIXED: not every source is a quantum one.',
    `${others.map((source) => `${source.name} is ${originWords(source)}`).join('; ')}. Every answer names the origin of what it drew on.`,
  );
}

const ORIGIN_WORDS: Readonly<Record<Origin, string>> = {
  'quantum-processor': 'a quantum processor',
  'qrng-device': 'a quantum device',
  simulated: 'simulated',
  replay: 'a replay of bits recorded earlier',
  system: 'the generator of the operating system',
};

function originWords({ origin, isDeclared }: StatusSource): string {
  return isDeclared ? 'declared to be quantum by its operator' : ORIGIN_WORDS[origin];
}

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
  return html`<dl>${sources.map((source) => {
    const { name, state, share, lastLotAtMs } = source;
    const works = state === 'ok' || state === 'standby';
    const given = share === null ? '' : `, gave ${Math.round(100 * share)} % of the bytes since the start`;
    const last =
      lastLotAtMs === null
        ? html`, no lot yet`
        : html`, newest lot <time datetime="${isoOf(lastLotAtMs)}">${utcText(lastLotAtMs)}</time>`;
    return html`<div><dt><code>${name}</code></dt>
<dd><strong class="${works ? 'works' : 'closed'}">${state}</strong>, ${originWords(source)}${given}${last}</dd></div>`;
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

function modes({ pure, seeds, csprngReady, sources }: StatusFacts, live: (key: string) => Markup): Markup {
  const isClosed = sources.every(({ state }) => state === 'closed');
  const isPureOpen = pure.bytes > 0 && !isClosed;
  const rows: [mode: string, works: boolean, what: Content][] = [
    ['quantum-seeded', seeds.inForce, live('seeds-left')],
    ['pure', isPureOpen, live('pure-left')],
    ['csprng', csprngReady, 'system entropy, no quantum origin'],
  ];
  return html`<dl>${rows.map(
    ([mode, works, what]) => html`<div><dt><code>${mode}</code></dt>
<dd><strong class="${works ? 'works' : 'closed'}">${works ? 'Served' : 'Not served'}</strong>, ${what}</dd></div>`,
  )}</dl>`;
}

function isoOf(atMs: number): string {
  return new Date(atMs).toISOString();
}

function utcText(atMs: number): string {
  return `${isoOf(atMs).slice(0, 16).replace('T', ' ')} UTC`;
}
