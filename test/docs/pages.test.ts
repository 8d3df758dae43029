import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Marked, type Token, type Tokens } from 'marked';
import { buildDocs } from '../../scripts/build-docs.ts';
import { openApiDocument } from '../../src/http/openapi/document.ts';
import { BACKGROUND, GUIDES } from '../../src/http/pages/guides.ts';
import { operationGroups } from '../../src/http/pages/reference-page.ts';
import { fetchWhole } from '../support/http.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { TestServer } from '../support/server.ts';

/** The texts of docs/ as a reader uses them: the commands run, and the links lead to pages that exist. */

const root = fileURLToPath(new URL('../..', import.meta.url));
const textOf = (slug: string) => readFileSync(join(root, `docs/${slug}.md`), 'utf8');
const ALL = [...GUIDES, ...BACKGROUND];

function blocksOf(text: string): Tokens.Code[] {
  const found: Tokens.Code[] = [];
  new Marked().walkTokens(new Marked().lexer(text), (token: Token) => {
    if (token.type === 'code') found.push(token as Tokens.Code);
  });
  return found;
}

const hasNumpy = spawnSync('python3', ['-c', 'import numpy']).status === 0;

describe('the blocks of a guide', () => {
  let server: TestServer;
  let environment: Record<string, string | undefined>;

  before(async () => {
    server = await TestServer.shared();
    const tools = scratchFolder();
    const qrn = `#!/bin/sh\nexec ${process.execPath} ${join(root, 'src/main.ts')} "$@"\n`;
    writeFileSync(join(tools, 'qrn'), qrn, { mode: 0o755 });
    environment = {
      ...process.env,
      PATH: `${tools}:${join(root, 'node_modules/.bin')}:${process.env['PATH']}`,
      QRN_URL: server.baseUrl,
      QRN_KEY: server.key,
    };
  });

  for (const { slug } of GUIDES) {
    it(`run one after the other: ${slug}`, () => {
      const cwd = scratchFolder();
      // a block of `console` is for a reader alone, and one of `text` shows what the block above it prints
      const runnable = blocksOf(textOf(slug)).filter(({ lang }) => lang !== 'console' && lang !== 'text');
      for (const { lang = '', text } of runnable) {
        const [language, needs] = lang.split(' ');
        if (needs === 'numpy' && !hasNumpy) continue;
        const [program, ...given] = {
          sh: ['sh', '-eu', '-c', text],
          python: ['python3', '-c', text],
          js: [process.execPath, '--input-type=module', '-e', text],
        }[language] ?? ['none'];
        assert.notEqual(program, 'none', `docs/${slug}.md has a block of “${lang}”, which nothing runs`);
        const ran = spawnSync(program, given, { cwd, env: environment, encoding: 'utf8', timeout: 120_000 });
        assert.equal(ran.status, 0, `docs/${slug}.md:\n${text}\n${ran.stdout}${ran.stderr}`);
      }
    });
  }
});

