import { html, LOG_PAGE_PATH, type Markup } from './layout.ts';
import { sourceBanner } from './source-banner.ts';
import type { StatusFacts } from './status-page.ts';

/**
 * Returns the front page: what the service is, a command that works, how to get a key, and what can be checked. `baseUrl`
 * ends in /v1.
 */
export function landingMain(facts: StatusFacts, baseUrl: string, hasDemo: boolean): Markup {
  const origin = baseUrl.slice(0, -'/v1'.length);
  const keyed = `curl -H "Authorization: Bearer $QRN_KEY" \\
  '${baseUrl}/integers?count=6&min=1&max=49&unique=true'`;
  return html`<div class="hero"><h1>Random numbers that you can prove</h1>
<p class="lead">Integers, bytes, UUIDs, shuffles and draws over HTTP. Every answer has a signed certificate that says where its bits
came from, and anybody can check it without trusting this service.</p></div>
${sourceBanner(facts)}
<div class="try-it">
<section aria-labelledby="first"><h2 id="first">${hasDemo ? 'Ask without a key' : 'Ask with a key'}</h2>
${hasDemo ? command('die', `curl -X POST ${origin}/demo/die`) : command('keyed', keyed)}
<p>The answer is JSON: the values in <code>data</code>, their origin in <code>metadata</code>, and in
<code>metadata.verify_url</code> the page of its certificate.${hasDemo ? ' Whoever asks within the same second gets the same throw.' : ''}</p>
${hasDemo ? html`<div class="code scripted"><pre id="die-answer" tabindex="0" role="group" aria-label="The answer of the throw">Throw the die: its whole answer stands here.</pre></div>` : null}
</section>
${hasDemo ? die() : null}
</div>
<section aria-labelledby="key"><h2 id="key">Get a key</h2>
<p>Whoever runs the service makes keys. If that is you, <code>npm start</code> has printed one and stored it in
<code>data/demo-key</code>; more come from the command line, in the same folder:</p>
${command('make-key', 'npm run -s qrn -- accounts create --name you --tier developer')}
${hasDemo ? html`<p>With the key in <code>QRN_KEY</code>, six numbers out of forty-nine:</p>${command('keyed', keyed)}` : null}
<p><a class="button" href="/docs/quick-start">Quick start</a> <a class="button second" href="/docs">All calls and guides</a></p></section>
<section aria-labelledby="proofs"><h2 id="proofs">Three things that you need not take on trust</h2>
<div class="cards">
<div><h3>Your values are the certified ones</h3><p>A salted hash of the values stands in a signed certificate, beside the source, its tests and its
measured entropy.</p><p><a href="/verify">Check an answer in your browser</a></p></div>
<div><h3>The record cannot be rewritten</h3><p>All certificates stand in one log that may only grow. Witnesses cosign it, and your browser can
remember what it saw.</p><p><a href="${LOG_PAGE_PATH}">Watch the log</a></p></div>
<div><h3>Nobody steered the draw</h3><p>A committed draw is fixed before anybody can know its outcome, and combined with a public
beacon.</p><p><a href="/docs/draws">How a draw is fair</a></p></div>
</div></section>`;
}

function command(id: string, text: string): Markup {
  return html`<div class="code"><button type="button" class="copy scripted" aria-label="Copy the command">Copy</button><pre id="${id}-command" tabindex="0" role="group" aria-label="Command">${text}</pre></div>`;
}

/** The pips of the die, each with the faces that have it. The style sheet shows the pips of the face that was thrown. */
const PIPS: readonly [x: number, y: number, faces: string][] = [
  [25, 25, 'f2 f3 f4 f5 f6'],
  [75, 25, 'f4 f5 f6'],
  [25, 50, 'f6'],
  [50, 50, 'f1 f3 f5'],
  [75, 50, 'f6'],
  [25, 75, 'f4 f5 f6'],
  [75, 75, 'f2 f3 f4 f5 f6'],
];

/** Returns the section in which the script throws a die and verifies the answer. */
function die(): Markup {
  return html`<section class="throw scripted" aria-labelledby="throw"><h2 id="throw">Throw a die</h2>
<div class="die-row"><svg id="die" class="die" viewBox="0 0 100 100" role="img" aria-label="No throw yet">
<rect x="2" y="2" width="96" height="96" rx="18"/>${PIPS.map(([x, y, faces]) => html`<circle class="${faces}" cx="${x}" cy="${y}" r="9"/>`)}</svg>
<div><button type="button" id="die-button">Throw</button>
<p class="hint">A real answer, which the verifier in this page checks against its certificate and the signed log.</p></div></div>
<div id="die-checks" class="checks" role="status"></div></section>`;
}
