import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemClock } from '../../../src/core/clock.ts';
import { Fair } from '../../../src/fair/fair.ts';
import type { Exchange } from '../../../src/http/exchange.ts';
import { statusOf } from '../../../src/http/head.ts';
import { loadPageAssets } from '../../../src/http/pages/assets.ts';
import { verifyRoutes } from '../../../src/http/pages/verify-routes.ts';
import type { LotRecord } from '../../../src/ledger/records.ts';
import { lotEvidence, lotRecord, lotWithEvidence, sampleLot } from '../../certificate/fixtures.ts';
import { scene } from '../../certificate/scene.ts';
import { replyOf } from './page-server.ts';
import { seen } from './seen.ts';

const UNKNOWN = 'cert_00000000000000000000000000';
const EVIL = `<script>alert(1)</script>"'><img src=x onerror=alert(1)>`;
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8';

/** The text that a reader sees, more or less. */
function shown(html: string): string {
  return html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
}

describe('the page of a certificate', () => {
  it('shows what was certified, but neither value nor salt', async () => {
    const { service, document, response } = await scene({ data: { values: [987_654_321], count: 1 } });
    const { certificate } = document;
    const { status, text } = await replyOf(service, `/verify/${certificate.id}`, BROWSER);
    assert.equal(status, 200);
    const [origin, standing] = [...text.matchAll(/<div class="banner \w+"><p><strong>([^<]*)/g)].map(
      ([, title]) => title,
    );
    assert.match(origin, /^Simulated source/);
    assert.equal(standing, 'Valid.', 'what was simulated is said before');
    const lines = seen(text);
    const [id, { raw_output: raw, processed, delivered }] = [certificate.id, certificate.hashes];
    const shaOf = (of: string) => `sha256:${Buffer.from(of.padEnd(32, '.')).toString('hex')}`;
    assert.deepEqual(lines.slice(0, 6), [
      `Certificate ${id} · Quantum Random Number Service`,
      ...['Skip to the content', 'Quantum Random Numbers', 'DocsVerifyDrawsLogStatus'],
      ...['Certificate of provenance', `|${id}|`],
    ]);
    assert.deepEqual(
      lines.slice(lines.indexOf('What happened when'), lines.indexOf('The lot of this answer')),
      [
        'What happened when',
        'The lot was read and tested2026-11-21 08:29:56 UTC',
        'The answer was issued 4 seconds later2026-11-21 08:30:00 UTC',
        'Evidence of a quantum origin',
        'Simulated A program computed the bits. No quantum hardware was involved.',
        'Statistical The bits passed the tests. Tests cannot show where bits come from.',
        'Calibrated The claim follows from published readout errors and the shots of the lot, if its bits are independent and identically distributed.',
        'P-values',
        'Smallest p-value of each tested window. A taller bar is a smaller p-value; a window above the line fails. least 0.00213',
        '1 of raw bits, which may be biased1 of bits that answers are drawn from',
        ...['The answer', 'Issued: 2026-11-21 08:30:00 UTC', `Request: |${certificate.request_id}|`],
        ...['Endpoint: integers', 'Entropy mode: quantum-seeded', 'Drawn: seed 3 of the lot'],
        ...['Source of the raw bits', 'Origin: simulated', 'Backend: simulator-statevector'],
        ...['Circuit: superposition-16, compiler 1.0.0', 'Size: 16 qubits, depth 1, 65,536 shots'],
        ...['Device: local / statevector-16', 'Job: job-a'],
        ...['Tests', 'SP 800-22: 186/188 passed, verified', 'Min-entropy: 0.856 per raw bit'],
        ...['Health tests: 1,048,576 samples, 0 alarms', 'Dieharder: not implemented', 'Evidence: simulated'],
        ...['Signed log', 'Log: qrn.example/log', 'Entry: leaf 15 of 23'],
        `Root: |${/\n23\n(\S+)\n/.exec(certificate.proof ?? '')?.[1]}|`,
        ...['Signed by: Ed25519 key |0bee8e4f|', 'What was tested', '+'],
        '2 runs of SP 800-22, each on a different sequence of bits',
        'SequenceVerdictWhich bitsRaw bits, as the source delivered them; they may be biasedPassed185/188 p-values, the smallest 0.00213',
        `1,000,000 bits from bit 0|${shaOf('raw')}|Conditioned bits, which answers are drawn fromPassed186/188 p-values, the smallest 0.00213`,
        `1,000,000 bits from bit 0|${shaOf('conditioned')}|`,
        ...['+', 'Hashes', `raw_output: the raw bits as the source delivered them: |${raw}|`],
        `processed: the bytes after conditioning: |${processed}|`,
        `delivered: the salt and the data of the answer; only the answer contains the salt: |${delivered}|`,
      ],
    );
    const { certificate_salt: salt } = response.metadata as Record<string, string>;
    assert.ok(!text.includes(salt) && !text.includes('987654321'));
  });

  it('shows the evidence of each lot, with its assumptions beside the figure', async () => {
    const lots = [lotWithEvidence('a', 'calibrated'), lotWithEvidence('b', 'statistical')];
    const { service, id } = await scene({ lots, mode: 'pure' });
    const text = shown((await replyOf(service, `/verify/${id}`, BROWSER)).text);
    for (const fact of [
      'Dieharder not implemented Evidence statistical',
      'claim calibrated min_entropy_per_bit 0.732148 figures',
      'method method of calibrated assumptions assumptions of calibrated',
      'calibrated_min_entropy 0.964211',
      'claim calibrated why no readout errors are published',
      'claim statistical min_entropy_per_bit none',
    ]) {
      assert.ok(text.includes(fact), fact);
    }
    const before = await scene({ lots: [sampleLot('a')], mode: 'csprng' });
    assert.ok(
      !shown((await replyOf(before.service, `/verify/${before.id}`, BROWSER)).text).includes('Evidence'),
    );
  });

  it('answers JSON to clients that ask for JSON, and HTML to all others', async () => {
    const { service, document, id } = await scene();
    const json = [
      'application/json',
      'application/json, */*',
      'text/html;q=0.5, application/json;q=0.9',
      'application/json, text/html',
    ];
    for (const accept of json) {
      const { fields, text, status } = await replyOf(service, `/verify/${id}`, accept);
      assert.equal(status, 200);
      assert.equal(fields.get('content-type'), 'application/json', accept);
      assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(document)));
      assert.equal(fields.get('vary'), 'Accept');
      assert.equal(fields.get('access-control-allow-origin'), '*');
    }
    const html = ['', '*/*', BROWSER, 'text/html, application/json', 'application/json;q=0', 'image/png'];
    for (const accept of html) {
      const { fields } = await replyOf(service, `/verify/${id}`, accept);
      assert.equal(fields.get('content-type'), 'text/html; charset=utf-8', accept);
      assert.equal(fields.get('vary'), 'Accept');
    }
  });

  it('accepts a form without the answer, as the page without a certificate has', async () => {
    const { service, id } = await scene();
    for (const [path, may] of [
      [`/verify/${id}`, 'leave this empty to check only the certificate'],
      ['/verify', 'The browser requests the certificate by its identifier'],
    ]) {
      const text = shown((await replyOf(service, path)).text);
      const [told] = /Paste the JSON body.*?leaves (this|your) browser/.exec(text)!;
      assert.ok(told.includes(may), told);
    }
  });

  it('may not load, frame, send or reveal anything', async () => {
    const { service, id } = await scene();
    for (const path of [`/verify/${id}`, '/verify', `/verify/${UNKNOWN}`, '/verify/x']) {
      const { fields, text } = await replyOf(service, path);
      const policy = new Map(
        fields
          .get('content-security-policy')
          ?.split('; ')
          .map((each) => each.split(/ (.*)/) as [string, string]),
      );
      assert.equal(policy.get('default-src'), "'none'");
      assert.equal(policy.get('base-uri'), "'none'");
      assert.equal(policy.get('frame-ancestors'), "'none'");
      for (const name of ['script-src', 'style-src', 'connect-src', 'form-action', 'img-src'])
        assert.equal(policy.get(name), "'self'", name);
      assert.equal(fields.get('referrer-policy'), 'no-referrer');
      assert.equal(fields.get('x-content-type-options'), 'nosniff');
      assert.match(fields.get('x-robots-tag') ?? '', /noindex/);
      assert.ok(
        !/<[^>]+\son\w+=|<script(?![^>]*\ssrc=)|<style|\sstyle=|javascript:/i.test(text),
        'nothing inline',
      );
    }
  });

  it('escapes every text that came from a source or an operator', async () => {
    const lot: Partial<LotRecord> = {
      quantumBackend: EVIL,
      provider: EVIL,
      device: EVIL,
      jobId: EVIL,
      circuit: EVIL,
      circuitVersion: EVIL,
      evidence: lotEvidence('simulated', {
        method: EVIL,
        assumptions: EVIL,
        figures: { [EVIL]: 1 },
        notReached: [{ claim: 'statistical', why: EVIL }],
      }),
      assessments: [
        {
          of: 'raw',
          bits: 1,
          firstBit: 0,
          sha256: '0'.repeat(64),
          sp80022: { passed: 0, total: 1, smallestP: 0, verified: false, reason: EVIL, deciles: '' },
        },
      ],
    };
    const { service, id } = await scene({ lots: [lotRecord('a', lot)], mode: 'pure', revoked: EVIL });
    const { text } = await replyOf(service, `/verify/${id}`);
    assert.ok(!text.includes('<script>alert') && !text.includes('<img src=x') && !text.includes('"\'>'));
    assert.ok(text.split('&lt;script&gt;alert(1)&lt;/script&gt;').length > 13, 'each text is shown, as text');
  });

  it('says that the certificate is being logged, and is not cached then', async () => {
    const { service, id, seal } = await scene({ unlogged: true });
    const before = await replyOf(service, `/verify/${id}`);
    assert.match(shown(before.text), /Being logged\..*Reload/);
    assert.ok(!shown(before.text).includes('Valid.'));
    assert.equal(before.fields.get('cache-control'), 'no-store');
    await seal();
    const after = await replyOf(service, `/verify/${id}`);
    assert.match(shown(after.text), /Valid\./);
    assert.equal(after.fields.get('cache-control'), 'no-cache');
  });

  it('says what the source is not', async () => {
    const told = async (changes: Partial<LotRecord>) => {
      const { service, id } = await scene({ lots: [lotRecord('a', changes)] });
      return shown((await replyOf(service, `/verify/${id}`)).text);
    };
    assert.match(await told({ origin: 'simulated' }), /Simulated source: no quantum hardware was involved\./);
    assert.match(await told({ origin: 'replay' }), /Replayed source/);
    assert.match(await told({ origin: 'system' }), /No quantum origin\./);
    assert.match(await told({ deterministic: true }), /Test source: this answer is not random\./);
    assert.doesNotMatch(
      await told({ origin: 'quantum-processor' }),
      /Simulated source|Test source|No quantum origin/,
    );
  });
});

