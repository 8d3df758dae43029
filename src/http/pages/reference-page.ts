import { ERRORS, type ErrorCode } from '../../core/errors.ts';
import { grouped } from '../../core/figures.ts';
import type { Schema } from '../../core/schema.ts';
import { COMMON_PARAMETERS } from '../endpoint.ts';
import type { OpenApiDocument } from '../openapi/document.ts';
import { ORDINARY_ERRORS } from '../openapi/endpoints.ts';
import type { Operation } from '../openapi/operation.ts';
import type { MediaTypes, Parameter } from '../openapi/parameters.ts';
import { prettyJson, samplesOf } from './code-samples.ts';
import { type Content, html, type Markup, section } from './layout.ts';

/*
 * The reference: a page for each operation of the OpenAPI document. That document is made from the definitions that route and
 * check requests, so that the pages cannot differ from what the service does.
 */

/** An operation of the document, with its method and path. */
export type Call = Operation & { readonly method: string; readonly path: string };

export interface OperationGroup {
  readonly title: string;
  readonly operations: readonly Call[];
}

/** Returns the operations in groups, in the order of the document. Operations that return HTML pages are left out. */
export function operationGroups(document: OpenApiDocument): OperationGroup[] {
  const all = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ ...operation, path, method: method.toUpperCase() })),
  );
  const groups = Map.groupBy(
    all.filter(({ responses }) => contentOf(responses) !== undefined),
    groupOf,
  );
  return ['Values', 'Draws', 'Account', 'Public record', 'Operation'].map((title) => ({
    title,
    operations: groups.get(title) ?? [],
  }));
}

function groupOf({ path, security }: Call): string {
  if (path.startsWith('/v1/draws')) return 'Draws';
  if (path.startsWith('/v1/'))
    return security.some(({ bearer }) => bearer?.[0]?.startsWith('entropy:')) ? 'Values' : 'Account';
  return /^\/(?:log|verify|\.well-known)\b/.test(path) ? 'Public record' : 'Operation';
}

/** Returns the status and the main content of a successful answer; undefined for an HTML page. */
function contentOf(
  responses: Operation['responses'],
): { status: string; type: string; schema: Schema; example?: unknown } | undefined {
  // 201 before 200, which only repeats an earlier 201
  const status = Object.keys(responses).findLast((each) => each.startsWith('2')) ?? '200';
  const content = responses[status].content ?? {};
  const type = ['application/json', ...Object.keys(content)].find((each) => each in content) ?? '';
  return type === 'text/html' ? undefined : { status, type, ...content[type] };
}

const COMMON_NAMES: readonly string[] = [...COMMON_PARAMETERS.map(({ name }) => name), 'Idempotency-Key'];
/** The schemas of members that every answer of values has. /docs/common explains them. */
const COMMON_SCHEMAS = ['Metadata', 'Meta', 'Credits'];

export function operationMain(operation: Call, document: OpenApiDocument, baseUrl: string): Markup {
  const { method, path, summary, security, parameters = [], requestBody } = operation;
  const scope = security.flatMap(({ bearer }) => bearer ?? [])[0];
  const own = parameters.filter(({ name }) => !COMMON_NAMES.includes(name));
  const common = parameters.filter(({ name }) => COMMON_NAMES.includes(name));
  return html`<h1 class="call"><code><span class="method">${method}</span> ${path}</code></h1>
<p class="lead">${prose(summary)}</p>
<p>${scope === undefined ? 'Needs no key.' : html`Needs a key with the scope <code>${scope}</code>.`}</p>
${request(operation, baseUrl)}
${own.length === 0 ? null : section('parameters', 'Parameters', fieldList(own.map(parameterField)))}
${requestBody === undefined ? null : section('body-members', 'Body', bodyMembers(requestBody.content, document))}
${
  common.length === 0
    ? null
    : html`<p>Also takes the <a href="/docs/common">common parameters</a> ${inWords(common.map(({ name }) => linked('common', name)))}.</p>`
}
${answerSection(operation, document)}
${errorSection(operation)}`;
}

/** Returns the page on the parameters, members and header fields that all calls for values share. */
export function commonMain(document: OpenApiDocument): Markup {
  const { parameters, members, headers } = sharedBy(document);
  return html`<h1>What calls for values share</h1>
<p class="lead">Parameters that each of them takes, members that each answer has, and the fields of its head.</p>
${section('parameters', 'Parameters', fieldList(parameters.map(parameterField)))}
${members.map(([id, fields]) => section(id, html`Members of <code>${id}</code>`, fieldList(fields)))}
${section('headers', 'Header fields', fieldList(headers))}`;
}

