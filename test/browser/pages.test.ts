import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { TestServer } from '../support/server.ts';
import { launchChromium, noBrowser, openPage } from './chromium.ts';

/** Every page of the real service, in a real browser, as it looks and as assistive technology reads it. */

/** Each width with one scheme: colours do not depend on the width, nor the size of targets on the scheme. */
const VIEWS = [
  { width: 390, colorScheme: 'dark' },
  { width: 768, colorScheme: 'light' },
  { width: 1280, colorScheme: 'dark' },
  { width: 1280, colorScheme: 'light' },
] as const;

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** What axe-core finds wrong, the size of targets (WCAG 2.2, 2.5.8) included, in words. */
async function violationsOf(page: Page): Promise<string[]> {
  const options = { resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } };
  const { violations } = (await page.evaluate(`axe.run(${JSON.stringify(options)})`)) as {
    violations: readonly Violation[];
  };
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`),
  );
}

describe('every page in Chromium', { skip: noBrowser() }, () => {
  let browser: Browser;
  let server: TestServer;
  let paths: readonly string[];

  before(async () => {
    [browser, server] = await Promise.all([launchChromium(), TestServer.shared()]);
    const { metadata } = (await (await server.get('/integers')).json()) as {
      metadata: { certificate_id: string };
    };
    const certificate = `/verify/${metadata.certificate_id}`;
    const read = async () => {
      const response = await fetch(`${server.origin}${certificate}`, {
        headers: { accept: 'application/json' },
      });
      return (
        (await response.json()) as { certificate: { proof: unknown; provenance: { lots: { id: string }[] } } }
      ).certificate;
    };
    await server.until('the certificate is logged', async () => (await read()).proof !== null);
    const lot = (await read()).provenance.lots[0].id;
    paths = ['/', '/docs', '/verify', certificate, `/lots/${lot}`];
  });
  after(async () => {
    await browser?.close();
  });

  it('breaks no rule of axe-core and fits its window, on phone, tablet and desk, light and dark', async () => {
    for (const path of paths) {
      const { page, complaints, requests, close } = await openPage(browser, { bypassCSP: true }); // axe is no script of ours
      await page.goto(`${server.origin}${path}`);
      await page.evaluate(axe.source);
      await page.evaluate('for (const each of document.querySelectorAll("details")) each.open = true');
      for (const { width, colorScheme } of VIEWS) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme });
        assert.deepEqual(await violationsOf(page), [], `${path} at ${width} px, ${colorScheme}`);
        const across = await page.evaluate('document.documentElement.scrollWidth');
        assert.equal(across, width, `${path} scrolls sideways at ${width} px`);
      }
      assert.deepEqual(complaints, [], path);
      assert.ok(requests.every((each) => each.split(' ')[1].startsWith(server.origin)));
      await close();
    }
  });

  it('says first that the source is simulated, then that the service works', async () => {
    const { page, close } = await openPage(browser);
    await page.goto(server.origin);
    const banners = await page.locator('.banner').allInnerTexts();
    assert.match(banners[0], /^SIMULATED: no quantum processor is connected\./);
    assert.match(banners[1], /^(Everything works|Working, with warnings)\./);
    assert.deepEqual(await page.locator('[aria-labelledby=modes] dd strong').allInnerTexts(), [
      'Served',
      'Served',
      'Served',
    ]);
    await close();
  });

  it('leads to nothing that is not there', async () => {
    const { page, close } = await openPage(browser);
    const links = new Set<string>();
    for (const path of paths) {
      await page.goto(`${server.origin}${path}`);
      for (const link of (await page.evaluate('[...document.links].map((each) => each.href)')) as string[])
        links.add(link.split('#')[0]);
    }
    for (const link of links) {
      if (link.startsWith(server.origin)) assert.equal((await fetch(link)).status, 200, link);
    }
    await close();
  });

  it('tells nothing of accounts and keys', async () => {
    const text = await (await fetch(server.origin)).text();
    const { account_id } = JSON.parse(await server.qrn('accounts', 'list', '--json'))[0];
    for (const secret of [account_id, server.key]) assert.ok(!text.includes(secret));
  });
});