describe('a certificate as PDF', () => {
  it('is drawn for anyone with the id, and refused while eight are being drawn', async () => {
    const { service, id } = await scene();
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => replyOf(service, `/verify/${id}.pdf`)),
    );
    const refused = replies.filter(({ status }) => status === 503);
    assert.deepEqual([replies.filter(({ status }) => status === 200).length, refused.length], [8, 2]);
    const { fields, text } = replies.find(({ status }) => status === 200)!;
    assert.equal(fields.get('content-type'), 'application/pdf');
    assert.match(fields.get('x-robots-tag')!, /noindex/);
    assert.ok(text.startsWith('%PDF-'));
    assert.equal((await replyOf(service, `/verify/${id}.pdf`)).status, 200, 'those that ended make room');
    assert.equal((await replyOf(service, `/verify/${UNKNOWN}.pdf`)).status, 404);
    assert.equal((await replyOf(service, '/verify/cert_short.pdf')).status, 400);
  });
});

describe('a certificate as PDF for a client that has gone', () => {
  it('is not drawn', async () => {
    const { service, id } = await scene();
    let drawn = 0;
    const drawPdf = async () => {
      drawn++;
      return new Uint8Array(0);
    };
    const routes = verifyRoutes(service, drawPdf, loadPageAssets());
    const fair = new Fair(systemClock);
    const { handler } = routes.find(({ path }) => path === '/verify/')!;
    const ask = async (isGone: boolean) =>
      handler({ path: `/verify/${id}.pdf`, isGone, fair } as unknown as Exchange);
    await assert.rejects(ask(true), { code: 'overloaded' });
    assert.equal(drawn, 0);
    assert.equal(statusOf((await ask(false)).head), 200);
    assert.equal(drawn, 1);
  });
});

