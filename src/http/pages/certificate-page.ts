import type { CertificateDocument } from '../../certificate/document.ts';
import {
  answerFacts,
  type Fact,
  hashFacts,
  lotsTitle,
  sourceFacts,
  testFacts,
} from '../../certificate/facts.ts';
import { LOT_MEMBERS } from '../../certificate/lot-members.ts';
import { provenanceMeaning, sourceWarnings, testsMeaning } from '../../certificate/meanings.ts';
import { readProof } from '../../certificate/signed-checkpoint.ts';
import { grouped, rounded } from '../../core/figures.ts';
import { plainSignatures } from '../../crypto/note.ts';
import { VERIFIER_PATH } from './assets.ts';
import { evidenceLadder, smallestPPlot, timeLine } from './certificate-drawings.ts';
import { type Content, html, type Markup, section, time } from './layout.ts';

type Certificate = CertificateDocument['certificate'];
type Lot = CertificateDocument['lots'][number]['leaf'];
/** A row of a list of facts; null is left out. */
type Row = readonly [label: Content, value: Content] | null;

/** Returns the page of a certificate: its state, what was certified, and what that means. It shows no value and no salt. */
export function certificateMain(document: CertificateDocument): Markup {
  const { certificate } = document;
  const { provenance } = certificate;
  const lots = document.lots.map(({ leaf }) => leaf);
  const tested = lots.flatMap((lot) => lot.tested);
  return html`<h1>Certificate of provenance</h1>
<p class="id"><code>${certificate.id}</code></p>
${originBanners(document)}
${statusOf(document)}
<p class="links-inline"><a href="/verify/${certificate.id}.pdf">This certificate as PDF</a></p>
${checkForm(certificate.id)}
<div class="groups">
${section('time-line', 'What happened when', timeLine(document))}
${provenance.evidence === undefined ? null : section('ladder', 'Evidence of a quantum origin', evidenceLadder(provenance.evidence))}
${tested.length === 0 ? null : section('p-values', 'P-values', smallestPPlot(tested))}
</div>
<div class="groups">
${group('The answer', [...answerFacts(certificate).map(rowOf), ...drawsRow(certificate.label)])}
${group('Source of the raw bits', sourceFacts(document).map(rowOf))}
${group('Tests', testFacts(document, false).map(rowOf))}
${group('Signed log', logRows(certificate.proof))}
</div>
${tested.length === 0 ? null : testedSection(lots, tested.length)}
<details class="exact"><summary><span>Hashes</span></summary>
<dl class="wide">
${rows(hashFacts(certificate).map(([name, of, hash]): Row => [`${name}: ${of}`, code(hash)]))}
</dl></details>
<section aria-labelledby="lots"><h2 id="lots">${lotsTitle(lots.length)}</h2>
${lots.map((lot) => lotDetails(lot, false))}
</section>
<section aria-labelledby="meaning"><h2 id="meaning">What this proves</h2>
<p><bdi>${provenanceMeaning(document)}</bdi></p>
<p><bdi>${testsMeaning(certificate.entropy_mode)}</bdi> The SP 800-22 tests were run by this service; they are not a certification by NIST.</p>
<p>Anyone who has the answer can prove which values were delivered. Nobody else can read or guess the values from this page.</p>
</section>
<p class="hint">Figures on this page are rounded to three digits; the JSON contains the exact figures. The signature covers the certificate, which names each lot by its hash.</p>
${asJson('The certificate', document)}`;
}

/** Shows the whole document of a page as JSON, folded. */
export function asJson(what: string, document: object): Markup {
  return html`<details class="raw"><summary>${what} as JSON</summary>
<pre tabindex="0" role="region" aria-label="${what} as JSON">${JSON.stringify(document, null, 2)}</pre>
</details>`;
}

function statusOf({ certificate, revocation }: CertificateDocument): Markup {
  if (revocation !== undefined) {
    return banner(
      'bad',
      'Revoked: do not rely on this answer.',
      html`The operator withdrew lot <bdi>${revocation.lot_id}</bdi> on ${time(revocation.revoked_at)}.
Reason: <bdi>${revocation.reason}</bdi>`,
    );
  }
  if (certificate.proof === null) {
    return banner(
      'wait',
      'Being logged.',
      html`The answer is certified. It will be in the signed log within a few seconds. <a href="">Reload</a> this page then.`,
    );
  }
  if (certificate.status === 'test')
    return banner('wait', 'Test.', 'This certificate is for a test source; see below.');
  return banner(
    'good',
    'Valid.',
    'The certificate is in the signed log, and none of its lots was withdrawn.',
  );
}

