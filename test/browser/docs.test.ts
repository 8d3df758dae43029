import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { ENDPOINT_DEFINITIONS } from '../../src/http/endpoints/table.ts';
import { EXAMPLES } from '../../src/http/openapi/examples.ts';
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

  /** Opens the page, and wants no other host to be asked. */
  const visit = (act: (watched: WatchedPage) => Promise<void>, options?: Parameters<typeof visitPage>[3]) =>
    visitPage(
      browser,
      `${server.origin}/docs`,
      async (watched) => {
        await act(watched);
        const origins = watched.requests.map((each) => new URL(each.split(' ')[1]).origin);
        assert.deepEqual([...new Set(origins)], [server.origin], 'no other host is asked');
      },
      options,
    );

  async function answerOf({ page }: WatchedPage, name: string): Promise<{ status: string; text: string }> {
    await page.click(`#try-${name} button[type=submit]`);
    // "Waiting …" from the click on, the status once the answer is shown
    await page.locator(`#${name}-status`, { hasText: /^\d/ }).waitFor();
    return {
      status: (await page.textContent(`#${name}-status`)) ?? '',
      text: (await page.textContent(`#${name}-answer`)) ?? '',
    };
  }

  it('tries every call with the key that is filled in', async () => {
    await visit(async (watched) => {
      const { page } = watched;
      await page.fill('#key', server.key);
      const { text } = await answerOf(watched, 'integers');
      const { data, metadata } = JSON.parse(text);
      assert.equal(data.values.length, 6);
      await page.fill('#certificate-id', metadata.certificate_id);
      for (const { name } of ENDPOINT_DEFINITIONS) {
        assert.match((await answerOf(watched, name)).status, /^200 in \d+ ms$/, name);
      }
      await page.fill('#shuffle-items', 'grüße,a b,&c');
      const shuffled = JSON.parse((await answerOf(watched, 'shuffle')).text);
      assert.deepEqual([...shuffled.data.items].sort(), ['&c', 'a b', 'grüße']);
    });
  });

  it('shows an error as the service tells it, and asks for a missing key', async () => {
    await visit(
      async (watched) => {
        const { page } = watched;
        await page.click('#try-uuid button[type=submit]');
        assert.match((await page.textContent('#uuid-status')) ?? '', /Fill in the API key/);
        assert.equal(await page.evaluate('document.activeElement.id'), 'key');
        await page.fill('#key', server.key);
        await page.fill('#integers-count', '0');
        const { status, text } = await answerOf(watched, 'integers');
        assert.match(status, /^400 /);
        assert.equal(JSON.parse(text).error.code, 'invalid_count');
      },
      { expected: /status of 400/ },
    );
  });

  it('copies the sample that is shown, as it is filled in', async () => {
    await visit(
      async ({ page }) => {
        await page.fill('#integers-count', '7');
        const button = page.locator('#integers button.copy').first();
        await button.click();
        await button.filter({ hasText: 'Copied' }).waitFor();
        const copied = String(await page.evaluate('navigator.clipboard.readText()'));
        assert.equal(
          copied.trim(),
          (await page.locator('#integers pre:visible').first().textContent())?.trim(),
        );
        assert.match(copied, /^curl [\s\S]*count=7&/);
      },
      { permissions: ['clipboard-read', 'clipboard-write'] },
    );
  });

  it('keeps the key in the page alone', async () => {
    await visit(async (watched) => {
      const { page, requests } = watched;
      await page.fill('#key', server.key);
      await answerOf(watched, 'uuid');
      const kept = await page.evaluate(
        'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])',
      );
      assert.ok(!String(kept).includes(server.key));
      assert.ok(!requests.some((each) => each.includes(server.key)), 'no address and no body holds it');
      await page.reload();
      assert.equal(await page.inputValue('#key'), '');
    });
  });

  it('shows every endpoint without scripts, and no form that would not work', async () => {
    await visit(
      async ({ page }) => {
        for (const { name, path } of ENDPOINT_DEFINITIONS) {
          assert.ok((await page.textContent(`#${name}`))?.includes(path));
        }
        assert.equal(await page.isVisible('#key'), false, 'nothing is offered that would not work');
      },
      { javaScriptEnabled: false },
    );
  });

  it('labels every field, and has no broken link', async () => {
    await visit(async ({ page }) => {
      const unlabelled = await page.evaluate(
        `[...document.querySelectorAll('input, select, textarea')].filter((each) => each.labels.length === 0).map((each) => each.id)`,
      );
      assert.deepEqual(unlabelled, []);
      const broken = await page.evaluate(
        `[...document.querySelectorAll('a[href^="#"]')].map((each) => each.hash.slice(1)).filter((id) => document.getElementById(id) === null)`,
      );
      assert.deepEqual(broken, []);
      const ids = (await page.evaluate(
        `[...document.querySelectorAll('[id]')].map((each) => each.id)`,
      )) as string[];
      assert.equal(new Set(ids).size, ids.length, 'every id is there once');
      assert.equal(await page.locator('h1').count(), 1);
    });
  });

  it('has curl examples that run unchanged and draw as much as they say', async () => {
    await visit(async ({ page }) => {
      const commands = await page.locator('.code pre.curl').allTextContents();
      assert.equal(commands.length, ENDPOINT_DEFINITIONS.length);
      for (const [i, { name }] of ENDPOINT_DEFINITIONS.entries()) {
        if (commands[i].includes('cert_')) continue;
        const ran = spawnSync('sh', ['-c', commands[i].replace('curl ', 'curl -sS --fail ')], {
          env: { ...process.env, QRN_KEY: server.key },
          encoding: 'utf8',
        });
        assert.equal(ran.status, 0, `${commands[i]}\n${ran.stderr}`);
        const drawn = JSON.parse(ran.stdout.split('\n', 1)[0]).metadata?.entropy_consumed_bytes;
        // of these kinds no draw is ever rejected, so that each answer consumes the same
        if (['bytes', 'floats', 'uuid', 'bitstring'].includes(name)) {
          const { answer } = EXAMPLES[name as keyof typeof EXAMPLES];
          assert.equal(metadataOf(answer)['entropy_consumed_bytes'], drawn, name);
        }
      }
    });
    const consumed = Object.values(EXAMPLES).map(
      ({ answer }) => metadataOf(answer)['entropy_consumed_bytes'],
    );
    assert.ok(new Set(consumed).size > 2, 'recorded from answers, not copied from one');
  });

  it('writes the code for what the form holds, in every language, and keeps the chosen one', async () => {
    await visit(async ({ page }) => {
      await page.fill('#integers-count', '3');
      await page.selectOption('#integers-entropy_mode', 'pure');
      const texts = await Promise.all(
        ['curl', 'typescript', 'python'].map((language) => page.textContent(`#integers-${language}`)),
      );
      assert.match(texts[0]!, /integers\?count=3&.*&entropy_mode=pure'$/);
      assert.match(texts[1]!, /client\.integers\(\{ count: 3, .*, entropyMode: 'pure' \}\);/);
      assert.match(texts[2]!, /client\.integers\(count=3, .*, entropy_mode="pure"\)/);
      await page.fill('#shuffle-items', "it's,a");
      const [curl, python] = await Promise.all(
        ['curl', 'python'].map((language) => page.textContent(`#shuffle-${language}`)),
      );
      assert.ok(curl!.includes("items=it'\\''s,a'"), curl!);
      assert.ok(python!.includes('client.shuffle(items=["it\'s", "a"])'), python!);
      await page.locator('#uuid .tabs label', { hasText: 'Python' }).click();
      assert.ok(await page.isVisible('#bytes-python'));
      assert.ok(!(await page.isVisible('#bytes-curl')));
    });
  });

  it('verifies the reply that it shows', async () => {
    await visit(async (watched) => {
      const { page } = watched;
      await page.fill('#key', server.key);
      await answerOf(watched, 'uuid');
      await page.click('#uuid-verify');
      await page.locator('#uuid-checks .banner').waitFor();
      assert.match((await page.textContent('#uuid-checks .banner'))!, /^Everything holds\./);
      await answerOf(watched, 'usage');
      assert.ok(!(await page.isVisible('#usage-verify')), 'has no certificate');
    });
  });

  it('finds parameters and errors', async () => {
    await visit(async ({ page }) => {
      await page.fill('#search', 'uniqu');
      const found = await page.locator('#search-results a').allTextContents();
      assert.ok(
        found.includes('unique') && found.some((each) => each.startsWith('unique_impossible')),
        String(found),
      );
      await page.locator('#search-results a').first().click();
      assert.match(page.url(), /#integers-query\.unique$/);
    });
  });
});

function metadataOf(answer: object): Record<string, unknown> {
  return (answer as { metadata: Record<string, unknown> }).metadata;
}