describe('an id without a certificate', () => {
  it('gets a page that says so, or the error of the API for a program', async () => {
    const { service } = await scene();
    const cases = [
      [`/verify/${UNKNOWN}`, 404, /saved certificate can be verified without this service/, 'cert_not_found'],
      ['/verify/cert_short', 400, /This is not a certificate identifier\./, 'invalid_id'],
      [`/verify/${UNKNOWN}/more`, 400, /This is not a certificate identifier\./, 'invalid_id'],
      [`/verify/%3Cscript%3E`, 400, /This is not a certificate identifier\./, 'invalid_id'],
    ] as const;
    for (const [path, status, told, code] of cases) {
      const page = await replyOf(service, path);
      assert.equal(page.status, status, path);
      assert.match(shown(page.text), told);
      assert.equal(page.fields.get('cache-control'), 'no-store');
      assert.ok(!page.text.includes('<script>'));
      const json = await replyOf(service, path, 'application/json');
      assert.equal(json.status, status);
      assert.equal(JSON.parse(json.text).error.code, code);
    }
  });
});

describe('/verify alone', () => {
  it('leads to the page of an id, however it was pasted', async () => {
    const { service, id } = await scene();
    for (const pasted of [id, `  ${id}\n`, `https://qrn.example/verify/${id}`, `"certificate_id":"${id}"`]) {
      const { status, fields } = await replyOf(service, `/verify?id=${encodeURIComponent(pasted)}`);
      assert.equal(status, 302);
      assert.equal(fields.get('location'), `/verify/${id}`);
    }
  });

  it('refuses text without an id, and keeps it in the field', async () => {
    const { service, id } = await scene();
    for (const pasted of ['', 'x', EVIL, `${id}0`, id.toUpperCase(), '//evil.example/']) {
      const { status, text } = await replyOf(service, `/verify?id=${encodeURIComponent(pasted)}`);
      assert.equal(status, 400, pasted);
      assert.ok(!text.includes('<script>alert'));
    }
    const { text } = await replyOf(service, '/verify?id=cert_typo');
    assert.match(text, /value="cert_typo"/);
  });
});

describe('the files of pages', () => {
  it('are served under the names that pages use, and may be cached for ever', async () => {
    const { service, id } = await scene();
    const { text } = await replyOf(service, `/verify/${id}`);
    const paths = [...text.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path]) => path);
    assert.equal(new Set(paths).size, 4); // icon, style, script, and the verifier to keep
    for (const path of paths) {
      const { status, fields, body } = await replyOf(service, path);
      assert.equal(status, 200, path);
      assert.ok(body.length > 100);
      const named = /^\/assets\/[0-9a-f]{16}\//.test(path);
      assert.equal(
        fields.get('cache-control'),
        named ? 'public, max-age=31536000, immutable' : 'public, max-age=300',
      );
      assert.equal(fields.get('x-content-type-options'), 'nosniff');
    }
    const script = paths.find((path) => path.endsWith('/page.mjs'));
    const verifier = await replyOf(service, new URL('./qrn-verify.mjs', `http://x${script}`).pathname);
    assert.equal(verifier.fields.get('content-type'), 'text/javascript; charset=utf-8');
    assert.equal(verifier.text, (await replyOf(service, '/assets/qrn-verify.mjs')).text);
  });
});
