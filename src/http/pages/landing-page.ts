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
<p class="lead">Integers, bytes, UUIDs, shuffles and draws over HTTP. Every answer has a signed certificate that states where its bits
came from. Anyone can verify it without trusting this service.</p></div>
${sourceBanner(facts)}
<div class="try-it">
<section aria-labelledby="first"><h2 id="first">${hasDemo ? 'Try it without a key' : 'Try it with a key'}</h2>
${hasDemo ? command('die', `curl -X POST ${origin}/demo/die`) : command('keyed', keyed)}
<p>The answer is JSON: the values in <code>data</code>, their origin in <code>metadata</code>, and in
<code>metadata.verify_url</code> the page of its certificate.${hasDemo ? ' All requests within the same second get the same throw.' : ''}</p>
${hasDemo ? html`<div class="code scripted"><pre id="die-answer" tabindex="0" role="group" aria-label="The answer of the throw">Throw the die to see the complete answer here.</pre></div>` : null}
</section>
${hasDemo ? die() : null}
</div>
<section aria-labelledby="key"><h2 id="key">Get a key</h2>
<p>The operator of the service creates the keys. If you are the operator, <code>npm start</code> has printed a key and stored it in
<code>data/demo-key</code>. Create more keys on the command line, in the same folder:</p>
${command('make-key', 'npm run -s qrn -- accounts create --name you --tier developer')}
${hasDemo ? html`<p>With the key in <code>QRN_KEY</code>, draw six numbers out of forty-nine:</p>${command('keyed', keyed)}` : null}
<p><a class="button" href="/docs/quick-start">Quick start</a> <a class="button second" href="/docs">All calls and guides</a></p></section>
<section aria-labelledby="proofs"><h2 id="proofs">Three things that you need not take on trust</h2>
<div class="cards">
<div><h3>Your values are the certified ones</h3><p>A signed certificate contains a salted hash of the values, the source, its test results and its
measured entropy.</p><p><a href="/verify">Check an answer in your browser</a></p></div>
<div><h3>The record cannot be rewritten</h3><p>All certificates are in one append-only log. Witnesses cosign it, and your browser can
remember the log that it saw.</p><p><a href="${LOG_PAGE_PATH}">Watch the log</a></p></div>
<div><h3>Nobody steered the draw</h3><p>A committed draw is fixed before anyone can know its outcome, and its values depend on a public
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
<p class="hint">This is a real answer. The verifier in this page checks it against its certificate and the signed log.</p></div></div>
<div id="die-checks" class="checks" role="status"></div></section>`;
}
