import type { CertificateDocument } from '../../certificate/document.ts';
import { type InclusionProofText, parseCheckpoint, parseNote, parseProof } from '../../crypto/note.ts';
import { html, type Markup } from './layout.ts';

/*
 * What a certificate says, drawn: its p-values, its path to the root of the log and the order of its events. Each drawing
 * is made from members of the certificate alone, and says in words what it shows.
 */

type Certificate = CertificateDocument['certificate'];
type Lot = Certificate['provenance']['lots'][number];

const WIDTH = 360;
const HEIGHT = 96;
/** The plot ends at p = 10^-8; what is smaller stands at the bottom. */
const DECADES = 8;
/** The rule of docs/evidence.md: a row below 0.01 counts against the window, one below 0.000001 fails it. */
const COUNTED_BELOW = 2;
const FAILING_BELOW = 6;

/** The smallest p-value of every tested window, on a logarithmic scale; null when nothing was tested. */
export function smallestPPlot(lots: readonly Lot[]): Markup | null {
  const tested = lots.flatMap((lot) => lot.tested);
  if (tested.length === 0) return null;
  const y = (decades: number) => ((HEIGHT * Math.min(decades, DECADES)) / DECADES).toFixed(1);
  const step = WIDTH / tested.length;
  const dots = tested.map(({ of, smallest_p: p }, i) => {
    const decades = p > 0 ? -Math.log10(p) : DECADES;
    const radius = Math.min(3.5, Math.max(1.5, step / 3));
    return html`<circle class="${of === 'raw' ? 'raw' : 'served'}" cx="${((i + 0.5) * step).toFixed(1)}" cy="${y(Math.max(0.4, Math.min(decades, DECADES - 0.4)))}" r="${radius.toFixed(1)}"/>`;
  });
  const least = Math.min(...tested.map(({ smallest_p: p }) => p));
  const raw = tested.filter(({ of }) => of === 'raw').length;
  const words = `Smallest p-value of each of ${tested.length} tested windows, ${raw} of them of raw noise: the least is ${rounded(least)}. A window fails below 0.000001.`;
  return html`<figure class="plot tall"><figcaption><span>Smallest p-value of each tested window</span> <strong>least ${rounded(least)}</strong></figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${words}">
<path class="grid" d="M0 ${y(COUNTED_BELOW)}H${WIDTH}"/><path class="limit" d="M0 ${y(FAILING_BELOW)}H${WIDTH}"/>${dots}
<text x="4" y="${Number(y(COUNTED_BELOW)) - 3}">0.01</text><text x="4" y="${Number(y(FAILING_BELOW)) - 3}">0.000001, a window fails below</text></svg>
<p class="scale"><span><span class="mark served"></span> ${tested.length - raw} of what answers are drawn from</span><span><span class="mark raw"></span> ${raw} of raw noise, may be biased</span></p></figure>`;
}

/** Three significant figures: the exact one stands in the JSON. */
export function rounded(value: number): string {
  if (value !== 0 && Math.abs(value) < 0.001) return value.toExponential(1);
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(3)));
}

/** A figure of six decimals that is promised as a least, to three decimals: never rounded up. */
export function roundedDown(value: number): string {
  return String(Math.floor(Math.round(value * 1e6) / 1000) / 1000);
}

interface Step {
  /** The side on which the sibling stands. */
  readonly side: 'left' | 'right';
  readonly sibling: string;
}

/** The siblings from the leaf up, with the side on which each is hashed (RFC 9162, 2.1.3.2). */
export function stepsOf({ index, path }: Pick<InclusionProofText, 'index' | 'path'>, size: number): Step[] {
  let place = index;
  let last = size - 1;
  return path.map((hash) => {
    const isLeft = place % 2 === 1 || place === last;
    if (isLeft) {
      while (place % 2 === 0 && place !== 0) {
        place = Math.floor(place / 2);
        last = Math.floor(last / 2);
      }
    }
    place = Math.floor(place / 2);
    last = Math.floor(last / 2);
    return { side: isLeft ? 'left' : 'right', sibling: Buffer.from(hash).toString('hex') };
  });
}

const ROW = 24;
/** Below the leaf, for its name. */
const FOOT = 16;
const TREE_WIDTH = 320;

