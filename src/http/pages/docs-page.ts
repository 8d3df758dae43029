import { readFileSync } from 'node:fs';
import type { ErrorCode } from '../../core/errors.ts';
import type { EndpointDefinition } from '../endpoint.ts';
import { ENDPOINT_DEFINITIONS, isDrawing } from '../endpoints/table.ts';
import { errorCodesOf } from '../openapi/document.ts';
import { EXAMPLES, type Example } from '../openapi/examples.ts';
import { grouped, type ParameterDefinition } from '../params.ts';
import { type Call, codeOf, type Language, languagesOf, prettyJson } from './code-samples.ts';
import { referenceSections } from './docs-reference.ts';
import { FAIR_DRAWS_PATH, html, Markup } from './layout.ts';

/** The documentation, from the same definitions as the OpenAPI document; `baseUrl` ends in /v1. */
export function docsMain(baseUrl: string): Markup {
  return html`<div class="docs">
<div class="sidebar">
${searchBox()}
${keyField()}
${contents()}
</div>
<div class="content">
<h1>Documentation</h1>
<p class="lead">Every call needs an API key, sent as <code>Authorization: Bearer KEY</code>. Answers are JSON with the values in
<code>data</code>, where they came from in <code>metadata</code>, and the id of a certificate that anyone can
<a href="/verify">check</a>.</p>
${ENDPOINT_DEFINITIONS.map((endpoint) => endpointSection(endpoint, baseUrl))}
${referenceSections()}
</div></div>`;
}

/** What a committed draw shows, for people who were not there; docs/draws.md, made into HTML by scripts/build-docs.ts. */
export function fairDrawsMain(): Markup {
  const text = readFileSync(new URL('../../../dist/draws.html', import.meta.url), 'utf8');
  return html`<article class="article">
${new Markup(text)}
</article>`;
}

/** Of use to the script alone; the style sheet leaves it out where there are no scripts, so that nothing moves later. */
function searchBox(): Markup {
  return html`<div class="search scripted" role="search"><label for="search">Search</label>
<input id="search" type="search" autocomplete="off" spellcheck="false" aria-describedby="search-status" placeholder="unique, 429, credits …">
<p id="search-status" class="visually-hidden" role="status"></p>
<ul id="search-results" hidden></ul></div>`;
}

function keyField(): Markup {
  const names = ENDPOINT_DEFINITIONS.map(({ name }) => name).join(' ');
  return html`<div class="key scripted" id="try" data-names="${names}"><label for="key">API key</label>
<input id="key" type="password" autocomplete="off" autocapitalize="off" spellcheck="false" aria-describedby="key-hint" placeholder="qrn_…">
<p class="hint" id="key-hint">For every form on this page. It stays in the page’s memory and goes to this service alone.</p></div>`;
}

function contents(): Markup {
  const links = (endpoints: readonly EndpointDefinition[]) =>
    endpoints.map(({ name }) => html`<li><a href="#${name}">${name}</a></li>`);
  return html`<nav class="contents" aria-label="Contents">
<h2>Values</h2><ul>${links(ENDPOINT_DEFINITIONS.filter(isDrawing))}</ul>
<h2>Account</h2><ul>${links(ENDPOINT_DEFINITIONS.filter((each) => !isDrawing(each)))}</ul>
<h2>Reference</h2><ul><li><a href="${FAIR_DRAWS_PATH}">How a draw is fair</a></li><li><a href="#modes">Entropy modes</a></li><li><a href="#answers">Answers</a></li>
<li><a href="#limits">Tiers and prices</a></li><li><a href="#errors">Errors</a></li>
<li><a href="/openapi.json">OpenAPI 3.1</a></li></ul></nav>`;
}

function endpointSection(endpoint: EndpointDefinition, baseUrl: string): Markup {
  const { name, method, path, summary, scope, parameters, body } = endpoint;
  const example = (EXAMPLES as Readonly<Record<string, Example>>)[name] ?? PLAIN_EXAMPLES[name];
  return html`<section class="endpoint" id="${name}" aria-labelledby="${name}-title">
<h2 id="${name}-title"><code><span class="method">${method}</span> ${path}</code></h2>
<p>${summary} Needs the scope <code>${scope}</code>.</p>
${codeTabs(endpoint, example, baseUrl)}
${tryForm(endpoint, example, baseUrl)}
<details><summary>Example of an answer</summary><div class="code"><pre tabindex="0" role="group" aria-label="Example of an answer of ${path}"><code data-language="json">${prettyJson(example.answer)}</code></pre></div></details>
${body === undefined || method === 'GET' ? null : html`<h3>Body</h3>${parameterList(name, body.members)}${paramsList(name, body.params)}`}
${parameters.length === 0 ? null : html`<h3>${method === 'GET' ? 'Parameters' : 'In the query as well'}</h3>${parameterList(`${name}-query`, parameters)}`}
${body === undefined || method === 'POST' ? null : html`<p><code>POST ${path}</code> takes the same in a JSON body, lists as JSON lists.</p>`}
<details><summary>Errors</summary><p>${errorLinks(errorCodesOf(endpoint))}</p></details>
</section>`;
}

const LANGUAGE_NAMES: Readonly<Record<Language, string>> = {
  curl: 'curl',
  typescript: 'TypeScript',
  python: 'Python',
};

