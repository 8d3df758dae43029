import { ERRORS, type ErrorCode } from '../../core/errors.ts';
import { tierList } from '../endpoints/tiers.ts';
import { COMPONENT_SCHEMAS } from '../openapi/schemas.ts';
import { grouped } from '../params.ts';
import { html, type Markup } from './layout.ts';

/** The parts of the documentation that belong to no single endpoint. */
export function referenceSections(): Markup {
  return html`${modesSection()}
${answersSection()}
${limitsSection()}
${errorsSection()}`;
}

function modesSection(): Markup {
  return html`<section id="modes" aria-labelledby="modes-title"><h2 id="modes-title">Entropy modes</h2>
<dl class="params">
<div><dt><code>quantum-seeded</code></dt><dd>A 32-byte quantum seed, renewed at the interval of the tier, expanded by ChaCha20 and mixed with
system entropy. The default above Free.</dd></div>
<div><dt><code>pure</code></dt><dd>Conditioned quantum bytes and nothing else, each delivered at most once. Costs credits: the information that the
answer holds, in bytes, which <code>dry_run=true</code> tells before.</dd></div>
<div><dt><code>csprng</code></dt><dd>The generator of the operating system; no quantum origin. The default of Free.</dd></div>
</dl>
<p>In every mode a retry with the same <code>Idempotency-Key</code> gets the first answer again for 24 hours and costs nothing.</p>
<p>No mode ever turns into another: what cannot be served is 503 <a href="#error-entropy_unavailable"><code>entropy_unavailable</code></a>.</p></section>`;
}

function answersSection(): Markup {
  const members = (COMPONENT_SCHEMAS['Metadata'] as { properties: Record<string, { description?: string }> })
    .properties;
  return html`<section id="answers" aria-labelledby="answers-title"><h2 id="answers-title">Answers</h2>
<p>JSON by default. <code>Accept: application/msgpack</code> gives the same object in MessagePack;
<code>Accept: application/octet-stream</code> gives the bare values of bytes and batches, with the metadata in headers;
<code>format=plain</code> and <code>format=csv</code> give them as lines of text on every endpoint.</p>
<h3>Members of <code>metadata</code></h3>
<dl class="params">${Object.entries(members).map(
    ([name, { description }]) => html`<div><dt><code>${name}</code></dt><dd>${description ?? ''}</dd></div>`,
  )}</dl></section>`;
}

function limitsSection(): Markup {
  const { tiers, prices } = tierList();
  const tierRows = tiers.map(
    (
      row,
    ) => html`<tr><th scope="row">${row.tier}</th><td>${limit(row.requests_per_minute)}</td><td>${limit(row.burst)}</td>
<td>${limit(row.requests_per_month)}</td><td>${limit(row.credits_per_month)}</td></tr>`,
  );
  const priceRows = prices.map(
    ({ kind, bits, credits, example }) =>
      html`<tr><th scope="row">${kind}</th><td>${bits}</td><td><code>${example}</code></td><td>${grouped(credits)}</td></tr>`,
  );
  return html`<section id="limits" aria-labelledby="limits-title"><h2 id="limits-title">Tiers, prices and limits</h2>
<p><code>GET /v1/tiers</code> answers all of this as JSON, without a key.</p>
<div class="tables" tabindex="0" role="region" aria-label="Tiers"><table><thead><tr><th scope="col">Tier</th><th scope="col">Requests per minute</th>
<th scope="col">Burst</th><th scope="col">Requests per month</th><th scope="col">Credits per month</th></tr></thead><tbody>${tierRows}</tbody></table></div>
<p>The burst is how many requests may come at once; it fills up again at the rate per minute. Months are calendar months in UTC.
<code>X-RateLimit-Remaining</code> and <code>X-RateLimit-Reset</code> tell where you stand. 429 and 503 carry
<code>Retry-After</code> in seconds: wait that long, then try again. A refused request has drawn nothing and spent nothing.</p>
<p>Only <code>pure</code> mode costs credits: the information that an answer holds, in bits, divided by eight and rounded up once.</p>
<div class="tables" tabindex="0" role="region" aria-label="Prices"><table><thead><tr><th scope="col">Values</th><th scope="col">Bits</th>
<th scope="col">Example</th><th scope="col">Credits</th></tr></thead><tbody>${priceRows}</tbody></table></div></section>`;
}

function limit(value: number | null): string {
  return value === null ? 'custom' : grouped(value);
}

function errorsSection(): Markup {
  const rows = (Object.keys(ERRORS) as ErrorCode[]).map(
    (
      code,
    ) => html`<div id="error-${code}"><dt><code>${code}</code> <span class="kind">${ERRORS[code].status}</span></dt>
<dd>${ERRORS[code].message}</dd></div>`,
  );
  return html`<section id="errors" aria-labelledby="errors-title"><h2 id="errors-title">Errors</h2>
<p>The body is <code>{"error":{"code","message","status","request_id","details"?}}</code>; with
<code>Accept: application/problem+json</code> the same facts as RFC 9457. Programs should look at <code>code</code>.</p>
<dl class="params">${rows}</dl></section>`;
}
