import { EVIDENCE_LEVELS, type EvidenceLevel } from '../../ledger/records.ts';
import { html, type Markup } from './layout.ts';

/** What each step claims, in one sentence for people; docs/evidence.md has the bounds and their assumptions. */
const STEPS: Readonly<Record<EvidenceLevel, readonly [name: string, meaning: string]>> = {
  simulated: ['Simulated', 'A program computed the bits. No quantum hardware was involved.'],
  statistical: ['Statistical', 'The bits passed the tests. Tests cannot tell where bits come from.'],
  calibrated: [
    'Calibrated',
    'Published readout errors and the lot’s own shots, if its bits are independent and identically distributed.',
  ],
  'source-independent': [
    'Source-independent',
    'Test rounds bound the min-entropy whatever state was prepared, if the state does not depend on the basis; the measurement is trusted.',
  ],
  'bell-witness': [
    'Bell witness',
    'Test rounds violated a Bell inequality. Devices whose sides neither signal nor know the settings beforehand need quantum states for that; one controller may know both. It gives no min-entropy.',
  ],
};

/** The five levels of evidence, the weakest first, with the one that is reached marked. */
export function evidenceLadder(reached: EvidenceLevel): Markup {
  const place = EVIDENCE_LEVELS.indexOf(reached);
  const steps = EVIDENCE_LEVELS.map((level, i) => {
    const [name, meaning] = STEPS[level];
    const state = i === place ? html` class="reached" aria-current="step"` : null;
    return html`<li${state}><strong>${name}</strong> <span>${meaning}</span></li>`;
  });
  return html`<ol class="ladder" aria-label="Levels of evidence, the weakest first">${steps}</ol>`;
}
