import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { ENDPOINT_DEFINITIONS } from '../../src/http/endpoints/table.ts';
import { EXAMPLES } from '../../src/http/openapi/operation.ts';
import { TestServer } from '../support/server.ts';
import { launchChromium, noBrowser, visit as visitPage, type WatchedPage } from './chromium.ts';

/** The documentation as a reader has it, in a real browser, on the real service. */
describe('the documentation in Chromium', { skip: noBrowser() }, () => {
  let browser: Browser;
  let server: TestServer;

  before(async () => {
    browser = await launchChromium();
    server = await TestServer.shared();
  });
  after(async () => {
    await browser?.close();
  });

  /** Opens the page of a call, and wants no other host to be asked. */
  const visit = <T>(
    name: string,
    act: (watched: WatchedPage) => Promise<T>,
    options?: Parameters<typeof visitPage>[3],
  ) =>
    visitPage(
      browser,
      `${server.origin}/docs/api/${name}`,
      async (watched) => {
        const done = await act(watched);
        const origins = watched.requests.map((each) => new URL(each.split(' ')[1]).origin);
        assert.deepEqual([...new Set(origins)], [server.origin], 'no other host is asked');
        return done;
      },
      options,
    );

  async function send(page: Page): Promise<{ status: string; text: string }> {
    await page.click('#try-form button[type=submit]');
    // "Waiting …" from the click on, the status once the answer is shown
    await page.locator('#try-status', { hasText: /^\d/ }).waitFor();
    return {
      status: (await page.textContent('#try-status')) ?? '',
      text: (await page.textContent('#answer')) ?? '',
    };
  }

  async function open(page: Page): Promise<void> {
    await page.click('#try summary');
    await page.fill('#key', server.key);
  }

  it('runs every call with the key that was entered, and has curl examples that run unchanged', async () => {
    let certificateId = '';
    const commands = new Map<string, string>();
    for (const { name, path } of ENDPOINT_DEFINITIONS) {
      await visit(name, async ({ page }) => {
        assert.ok((await page.textContent('h1'))?.includes(path));
        commands.set(name, (await page.textContent('#curl'))!);
        await open(page);
        if (name === 'certificate') await page.fill('#field-id', certificateId);
        const { status, text } = await send(page);
        assert.match(status, /^200 in \d+ ms$/, name);
        if (name === 'integers') certificateId = JSON.parse(text).metadata.certificate_id;
      });
    }
    for (const [name, command] of commands) {
      if (command.includes('cert_')) continue;
      const ran = spawnSync('sh', ['-c', command.replace('curl ', 'curl -sS --fail ')], {
        env: { ...process.env, QRN_KEY: server.key },
        encoding: 'utf8',
      });
      assert.equal(ran.status, 0, `${command}\n${ran.stderr}`);
      const drawn = JSON.parse(ran.stdout.split('\n', 1)[0]).metadata?.entropy_consumed_bytes;
      // of these kinds no draw is ever rejected, so that each answer consumes the same
      if (['bytes', 'floats', 'uuid', 'bitstring'].includes(name)) {
        const { metadata } = EXAMPLES[name].answer as { metadata: Record<string, unknown> };
        assert.equal(metadata['entropy_consumed_bytes'], drawn, name);
      }
    }
  });

  it('commits to a draw, and reads it by an id in its path, without a key', async () => {
    const id = await visit('createDraw', async ({ page }) => {
      await open(page);
      const { status, text } = await send(page);
      assert.match(status, /^201 /);
      return JSON.parse(text).id as string;
    });
    await visit('draw', async ({ page }) => {
      await page.click('#try summary');
      assert.equal(await page.locator('#key').count(), 0);
      await page.fill('#field-id', id);
      assert.equal(JSON.parse((await send(page)).text).id, id);
    });
  });

  it('shows an error as the service returned it, and asks for a missing key', async () => {
    await visit(
      'integers',
      async ({ page }) => {
        await page.click('#try summary');
        await page.click('#try-form button[type=submit]');
        assert.match((await page.textContent('#try-status')) ?? '', /Enter the API key/);
        assert.equal(await page.evaluate('document.activeElement.id'), 'key');
        await page.fill('#key', server.key);
        await page.fill('#field-count', '0');
        const { status, text } = await send(page);
        assert.match(status, /^400 /);
        assert.equal(JSON.parse(text).error.code, 'invalid_count');
      },
      { expected: /status of 400/ },
    );
  });

  it('says when the browser does not let it copy', async () => {
    await visit('integers', async ({ page }) => {
      const button = page.locator('details[open] button.copy').first();
      await button.click();
      await button.filter({ hasText: 'Not allowed' }).waitFor();
    });
  });

  it('copies the shown sample', async () => {
    await visit(
      'integers',
      async ({ page }) => {
        for (const [language, line] of [
          ['curl', /^curl [\s\S]*integers\?count=6&/],
          ['TypeScript', /client\.integers\(\{ "count": 6, .*"sort": "ascending" \}\);/],
          ['Python', /client\.integers\(count=6, .*unique=True, sort="ascending"\)/],
        ] as const) {
          if (language !== 'curl') await page.click(`summary:text("${language}")`);
          const button = page.locator('details[open] button.copy').first();
          await button.click();
          await button.filter({ hasText: 'Copied' }).waitFor();
          const copied = String(await page.evaluate('navigator.clipboard.readText()'));
          assert.match(copied, line);
          assert.equal(copied, await page.textContent(`#${language}`));
        }
      },
      { permissions: ['clipboard-read', 'clipboard-write'] },
    );
  });

  it('keeps the key in the page alone', async () => {
    await visit('uuid', async ({ page, requests }) => {
      await open(page);
      await send(page);
      const kept = await page.evaluate(
        'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])',
      );
      assert.ok(!String(kept).includes(server.key));
      assert.ok(!requests.some((each) => each.includes(server.key)), 'no address and no body holds it');
      await page.reload();
      assert.equal(await page.inputValue('#key'), '');
    });
  });

  it('shows no controls without scripts that would not work', async () => {
    const options = { javaScriptEnabled: false };
    await visit('integers', async ({ page }) => assert.equal(await page.isVisible('#try'), false), options);
  });

  it('verifies the reply that it shows', async () => {
    await visit('uuid', async ({ page }) => {
      await open(page);
      await send(page);
      await page.click('#verify');
      await page.locator('#checks .banner').waitFor();
      assert.match((await page.textContent('#checks .banner'))!, /^Verified\./);
    });
    await visit('usage', async ({ page }) => {
      await open(page);
      await send(page);
      assert.ok(!(await page.isVisible('#verify')), 'has no certificate');
    });
  });

  it('finds words on every page', async () => {
    await visitPage(browser, `${server.origin}/docs/quick-start`, async ({ page }) => {
      await page.fill('#search', 'rate_limited');
      await page.press('#search', 'Enter');
      await page.waitForURL(/\/docs\/search\?q=/);
      assert.equal(await page.inputValue('#search'), 'rate_limited');
      await page.locator('.results a').first().click();
      await page.waitForURL(/\/docs\/errors#rate_limited$/);
      assert.equal(await page.locator('#rate_limited').count(), 1);
    });
  });
});
