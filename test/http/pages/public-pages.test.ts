import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CertificateService, DrawList } from '../../../src/certificate/archive.ts';
import { infoRoutes } from '../../../src/http/info-routes.ts';
import { loadPageAssets } from '../../../src/http/pages/assets.ts';
import { unknownPage } from '../../../src/http/pages/verify-routes.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { replyOf } from './page-server.ts';
import { seen } from './seen.ts';
import { FACTS } from './status-facts.ts';

const assets = loadPageAssets();

/** Returns the public routes of a service, with or without a demo account and public metrics. */
const routesOf = (hasDemo: boolean, areMetricsPublic: boolean) =>
  infoRoutes(
    {
      ...{ clock: new ManualClock(), status: async () => FACTS, hasDemo: () => hasDemo },
      facts: () => ({ baseUrl: 'https://a.example/v1', version: '1.2.3' }),
      ...{ metrics: async (isFresh) => `fresh: ${isFresh}`, areMetricsPublic },
    },
    assets,
  );

async function read(target: string, { hasDemo = false, areMetricsPublic = false, asked = {} } = {}) {
  const [path, query = ''] = target.split('?');
  const route = routesOf(hasDemo, areMetricsPublic).find((each) => each.path === path)!;
  return Buffer.from((await route.handler({ path, query, ...asked } as never)).body).toString();
}

describe('the front page', () => {
  it('offers a throw if there is a demo account, and otherwise a request with a key', async () => {
    const [demo, plain] = [seen(await read('/', { hasDemo: true })), seen(await read('/'))];
    const added = (lines: readonly string[], known: readonly string[]) =>
      lines.filter((line) => !known.includes(line));
    assert.equal(demo[0], 'Quantum Random Number Service');
    assert.deepEqual(added(demo, plain), [
      'Try it without a key',
      'curl -X POST https://a.example/demo/die',
      '|metadata.verify_url| the page of its certificate. All requests within the same second get the same throw.',
      'Throw the die to see the complete answer here.',
      'Throw a die',
      'This is a real answer. The verifier in this page checks it against its certificate and the signed log.',
      'With the key in |QRN_KEY|, draw six numbers out of forty-nine:',
    ]);
    assert.deepEqual(added(plain, demo), [
      'Try it with a key',
      '|metadata.verify_url| the page of its certificate.',
    ]);
    for (const lines of [demo, plain])
      assert.ok(lines.includes("'https://a.example/v1/integers?count=6&min=1&max=49&unique=true'"));
  });
});

describe('the die of the front page', () => {
  it('has as many pips as its face says, which look the same when it is turned around', async () => {
    const text = await read('/', { hasDemo: true });
    const pips = [...text.matchAll(/<circle class="([^"]*)" cx="(\d+)" cy="(\d+)"/g)];
    for (let face = 1; face <= 6; face++) {
      const shown = pips.filter(([, faces]) => faces.split(' ').includes(`f${face}`));
      const places = shown.map(([, , x, y]) => `${x} ${y}`).sort();
      const turned = shown.map(([, , x, y]) => `${100 - Number(x)} ${100 - Number(y)}`).sort();
      assert.deepEqual([places.length, places], [face, turned]);
    }
  });
});