describe('every text below docs/ with a page', () => {
  const pages = new Map(buildDocs().map(({ name, text }) => [name.replace('.html', ''), text]));
  const idsOf = (html: string) => [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);

  it('has shell blocks that a shell can parse', () => {
    for (const { slug } of ALL) {
      for (const { lang, text } of blocksOf(textOf(slug))) {
        if (lang !== 'sh' && lang !== 'console') continue;
        const read = spawnSync('sh', ['-n'], { input: text, encoding: 'utf8' });
        assert.equal(read.status, 0, `docs/${slug}.md:\n${text}\n${read.stderr}`);
      }
    }
  });

  it('links to pages and headings that exist', () => {
    const operations = operationGroups(openApiDocument({ baseUrl: '/v1', version: '' })).flatMap(
      (each) => each.operations,
    );
    const known = [
      '/docs',
      '/docs/common',
      ...operations.map(({ operationId }) => `/docs/api/${operationId}`),
    ];
    for (const [slug, html] of pages) {
      for (const [, href] of html.matchAll(/<a href="([^"]+)"/g)) {
        if (href.startsWith('https://')) continue;
        const [path, anchor] = href.split('#');
        const target = path === '' ? slug : path.replace('/docs/', '');
        assert.ok(pages.has(target) || known.includes(path), `docs/${slug}.md leads to ${href}`);
        if (anchor !== undefined)
          assert.ok(idsOf(pages.get(target) ?? '').includes(anchor), `docs/${slug}.md leads to ${href}`);
      }
      const ids = idsOf(html);
      assert.equal(new Set(ids).size, ids.length, `docs/${slug}.md has an id twice`);
    }
  });

  it('links to files of the repository that exist', () => {
    for (const { slug } of ALL) {
      for (const [, path] of textOf(slug).matchAll(/\]\((?!https:|#)([^)#]+)/g))
        assert.doesNotThrow(() => readFileSync(join(root, 'docs', path)), `docs/${slug}.md leads to ${path}`);
    }
  });
});

it('a page cuts an overlong text of a query at a whole character', async () => {
  const { origin } = await TestServer.shared();
  for (const [path, most] of [
    ['/docs/search?q=', 100],
    ['/draws?purpose=', 300],
    ['/verify?id=', 300],
  ] as const) {
    const asked = `${'a'.repeat(most - 1)}😀`;
    const html = await (await fetchWhole(`${origin}${path}${encodeURIComponent(asked)}`)).text();
    assert.ok(html.includes('a'.repeat(most - 1)) && !/[\ufffd😀]/u.test(html), path);
  }
});

describe('the reference', () => {
  const document = openApiDocument({ baseUrl: 'https://qrn.example/v1', version: '1' });
  const schemas = (document['components'] as { schemas: Record<string, object> }).schemas;

  /** Members without an explanation, of a schema and of those in it. */
  function* unexplained(schema: unknown, at: string): Generator<string> {
    if (typeof schema !== 'object' || schema === null) return;
    const { properties = {}, items, anyOf = [], oneOf = [] } = schema as Record<string, never>;
    for (const [name, member] of Object.entries(
      properties as Record<string, { description?: string; $ref?: string }>,
    )) {
      const named = schemas[member.$ref?.split('/').at(-1) ?? ''] as { description?: string } | undefined;
      if (!member.description && !named?.description) yield `${at}.${name}`;
      yield* unexplained(member, `${at}.${name}`);
    }
    for (const each of [items, ...(anyOf as unknown[]), ...(oneOf as unknown[])])
      yield* unexplained(each, at);
  }

  it('explains every member of every request and answer', () => {
    const missing: string[] = [];
    for (const [name, schema] of Object.entries(schemas)) missing.push(...unexplained(schema, name));
    for (const { operations } of operationGroups(document)) {
      for (const { operationId, requestBody, responses } of operations) {
        for (const { content = {} } of [requestBody ?? {}, ...Object.values(responses)] as {
          content?: Record<string, { schema: unknown }>;
        }[])
          for (const { schema } of Object.values(content)) missing.push(...unexplained(schema, operationId));
      }
    }
    assert.deepEqual([...new Set(missing)], []);
  });

  it('lists every operation of the document that is not a page, in one group', () => {
    const grouped = operationGroups(document).flatMap(({ operations }) =>
      operations.map(({ operationId }) => operationId),
    );
    assert.equal(new Set(grouped).size, grouped.length);
    for (const id of [
      'integers',
      'batch',
      'stream',
      'createDraw',
      'openNonce',
      'cancelDraw',
      'draws',
      'usage',
      'keys',
      'livez',
    ])
      assert.ok(grouped.includes(id), id);
    const paths = document['paths'] as Record<string, Record<string, { operationId: string }>>;
    const all = Object.values(paths).flatMap((item) =>
      Object.values(item).map(({ operationId }) => operationId),
    );
    assert.deepEqual(all.filter((id) => !grouped.includes(id)).sort(), ['docs', 'status']);
  });
});
