import type { CertificateDocument } from '../../certificate/document.ts';
import { eventsOf, merkleDrawing, pValuePlot } from '../../certificate/drawings.ts';
import { EVIDENCE_LEVELS, type EvidenceLevel } from '../../ledger/records.ts';
import { html, type Markup } from './layout.ts';

/*
 * The drawings of a certificate (certificate/drawings.ts) as SVG and lists. Each says in words what it shows.
 */

type Lot = CertificateDocument['lots'][number]['leaf'];

const PLOT = { width: 360, height: 96 } as const;

/** The smallest p-value of every tested window, on a logarithmic scale; null when nothing was tested. */
export function smallestPPlot(lots: readonly Lot[]): Markup | null {
  const plot = pValuePlot(lots, PLOT);
  if (plot === undefined) return null;
  const { served, raw, radius, countedY, failingY, least, words } = plot;
  const dots = (['served', 'raw'] as const).flatMap((of) =>
    plot[of].map(
      ({ x, y }) =>
        html`<circle class="${of}" cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="${radius.toFixed(1)}"/>`,
    ),
  );
  return html`<figure class="plot tall"><figcaption><span>Smallest p-value of each tested window</span> <strong>least ${least}</strong></figcaption>
<svg viewBox="0 0 ${PLOT.width} ${PLOT.height}" role="img" aria-label="${words}">
<path class="grid" d="M0 ${countedY.toFixed(1)}H${PLOT.width}"/><path class="limit" d="M0 ${failingY.toFixed(1)}H${PLOT.width}"/>${dots}
<text x="4" y="${(countedY - 3).toFixed(1)}">0.01</text><text x="4" y="${(failingY - 3).toFixed(1)}">0.000001, a window fails below</text></svg>
<p class="scale"><span><span class="mark served"></span> ${served.length} of what answers are drawn from</span><span><span class="mark raw"></span> ${raw.length} of raw noise, may be biased</span></p></figure>`;
}

const TREE_WIDTH = 320;

/** The way from the leaf up to the signed root; null while the certificate is being logged. */
export function merklePath(proofText: string | null): Markup | null {
  const drawing = merkleDrawing(proofText, TREE_WIDTH);
  if (drawing === undefined) return null;
  const { nodes, siblings, height, title, words } = drawing;
  const rows = siblings.map(({ x, y, side, label }, i) => {
    const anchor = side === 'left' ? 'end' : 'start';
    return html`<path class="edge" d="M${x} ${y}L${nodes[i + 1].x} ${nodes[i + 1].y}"/><circle class="sibling" cx="${x}" cy="${y}" r="5"/>
<text class="${anchor}" x="${x + (side === 'left' ? -9 : 9)}" y="${y + 4}">${label}</text>`;
  });
  const way = nodes.map(
    ({ x, y }, i) =>
      html`${i === 0 ? null : html`<path class="way" d="M${x} ${nodes[i - 1].y}V${y}"/>`}<circle class="node" cx="${x}" cy="${y}" r="6"/>`,
  );
  const [leaf, root] = [nodes[0], nodes[nodes.length - 1]];
  return html`<figure class="merkle"><figcaption>${title}</figcaption>
<svg viewBox="0 0 ${TREE_WIDTH} ${height}" role="img" aria-label="${words}">${rows}${way}
<text x="${root.x + 12}" y="${root.y + 4}">root</text><text class="middle" x="${leaf.x}" y="${height - 4}">this certificate</text></svg></figure>`;
}

/** What happened when: lots read, the answer issued, a withdrawal. Times between two events are rounded. */
export function timeLine(document: CertificateDocument): Markup {
  const items = eventsOf(document).map(({ at, shownAt, what, passed }) => {
    const since = passed === undefined ? null : html` <span class="passed">${passed}</span>`;
    return html`<li><strong>${what}</strong>${since}<time datetime="${at}">${shownAt}</time></li>`;
  });
  return html`<ol class="time-line">${items}</ol>`;
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
