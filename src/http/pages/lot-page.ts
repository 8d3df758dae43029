import type { LotOfRecord, PublicLot } from '../../certificate/archive.ts';
import { certifiedLot } from '../../certificate/lot-leaf.ts';
import { grouped, roundedDown } from '../../core/figures.ts';
import { parseProof } from '../../crypto/note.ts';
import type { LotRecord, LotRevocation } from '../../ledger/records.ts';
import { banner, lotDetails } from './certificate-page.ts';
import { html, type Markup, section, time } from './layout.ts';
import { barPlot, histogram, onesSharePlot } from './lot-plots.ts';

/** Returns the public page of a lot: the results of its tests, as plots and in words. */
export function lotMain({ lot, revocation }: LotOfRecord, logged: PublicLot | undefined): Markup {
  return html`<h1>A lot of random bits</h1>
${revocation === null ? null : withdrawn(revocation)}
<p class="lead">This lot is one read of a source: <code>${lot.id}</code>. The certificate of every answer that was drawn from it states the source and
the method. ${lot.accepted ? '' : 'The lot was rejected, and nothing was ever drawn from it. '}These figures can refute randomness, but they cannot prove it.</p>
<section aria-labelledby="p-values"><h2 id="p-values">P-values of SP 800-22</h2>
<div class="plots">${pValuePlots(lot)}</div></section>
${section('estimators', 'Estimators of SP 800-90B', estimatorPlot(lot))}
${section('channels', 'Channels', channelPlot(lot))}
${section('logged', 'In the log', logged === undefined ? NOT_LOGGED : placeInLog(logged))}
${lot.accepted ? section('record', 'The record in the log', lotDetails(certifiedLot(lot).leaf, true)) : null}`;
}

const NOT_LOGGED = html`<p>The lot has no leaf in the log. Either nothing can be drawn from it yet, or it was rejected.</p>`;

function placeInLog({ lot_id, proof, withdrawal, withdrawals, statement }: PublicLot): Markup {
  const until = statement === null ? undefined : parseProof(statement.proof)?.index;
  const counted = withdrawals.some((leaf) => leaf.includes(`"lot_id":"${lot_id}"`));
  const notWithdrawn =
    until === undefined || counted
      ? ''
      : `It was not withdrawn when the log had ${grouped(until)} leaves: ${withdrawals.length === 0 ? 'no lot was.' : `all ${withdrawals.length} withdrawals before that are of other lots.`}`;
  return html`<p>Logged as leaf ${grouped(parseProof(proof)?.index ?? 0)} before anything was drawn from it. ${notWithdrawn}
${withdrawal === null ? '' : 'Its withdrawal is in the log.'} To verify the <a href="/log/lots/${lot_id}">leaves and their proofs</a>, run
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
  if (named.length === 0) return html`<p>The lot is too short for the estimators.</p>`;
  return html`${barPlot('Estimated bits per bit, of the window with the lowest estimate', named)}
<p class="hint">Certified: ${minEntropyPerBit === null ? 'not assessed' : roundedDown(minEntropyPerBit)}. The lowest estimate counts, but at most the min-entropy that the source claims.</p>`;
}

function channelPlot({ onesShares, shots }: LotRecord): Markup {
  if (onesShares === undefined) return html`<p>A sample of the csprng stream has no channels.</p>`;
  return onesSharePlot(onesShares, shots, 'channel');
}
