import { LEAGUE_OF_ENTROPY } from '../../beacon/drand.ts';
import type { DrawDocument } from '../../certificate/draw-document.ts';
import { OVERDUE_MS } from '../../certificate/draw-statement.ts';
import { grouped } from '../../core/figures.ts';
import { asJson, banner, originBanners, rows, witnessFields } from './certificate-page.ts';
import { FAIR_DRAWS_PATH, html, type Markup, section, time } from './layout.ts';

/** Returns the page of a committed draw: its state, its events, the winners, and what to check. */
export function drawMain(draw: DrawDocument, nowMs: number): Markup {
  const { id, statement, certificate, outcome } = draw;
  const origin = certificate === null ? null : originBanners(certificate);
  return html`<h1>Draw: <bdi>${statement.purpose}</bdi></h1>
<p class="id"><code>${id}</code></p>
${origin}
${stateBanner(draw, nowMs)}
${outcome === null ? countdown(draw, nowMs) : valuesSection(draw)}
<section aria-labelledby="trust"><h2 id="trust">What is left to trust</h2><p>${leftToTrust(statement)}</p></section>
<section class="check" aria-labelledby="check-title"><h2 id="check-title">Check it in this browser</h2>
<p>The check does not trust this service: it recomputes the values and verifies ${statement.beacon === undefined ? '' : 'the beacon’s signature and '}the signed log.
<a href="${FAIR_DRAWS_PATH}">How a draw is fair</a> explains each step.</p>
<p class="unscripted">The check is a script in your browser, and scripts are disabled. Save the draw below and run
<code>qrn verify DRAW.json</code>.</p>
<div class="scripted">${witnessFields('The times of the cosignatures show whether the commitment was logged before the round of the beacon.')}</div>
<div class="actions scripted"><button type="button" id="check-draw" data-draw="${id}" disabled>Check this draw</button></div>
<p class="links-inline"><a href="/v1/draws/${id}" download="${id}.json">Download this draw</a>, to keep it or to check it with
<code>qrn verify ${id}.json</code></p>
<div id="result" class="checks" role="status" aria-live="polite" aria-atomic="true" tabindex="-1"></div></section>
<div class="groups">
${section('time-line', 'What happened when', timeLine(draw))}
<section aria-labelledby="drawn"><h2 id="drawn">What is drawn</h2><dl>
${rows(requestRows(draw))}
</dl>${chancesTable(draw)}</section>
</div>
<section aria-labelledby="to-check"><h2 id="to-check">What you should compare yourself</h2>
<ul class="links">
<li>The purpose and the number of this draw: it is answer ${serialOf(draw)}. An earlier draw for the same purpose may have been
 discarded: <a href="/draws?purpose=${encodeURIComponent(statement.purpose)}">the list of this purpose</a> shows every number of public purposes.</li>
${statement.list === undefined ? null : html`<li>The published list: <code>sha256sum list.txt</code>, with one item per line, must print <code>${statement.list.sha256.slice('sha256:'.length)}</code>.</li>`}
${statement.beacon === undefined ? null : html`<li>The round of the beacon, from any drand server: <code>qrn beacon ${statement.beacon.round} --chain ${statement.beacon.chain}</code>.</li>`}
<li>The keys of the log, from someone other than this service: <a href="/.well-known/qrn-keys.json">these are the keys that the service itself publishes</a></li>
</ul>
</section>
${asJson('The draw', draw)}`;
}

const REASONS: Readonly<Record<string, string>> = {
  cancelled: 'The organiser cancelled it before it was due.',
  beacon_missing: 'The round of the beacon was not available.',
  beacon_wrong: 'The received round of the beacon has no valid signature of the beacon.',
  nonce_missing: 'The caller did not reveal the nonce.',
  secret_lost: 'The service lost the committed bytes.',
};

function stateBanner({ state, statement, outcome }: DrawDocument, nowMs: number): Markup {
  const why = REASONS[outcome?.reason ?? ''] ?? '';
  const until = statement.gives_up_at ?? statement.due_at;
  switch (state) {
    case 'revealed':
      return banner('good', 'Revealed.', 'The draw has ended, and anyone can recompute its values.');
    case 'cancelled':
      return banner('bad', 'Cancelled: it has no winners.', why);
    case 'failed':
      return banner('bad', 'Failed: it has no winners.', why);
    case 'committed':
      return nowMs > Date.parse(until) + OVERDUE_MS
        ? banner(
            'bad',
            'Overdue.',
            html`It should have ended by ${time(until)}. The log shows that it has not.`,
          )
        : banner(
            'wait',
            'Committed.',
            html`The draw is fixed${statement.beacon === undefined ? ' and can no longer be changed' : ', and nobody knows its outcome'}. It is due at ${time(statement.due_at)}.`,
          );
  }
}