function sharedBy(document: OpenApiDocument) {
  const [{ operations }] = operationGroups(document);
  const schemas = document.components.schemas;
  const members = COMMON_SCHEMAS.map((name) => {
    const id = name === 'Credits' ? 'quantum_credits' : name.toLowerCase();
    return [id, fieldsOf(schemas[name], document)] as const;
  });
  const headers = Object.entries(document.components.headers).map(
    ([name, header]): Field => ({ name, kind: 'header', meaning: String(header['description']) }),
  );
  const parameters = (operations[0].parameters ?? []).filter(({ name }) => COMMON_NAMES.includes(name));
  return { parameters, members, headers };
}

/** Returns the section with the call in each language, the first one unfolded, and a form that sends it. */
function request(operation: Call, baseUrl: string): Markup {
  const { operationId: name, path, method, parameters = [], security, requestBody } = operation;
  const fields = parameters.filter((each) => each.in !== 'header');
  const isKeyed = security.length > 0;
  const given = fields.filter(({ example }) => example !== undefined);
  const body = requestBody?.content['application/json'].example as object | undefined;
  const samples = samplesOf({
    ...{ name, method, path, baseUrl, isKeyed, body },
    parameters: Object.fromEntries(given.map((each) => [each.name, each.example])),
  });
  const blocks = Object.entries(samples).map(
    (
      [language, code],
      i,
    ) => html`<details name="sample"${i === 0 ? html` open` : null}><summary>${language}</summary>
<div class="code"><button type="button" class="copy scripted" aria-label="Copy the example in ${language}">Copy</button>
<pre id="${language}" tabindex="0" role="group" aria-label="${path} in ${language}"><code>${code}</code></pre></div></details>`,
  );
  return html`<section aria-labelledby="request"><h2 id="request">Request</h2>
${blocks}
<details class="try scripted" id="try"><summary>Try it here</summary>
<form id="try-form" data-method="${method}" data-path="${path}" aria-label="Try ${path}">
<div class="fields">${
    isKeyed
      ? html`<div class="whole"><label for="key">API key</label><input id="key" type="password" autocomplete="off" autocapitalize="off" spellcheck="false" aria-describedby="key-hint" placeholder="qrn_…">
<p class="hint" id="key-hint">Stays in this page’s memory, and goes to this service alone.</p></div>`
      : null
  }${fields.map(field)}${body === undefined ? null : html`<div class="whole"><label for="body">Body</label><textarea id="body" rows="4" spellcheck="false">${JSON.stringify(body)}</textarea></div>`}</div>
<div class="actions"><button type="submit">Send</button><span id="try-status" role="status"></span></div>
<div id="reply" hidden><div class="code"><button type="button" class="copy" aria-label="Copy the answer">Copy</button><pre tabindex="0" role="group" aria-label="Answer"><code id="answer"></code></pre></div>
<div class="actions"><button type="button" class="second" id="verify" hidden>Verify this answer</button></div>
<div id="checks" class="checks" role="status"></div></div></form></details></section>`;
}

function field({ name, schema, example = '' }: Parameter): Markup {
  const id = `field-${name}`;
  const value = String(example);
  const label = html`<label for="${id}">${name}</label>`;
  const choices =
    (schema['enum'] as string[] | undefined) ?? (schema['type'] === 'boolean' ? ['true', 'false'] : []);
  if (choices.length === 0)
    return html`<div>${label}<input id="${id}" data-parameter="${name}" value="${value}" autocomplete="off" spellcheck="false"></div>`;
  const options = choices.map(
    (each) => html`<option${each === value ? html` selected` : null}>${each}</option>`,
  );
  return html`<div>${label}<select id="${id}" data-parameter="${name}"><option value="">–</option>${options}</select></div>`;
}

function parameterField({ name, schema, required, description }: Parameter): Field {
  const kind = `${valuesText(schema)}; ${required ? 'required' : absentText(schema)}`;
  return { id: name, name, kind, meaning: description };
}

/** Says what applies when a parameter is absent. */
function absentText({ default: preset }: Schema): string {
  return preset === undefined ? 'optional' : `default ${String(preset)}`;
}

