import type { CertificateDocument } from '../../certificate/document.ts';
import { grouped, rounded } from '../../certificate/figures.ts';
import { readProof } from '../../certificate/signed-checkpoint.ts';
import type { InclusionProofText } from '../../crypto/note.ts';
import { EVIDENCE_LEVELS, type EvidenceLevel } from '../../ledger/records.ts';
import { html, type Markup } from './layout.ts';

/*
 * What a certificate says, drawn: its p-values, its path to the root of the log and the order of its events, as SVG and
 * lists. Each drawing says in words what it shows.
 */

type Lot = CertificateDocument['lots'][number]['leaf'];

const PLOT = { width: 360, height: 96 } as const;
/** The plot ends at p = 10^-8; what is smaller stands at the bottom. */
const DECADES = 8;
/** The centre of a point stays this far inside the plot, in decades. */
const INSET = 0.4;
/** The rule of docs/evidence.md, in decades: a row below 0.01 counts against the window, one below 0.000001 fails it. */
const COUNTED_BELOW = 2;
const FAILING_BELOW = 6;

/** The smallest p-value of every tested window, on a logarithmic scale; null when nothing was tested. */
export function smallestPPlot(lots: readonly Lot[]): Markup | null {
  const tested = lots.flatMap((lot) => lot.tested);
  if (tested.length === 0) return null;
  const yOf = (decades: number) => (PLOT.height * decades) / DECADES;
  const step = PLOT.width / tested.length;
  const radius = Math.min(3.5, Math.max(1.5, step / 3)).toFixed(1);
  const dots = tested.map(({ of, smallest_p: p }, i) => {
    const decades = Math.min(p > 0 ? -Math.log10(p) : DECADES, DECADES - INSET);
    const [x, y] = [(i + 0.5) * step, yOf(Math.max(INSET, decades))];
    return html`<circle class="${of === 'raw' ? 'raw' : 'served'}" cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="${radius}"/>`;
  });
  const raw = tested.filter(({ of }) => of === 'raw').length;
  const least = rounded(Math.min(...tested.map(({ smallest_p: p }) => p)));
  const words = `Smallest p-value of each of ${grouped(tested.length)} tested windows, ${grouped(raw)} of them of raw noise: the least is ${least}. A window fails below 0.000001.`;
  const [countedY, failingY] = [yOf(COUNTED_BELOW), yOf(FAILING_BELOW)];
  return html`<figure class="plot tall"><figcaption><span>Smallest p-value of each tested window</span> <strong>least ${least}</strong></figcaption>
<svg viewBox="0 0 ${PLOT.width} ${PLOT.height}" role="img" aria-label="${words}">
<path class="grid" d="M0 ${countedY.toFixed(1)}H${PLOT.width}"/><path class="limit" d="M0 ${failingY.toFixed(1)}H${PLOT.width}"/>${dots}
<text x="4" y="${(countedY - 3).toFixed(1)}">0.01</text><text x="4" y="${(failingY - 3).toFixed(1)}">0.000001, a window fails below</text></svg>
<p class="scale"><span><span class="mark served"></span> ${tested.length - raw} of what answers are drawn from</span><span><span class="mark raw"></span> ${raw} of raw noise, may be biased</span></p></figure>`;
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
  const up = () => {
    place = Math.floor(place / 2);
    last = Math.floor(last / 2);
  };
  return path.map((hash) => {
    const isLeft = place % 2 === 1 || place === last;
    if (isLeft) while (place % 2 === 0 && place !== 0) up();
    up();
    return { side: isLeft ? 'left' : 'right', sibling: Buffer.from(hash).toString('hex') };
  });
}

const TREE_WIDTH = 320;
const ROW = 24;
/** Below the leaf, for its name. */
const LEAF_NAME = 16;
const SIBLING_AWAY = 58;

