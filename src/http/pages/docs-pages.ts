import { readFileSync } from 'node:fs';
import { ERRORS } from '../../core/errors.ts';
import type { Exchange } from '../exchange.ts';
import { type OpenApiDocument, type OpenApiFacts, openApiDocument } from '../openapi/document.ts';
import { publicReply, type Reply } from '../reply.ts';
import type { PlainRoute } from '../route-table.ts';
import { BACKGROUND, GUIDES, type Guide } from './guides.ts';
import { html, Markup, type Page, shortened } from './layout.ts';
import {
  commonMain,
  operationGroups,
  operationMain,
  prose,
  referenceEntries,
  type SearchEntry,
} from './reference-page.ts';

const DIST = new URL('../../../dist/docs/', import.meta.url);

/**
 * Returns the routes of the documentation: the guides, a page for each operation, and the search. Each is made at its first
 * request.
 */
export function docsRoutes(
  facts: () => OpenApiFacts,
  publicPage: (page: Pick<Page, 'title' | 'main' | 'place'>) => Reply,
): PlainRoute[] {
  const document = once(() => openApiDocument(facts()));
  const pageOf = (path: string, title: string, content: () => Markup): PlainRoute => {
    const reply = once(() =>
      publicPage({
        title,
        main: framed(path, document(), content()),
        place: 'docs',
      }),
    );
    return { path, handler: () => reply() };
  };
  // the operations are known before the service listens; the base URL in their examples is not
  const operations = operationGroups(openApiDocument({ baseUrl: '/v1', version: '' })).flatMap(
    (group) => group.operations,
  );
  const entries = once(() => entriesOf(document()));
  const search = ({ query }: Exchange): Reply => {
    const asked = shortened(new URLSearchParams(query).get('q') ?? '', ASKED_LENGTH_MAX);
    const main = () => framed(SEARCH_PATH, document(), searchMain(asked, entries()), asked);
    return publicPage({ title: 'Search', main, place: 'docs' });
  };
  return [
    pageOf('/docs', 'Documentation', () => startMain(document())),
    pageOf('/docs/common', 'What calls share', () => commonMain(document())),
    ...[...GUIDES, ...BACKGROUND].map((guide) =>
      pageOf(`/docs/${guide.slug}`, guide.title, () => guideMain(guide)),
    ),
    ...operations.map((operation) =>
      pageOf(`/docs/api/${operation.operationId}`, `${operation.method} ${operation.path}`, () =>
        operationMain(operation, document(), facts().baseUrl),
      ),
    ),
    { path: SEARCH_PATH, handler: search },
    {
      path: '/openapi.json',
      handler: () => publicReply('application/json', JSON.stringify(document()), 'public, max-age=300'),
    },
  ];
}

function guideMain({ slug }: Guide): Markup {
  return html`<article class="article">${new Markup(readFileSync(new URL(`${slug}.html`, DIST), 'utf8'))}</article>`;
}

const GET_A_KEY: SearchEntry = {
  path: '/docs#get-a-key',
  title: 'Get a key',
  place: 'Start',
  text: 'API key account: qrn accounts create, qrn keys create, data/demo-key',
};

/** Returns the first page: how to send a request, how to get a key, and one line for every call. */
function startMain(document: OpenApiDocument): Markup {
  const groups = operationGroups(document).map(({ title, operations }) => {
    const calls = operations.map(
      ({ operationId, method, path, summary }) =>
        html`<div><dt><a href="/docs/api/${operationId}"><code>${method} ${path}</code></a></dt><dd>${prose(summary)}</dd></div>`,
    );
    return html`<section><h2>${title}</h2><dl class="params calls">${calls}</dl></section>`;
  });
  return html`<h1>Documentation</h1>
<p class="lead">Send a key as <code>Authorization: Bearer KEY</code>. An answer contains the values in <code>data</code>, and their origin and
the identifier of the certificate in <code>metadata</code>. Anyone can <a href="/verify">verify</a> the certificate.</p>
<p>Begin with the <a href="/docs/quick-start">quick start</a>. Each call below has its own page with its parameters, an example request, all members
of its answer, and its errors. <a href="/docs/common">What calls share</a> is described once. For code generators there is
<a href="/openapi.json">OpenAPI 3.1</a>.</p>
<section aria-labelledby="get-a-key"><h2 id="get-a-key">${GET_A_KEY.title}</h2>
<p>The operator of the service creates keys: <code>npm run -s qrn -- accounts create --name you --tier developer</code>. <code>npm start</code> prints a
demo key and stores it in <code>data/demo-key</code>.</p></section>
${groups}`;
}