/** The way from the leaf up to the signed root; null while the certificate is being logged. */
export function merklePath(proofText: string | null): Markup | null {
  const proof = proofText === null ? undefined : parseProof(proofText);
  const note = proof && parseNote(proof.note);
  const checkpoint = note && parseCheckpoint(note.text);
  if (proof === undefined || checkpoint === undefined) return null;
  const steps = stepsOf(proof, checkpoint.size);
  const height = ROW * (steps.length + 1) + FOOT;
  const rowOf = (i: number) => height - FOOT - ROW / 2 - ROW * i;
  const middle = TREE_WIDTH / 2;
  const rows = steps.map(({ side, sibling }, i) => {
    const y = rowOf(i);
    const x = middle + (side === 'left' ? -58 : 58);
    const anchor = side === 'left' ? 'end' : 'start';
    return html`<path class="edge" d="M${x} ${y}L${middle} ${y - ROW}"/><circle class="sibling" cx="${x}" cy="${y}" r="5"/>
<text class="${anchor}" x="${x + (side === 'left' ? -9 : 9)}" y="${y + 4}">${sibling.slice(0, 8)}…</text>`;
  });
  const nodes = Array.from({ length: steps.length + 1 }, (_, i) => {
    const y = rowOf(i);
    return html`${i === 0 ? null : html`<path class="way" d="M${middle} ${y + ROW}V${y}"/>`}<circle class="node" cx="${middle}" cy="${y}" r="6"/>`;
  });
  const words =
    `Leaf ${grouped(proof.index)} of ${grouped(checkpoint.size)}: hashed with ${steps.length} siblings up to the signed root.` +
    (steps.length === 0
      ? ''
      : ` Siblings from the leaf up: ${steps.map(({ side, sibling }) => `${side} ${sibling.slice(0, 8)}`).join(', ')}.`);
  return html`<figure class="merkle"><figcaption>From leaf ${grouped(proof.index)} up to the signed root of ${grouped(checkpoint.size)} entries</figcaption>
<svg viewBox="0 0 ${TREE_WIDTH} ${height}" role="img" aria-label="${words}">${rows}${nodes}
<text x="${middle + 12}" y="${ROW / 2 + 4}">root</text><text class="middle" x="${middle}" y="${height - 4}">this certificate</text></svg></figure>`;
}

interface Event {
  readonly at: string;
  readonly what: string;
}

/** What happened when: lots read, the answer issued, a withdrawal. Times between two events are rounded. */
export function timeLine({ certificate, revocation }: CertificateDocument): Markup {
  const finished = certificate.provenance.lots.map((lot) => lot.finished_at).sort();
  const [first, last] = [finished[0], finished.at(-1)];
  const events: Event[] = [];
  if (first !== undefined && finished.length === 1)
    events.push({ at: first, what: 'The lot was read and tested' });
  if (first !== undefined && last !== undefined && finished.length > 1) {
    events.push({ at: first, what: 'The first lot was read and tested' });
    events.push({ at: last, what: 'The last lot was read and tested' });
  }
  events.push({ at: certificate.issued_at, what: 'The answer was issued' });
  if (revocation !== undefined)
    events.push({ at: revocation.revoked_at, what: 'The operator withdrew a lot' });
  events.sort((a, b) => a.at.localeCompare(b.at));
  const items = events.map(({ at, what }, i) => {
    const passed =
      i === 0
        ? null
        : html` <span class="passed">${durationText(Date.parse(at) - Date.parse(events[i - 1].at))} later</span>`;
    return html`<li><strong>${what}</strong>${passed}<time datetime="${at}">${at.slice(0, 19).replace('T', ' ')} UTC</time></li>`;
  });
  return html`<ol class="time-line">${items}</ol>`;
}

function durationText(ms: number): string {
  const units: [unit: string, ms: number][] = [
    ['days', 86_400_000],
    ['hours', 3_600_000],
    ['minutes', 60_000],
    ['seconds', 1_000],
  ];
  const found = units.find(([, size]) => ms >= 2 * size);
  return found === undefined ? `${ms} ms` : `${Math.round(ms / found[1])} ${found[0]}`;
}

function grouped(count: number): string {
  return count.toLocaleString('en-US');
}
