import type { LotOfRecord, PublicLot } from '../../certificate/archive.ts';
import { certifiedLot } from '../../certificate/lot-leaf.ts';
import { grouped, roundedDown } from '../../core/figures.ts';
import { parseProof } from '../../crypto/note.ts';
import type { LotRecord, LotRevocation } from '../../ledger/records.ts';
import { banner, lotDetails } from './certificate-page.ts';
import { html, type Markup, time } from './layout.ts';
import { barPlot, histogram, onesSharePlot } from './lot-plots.ts';

/** Returns the public page of a lot: the results of its tests, as plots and in words. */
export function lotMain({ lot, revocation }: LotOfRecord, logged: PublicLot | undefined): Markup {
  return html`<h1>A lot of random bits</h1>
${revocation === null ? null : withdrawn(revocation)}
<p class="lead">One read of a source: <code>${lot.id}</code>. What it was read from and how stands in the certificate of every answer that
drew on it. ${lot.accepted ? '' : 'It was refused, and nothing was ever drawn from it. '}These figures can refute randomness; they do not prove it.</p>
<section aria-labelledby="p-values"><h2 id="p-values">P-values of SP 800-22</h2>
<div class="plots">${pValuePlots(lot)}</div></section>
<section aria-labelledby="estimators"><h2 id="estimators">Estimators of SP 800-90B</h2>${estimatorPlot(lot)}</section>
<section aria-labelledby="channels"><h2 id="channels">Channels</h2>${channelPlot(lot)}</section>
<section aria-labelledby="logged"><h2 id="logged">In the log</h2>${logged === undefined ? NOT_LOGGED : placeInLog(logged)}</section>
${lot.accepted ? html`<section aria-labelledby="record"><h2 id="record">As the log holds it</h2>${lotDetails(certifiedLot(lot).leaf, true)}</section>` : null}`;
}

const NOT_LOGGED = html`<p>No leaf: nothing can be drawn from it yet, or it was refused.</p>`;

function placeInLog({ lot_id, proof, withdrawal, withdrawals, statement }: PublicLot): Markup {
  const until = statement === null ? undefined : parseProof(statement.proof)?.index;
  const counted = withdrawals.some((leaf) => leaf.includes(`"lot_id":"${lot_id}"`));
  const notWithdrawn =
    until === undefined || counted
      ? ''
      : `It had not been withdrawn when the log had ${grouped(until)} leaves: ${withdrawals.length === 0 ? 'no lot had been.' : `the withdrawals before, ${withdrawals.length} in all, are of other lots.`}`;
  return html`<p>Logged as leaf ${grouped(parseProof(proof)?.index ?? 0)} before anything was drawn from it. ${notWithdrawn}
${withdrawal === null ? '' : 'Its withdrawal is in the log.'} The <a href="/log/lots/${lot_id}">leaves and their proofs</a> are checked by
<code>qrn log lot ${lot_id}</code>.</p>`;
}

function withdrawn({ why, atMs }: LotRevocation): Markup {
  return banner(
    'bad',
    'Withdrawn: do not rely on this lot.',
    html`The operator withdrew it on ${time(atMs)}. Reason: <bdi>${why}</bdi>`,
  );
}

function pValuePlots({ assessments }: LotRecord): Markup[] {
  return assessments.map(({ of, firstBit, order, sp80022 }) => {
    const counts = new Array<number>(10).fill(0);
    for (const digit of sp80022.deciles) counts[Number(digit)]++;
    const which = order === 'channels' ? `${of} bits, by channel` : `${of} bits`;
    return histogram(`P-values of ${which}, from bit ${grouped(firstBit)}`, counts);
  });
}

function estimatorPlot({ estimators, minEntropyPerBit }: LotRecord): Markup {
  const named = Object.entries(estimators ?? {});
  if (named.length === 0) return html`<p>None: the lot is too short.</p>`;
  return html`${barPlot('Bits per bit, of the window that scored least', named)}
<p class="hint">Certified: ${minEntropyPerBit === null ? 'not assessed' : roundedDown(minEntropyPerBit)}. The least estimator counts, and never more than the source claims.</p>`;
}

function channelPlot({ onesShares, shots }: LotRecord): Markup {
  if (onesShares === undefined) return html`<p>None: a sample of the csprng stream has no channels.</p>`;
  return onesSharePlot(onesShares, shots, 'channel');
}