/** Returns the warnings about the source, which come first on a page. */
export function originBanners(document: CertificateDocument): Markup[] {
  return sourceWarnings(document).map(([title, words]) => banner('wait', title, words));
}

export function banner(kind: 'good' | 'wait' | 'bad', title: string, text: Content): Markup {
  return html`<div class="banner ${kind}"><p><strong>${title}</strong> ${text}</p></div>`;
}

/** Returns the row of a fact. Text from outside is put into <bdi>, so that its direction cannot reorder the text of the page. */
function rowOf([label, value, is]: Fact): Row {
  if (is === 'time') return [label, time(value)];
  return [label, is === 'code' ? code(value) : text(value)];
}

/** Returns the row that links to all draws of a purpose, if the purpose is public. */
function drawsRow(label: Certificate['label']): Row[] {
  const { purpose, series } = label ?? {};
  if (purpose === undefined || series === undefined) return [];
  const path = html`/draws?purpose=${encodeURIComponent(purpose)}&amp;series=${series}`;
  return [['All draws of this purpose', html`<a href="${path}">${code(series)}</a>`]];
}

/** Lists the runs of SP 800-22, each with the sequence that it tested: the counts of p-values differ because the sequences do. */
function testedSection(lots: readonly Lot[], runs: number): Markup {
  const details = html`
<details class="exact"><summary><span>${grouped(runs)} runs of SP 800-22, each on a different sequence of bits</span></summary>
${testedTable(lots)}</details>`;
  return section('tested', 'What was tested', details);
}

function testedTable(lots: readonly Lot[]): Markup {
  const lotCell = (content: Content) => (lots.length === 1 ? null : content);
  const rowsOf = lots.flatMap(({ lot_id: id, tested }) =>
    tested.map(({ of, bits, first_bit: first, order, ...run }) => {
      const place = ` from bit ${grouped(first)}${order === 'channels' ? ', channel by channel' : ''}`;
      const verdict = run.verified
        ? html`<strong class="tone good">Passed</strong>`
        : html`<strong class="tone bad">Failed</strong>: ${text(run.reason ?? 'no reason is given')}`;
      return html`<tr><th scope="row">${SEQUENCES[of] ?? of}</th><td>${verdict}<br>${run.passed}/${run.total} p-values, the smallest ${rounded(run.smallest_p)}</td>
<td>${grouped(bits)} bits${place}<br>${code(`sha256:${run.sha256}`)}</td>${lotCell(html`<td>${code(id)}</td>`)}</tr>`;
    }),
  );
  return html`<div class="tables" tabindex="0" role="region" aria-label="Runs of SP 800-22"><table><thead><tr><th scope="col">Sequence</th><th scope="col">Verdict</th><th scope="col">Which bits</th>${lotCell(html`<th scope="col">Lot</th>`)}</tr></thead><tbody>${rowsOf}</tbody></table></div>`;
}

const SEQUENCES: Readonly<Record<string, string>> = {
  raw: 'Raw bits, as the source delivered them; they may be biased',
  conditioned: 'Conditioned bits, which answers are drawn from',
  system: 'A sample of the csprng stream',
};

/**
 * Returns the rows on the certificate's place in the log, as its proof states it. The page does not check the proof; the
 * reader can.
 */
function logRows(proofText: string | null): Row[] {
  if (proofText === null) return [['Entry', 'being logged']];
  const { proof, note, checkpoint } = readProof(proofText);
  return [
    ['Log', text(checkpoint.origin)],
    ['Entry', `leaf ${grouped(proof.index)} of ${grouped(checkpoint.size)}`],
    ['Root', code(Buffer.from(checkpoint.root).toString('base64'))],
    ['Signed by', plainSignatures(note).map(({ keyId }) => html`Ed25519 key ${code(keyId)} `)],
  ];
}

/** Shows the leaf of one lot, member by member: unfolded on the lot's own page, folded and with a link to that page elsewhere. */
export function lotDetails(lot: Lot, isOpen: boolean): Markup {
  const opened = isOpen ? html` open` : null;
  const plots = html`<a href="/lots/${lot.lot_id}">p-values, estimators, channels and test rounds</a>`;
  const members = Object.entries(LOT_MEMBERS)
    .filter(([name]) => !OF_ITS_FORM.includes(name))
    .map(([name, { schema }]): Row => {
      const label = html`${code(name)} ${text(String(schema['description']))}`;
      return [label, shown(lot[name as keyof Lot])];
    });
  return html`<details class="lot"${opened}><summary><code>${lot.lot_id}</code></summary>
<dl class="wide">
${rows([isOpen ? null : ['Plots', plots], ...members])}
</dl>${isOpen && lot.tested.length > 0 ? testedTable([lot]) : null}</details>`;
}