/** Describes the values that a schema allows. */
function valuesText(schema: Schema): string {
  const { type, enum: values, minimum, maximum, minItems, maxItems, items, format, const: only } = schema;
  if (only !== undefined) return String(only);
  const forms = (schema['anyOf'] ?? schema['oneOf']) as Schema[] | undefined;
  if (type === undefined && forms !== undefined)
    return [...new Set(forms.map((each) => refOf(each) ?? valuesText(each)))].join(' or ');
  if (Array.isArray(values)) return values.length === 1 ? String(values[0]) : `one of ${values.join(', ')}`;
  if (type === 'null') return 'null';
  const types = [type ?? 'any'].flat().filter((each) => each !== 'null');
  const [name] = types;
  const orNull = [type].flat().includes('null') ? ' or null' : '';
  if (name === 'integer' || name === 'number') {
    if (typeof maximum === 'number' && maximum < Number.MAX_SAFE_INTEGER && typeof minimum === 'number')
      return `${name}, ${grouped(minimum)} to ${grouped(maximum)}${orNull}`;
    return name + orNull;
  }
  if (name === 'array') {
    const of = valuesText((items ?? {}) as Schema);
    return `list of ${of === 'object' ? 'objects' : of}${typeof maxItems === 'number' ? `, ${grouped(Number(minItems ?? 0))} to ${grouped(maxItems)} of them` : ''}${orNull}`;
  }
  if (format === 'date-time') return `ISO 8601 in UTC${orNull}`;
  return types.join(' or ') + orNull;
}

function bodyMembers(content: MediaTypes, document: OpenApiDocument): Markup {
  return html`
<p>JSON, sent as <code>Content-Type: application/json</code>. A member that is not listed is refused.</p>
${fieldList(bodyFields(content, document))}`;
}

/** Returns the members of a body. If it has types with parameters of their own, they are listed for each type. */
function bodyFields(content: MediaTypes, document: OpenApiDocument): Field[] {
  const { schema } = content['application/json'];
  const shapes = ((schema['oneOf'] as Schema[] | undefined) ?? []).filter((each) => 'properties' in each);
  if (shapes.length === 0) return fieldsOf(schema, document);
  const types = shapes.map((shape): Field => {
    const { params = {} } = shape['properties'] as Record<string, Schema>;
    return { name: String(shape['title']), kind: 'object', meaning: '', members: fieldsOf(params, document) };
  });
  return fieldsOf(shapes[0], document).map((field) => {
    if (field.name === 'type')
      return { ...field, kind: `one of ${types.map(({ name }) => name).join(', ')}` };
    return field.name === 'params'
      ? { ...field, meaning: 'The parameters of the type:', members: types }
      : field;
  });
}

interface Field {
  /** The id of its element, for links. */
  readonly id?: string;
  readonly name: string;
  readonly kind: string;
  readonly meaning: string | Markup;
  /** The members of the object, or of each object of the list. */
  readonly members?: readonly Field[];
}

function fieldsOf(schema: Schema, document: OpenApiDocument): Field[] {
  const required = (schema['required'] as string[] | undefined) ?? [];
  const members = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>);
  return members.map(([name, member]): Field => {
    const named = refOf(member);
    const found = resolved(member, document);
    const kind = valuesText(found) + (required.includes(name) ? '' : ', optional');
    if (named !== undefined && COMMON_SCHEMAS.includes(named))
      return {
        name,
        kind,
        meaning: html`The same in all answers: <a href="/docs/common#${name}">${name}</a>.`,
      };
    const inner = found['type'] === 'array' ? resolved((found['items'] ?? {}) as Schema, document) : found;
    const meaning = String(member['description'] ?? found['description'] ?? '');
    return { name, kind, meaning, members: fieldsOf(inner, document) };
  });
}

function refOf({ $ref }: Schema): string | undefined {
  return typeof $ref === 'string' ? $ref.slice($ref.lastIndexOf('/') + 1) : undefined;
}

function resolved(schema: Schema, document: OpenApiDocument): Schema {
  const name = refOf(schema);
  return name === undefined ? schema : document.components.schemas[name];
}

/** A list of more members than this is folded. */
const MEMBERS_SHOWN_MAX = 10;

function fieldList(fields: readonly Field[]): Markup {
  return html`<dl class="params">${fields.map(({ id, name, kind, meaning, members = [] }) => {
    const place = id === undefined ? null : html` id="${id}"`;
    const shown = typeof meaning === 'string' ? prose(meaning) : meaning;
    return html`<div${place}><dt><code>${name}</code></dt><dd><span class="kind">${kind}.</span> ${shown}</dd>${folded(members)}</div>`;
  })}</dl>`;
}

function folded(members: readonly Field[]): Markup | null {
  if (members.length === 0) return null;
  const count = countOf(members);
  const open = count > MEMBERS_SHOWN_MAX ? null : html` open`;
  return html`<dd><details${open}><summary>${count} ${count === 1 ? 'member' : 'members'}</summary>${fieldList(members)}</details></dd>`;
}

function countOf(fields: readonly Field[]): number {
  return fields.reduce((sum, { members = [] }) => sum + 1 + countOf(members), 0);
}