/** The way from the leaf up to the signed root; null while the certificate is being logged. */
export function merklePath(proofText: string | null): Markup | null {
  if (proofText === null) return null;
  const { proof, checkpoint } = readProof(proofText);
  const steps = stepsOf(proof, checkpoint.size);
  const height = ROW * (steps.length + 1) + LEAF_NAME;
  const middle = TREE_WIDTH / 2;
  const yOf = (i: number) => height - LEAF_NAME - ROW / 2 - ROW * i;
  const [leaf, size] = [grouped(proof.index), grouped(checkpoint.size)];
  const listed = steps.map(({ side, sibling }) => `${side} ${sibling.slice(0, 8)}`).join(', ');
  const words =
    `Leaf ${leaf} of ${size}: hashed with ${steps.length} siblings up to the signed root.` +
    (steps.length === 0 ? '' : ` Siblings from the leaf up: ${listed}.`);
  const siblings = steps.map(({ side, sibling }, i) => {
    const [x, y] = [middle + (side === 'left' ? -SIBLING_AWAY : SIBLING_AWAY), yOf(i)];
    const [anchor, textX] = side === 'left' ? ['end', x - 9] : ['start', x + 9];
    return html`<path class="edge" d="M${x} ${y}L${middle} ${yOf(i + 1)}"/><circle class="sibling" cx="${x}" cy="${y}" r="5"/>
<text class="${anchor}" x="${textX}" y="${y + 4}">${sibling.slice(0, 8)}…</text>`;
  });
  const way = Array.from(
    { length: steps.length + 1 },
    (_, i) =>
      html`${i === 0 ? null : html`<path class="way" d="M${middle} ${yOf(i - 1)}V${yOf(i)}"/>`}<circle class="node" cx="${middle}" cy="${yOf(i)}" r="6"/>`,
  );
  return html`<figure class="merkle"><figcaption>From leaf ${leaf} up to the signed root of ${size} entries</figcaption>
<svg viewBox="0 0 ${TREE_WIDTH} ${height}" role="img" aria-label="${words}">${siblings}${way}
<text x="${middle + 12}" y="${yOf(steps.length) + 4}">root</text><text class="middle" x="${middle}" y="${height - 4}">this certificate</text></svg></figure>`;
}

/** What happened when, the earliest first: lots read, the answer issued, a withdrawal. Times between two events are rounded. */
export function timeLine({ certificate, lots, revocation }: CertificateDocument): Markup {
  const finished = lots.map(({ leaf }) => leaf.finished_at).sort();
  const events: [at: string, what: string][] =
    finished.length === 1
      ? [[finished[0], 'The lot was read and tested']]
      : [
          [finished[0], 'The first lot was read and tested'],
          [finished[finished.length - 1], 'The last lot was read and tested'],
        ];
  events.push([certificate.issued_at, 'The answer was issued']);
  if (revocation !== undefined) events.push([revocation.revoked_at, 'The operator withdrew a lot']);
  events.sort(([a], [b]) => a.localeCompare(b));
  const items = events.map(([at, what], i) => {
    const passedMs = i === 0 ? undefined : Date.parse(at) - Date.parse(events[i - 1][0]);
    const passed =
      passedMs === undefined ? null : html` <span class="passed">${durationText(passedMs)} later</span>`;
    const shownAt = `${at.slice(0, 19).replace('T', ' ')} UTC`;
    return html`<li><strong>${what}</strong>${passed}<time datetime="${at}">${shownAt}</time></li>`;
  });
  return html`<ol class="time-line">${items}</ol>`;
}

const UNITS: readonly (readonly [unit: string, ms: number])[] = [
  ['days', 86_400_000],
  ['hours', 3_600_000],
  ['minutes', 60_000],
  ['seconds', 1_000],
];

/** In the largest unit that it has twice. */
function durationText(ms: number): string {
  const found = UNITS.find(([, size]) => ms >= 2 * size);
  return found === undefined ? `${ms} ms` : `${Math.round(ms / found[1])} ${found[0]}`;
}

/** What each step claims, in one sentence for people; docs/evidence.md has the bounds and their assumptions. */
const STEPS: Readonly<Record<EvidenceLevel, readonly [name: string, meaning: string]>> = {
  simulated: ['Simulated', 'A program computed the bits. No quantum hardware was involved.'],
  statistical: ['Statistical', 'The bits passed the tests. Tests cannot tell where bits come from.'],
  calibrated: [
    'Calibrated',
    'Published readout errors and the lot’s own shots, if its bits are independent and identically distributed.',
  ],
};

/** The levels of evidence, the weakest first, with the one that is reached marked. */
export function evidenceLadder(reached: EvidenceLevel): Markup {
  const place = EVIDENCE_LEVELS.indexOf(reached);
  const steps = EVIDENCE_LEVELS.map((level, i) => {
    const [name, meaning] = STEPS[level];
    const state = i === place ? html` class="reached" aria-current="step"` : null;
    return html`<li${state}><strong>${name}</strong> <span>${meaning}</span></li>`;
  });
  return html`<ol class="ladder" aria-label="Levels of evidence, the weakest first">${steps}</ol>`;
}
