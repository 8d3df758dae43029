import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { buildClient } from '../../scripts/build-client.ts';
import { launchChromium, noBrowser, openPage, type WatchedPage } from '../browser/chromium.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { ALLOWED_ORIGIN, TestServer } from '../support/server.ts';

/** The built client in a page of another origin, which the service allows by name. */
describe('the client in Chromium', { skip: noBrowser() }, () => {
  let folder: string;
  let server: TestServer;
  let key: string;
  let browser: Browser;
  let watched: WatchedPage;

  before(async () => {
    folder = scratchFolder();
    await buildClient(folder);
    server = await TestServer.shared();
    ({ key } = await server.account('pro')); // no other file spends its credits
    browser = await launchChromium();
    watched = await open();
  });
  after(async () => {
    await browser?.close();
  });

  /** An empty page of the allowed origin, and the built files beside it: nothing listens there. */
  async function open(): Promise<WatchedPage> {
    const opened = await openPage(browser);
    await opened.page.route(`${ALLOWED_ORIGIN}/**`, (route) => {
      const name = basename(new URL(route.request().url()).pathname);
      return name.endsWith('.js')
        ? route.fulfill({ contentType: 'text/javascript', body: readFileSync(join(folder, name)) })
        : route.fulfill({
            contentType: 'text/html',
            body: '<!doctype html><link rel="icon" href="data:,">',
          });
    });
    await opened.page.goto(`${ALLOWED_ORIGIN}/`);
    return opened;
  }

  /** Runs a script in a page with a client of its own; gives what it returns. */
  function evaluated<T>({ page }: WatchedPage, script: string): Promise<T> {
    return page.evaluate<T>(
      `(async () => {
        const { QrnClient } = await import('/client.js');
        const client = new QrnClient({ baseUrl: '${server.baseUrl}', key: '${key}' });
        ${script}
      })()`,
    );
  }

  /** Runs a script in the page, and asserts that the browser has no complaint. */
  async function inPage<T>(script: string): Promise<T> {
    const result = await evaluated<T>(watched, script);
    assert.deepEqual(watched.complaints, []);
    return result;
  }

  it('gets answers, their metadata and the limits of the account', async () => {
    const { data, metadata, rateLimit } = await inPage<{
      data: { values: number[] };
      metadata: { entropy_origin: string };
      rateLimit: { remaining: number };
    }>('return client.integers({ count: 10, min: 1, max: 6 });');
    assert.ok(data.values.length === 10 && data.values.every((value) => value >= 1 && value <= 6));
    assert.equal(metadata.entropy_origin, 'simulated');
    assert.ok(rateLimit.remaining > 0);
  });

  it('gets binary batches with all their metadata', async () => {
    const [length, kind, credits] = await inPage<[number, string, object]>(`
      const { data, credits } = await client.batchBinary({ type: 'floats', count: 1000, entropyMode: 'csprng' });
      return [data.values.length, data.values.constructor.name, credits];`);
    assert.deepEqual([length, kind, credits], [1000, 'Float64Array', { remaining: 10_240, used: 0 }]);
  });

  it('verifies answers in the page', async () => {
    const verified = await inPage<boolean[]>(`
      const answers = [
        await client.shuffle({ items: ['é', 'b,c', ''] }),
        await client.bytesBinary({ count: 9, entropyMode: 'pure' }),
      ];
      const verified = [];
      for (const answer of answers) verified.push((await client.verify(answer)).ok);
      answers[1].data.bytes[0] ^= 1;
      verified.push((await client.verify(answers[1])).ok);
      return verified;`);
    assert.deepEqual(verified, [true, true, false]);
  });
});
