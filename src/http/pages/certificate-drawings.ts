import type { CertificateDocument } from '../../certificate/document.ts';
import { durationText, grouped, rounded } from '../../core/figures.ts';
import { EVIDENCE_LEVELS, type EvidenceLevel } from '../../ledger/records.ts';
import { html, type Markup, time } from './layout.ts';
import { bars } from './plots.ts';

/* Drawings for the page of a certificate: its p-values, the order of its events, and the level of its evidence. */

type Lot = CertificateDocument['lots'][number]['leaf'];

/** The range of the plot: it ends at p = 10^-8. */
const DECADES = 8;
/** The rule of docs/evidence.md: a window with a p-value below 10^-6 fails. */
const FAILING_DECADES = 6;

/** Plots the smallest p-value of every tested window on a logarithmic scale, those of raw noise first. */
export function smallestPPlot(windows: Lot['tested']): Markup {
  const ofRaw = windows.filter(({ of }) => of === 'raw');
  const tested = [...ofRaw, ...windows.filter(({ of }) => of !== 'raw')];
  const least = rounded(Math.min(...tested.map(({ smallest_p: p }) => p)));
  const drawn = tested.map(({ of, smallest_p: p }) => ({
    y: Math.min(DECADES, -Math.log10(p)),
    tone: of === 'raw' ? 'raw' : '',
  }));
  return bars(drawn, {
    label:
      'Smallest p-value of each tested window. A taller bar is a smaller p-value; a window above the line fails.',
    value: `least ${least}`,
    words: `Smallest p-value of each of ${grouped(tested.length)} tested windows, ${grouped(ofRaw.length)} of them of raw bits. The smallest is ${least}. A window fails below 0.000001.`,
    axis: [
      `${ofRaw.length} of raw bits, which may be biased`,
      `${tested.length - ofRaw.length} of bits that answers are drawn from`,
    ],
    y: [0, DECADES],
    rule: FAILING_DECADES,
  });
}

/** Lists the events, the earliest first: lots read, the answer issued, a withdrawal. Times between two events are rounded. */
export function timeLine({ certificate, lots, revocation }: CertificateDocument): Markup {
  const finished = lots.map(({ leaf }) => leaf.finished_at).sort();
  const [first, last] = [finished[0], finished[finished.length - 1]];
  const events: [at: string, what: string][] = [
    [first, `The ${finished.length === 1 ? '' : 'first '}lot was read and tested`],
  ];
  if (finished.length > 1) events.push([last, 'The last lot was read and tested']);
  events.push([certificate.issued_at, 'The answer was issued']);
  if (revocation !== undefined) events.push([revocation.revoked_at, 'The operator withdrew a lot']);
  events.sort(([a], [b]) => a.localeCompare(b));
  const items = events.map(([at, what], i) => {
    const passedMs = i === 0 ? undefined : Date.parse(at) - Date.parse(events[i - 1][0]);
    const passed = passedMs === undefined ? null : html` <span>${durationText(passedMs)} later</span>`;
    return html`<li><strong>${what}</strong>${passed}${time(at)}</li>`;
  });
  return html`<ol class="steps">${items}</ol>`;
}

/** The claim of each level, in one sentence for readers; docs/evidence.md has the bounds and their assumptions. */
const STEPS: Readonly<Record<EvidenceLevel, readonly [name: string, meaning: string]>> = {
  simulated: ['Simulated', 'A program computed the bits. No quantum hardware was involved.'],
  statistical: ['Statistical', 'The bits passed the tests. Tests cannot show where bits come from.'],
  calibrated: [
    'Calibrated',
    'The claim follows from published readout errors and the shots of the lot, if its bits are independent and identically distributed.',
  ],
};

/** Lists the levels of evidence, the weakest first, and marks the one that is reached. */
export function evidenceLadder(reached: EvidenceLevel): Markup {
  const place = EVIDENCE_LEVELS.indexOf(reached);
  const steps = EVIDENCE_LEVELS.map((level, i) => {
    const [name, meaning] = STEPS[level];
    const state = i === place ? html` aria-current="step"` : null;
    return html`<li${state}><strong>${name}</strong> <span class="meaning">${meaning}</span></li>`;
  });
  return html`<ol class="steps ladder" aria-label="Levels of evidence, the weakest first">${steps}</ol>`;
}