/** Returns the items with commas between them. */
function inWords(items: readonly Markup[]): Content[] {
  return items.flatMap((each, i) => (i === 0 ? [each] : [', ', each]));
}

function linked(page: string, name: string): Markup {
  return html`<a href="/docs/${page}#${name}"><code>${name}</code></a>`;
}

/** Converts text with code between backticks into HTML. */
export function prose(text: string): Content[] {
  return text.split('`').map((part, i) => (i % 2 === 0 ? part : html`<code>${part}</code>`));
}

/** Returns the members of an answer. If it has several forms, returns those of the first. */
function answerFields(schema: Schema, document: OpenApiDocument): Field[] {
  const [first = schema] = (schema['anyOf'] as Schema[] | undefined) ?? [];
  return fieldsOf(resolved(first, document), document);
}

function answerSection(operation: Operation, document: OpenApiDocument): Markup {
  const { responses } = operation;
  const content = contentOf(responses);
  if (content === undefined) return html``;
  const others = Object.keys(responses[content.status].content ?? {}).filter((each) => each !== content.type);
  const fields = answerFields(content.schema, document);
  return html`<section aria-labelledby="answer-title"><h2 id="answer-title">Answer</h2>
<p><strong>${content.status}</strong> as <code>${content.type}</code>. ${prose(responses[content.status].description)}${others.length === 0 ? '' : html` Other forms by <code>Accept</code>: ${inWords(others.map((each) => html`<code>${each}</code>`))}.`}</p>
${content.example === undefined ? null : html`<div class="code"><pre tabindex="0" role="group" aria-label="Example of an answer"><code>${typeof content.example === 'string' ? content.example : prettyJson(content.example)}</code></pre></div>`}
${fields.length === 0 ? (content.schema['description'] === undefined ? null : html`<p>${String(content.schema['description'])}</p>`) : fieldList(fields)}</section>`;
}

/** Returns the section on the error codes. Codes of many calls come last, without their text. */
function errorSection({ responses }: Operation): Markup | null {
  const codes = (Object.keys(ERRORS) as ErrorCode[]).filter((code) =>
    responses[ERRORS[code].status]?.description.includes(`\`${code}\``),
  );
  if (codes.length === 0) return null;
  const own = codes.filter((code) => !ORDINARY_ERRORS.includes(code));
  const ordinary = codes.filter((code) => ORDINARY_ERRORS.includes(code));
  const list = fieldList(
    own.map((code) => ({ name: code, kind: String(ERRORS[code].status), meaning: ERRORS[code].message })),
  );
  return html`<section aria-labelledby="errors"><h2 id="errors">Errors</h2>
${own.length > MEMBERS_SHOWN_MAX ? html`<details><summary>${own.length} errors of this call</summary>${list}</details>` : list}
<p>And those that many calls can answer: ${inWords(ordinary.map((code) => linked('errors', code)))}.</p></section>`;
}

/** Returns the search entries of the reference: each call with its parameters and members, and what calls share. */
export function referenceEntries(document: OpenApiDocument): SearchEntry[] {
  const words = (fields: readonly Field[]): string[] =>
    fields.flatMap(({ name, meaning, members = [] }) => [`${name} ${String(meaning)}`, ...words(members)]);
  const calls = operationGroups(document).flatMap(({ operations }) =>
    operations.flatMap((operation) => {
      const { operationId, method, path, summary, parameters = [], requestBody, responses } = operation;
      const page = `/docs/api/${operationId}`;
      const place = `${method} ${path}`;
      const answer = contentOf(responses);
      const members = [
        ...(requestBody === undefined ? [] : bodyFields(requestBody.content, document)),
        ...(answer === undefined ? [] : answerFields(answer.schema, document)),
      ];
      const own = parameters.filter(({ name }) => !COMMON_NAMES.includes(name));
      return [
        { path: page, title: place, place: 'API', text: [summary, ...words(members)].join(' ') },
        ...own.map(({ name, description }) => ({
          path: `${page}#${name}`,
          title: name,
          place,
          text: description,
        })),
      ];
    }),
  );
  const { parameters, members, headers } = sharedBy(document);
  const shared = (anchor: string, title: string, text: string): SearchEntry => ({
    ...{ path: `/docs/common#${anchor}`, title, place: 'What calls share', text },
  });
  return [
    ...calls,
    ...parameters.map(({ name, description }) => shared(name, name, description)),
    ...members.map(([id, fields]) => shared(id, `Members of ${id}`, words(fields).join(' '))),
    ...headers.map(({ name, meaning }) => shared('headers', name, String(meaning))),
  ];
}

export interface SearchEntry {
  readonly path: string;
  readonly title: string;
  /** The page or section that it belongs to. */
  readonly place: string;
  readonly text: string;
}