/** The same call in each language, one of them shown: radio buttons and the style sheet choose, without a script. */
function codeTabs(endpoint: EndpointDefinition, example: Example, baseUrl: string): Markup {
  const { name, path } = endpoint;
  const call = callOf(endpoint, example, baseUrl);
  const languages = languagesOf(name);
  const tabs = languages.map((language, i) => {
    const checked = i === 0 ? html` checked` : null;
    return html`<label><input type="radio" name="language-${name}" value="${language}"${checked}><span>${LANGUAGE_NAMES[language]}</span></label>`;
  });
  const blocks = languages.map(
    (language) =>
      html`<pre class="${language}" tabindex="0" role="group" aria-label="${path} in ${LANGUAGE_NAMES[language]}"><code id="${name}-${language}" data-language="${language === 'curl' ? 'bash' : language}">${codeOf(language, call)}</code></pre>`,
  );
  return html`<div class="code" data-base="${baseUrl}">
<fieldset class="tabs"><legend class="visually-hidden">Language of the example</legend>${tabs}</fieldset>
<button type="button" class="copy scripted" aria-label="Copy the example of ${path}">Copy</button>
${blocks}</div>`;
}

function callOf(
  { name, method, path, parameters }: EndpointDefinition,
  example: Example,
  baseUrl: string,
): Call {
  const given = new URLSearchParams(example.query);
  const fields = parameters
    .filter((each) => given.has(each.name))
    .map((each) => ({ name: each.name, kind: each.kind, value: given.get(each.name) ?? '' }));
  return {
    name,
    method,
    path,
    baseUrl,
    fields,
    body: method === 'GET' || example.body === undefined ? undefined : JSON.stringify(example.body),
  };
}

/** `prefix` makes the ids of the rows unique on the page: the search leads to them. */
function parameterList(prefix: string, parameters: readonly ParameterDefinition[]): Markup {
  return html`<dl class="params">${parameters.map(
    (each) =>
      html`<div id="${prefix}.${each.name}"><dt><code>${each.name}</code></dt><dd><span class="kind">${kindText(each)}</span> ${each.description}</dd></div>`,
  )}</dl>`;
}

function paramsList(name: string, params: NonNullable<EndpointDefinition['body']>['params']): Markup {
  const groups = Object.entries(params).filter(([, definitions]) => definitions.length > 0);
  return html`${groups.map(
    ([type, definitions]) =>
      html`<h4><code>params</code> of type <code>${type}</code></h4>${parameterList(`${name}-${type}`, definitions)}`,
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
    case 'number':
      return `Number, ${definition.min} to ${grouped(definition.max)}`;
    case 'boolean':
      return 'true or false';
    case 'choice':
      return `One of ${definition.values.join(', ')}`;
    case 'items':
      return `List, ${grouped(definition.min)} to ${grouped(definition.max)} items`;
    case 'integer-list':
      return `List of ${grouped(definition.lengthMin)} to ${grouped(definition.lengthMax)} integers`;
    case 'text':
      return 'Text';
  }
}

const CERTIFICATE_ID = 'cert_3mvc5b4r2yp8rj671bp7xp4fkg';

/** Of the endpoints whose reply is not a single answer of values. */
const PLAIN_EXAMPLES: Readonly<Record<string, Example>> = {
  stream: {
    query: 'type=integers&total=6&block=3&min=1&max=6',
    answer: {
      data: { count: 3, type: 'integers', values: [2, 6, 1] },
      '…': 'one line of JSON for each block, as POST /v1/batch answers it; the last line is {"end":…}',
    },
  },
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
    answer: {
      data: { status: 'pass', version: '1', checks: { 'ledger:writable': [{ status: 'pass' }] } },
    },
  },
  usage: {
    query: '',
    answer: { data: { period: '2026-11', requests: { used: 120, limit: 500_000, remaining: 499_880 } } },
  },
};

function errorLinks(codes: readonly ErrorCode[]): Markup {
  return html`${codes.map((code, i) => html`${i === 0 ? '' : ', '}<a href="#error-${code}"><code>${code}</code></a>`)}`;
}

/** A form that the script sends; its fields are named in `data-fields`, each with its kind. */
function tryForm(
  { name, method, path, parameters }: EndpointDefinition,
  example: Example,
  baseUrl: string,
): Markup {
  const given = new URLSearchParams(example.query);
  const isPost = method === 'POST';
  const fields = isPost ? [] : parameters;
  const inputs = fields.map((each) => field(name, each, given.get(each.name) ?? ''));
  const bodyField = !isPost
    ? null
    : html`<div class="whole"><label for="${name}-body">Body</label>
<textarea id="${name}-body" rows="3" spellcheck="false">${JSON.stringify(example.body)}</textarea></div>`;
  return html`<form class="try scripted" id="try-${name}" data-method="${method}" data-path="${path}" data-base="${baseUrl}"
 data-fields="${fields.map((each) => `${each.name}:${each.kind}`).join(' ')}" aria-label="Try ${path}">
<div class="fields">${inputs}${bodyField}</div>
<div class="actions"><button type="submit">Send</button><span id="${name}-status" role="status"></span></div>
<div id="${name}-reply" hidden><div class="code"><button type="button" class="copy" aria-label="Copy the answer of ${path}">Copy</button>
<pre tabindex="0" role="group" aria-label="Answer of ${path}"><code id="${name}-answer" data-language="json"></code></pre></div>
<div class="actions"><button type="button" class="second" id="${name}-verify" hidden>Verify this answer</button></div>
<div id="${name}-checks" class="checks" role="status"></div></div></form>`;
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