/** Returns two sentences: what the check shows, and what it cannot show. */
function leftToTrust({ beacon, nonce_sha256: hidden }: DrawDocument['statement']): string {
  if (beacon !== undefined)
    return 'The outcome was fixed before the beacon’s round was known, so neither the service nor the organiser could choose it alone. You still have to trust that the service did not learn the round in advance from the operators of the beacon.';
  if (hidden !== undefined)
    return 'The outcome follows from bytes of the service and from a nonce that the organiser revealed after these bytes were fixed, so neither could choose it alone. You still have to trust that the two did not work together.';
  return 'Nothing was changed after the commitment, and anyone can recompute the outcome. Without a beacon, the service could have known the outcome when it committed, so you still have to trust that it did not choose the outcome.';
}

/** Shows the time at which the draw is due. The script of the page replaces it by a countdown. */
function countdown({ statement }: DrawDocument, nowMs: number): Markup | null {
  const dueMs = Date.parse(statement.due_at);
  if (dueMs <= nowMs) return null;
  return html`<section aria-labelledby="due"><h2 id="due">Due</h2>
<p class="large" id="countdown" data-due="${statement.due_at}">${time(statement.due_at)}</p></section>`;
}

function valuesSection({ outcome, state, statement }: DrawDocument): Markup | null {
  if (outcome === null || !Array.isArray(outcome.values)) return null;
  const isCounted = state === 'revealed';
  const isOfList = statement.list !== undefined;
  const ofList = outcome.values.length === 1 ? 'Winner' : 'Winners';
  const title = !isCounted ? 'Values that the draw would have had' : isOfList ? ofList : 'Values';
  const shown = (outcome.values as readonly unknown[]).slice(0, VALUES_SHOWN_MAX);
  const rest = outcome.values.length - shown.length;
  const size = isCounted && shown.length <= LARGE_MAX ? html` large` : null;
  const items = shown.map(
    (value) => html`<li><bdi>${typeof value === 'string' ? value : JSON.stringify(value)}</bdi></li>`,
  );
  const lines =
    isOfList && statement.request.kind === 'integers'
      ? html`<p class="hint">Line numbers of the list, counted from 1.</p>`
      : null;
  return html`<section aria-labelledby="values"><h2 id="values">${title}</h2>${lines}<ol class="drawn-values${size}">${items}</ol>${andMore(rest)}</section>`;
}

const VALUES_SHOWN_MAX = 100;
/** Up to this many values are shown in large type. */
const LARGE_MAX = 5;

/** Shows the weights as percentages. */
function chancesTable({ chances }: DrawDocument): Markup | null {
  if (chances === undefined) return null;
  const shown = chances.slice(0, VALUES_SHOWN_MAX);
  const rest = chances.length - shown.length;
  const percents = shown.map(({ item, percent }) => [item, html`${percent} %`] as const);
  return html`<h3>Probability of each item in one pick</h3><dl>${rows(percents)}</dl>${andMore(rest)}`;
}

function andMore(rest: number): Markup | null {
  return rest === 0 ? null : html`<p class="hint">And ${grouped(rest)} more, in the JSON below.</p>`;
}

function timeLine({ state, statement, committed_at: committedAt, outcome, commit }: DrawDocument): Markup {
  const { beacon, due_at: dueAt } = statement;
  const logged =
    commit.proof === null ? 'The commitment is being logged.' : 'The commitment is in the signed log.';
  return html`<ol class="steps">
<li><strong>Committed</strong>${time(committedAt)} <span>${logged}</span></li>
<li><strong>${beacon === undefined ? 'Due' : `Due, with round ${grouped(beacon.round)} of the beacon`}</strong>${time(dueAt)}</li>
${outcome === null ? null : html`<li><strong>${state === 'revealed' ? 'Revealed' : state === 'cancelled' ? 'Cancelled' : 'Failed'}</strong>${time(outcome.ended_at)}</li>`}
</ol>`;
}

function requestRows({ statement, certificate_id: certificateId }: DrawDocument): Parameters<typeof rows>[0] {
  const { request, list, beacon, user_data: userData, user_data_sha256: digest } = statement;
  const count = 'count' in request ? request.count : 1;
  return [
    ['Kind', `${request.kind}, ${grouped(count)} ${count === 1 ? 'value' : 'values'}`],
    list === undefined ? null : ['List', html`${grouped(list.size)} items, <code>${list.sha256}</code>`],
    ['Beacon', beacon === undefined ? 'none' : beaconOf(beacon)],
    [
      'Nonce',
      statement.nonce !== undefined
        ? 'given by the caller before the commitment'
        : statement.nonce_sha256 !== undefined
          ? 'fixed by its hash, revealed later'
          : 'none',
    ],
    userData === undefined ? null : ['User data', html`<bdi>${userData}</bdi>`],
    digest === undefined ? null : ['SHA-256 of the user data', html`<code>${digest}</code>`],
    ['Certificate', html`<a href="/verify/${certificateId}"><code>${certificateId}</code></a>`],
  ];
}

function beaconOf({ chain, round }: { readonly chain: string; readonly round: number }): Markup {
  const name = LEAGUE_OF_ENTROPY[chain];
  return html`round ${grouped(round)} of ${name === undefined ? null : html`${name}, `}<code>${chain}</code>`;
}

function serialOf({ certificate }: DrawDocument): string {
  const label = certificate?.certificate.label;
  return label?.serial === undefined
    ? 'with a number that is not available yet'
    : `number ${grouped(label.serial)}`;
}
