import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { checkFinding } from '../../src/certificate/finding.ts';
import { COSIGNATURE_TYPE, verifierKey } from '../../src/crypto/note.ts';
import { drawScene } from '../certificate/draw-scene.ts';
import { lotRecord } from '../certificate/fixtures.ts';
import { changed, type Scene, scene } from '../certificate/scene.ts';
import { startPageServer } from '../http/pages/page-server.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import {
  INSECURE_HOST,
  launchChromium,
  noBrowser,
  visit as visitPage,
  type WatchedPage,
} from './chromium.ts';

/** The verification page as a reader has it, in a real browser. */

interface Outcome {
  readonly summary: string;
  readonly failed: string[];
  readonly held: number;
}

type Rest<T> = [act: (watched: WatchedPage) => Promise<T>, options?: Parameters<typeof visitPage>[3]];

describe('the verification page in Chromium', { skip: noBrowser() }, () => {
  let browser: Browser;
  let origin: string;
  let current: Scene;

  before(async () => {
    browser = await launchChromium();
    current = await scene();
    origin = await startPageServer(() => current.service);
  });
  after(async () => {
    await browser?.close();
  });

  /** Opens a path of the scene's server. */
  function visit<T>(served: Scene, path: string, ...rest: Rest<T>): Promise<T> {
    current = served;
    return visitPage(browser, `${origin}${path}`, ...rest);
  }

  async function outcomeOf({ page }: WatchedPage): Promise<Outcome> {
    await page.waitForSelector('#result[aria-busy="false"] .banner');
    return {
      summary: (await page.textContent('#result .banner')) ?? '',
      failed: await page.locator('#result li.fails strong').allTextContents(),
      held: await page.locator('#result li.holds').count(),
    };
  }

  async function paste(watched: WatchedPage, text: unknown): Promise<Outcome> {
    await watched.page.fill('#answer', typeof text === 'string' ? text : JSON.stringify(text));
    await watched.page.click('#check-button');
    return outcomeOf(watched);
  }

  it('confirms every check of a true answer, and sends nothing of it', async () => {
    const served = await scene();
    await visit(served, `/verify/${served.id}`, async (watched) => {
      const outcome = await paste(watched, served.response);
      assert.deepEqual(outcome, {
        summary: 'Verified. These are the certified values.',
        failed: [],
        held: 12,
      });
      const { certificate_salt: salt } = served.response.metadata as Record<string, string>;
      for (const request of watched.requests) {
        assert.match(request, /^GET http:\/\/127\.0\.0\.1:\d+\/[^ ]* $/);
        assert.ok(!request.includes(salt) && !request.includes('values'), request);
      }
      const loaded = watched.requests.map((request) => new URL(request.split(' ')[1]).pathname);
      assert.deepEqual(loaded.slice(-2).sort(), ['/.well-known/qrn-keys.json', `/verify/${served.id}`]);
      const alone = await paste(watched, '');
      assert.equal(alone.summary, 'The certificate is valid. Paste the answer to check its values too.');
    });
  });

  it('verifies a file of octets by its header fields, or by the salt alone', async () => {
    const octets = { type: 'int32', body: Uint8Array.of(1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff) } as const;
    const served = await scene({ octets });
    const { certificate_salt: salt } = served.response['metadata'] as Record<string, string>;
    const choose = (watched: WatchedPage, body: Uint8Array) =>
      watched.page.setInputFiles('#octets', {
        name: 'body.bin',
        mimeType: 'application/octet-stream',
        buffer: Buffer.from(body),
      });
    await visit(served, `/verify/${served.id}`, async (watched) => {
      await choose(watched, octets.body);
      const good = await paste(watched, salt);
      assert.deepEqual([good.failed, good.held], [[], 9]);
      const id = `X-Certificate-Salt: ${salt}\r\nX-Certificate-ID: ${served.id}\r\n`;
      const unnamed = await paste(watched, id);
      assert.deepEqual(unnamed.failed, ['request id', 'metadata']);
      await choose(watched, octets.body.with(0, 2));
      assert.deepEqual((await paste(watched, salt)).failed, ['delivered']);
    });
  });

  it('checks the beacon, the values and the place in the log of a committed draw', async () => {
    const { document } = await drawScene();
    await visit(await scene(), '/verify', async (watched) => {
      const good = await paste(watched, document);
      assert.deepEqual([good.summary.slice(0, 9), good.failed], ['Verified.', []]);
      const forged = await paste(watched, changed(document, 'outcome.beacon.signature', 'aa'.repeat(96)));
      assert.deepEqual(forged.failed, ['beacon', 'values', 'end']);
    });
  });

  it('requires that the named witnesses have seen the log', async () => {
    const served = await scene();
    const key = verifierKey('witness.example/w1', new Uint8Array(32).fill(1), COSIGNATURE_TYPE);
    await visit(served, `/verify/${served.id}`, async (watched) => {
      await watched.page.click('text=Witnesses that you trust');
      await watched.page.fill('#witnesses', `${key}\n`);
      assert.deepEqual((await paste(watched, served.response)).failed, ['fixed', 'witnesses']);
      await watched.page.fill('#quorum', '2');
      const { summary } = await paste(watched, served.response);
      assert.equal(summary, 'Not checked. Witnesses: the quorum must be a number from 1 to 1, not "2".');
    });
  });

  it('pins the log, follows its growth and finds a fork, from the service and as a file', async () => {
    const log = await scene();
    const text = (watched: WatchedPage, selector: string) => watched.page.textContent(selector);
    const settled = async (watched: WatchedPage, selector: string) => {
      await watched.page.waitForSelector(selector);
      await watched.page.waitForSelector('#watch-button:enabled'); // disabled while the log is read
    };
    const read = async (watched: WatchedPage, served: Scene, selector: string) => {
      current = served;
      await watched.page.evaluate('document.getElementById("verdict").replaceChildren()');
      await watched.page.click('#watch-button');
      await settled(watched, selector);
    };
    const more = await scene({ answers: 22 });
    const fork = await scene({ answers: 22, data: { values: [0] } });
    for (const path of ['/log', new URL('../../dist/log-watch.html', import.meta.url).href]) {
      current = log;
      await visitPage(browser, path === '/log' ? `${origin}${path}` : path, async (watched) => {
        if (path === '/log')
          await settled(watched, '#verdict .good'); // it begins by itself
        else await watched.page.fill('#address', origin);
        await read(watched, log, '#verdict .good');
        assert.equal(await text(watched, '#size'), '23');
        await read(watched, more, 'text=The log only grew.');
        assert.equal(await text(watched, '#size'), '24');
        await read(watched, fork, '#verdict .bad');
        assert.match(
          (await text(watched, '#verdict')) ?? '',
          /The log signed two different trees of 24 leaves\.$/,
        );
        const found: unknown = JSON.parse(await watched.page.inputValue('#finding-text'));
        assert.equal((await checkFinding(found)).holds, true);
      });
    }
  });

  it('names what was changed in an answer, and finds that a forged certificate is not in the log', async () => {
    const served = await scene();
    const { response } = served;
    const forged = changed(served.document, 'certificate.provenance.origin', 'quantum-processor');
    await visit(served, `/verify/${served.id}`, async (watched) => {
      assert.deepEqual(await paste(watched, changed(response, 'data.values', [0])), {
        summary: '1 of 12 checks failed. Do not rely on this answer.',
        failed: ['delivered'],
        held: 11,
      });
      const pasted = await paste(watched, forged);
      assert.deepEqual(pasted.failed, ['derived', 'inclusion']);
      assert.equal(pasted.summary, '2 of 8 checks failed. Do not rely on this certificate.');
      // and when the server itself serves the forgery
      current = { ...served, service: { ...served.service, find: async () => forged } };
      const { failed } = await paste(watched, response);
      assert.deepEqual(failed, ['metadata', 'derived', 'inclusion']);
    });
  });

  it('reports a revoked certificate as genuine and withdrawn, with the reason', async () => {
    const served = await scene({ revoked: '<b>detector</b> fault' });
    await visit(served, `/verify/${served.id}`, async (watched) => {
      assert.match(
        (await watched.page.textContent('main')) ?? '',
        /Revoked: do not rely on this answer\..*<b>detector<\/b> fault/s,
      );
      const { summary, failed } = await paste(watched, served.response);
      assert.deepEqual(failed, ['status']);
      assert.match(summary, /^Genuine, but revoked\./);
      assert.match((await watched.page.textContent('#result')) ?? '', /<b>detector<\/b> fault/);
    });
  });

  it('waits for a certificate that is not logged yet', async () => {
    const served = await scene({ unlogged: true });
    await visit(served, `/verify/${served.id}`, async (watched) => {
      assert.ok(await watched.page.getByText('Being logged.').isVisible());
      let asked = 0;
      const find = async (id: string) => {
        if (++asked === 2) await served.seal();
        return served.service.find(id);
      };
      current = { ...served, service: { ...served.service, find } };
      const { summary } = await paste(watched, served.response);
      assert.equal(summary, 'Verified. These are the certified values.');
      assert.ok(asked >= 2);
    });
  });

  it('explains why something is not an answer', async () => {
    const served = await scene();
    await visit(served, '/verify', async (watched) => {
      const told: [text: unknown, summary: RegExp][] = [
        ['', /Not checked\. Paste the answer first\./],
        ['{"data":', /Not checked\. This is not JSON/],
        ['7', /Not checked\. The answer names no certificate/],
        [
          { data: {}, metadata: { certificate_id: '../../v1/usage' } },
          /Not checked\. The answer names no certificate/,
        ],
        [{ error: { code: 'rate_limited' } }, /Not checked\. This is an error message of the service/],
      ];
      for (const [text, summary] of told) assert.match((await paste(watched, text)).summary, summary);
    });
  });

  it('reports an answer whose certificate is unknown to the service', async () => {
    const served = await scene();
    const unknown = changed(served.response, 'metadata.certificate_id', `cert_${'0'.repeat(26)}`);
    const pasteUnknown = async (watched: WatchedPage) => {
      assert.match(
        (await paste(watched, unknown)).summary,
        /This service has no certificate with this identifier\./,
      );
      assert.equal(watched.complaints.length, 1);
    };
    await visit(served, '/verify', pasteUnknown, { expected: /status of 404/ });
  });

  it('verifies signatures without https too, and finds changes', async () => {
    const served = await scene();
    current = served;
    const insecure = `${origin.replace('127.0.0.1', INSECURE_HOST)}/verify/${served.id}`;
    const check = async (watched: WatchedPage) => {
      const good = await paste(watched, served.response);
      assert.match(good.summary, /^Verified\./);
      const bad = await paste(watched, changed(served.response, 'data.values', [0]));
      assert.match(bad.summary, /^1 of 12 checks failed\./);
    };
    await visitPage(browser, insecure, check, { expected: /./ });
  });

  it('accepts a file that is chosen or dropped', async () => {
    const served = await scene();
    const folder = scratchFolder();
    const file = join(folder, 'answer.json');
    writeFileSync(file, JSON.stringify(served.response));
    await visit(served, '/verify', async (watched) => {
      await watched.page.setInputFiles('#file', file);
      assert.match((await outcomeOf(watched)).summary, /^Verified\./);
    });
    await visit(served, '/verify', async (watched) => {
      const dropped = await watched.page.evaluateHandle((text) => {
        const transfer = new (
          globalThis as unknown as { DataTransfer: new () => { items: { add(file: File): void } } }
        ).DataTransfer();
        transfer.items.add(new File([text], 'answer.json'));
        return transfer;
      }, JSON.stringify(served.response));
      await watched.page.dispatchEvent('#check', 'drop', { dataTransfer: dropped });
      assert.match((await outcomeOf(watched)).summary, /^Verified\./);
    });
  });

  it('works by keyboard alone: every control is reached in order, and the result is announced', async () => {
    const served = await scene();
    await visit(served, `/verify/${served.id}`, async (watched) => {
      const { page } = watched;
      const reached: string[] = [];
      for (let i = 0; i < 11; i++) {
        await page.keyboard.press('Tab');
        const focused = page.locator(':focus');
        reached.push((await focused.getAttribute('id')) ?? (await focused.textContent()) ?? '');
      }
      assert.deepEqual(reached, [
        'Skip to the content',
        'Quantum Random Numbers',
        'Docs',
        'Verify',
        'Draws',
        'Log',
        'Status',
        'This certificate as PDF',
        'answer',
        'check-button',
        'file',
      ]);
      await page.focus('#answer');
      await page.keyboard.insertText(JSON.stringify(served.response));
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      assert.match((await outcomeOf(watched)).summary, /^Verified\./);
      const result = page.getByRole('status');
      assert.equal(await result.getAttribute('aria-live'), 'polite');
      assert.ok(await result.evaluate((node) => node === node.ownerDocument.activeElement));
    });
  });

  it('shows all facts without scripts: the form for an id works, and the other form is hidden', async () => {
    const served = await scene();
    const read = async ({ page }: WatchedPage) => {
      await page.fill('#id', ` ${served.id} `);
      await page.getByRole('button', { name: 'Open' }).click();
      await page.waitForURL(`**/verify/${served.id}`);
      assert.ok(await page.getByText(served.document.certificate.hashes.delivered).first().isVisible());
      assert.ok(await page.getByText('The check is a script in your browser').isVisible());
      assert.ok(!(await page.locator('#answer').isVisible()));
    };
    await visit(served, '/verify', read, { javaScriptEnabled: false });
  });

  it('fits a phone, light and dark, without scrolling sideways', async () => {
    const long = { jobId: 'j'.repeat(300), quantumBackend: 'b'.repeat(200) };
    const served = await scene({
      lots: [lotRecord('a', long), lotRecord('b')],
      mode: 'pure',
      revoked: 'r'.repeat(300),
    });
    for (const colorScheme of ['light', 'dark'] as const) {
      const viewport = { width: 320, height: 640 };
      await visit(
        served,
        `/verify/${served.id}`,
        async (watched) => {
          await paste(watched, served.response);
          for (const details of await watched.page.locator('details').all())
            await details.locator('summary').click();
          const width = await watched.page.evaluate(() => {
            const { document } = globalThis as unknown as {
              document: { documentElement: { scrollWidth: number } };
            };
            return document.documentElement.scrollWidth;
          });
          assert.equal(width, viewport.width);
        },
        { colorScheme, viewport },
      );
    }
  });
});
