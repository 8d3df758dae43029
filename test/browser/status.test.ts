import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { TestServer } from '../support/server.ts';
import { launchChromium, noBrowser, openPage } from './chromium.ts';

/** The front page of the real service, in a real browser. */
describe('the status page in Chromium', { skip: noBrowser() }, () => {
  let browser: Browser;
  let server: TestServer;

  before(async () => {
    browser = await launchChromium();
    server = await TestServer.shared();
  });
  after(async () => {
    await browser?.close();
  });

  it('says loudly that the source is simulated, and that the service works', async () => {
    const { page, complaints, requests, close } = await openPage(browser);
    await page.goto(server.origin);
    const banners = await page.locator('.banner').allInnerTexts();
    assert.match(banners[0], /^SIMULATED: no quantum processor is connected\./);
    assert.match(banners[1], /^(Everything works|Working, with warnings)\./);
    assert.deepEqual(await page.locator('[aria-labelledby=modes] dd strong').allInnerTexts(), [
      'Served',
      'Served',
      'Served',
    ]);
    assert.equal(await page.locator('svg[role=img][aria-label]').count(), 8);
    assert.deepEqual(complaints, []);
    assert.ok(requests.every((each) => each.split(' ')[1].startsWith(server.origin)));
    await close();
  });

  it('links to what is there', async () => {
    const { page, close } = await openPage(browser);
    await page.goto(server.origin);
    const links = (await page.evaluate(`[...document.links].map((each) => each.href)`)) as string[];
    for (const link of new Set(links)) {
      assert.equal((await fetch(link)).status, 200, link);
    }
    await close();
  });

  it('fits a phone, in light and dark, without scripts', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, complaints, close } = await openPage(browser, {
        viewport: { width: 360, height: 740 },
        colorScheme,
      });
      await page.goto(server.origin);
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360);
      assert.equal(await page.locator('script').count(), 0);
      assert.deepEqual(complaints, []);
      await close();
    }
  });

  it('tells nothing of accounts and keys', async () => {
    const text = await (await fetch(server.origin)).text();
    const { account_id } = JSON.parse(await server.qrn('accounts', 'list', '--json'))[0];
    for (const secret of [account_id, server.key, 'demo']) assert.ok(!text.includes(secret));
  });
});
