import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import type { DrawDocument } from '../../src/certificate/draw-document.ts';
import { fetchWhole } from '../support/http.ts';
import { loggedCertificate } from '../support/replies.ts';
import { TestServer } from '../support/server.ts';
import { launchChromium, noBrowser, openPage, visit } from './chromium.ts';

/** Tests every page of the real service in a real browser, its layout and its accessibility. */

/**
 * axe-core applies all its rules in the narrowest view. In the widest view it applies those that depend on the colours and on
 * the layout, for no other rule depends on either.
 */
const VIEWS = [
  { width: 390, colorScheme: 'dark', rules: 'all' },
  { width: 768, colorScheme: 'dark', rules: 'none' },
  { width: 1280, colorScheme: 'light', rules: ['color-contrast', 'link-in-text-block', 'target-size'] },
] as const;

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** Returns the violations that axe-core finds, including target sizes (WCAG 2.2, 2.5.8), in words. */
async function violationsOf(page: Page, rules: (typeof VIEWS)[number]['rules']): Promise<string[]> {
  if (rules === 'none') return [];
  const options = {
    resultTypes: ['violations'],
    preload: false,
    ...(rules === 'all'
      ? { rules: { 'target-size': { enabled: true } } }
      : { runOnly: { type: 'rule', values: rules } }),
  };
  const { violations } = (await page.evaluate(`axe.run(${JSON.stringify(options)})`)) as {
    violations: readonly Violation[];
  };
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`),
  );
}

/** Returns the layout shift (the Layout Instability API) once the scripts have run and their work is drawn. */
function shiftOf(page: Page): Promise<number> {
  return page.evaluate(`new Promise((resolve) => {
    let shift = 0;
    const add = (list) => list.getEntries().forEach(({ value }) => (shift += value));
    new PerformanceObserver(add).observe({ type: 'layout-shift', buffered: true });
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => resolve(shift), 100)));
  })`);
}

/** Fields and buttons of less than 24 px that can be seen. */
const LOW_CONTROLS = `[...document.querySelectorAll('button, input, select, textarea, summary')]
  .filter((each) => each.checkVisibility() && each.offsetHeight < 24)
  .map((each) => each.outerHTML.slice(0, 80))`;

/** Elements that take focus and do nothing: summaries whose details are shown anyway. */
const IDLE_SUMMARIES = `[...document.querySelectorAll('details:not([open]) > summary')]
  .filter((each) => (each.focus(), document.activeElement === each) && each.nextElementSibling.checkVisibility())
  .map((each) => each.outerHTML)`;

/** What all pages have. */
const FRAME = `({
  title: document.title,
  icons: document.querySelectorAll('link[rel=icon]').length,
  menu: [...document.querySelectorAll('nav[aria-label=Site] a')].map((each) => each.innerText),
  footer: document.querySelectorAll('footer a').length,
  links: [...document.links].map((each) => each.href),
})`;

interface Frame {
  readonly title: string;
  readonly icons: number;
  readonly menu: readonly string[];
  readonly footer: number;
  readonly links: readonly string[];
}

describe('every page in Chromium', { skip: noBrowser() }, () => {
  let browser: Browser;
  let server: TestServer;
  let paths: readonly string[];
  let draw: string;
  const frames = new Map<string, Frame>();

  before(async () => {
    [browser, server] = await Promise.all([launchChromium(), TestServer.shared()]);
    const { metadata } = (await (await server.get('/integers')).json()) as {
      metadata: { certificate_id: string };
    };
    const csprng = await server.get('/integers?entropy_mode=csprng');
    assert.equal(
      csprng.status,
      200,
      'it waits until the sample of its stream is tested, and then every mode is served',
    );
    const certificate = `/verify/${metadata.certificate_id}`;
    const document = await loggedCertificate(server, metadata.certificate_id);
    const lot = document.certificate.provenance.lots[0].id;
    draw = await revealedDraw();
    paths = [
      '/',
      '/status',
      '/draws',
      '/draws?purpose=a%20raffle%20to%20look%20at',
      '/docs',
      '/docs/draws',
      '/docs/errors',
      '/docs/common',
      '/docs/quick-start',
      '/docs/api/integers',
      '/docs/api/createDraw',
      '/verify',
      '/log',
      certificate,
      `/lots/${lot}`,
      `/draws/${draw}`,
      '/no-such-page',
    ];
  });
  after(async () => {
    await browser?.close();
  });

  /** The id of a draw that has ended, with all of it in the log. */
  async function revealedDraw(): Promise<string> {
    const response = await fetchWhole(`${server.baseUrl}/draws`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        winners: { count: 2, list: { items: ['ada', 'grace', 'barbara'] } },
        purpose: 'a raffle to look at',
      }),
    });
    assert.equal(response.status, 201);
    const { id } = (await response.json()) as DrawDocument;
    await server.until('the draw is revealed and logged', async () => {
      const read = await fetchWhole(`${server.baseUrl}/draws/${id}`);
      const { certificate, commit, end } = (await read.json()) as DrawDocument;
      return [certificate?.certificate.proof, commit.proof, end?.proof].every((proof) => proof != null);
    });
    return id;
  }

  it('breaks no rule of axe-core and fits its window, on phone, tablet and desk, light and dark', async () => {
    const { page, complaints, requests, close } = await openPage(browser);
    for (const path of paths) {
      const told = complaints.length;
      await page.setViewportSize({ width: 1280, height: 720 });
      await page.emulateMedia({ colorScheme: 'light' });
      await page.goto(`${server.origin}${path}`);
      frames.set(path, await page.evaluate(FRAME));
      assert.equal(await shiftOf(page), 0, `${path} moves while it loads`);
      assert.deepEqual(await page.evaluate(IDLE_SUMMARIES), [], `${path} has summaries that do nothing`);
      await page.evaluate(axe.source);
      await page.evaluate('for (const each of document.querySelectorAll("details")) each.open = true');
      assert.deepEqual(await page.evaluate(LOW_CONTROLS), [], `${path} has controls below 24 px`);
      for (const { width, colorScheme, rules } of VIEWS) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme });
        const violations = await violationsOf(page, rules);
        assert.deepEqual(violations, [], `${path} at ${width} px, ${colorScheme}`);
        const across = await page.evaluate('document.documentElement.scrollWidth');
        assert.equal(across, width, `${path} scrolls sideways at ${width} px`);
      }
      const wanted = /status of 404/; // of the page that is none
      assert.deepEqual(
        complaints.slice(told).filter((each) => !wanted.test(each)),
        [],
        path,
      );
    }
    assert.ok(requests.every((each) => each.split(' ')[1].startsWith(server.origin)));
    await close();
  });

  it('states first that the source is simulated, then that the service works', async () => {
    await visit(browser, `${server.origin}/status`, async ({ page }) => {
      const banners = await page.locator('.banner').allInnerTexts();
      assert.match(banners[0], /^SIMULATED: no quantum processor is connected\./);
      assert.match(banners[1], /^(Everything works|Working, with warnings)\./);
      const modes = await page.locator('[aria-labelledby=modes] dd strong').allInnerTexts();
      assert.deepEqual(modes, ['Served', 'Served', 'Served']);
    });
  });

  it('updates the figures of the status page', async () => {
    await visit(browser, `${server.origin}/status`, async ({ page, requests }) => {
      const before = await page.textContent('#as-of');
      await page.evaluate('window.heading = document.querySelector("h1")');
      await page.locator('#as-of', { hasNotText: before! }).waitFor();
      assert.match((await page.textContent('#freshness'))!, /updated automatically/);
      assert.ok(requests.filter((each) => each.endsWith('/status ')).length > 1);
      assert.equal(
        await page.evaluate('window.heading === document.querySelector("h1")'),
        true,
        'what is the same stays',
      );
    });
  });

  it('throws a die on the front page, and verifies the answer', async () => {
    await visit(browser, server.origin, async ({ page }) => {
      assert.match((await page.locator('.banner').first().textContent())!, /^SIMULATED/);
      await page.click('#die-button');
      await page.locator('#die-checks .banner').waitFor();
      assert.match((await page.textContent('#die-checks .banner'))!, /^Verified\./);
      const shown = await page.getAttribute('#die', 'data-value');
      const { data } = JSON.parse((await page.textContent('#die-answer'))!);
      assert.deepEqual(data.values.map(String), [shown]);
      const pips = await page.evaluate(
        `[...document.querySelectorAll('#die circle')].filter((each) => getComputedStyle(each).opacity === '1').length`,
      );
      assert.equal(String(pips), shown);
    });
  });

  it('shows commands on the front page that run unchanged', async () => {
    await visit(browser, server.origin, async ({ page }) => {
      for (const id of ['die', 'keyed']) {
        const command = (await page.textContent(`#${id}-command`))!.replace('curl ', 'curl -sS --fail ');
        const { status, stdout, stderr } = spawnSync('sh', ['-c', command], {
          env: { ...process.env, QRN_KEY: server.key },
          encoding: 'utf8',
        });
        assert.equal(status, 0, `${command}\n${stderr}`);
        const { data, metadata } = JSON.parse(stdout);
        assert.equal(data.values.length, id === 'die' ? 1 : 6);
        assert.match(metadata.verify_url, /\/verify\/cert_/);
      }
    });
  });

  it('lists every number of a public purpose, and says so when nobody has used a purpose', async () => {
    await visit(browser, `${server.origin}/draws`, async ({ page }) => {
      await server.get('/uuid?purpose=a%20list%20to%20look%20at&public=true');
      await server.get('/uuid?purpose=a%20list%20to%20look%20at');
      await page.fill('#purpose', 'a list to look at');
      await page.click('form button');
      const rows = await page.locator('tbody tr').allInnerTexts();
      assert.deepEqual(
        rows.map((row) => row.split(/\s/)[0]),
        ['1', '2'],
      );
      assert.match(rows[0], /cert_/);
      assert.match(rows[1], /not made public/);
      await page.fill('#purpose', 'a purpose of nobody');
      await page.click('form button');
      assert.match((await page.textContent('main'))!, /Nothing was drawn publicly for “a purpose of nobody”/);
    });
  });

  it('has a unique title, an icon, the same menu and no broken link on every page, and finds a path with a trailing slash', async () => {
    const titles = new Map<string, string>();
    const linked = new Set<string>();
    const { menu } = frames.get('/')!;
    for (const path of paths) {
      const { title, icons, links, ...frame } = frames.get(path)!;
      if (!path.includes('?'))
        assert.ok(!titles.has(title), `${path} and ${titles.get(title)} are both ${title}`);
      titles.set(title, path);
      assert.match(title, /Quantum Random Number Service$/);
      assert.equal(icons, 1, path);
      assert.deepEqual(frame.menu, menu, path);
      assert.ok(frame.footer > 2, path);
      for (const link of links)
        if (!link.startsWith(`${server.origin}${path}#`)) linked.add(link.split('#')[0]);
    }
    for (const link of linked)
      if (link.startsWith(server.origin)) assert.equal((await fetchWhole(link)).status, 200, link);
    for (const path of paths.filter(
      (each) => each !== '/' && !each.includes('?') && each !== '/no-such-page',
    )) {
      const reply = await fetchWhole(`${server.origin}${path}/?a=b`, { redirect: 'manual' });
      assert.deepEqual([reply.status, reply.headers.get('location')], [308, `${path}?a=b`]);
    }
    const icon = await fetchWhole(`${server.origin}/favicon.ico`);
    assert.equal(icon.headers.get('content-type'), 'image/svg+xml');
  });

  it('checks a sample on the page that checks answers, and shows the answer that it checked', async () => {
    await visit(browser, `${server.origin}/verify`, async ({ page, requests }) => {
      const isVerifierLoaded = () => requests.some((each) => each.includes('/qrn-verify.mjs'));
      assert.ok(!isVerifierLoaded(), 'the page loads the verifier for its first check');
      await page.click('#sample-button');
      await page.locator('#result[aria-busy="false"] .banner').waitFor();
      assert.match((await page.textContent('#result .banner'))!, /^Verified\./);
      assert.ok(isVerifierLoaded());
      const sample = JSON.parse(await page.inputValue('#answer'));
      assert.ok([1, 2, 3, 4, 5, 6].includes(sample.data.values[0]));
      const paths = requests.map((each) => new URL(each.split(' ')[1]).pathname);
      assert.ok(paths.includes('/demo/die') && paths.includes(`/verify/${sample.metadata.certificate_id}`));
      // the page of a certificate checks answers of that certificate alone
      await page.goto(`${server.origin}${paths.find((path) => path.startsWith('/verify/cert_'))}`);
      await page.locator('#check').waitFor();
      assert.ok(!(await page.locator('#sample-button').isVisible()));
    });
  });

  it('verifies a draw in its page, and fails one whose winners were changed', async () => {
    await visit(browser, `${server.origin}/draws/${draw}`, async ({ page }) => {
      const verdict = async () => {
        await page.click('#check-draw');
        await page.locator('#result[aria-busy="false"] .banner').waitFor();
        return page.textContent('#result .banner');
      };
      assert.match((await verdict())!, /^Verified\. The draw ended as its statement promised\./);
      await page.click('#check-title ~ .scripted details summary');
      await page.fill('#witnesses', 'nobody');
      assert.match((await verdict())!, /^2 of \d+ checks failed/);
      await page.route(`**/v1/draws/${draw}`, async (route) => {
        const document = (await (await route.fetch()).json()) as DrawDocument & {
          outcome: { values: string[] };
        };
        document.outcome.values.reverse();
        await route.fulfill({ json: document });
      });
      await page.reload();
      assert.match(
        (await verdict())!,
        /^2 of \d+ checks failed\. Do not rely on this draw\./,
        'values and end',
      );
      await page.unroute(`**/v1/draws/${draw}`);
    });
  });
});

describe('every page', () => {
  let server: TestServer;
  before(async () => {
    server = await TestServer.shared();
  });

  it('shows nothing of accounts and keys', async () => {
    const text = await (await fetchWhole(server.origin)).text();
    const { account_id } = JSON.parse(await server.qrn('accounts', 'list', '--json'))[0];
    for (const secret of [account_id, server.key]) assert.ok(!text.includes(secret));
  });
});
