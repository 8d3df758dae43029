import { ERRORS, type ErrorCode } from '../../core/errors.ts';
import type { EndpointDefinition } from '../endpoint.ts';
import { ENDPOINT_DEFINITIONS } from '../endpoints/table.ts';
import { type TierRow, tierList } from '../endpoints/tiers.ts';
import { errorCodesOf } from '../openapi/document.ts';
import { EXAMPLES, type Example } from '../openapi/examples.ts';
import { COMPONENT_SCHEMAS } from '../openapi/schemas.ts';
import { grouped, type ParameterDefinition } from '../params.ts';
import { html, type Markup } from './layout.ts';

/** The documentation, from the same definitions as the OpenAPI document; `baseUrl` ends in /v1. */
export function docsMain(baseUrl: string): Markup {
  return html`<h1>Documentation</h1>
<p class="lead">Every call needs an API key, sent as <code>Authorization: Bearer KEY</code>. Answers are JSON with the values in
<code>data</code>, where they came from in <code>metadata</code>, and the id of a certificate that anyone can
<a href="/verify">check</a>.</p>
<nav class="contents" aria-label="Contents"><ul>
${ENDPOINT_DEFINITIONS.map(({ name, path }) => html`<li><a href="#${name}">${path}</a></li>`)}
<li><a href="#modes">Entropy modes</a></li><li><a href="#answers">Answers</a></li>
<li><a href="#limits">Tiers, prices and limits</a></li><li><a href="#errors">Errors</a></li>
<li><a href="/openapi.json">OpenAPI 3.1</a></li></ul></nav>
${keyField()}
${ENDPOINT_DEFINITIONS.map((endpoint) => endpointSection(endpoint, baseUrl))}
${modesSection()}
${answersSection()}
${limitsSection()}
${errorsSection()}`;
}

/** Shown by the script alone: without it nothing could be sent. */
function keyField(): Markup {
  const names = ENDPOINT_DEFINITIONS.map(({ name }) => name).join(' ');
  return html`<section class="check" id="try" data-names="${names}" hidden aria-labelledby="try-title"><h2 id="try-title">Try it here</h2>
<label for="key">API key</label>
<p class="hint" id="key-hint">Stays in this page’s memory until it is closed, and goes to this service alone.</p>
<input id="key" type="password" autocomplete="off" autocapitalize="off" spellcheck="false" aria-describedby="key-hint" placeholder="qrn_…">
</section>`;
}

function endpointSection(endpoint: EndpointDefinition, baseUrl: string): Markup {
  const { name, method, path, summary, scope, parameters, body } = endpoint;
  const example = (EXAMPLES as Readonly<Record<string, Example>>)[name] ?? PLAIN_EXAMPLES[name];
  return html`<section class="endpoint" id="${name}" aria-labelledby="${name}-title">
<h2 id="${name}-title"><code><span class="method">${method}</span> ${path}</code></h2>
<p>${summary} Needs the scope <code>${scope}</code>.</p>
${body === undefined ? null : html`<h3>Body</h3>${parameterList(body.members)}${paramsList(body.params)}`}
${parameters.length === 0 ? null : html`<h3>${body === undefined ? 'Parameters' : 'In the query as well'}</h3>${parameterList(parameters)}`}
<h3>Example</h3>
<pre><code>${curlOf(endpoint, example, baseUrl)}</code></pre>
<details><summary>In JavaScript</summary><pre><code>${scriptOf(endpoint, example, baseUrl)}</code></pre></details>
<details><summary>Answer</summary><pre><code>${JSON.stringify(example.answer, undefined, 2)}</code></pre></details>
<details><summary>Errors</summary><p>${errorLinks(errorCodesOf(endpoint))}</p></details>
${tryForm(endpoint, example)}
</section>`;
}

function parameterList(parameters: readonly ParameterDefinition[]): Markup {
  return html`<dl class="params">${parameters.map(
    (each) =>
      html`<div><dt><code>${each.name}</code></dt><dd><span class="kind">${kindText(each)}</span> ${each.description}${
        each.aliases === undefined ? '' : ` Also accepted as ${each.aliases.join(', ')}.`
      }</dd></div>`,
  )}</dl>`;
}

function paramsList(params: NonNullable<EndpointDefinition['body']>['params']): Markup {
  const groups = Object.entries(params).filter(([, definitions]) => definitions.length > 0);
  return html`${groups.map(
    ([type, definitions]) =>
      html`<h4><code>params</code> of type <code>${type}</code></h4>${parameterList(definitions)}`,
  )}`;
}

/** What a value is, its bounds and what it is when it is left out. */
function kindText(definition: ParameterDefinition): string {
  const preset = 'default' in definition ? definition.default : undefined;
  const absent =
    definition.required === true
      ? 'required'
      : preset === undefined || preset === null
        ? 'optional'
        : `default ${preset}`;
  return `${valuesText(definition)}; ${absent}.`;
}

function valuesText(definition: ParameterDefinition): string {
  switch (definition.kind) {
    case 'integer':
      return definition.max === Number.MAX_SAFE_INTEGER
        ? 'Integer within ±(2^53 - 1)'
        : `Integer, ${grouped(definition.min)} to ${grouped(definition.max)}`;
    case 'boolean':
      return 'true or false';
    case 'choice':
      return `One of ${definition.values.join(', ')}`;
    case 'items':
      return `List, ${grouped(definition.min)} to ${grouped(definition.max)} items`;
    case 'text':
      return 'Text';
  }
}