/** Members that are not facts about the lot, or that the page shows elsewhere. */
const OF_ITS_FORM: readonly string[] = ['type', 'version', 'lot_id', 'tested'];

/** Shows any value of a leaf in full. */
function shown(value: unknown): Content {
  if (value === null) return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return Number.isInteger(value) ? grouped(value) : String(value);
  if (typeof value === 'string')
    return /^sha256:|^[A-Za-z0-9+/]{43}=$/.test(value) ? code(value) : text(value);
  if (Array.isArray(value)) return html`<ol>${value.map((each) => html`<li>${shown(each)}</li>`)}</ol>`;
  return Object.entries(value as object).map(
    ([name, inner]) => html`<span>${text(name)} ${shown(inner)}<br></span>`,
  );
}

function group(title: string, members: readonly Row[]): Markup {
  return section(title.toLowerCase().replaceAll(' ', '-'), title, html`\n<dl>\n${rows(members)}\n</dl>`);
}

export function rows(members: readonly Row[]): Markup[] {
  return members
    .filter((row) => row !== null)
    .map(([label, value]) => html`<div><dt>${label}</dt><dd>${value}</dd></div>\n`);
}

function text(value: string): Markup {
  return html`<bdi>${value}</bdi>`;
}

function code(value: string): Markup {
  return html`<code>${value}</code>`;
}

/**
 * Returns the form that checks an answer in the browser. Its fields have no names, so that no browser can send them. Its
 * button is disabled until the script runs; it is on the page from the start, so that nothing moves then. `certificateId` is ''
 * on the page without a certificate: the answer then names its own.
 */
export function checkForm(certificateId: string): Markup {
  const what =
    certificateId === ''
      ? 'Paste the JSON body of an answer, as the service sent it. The browser requests the certificate by its identifier; nothing else ' +
        'of the answer leaves this browser.'
      : 'Paste the JSON body of the answer, as the service sent it, or leave this empty to check only the certificate. ' +
        'Nothing of the answer leaves this browser.';
  return html`<section class="check" aria-labelledby="check-title">
<h2 id="check-title">Check it in this browser</h2>
<p class="unscripted">The check is a script in your browser, and scripts are disabled.
Without scripts, save the answer and run <code>qrn verify ANSWER.json</code>, or use
<a href="${VERIFIER_PATH}" download>the verifier as one file</a> with Node or Deno.</p>
<form class="scripted" id="check" data-certificate="${certificateId}">
<label for="answer">The answer</label>
<p class="hint" id="answer-hint">${what}</p>
<textarea id="answer" rows="7" spellcheck="false" autocomplete="off" autocapitalize="off"
 aria-describedby="answer-hint"></textarea>
<div class="actions">
<button type="submit" id="check-button" disabled>Check</button>
<button type="button" class="second" id="sample-button"${certificateId === '' ? null : html` hidden`}>Try it with a sample</button>
<label class="file" for="file">or choose or drop a file <input class="file-input" type="file" id="file" accept="application/json,.json,.txt"></label>
</div>
<details class="octets"><summary>An answer in octets</summary>
<label for="octets">The body of the answer: the file of values as you received it <input class="file-input" type="file" id="octets"></label>
<p class="hint">Paste the headers of the answer above, one per line, as <code>curl -D</code> writes them. On the page of the certificate,
the value of <code>X-Certificate-Salt</code> is sufficient.</p></details>
${witnessFields('The times of two cosignatures show when the certificate was logged.')}
</form>
<div id="result" class="checks" role="status" aria-live="polite" aria-atomic="true" tabindex="-1"></div>
</section>`;
}

/** Returns the fields for the witnesses that must have seen the log. `hint` says what their signatures show. */
export function witnessFields(hint: string): Markup {
  return html`<details class="octets"><summary>Witnesses that you trust</summary>
<label for="witnesses">Verifier keys of the witnesses, one per line</label>
<textarea id="witnesses" rows="3" spellcheck="false" autocomplete="off" autocapitalize="off" aria-describedby="witnesses-hint"></textarea>
<label for="quorum">Number of witnesses that must have cosigned the log; if empty, all</label>
<p><input id="quorum" inputmode="numeric" size="4" autocomplete="off"></p>
<p class="hint" id="witnesses-hint">A witness prints its key when it starts. ${hint}</p></details>`;
}