/** Puts a page beside the search and the list of all pages. */
function framed(current: string, document: OpenApiDocument, content: Markup, asked = ''): Markup {
  const item = (path: string, title: string | Markup) =>
    html`<li><a href="${path}"${path === current ? html` aria-current="page"` : null}>${title}</a></li>`;
  const guides = (all: readonly Guide[]) => all.map(({ slug, title }) => item(`/docs/${slug}`, title));
  const calls = operationGroups(document).map(
    ({ title, operations }) =>
      html`<h2>${title}</h2><ul>${operations.map(({ operationId, method, path }) =>
        item(
          `/docs/api/${operationId}`,
          html`<code>${method === 'GET' ? '' : `${method} `}${path.replace(/^\/v1/, '')}</code>`,
        ),
      )}${title === 'Values' ? item('/docs/common', 'What calls share') : null}</ul>`,
  );
  return html`<div class="docs"><div class="sidebar">
<form class="search" role="search" method="get" action="${SEARCH_PATH}"><label for="search">Search</label>
<input id="search" name="q" type="search" value="${asked}" maxlength="${ASKED_LENGTH_MAX}" autocomplete="off" spellcheck="false" placeholder="unique, 429, credits …"></form>
<details><summary>All pages</summary><nav class="contents" aria-label="Documentation">
<h2>Guides</h2><ul>${item('/docs', 'Start')}${guides(GUIDES)}</ul>${calls}<h2>Background</h2><ul>${guides(BACKGROUND)}</ul></nav></details></div>
<div class="content">${content}</div></div>`;
}

/** Returns everything that the search can find, in lower case. scripts/build-docs.ts collects the sections of the guides. */
function entriesOf(document: OpenApiDocument): SearchEntry[] {
  const sections = JSON.parse(readFileSync(new URL('search.json', DIST), 'utf8')) as SearchEntry[];
  const errors = Object.entries(ERRORS).map(([code, { status, message }]) => ({
    path: `/docs/errors#${code}`,
    title: code,
    place: `Errors, ${status}`,
    text: message,
  }));
  return [GET_A_KEY, ...referenceEntries(document), ...sections, ...errors].map((entry) => ({
    ...entry,
    text: `${entry.title} ${entry.place} ${entry.text}`.toLowerCase(),
  }));
}

const SEARCH_PATH = '/docs/search';
const ASKED_LENGTH_MAX = 100;
const RESULTS_MAX = 24;

function searchMain(asked: string, entries: readonly SearchEntry[]): Markup {
  const words = [...new Set(asked.toLowerCase().match(/\S+/g))];
  const found = words.length === 0 ? [] : ranked(entries, words).slice(0, RESULTS_MAX);
  const results = found.map(
    ({ path, title, place }) => html`<li><a href="${path}">${title}</a> <span>${place}</span></li>`,
  );
  return html`<h1>Search</h1>
${found.length === 0 ? html`<p>${words.length === 0 ? 'Enter a word to search for.' : html`No page contains “${asked}”.`}</p>` : html`<ul class="links results">${results}</ul>`}`;
}

/** Returns the entries that contain every word. Titles that equal or begin with a word come first, then titles that contain one. */
function ranked(entries: readonly SearchEntry[], words: readonly string[]): SearchEntry[] {
  const scoreOf = (title: string) => (word: string) =>
    [title === word, title.startsWith(word), title.includes(word)].filter((each) => each).length;
  const whole = entries.filter(({ text }) => words.every((word) => text.includes(word)));
  const scored = whole.map((entry) => {
    const scores = words.map(scoreOf(entry.title.toLowerCase()));
    return { entry, score: scores.reduce((sum, each) => sum + each, 0) };
  });
  return scored.sort((one, other) => other.score - one.score).map(({ entry }) => entry);
}

/** Returns a function that calls `make` at its first call and keeps the result. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