describe('the documentation', () => {
  it('lists all pages and calls beside each page, and marks the page itself', async () => {
    const text = await read('/docs/common');
    const current = [...text.matchAll(/<a href="([^"]*)" aria-current="page">/g)].map(([, path]) => path);
    assert.deepEqual(current, ['/docs', '/docs/common'], 'in the menu and in the list');
    const lines = seen(text);
    const [values, draws] = ['Values', 'Draws'].map((title) => lines.indexOf(title));
    assert.deepEqual(lines.slice(draws - 2, draws + 3), [
      ...['|/stream|', 'What calls share', 'Draws', '|/draws|', '|POST /draws|'],
    ]);
    assert.equal(lines[values + 1], '|/integers|');
    assert.equal(lines.filter((line) => line === 'What calls share').length, 1);
  });

  const searches: [asked: string, firstOnes: string[]][] = [
    ['', ['Enter a word to search for.']],
    ['nobody-has-this', ['No page contains “nobody-has-this”.']],
    ['uniqu', ['unique GET /v1/integers', 'unique GET /v1/sequences', 'unique_impossible Errors, 400']],
    ['get  A KEY', ['Get a key Start']],
    ['rate_limited 429', ['rate_limited Errors, 429']],
  ];
  for (const [asked, firstOnes] of searches)
    it(`finds pages with every word, the best title first: ${asked || 'nothing'}`, async () => {
      const lines = seen(await read(`/docs/search?q=${asked}`));
      const at = lines.lastIndexOf('Search') + 1;
      assert.deepEqual(lines.slice(at, at + firstOnes.length), firstOnes);
    });

  const kinds: [what: string, asked: string, title: string][] = [
    ['a call by its words', 'commits draw', 'POST /v1/draws'],
    ['a member of a body', 'nonce_sha256', 'POST /v1/draws'],
    ['a member of an answer', 'gives_up_at', 'GET /v1/draws/{id}'],
    ['how to get a key', 'accounts create', 'Get a key'],
    ['what calls share', 'entropy_mode', 'entropy_mode'],
    ['the text of a guide', 'sha256sum', '1. Fix the list'],
    ['the heading of a guide', 'numpy', 'numpy'],
  ];
  for (const [what, asked, title] of kinds)
    it(`finds ${what}`, async () => {
      const text = await read(`/docs/search?q=${asked}`);
      const titles = [...text.matchAll(/<li><a href="[^"]*">([^<]*)<\/a> <span>/g)].map(([, each]) => each);
      assert.ok(titles.includes(title), titles.join());
    });

  it('finds a limited number of pages, and keeps the search text in its field', async () => {
    const text = await read('/docs/search?q=a');
    assert.equal(text.match(/<li><a href="[^"]*">[^<]*<\/a> <span>/g)?.length, 24);
    assert.match(text, /name="q" type="search" value="a"/);
  });
});

describe('the metrics on the port of the service', () => {
  const cases: [
    areMetricsPublic: boolean,
    isFromThisMachine: boolean,
    asksForFresh: boolean,
    told: string,
  ][] = [
    [false, true, true, 'fresh: true'],
    [false, true, false, 'fresh: false'],
    [true, false, true, 'fresh: false'],
    [false, false, true, 'not_found'],
  ];
  for (const [areMetricsPublic, isFromThisMachine, asksForFresh, told] of cases)
    it(`are ${told} ${areMetricsPublic ? 'for all' : 'for this machine'}, asked ${isFromThisMachine ? 'here' : 'elsewhere'}`, async () => {
      const asked = { isFromThisMachine, head: { asksForFresh } };
      const text = read('/metrics', { areMetricsPublic, asked });
      assert.equal(await text.catch((error: { code: string }) => error.code), told);
    });
});

const SERIES = 'series_00000000000000000000000000';
const CERTIFICATE = 'cert_00000000000000000000000000';
const LIST: DrawList = {
  purpose: 'a & b',
  series: [
    { id: SERIES, count: 1_200 },
    { id: 'two', count: 3 },
  ],
  draws: [
    { series: SERIES, serial: 1_099, issued_at: '2027-01-01T00:00:00.000Z', certificate_id: CERTIFICATE },
    { series: SERIES, serial: 1_100, issued_at: '2027-01-02T00:00:00.000Z', certificate_id: null },
  ],
  next: 1_101,
};

describe('the list of the draws for a purpose', () => {
  const asked: unknown[] = [];
  const listed = async (list: DrawList, query = `?purpose=a+%26+b&series=${SERIES}&from=2`) => {
    const draws = async (...all: unknown[]) => {
      asked.push(all);
      return list;
    };
    return replyOf({ draws } as unknown as CertificateService, `/draws${query}`);
  };

  it('has every number, and links to later ones and to those of other accounts', async () => {
    const { text } = await listed(LIST);
    assert.deepEqual(asked.pop(), ['a & b', SERIES, 2]);
    const lines = seen(text);
    assert.deepEqual(lines.slice(lines.indexOf('“a & b”'), lines.indexOf('A single draw')), [
      '“a & b”',
      `NumberWhenCertificate`,
      `1,0992027-01-01 00:00:00 UTC|${CERTIFICATE}|1,1002027-01-02 00:00:00 UTCnot made public`,
      'Later ones, from number 1,101',
      'Other accounts used the same purpose. Their answers prove nothing about this series:',
      '|two|, 3 answers',
    ]);
    const links = [...text.matchAll(/href="(\/draws\?[^"]*)"/g)].map(([, link]) => link);
    const to = '/draws?purpose=a%20%26%20b&amp;series=';
    assert.deepEqual(links, [`${to}${SERIES}&amp;from=1101`, `${to}two&amp;from=1`]);
    const alone = await listed({ ...LIST, series: LIST.series.slice(0, 1), next: null });
    assert.doesNotMatch(alone.text, /Later ones|Other accounts/);
  });

  it('says that there is none, asks for a purpose first, and refuses an invalid one', async () => {
    const none = await listed({ ...LIST, series: [], draws: [], next: null });
    assert.match(none.text, /Nothing was drawn publicly for “<bdi>a &amp; b<\/bdi>”/);
    const empty = await listed(LIST, '');
    assert.deepEqual([empty.status, /“|purpose is not valid/.test(empty.text)], [200, false]);
    const refused = await listed(LIST, `?purpose=${'a'.repeat(400)}`);
    assert.equal(refused.status, 400);
    assert.match(refused.text, /The purpose is not valid\./);
    assert.match(refused.text, new RegExp(`value="${'a'.repeat(300)}"`));
  });
});

describe('a path that does not exist', () => {
  const cases: [accept: string, path: string, method: string, isPage: boolean][] = [
    ['text/html,*/*;q=0.8', '/nothing', 'GET', true],
    ['text/html', '/nothing', 'HEAD', true],
    ['text/html', '/nothing', 'POST', false],
    ['text/html', '/v1/nothing', 'GET', false],
    ['text/html;q=0', '/nothing', 'GET', false],
    ['text/html, application/json', '/nothing', 'GET', true],
    ['application/json, text/html;q=0.5', '/nothing', 'GET', false],
    ['*/*', '/nothing', 'GET', false],
  ];
  for (const [accept, path, method, isPage] of cases)
    it(`gets ${isPage ? 'a page' : 'an error'}: ${method} ${path}, ${accept}`, () => {
      const reply = unknownPage({ accept, path, method } as never, assets);
      assert.equal(reply !== undefined, isPage);
    });

  it('is shown as text, cut to a readable length', () => {
    const path = `/<i>${'a'.repeat(300)}`;
    const { body } = unknownPage({ accept: 'text/html', path, method: 'GET' } as never, assets)!;
    const [, shown] = /no page at <code>([^<]*)<\/code>/.exec(Buffer.from(body).toString())!;
    assert.equal(shown, `/&lt;i&gt;${'a'.repeat(196)}`);
  });
});