const CERTIFICATE_ID = 'cert_4w5kkx9yv0t3jrt2ncqmsz7rhd';

/** Of the endpoints that draw nothing. */
const PLAIN_EXAMPLES: Readonly<Record<string, Example>> = {
  certificate: {
    query: `id=${CERTIFICATE_ID}`,
    answer: {
      certificate: {
        id: CERTIFICATE_ID,
        status: 'valid',
        '…': 'every member is explained in the OpenAPI document',
      },
    },
  },
  health: {
    query: '',
    answer: { status: 'pass', version: '1', checks: { 'ledger:writable': [{ status: 'pass' }] } },
  },
  usage: {
    query: '',
    answer: { data: { period: '2026-11', requests: { used: 120, limit: 500_000, remaining: 499_880 } } },
  },
};

function urlOf({ path }: EndpointDefinition, { query }: Example, baseUrl: string): string {
  const url = baseUrl + path.slice('/v1'.length);
  return query === '' ? url : `${url}?${query}`;
}

function curlOf(endpoint: EndpointDefinition, example: Example, baseUrl: string): string {
  const key = '-H "Authorization: Bearer $KEY"';
  const body =
    example.body === undefined
      ? ''
      : ` -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(example.body)}'`;
  return `curl ${key}${body} \\\n  '${urlOf(endpoint, example, baseUrl)}'`;
}

function scriptOf(endpoint: EndpointDefinition, example: Example, baseUrl: string): string {
  const options =
    example.body === undefined
      ? "  headers: { Authorization: 'Bearer ' + key },"
      : [
          "  method: 'POST',",
          "  headers: { Authorization: 'Bearer ' + key, 'Content-Type': 'application/json' },",
          `  body: JSON.stringify(${JSON.stringify(example.body)}),`,
        ].join('\n');
  return [
    `const response = await fetch('${urlOf(endpoint, example, baseUrl)}', {`,
    options,
    '});',
    'const answer = await response.json();',
    'if (!response.ok) throw new Error(answer.error.code);',
    'console.log(answer);',
  ].join('\n');
}

function errorLinks(codes: readonly ErrorCode[]): Markup {
  return html`${codes.map((code, i) => html`${i === 0 ? '' : ', '}<a href="#error-${code}"><code>${code}</code></a>`)}`;
}

/** A form that the script sends; its fields are named in `data-fields`. */
function tryForm({ name, method, path, parameters, body }: EndpointDefinition, example: Example): Markup {
  const given = new URLSearchParams(example.query);
  const fields = body === undefined ? parameters : [];
  const inputs = fields.map((each) => field(name, each, given.get(each.name) ?? ''));
  const bodyField =
    example.body === undefined
      ? null
      : html`<label for="${name}-body">Body</label>
<textarea id="${name}-body" rows="4" spellcheck="false">${JSON.stringify(example.body)}</textarea>`;
  return html`<form class="try" id="try-${name}" hidden data-method="${method}" data-path="${path}"
 data-fields="${fields.map((each) => each.name).join(' ')}" aria-label="Try ${path}">
<div class="fields">${inputs}${bodyField}</div>
<div class="actions"><button type="submit">Send</button><span id="${name}-status" role="status"></span></div>
<pre id="${name}-answer" tabindex="0" aria-label="Answer of ${path}" hidden></pre></form>`;
}

function field(endpoint: string, definition: ParameterDefinition, value: string): Markup {
  const id = `${endpoint}-${definition.name}`;
  const label = html`<label for="${id}">${definition.name}</label>`;
  const choices =
    definition.kind === 'choice' ? definition.values : definition.kind === 'boolean' ? ['true', 'false'] : [];
  if (choices.length === 0) {
    const numeric = definition.kind === 'integer' ? 'numeric' : 'text';
    return html`<div>${label}<input id="${id}" value="${value}" inputmode="${numeric}" autocomplete="off" spellcheck="false"></div>`;
  }
  const options = choices.map((each) =>
    each === value ? html`<option selected>${each}</option>` : html`<option>${each}</option>`,
  );
  return html`<div>${label}<select id="${id}"><option value="">–</option>${options}</select></div>`;
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
    ([name, { description }]) =>
      html`<div><dt><code>${name}</code></dt><dd>${description ?? PLAIN_MEANINGS[name] ?? ''}</dd></div>`,
  )}</dl></section>`;
}

const PLAIN_MEANINGS: Readonly<Record<string, string>> = {
  timestamp: 'When the request came in; ISO 8601 in UTC.',
  certificate_id: 'Opens the certificate of this answer.',
  powered_by: 'A constant label.',
  processing_time_ms: 'Milliseconds from the request to the answer.',
};

function limitsSection(): Markup {
  const { tiers, prices } = tierList();
  const tierRows = tiers.map(
    (
      row,
    ) => html`<tr><th scope="row">${row.tier}</th><td>${limit(row, row.requests_per_minute)}</td><td>${limit(row, row.burst)}</td>
<td>${limit(row, row.requests_per_month)}</td><td>${limit(row, row.credits_per_month)}</td></tr>`,
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

function limit({ custom }: TierRow, value: number): string {
  return custom ? 'custom' : grouped(value);
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
