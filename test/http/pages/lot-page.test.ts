import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CertificateService, PublicLot } from '../../../src/certificate/archive.ts';
import type { LotRecord, LotRevocation } from '../../../src/ledger/records.ts';
import { lotWithEvidence } from '../../certificate/fixtures.ts';
import { replyOf } from './page-server.ts';

const ID = 'lot_01234567890123456789abcdef';

function lotOf(changes: Partial<LotRecord> = {}): LotRecord {
  const lot = lotWithEvidence('a', 'calibrated');
  return {
    ...lot,
    id: ID,
    rawWindows: 10,
    estimators: { 'Most Common Value': 0.995, Compression: 0.856 },
    onesShares: [0.5, 0.4987],
    assessments: lot.assessments.map((each) => ({
      ...each,
      sp80022: { ...each.sp80022, deciles: '0123456789'.repeat(18) },
    })),
    ...changes,
  };
}

const page = (
  lot: LotRecord | undefined,
  path = `/lots/${ID}`,
  revocation: LotRevocation | null = null,
  logged?: PublicLot,
) =>
  replyOf(
    {
      lot: async (id: string) => (id === ID && lot !== undefined ? { lot, revocation } : undefined),
      publicLot: async () => logged,
    } as unknown as CertificateService,
    path,
  );

describe('the page of a lot', () => {
  it('draws p-values, estimators and channels, and describes each in words', async () => {
    const { status, text } = await page(lotOf());
    assert.equal(status, 200);
    assert.match(
      text,
      /aria-label="P-values of raw bits, from bit 0, 180 of them, by tenths of 0 to 1: 10, 10, 10, 10, .* %\."/,
    );
    assert.match(
      text,
      /aria-label="Estimated bits per bit, .*: Most Common Value 0\.995, Compression 0\.856\."/,
    );
    assert.match(
      text,
      /aria-label="Share of ones: channel 0 0\.5000, channel 1 0\.4987\. Three standard deviations /,
    );
    assert.match(text, /they cannot prove it/);
    assert.match(text, /Certified: 0\.856\./);
    const [raw] = lotOf().assessments;
    const byChannel = await page(lotOf({ assessments: [{ ...raw, order: 'channels', firstBit: 1_000 }] }));
    assert.match(byChannel.text, /<span>P-values of raw bits, by channel, from bit 1,000<\/span>/);
    assert.match(text, new RegExp(`<code>${ID}</code>`));
    assert.doesNotMatch(text, new RegExp(`href="/lots/${ID}"`), 'a page has no link to itself');
  });

  it('says which figures do not exist, and that a refused lot was never drawn from', async () => {
    const { estimators: _, onesShares: __, ...short } = lotOf({ accepted: false, rejection: 'SP 800-22' });
    const { text } = await page(short);
    assert.match(text, /The lot is too short for the estimators/);
    assert.match(text, /The lot was rejected, and nothing was ever drawn from it/);
    const inLog = /The record in the log/;
    assert.doesNotMatch(text, inLog);
    const accepted = (await page(lotOf({ minEntropyPerBit: null }))).text;
    assert.match(accepted, inLog);
    assert.match(accepted, /Certified: not assessed\./);
    assert.doesNotMatch(accepted, /The lot was rejected/);
    assert.doesNotMatch(text, /NaN|undefined|Infinity/);
  });

  it('says that a lot was withdrawn and why, with the reason as text', async () => {
    const { text } = await page(lotOf(), `/lots/${ID}`, { lotId: ID, why: 'a <b>fault', atMs: 0 });
    assert.match(text, /Withdrawn: do not rely on this lot.*1970-01-01T00:00:00.000Z.*a &lt;b&gt;fault/s);
  });

  it('says up to which leaf of the log the lot was not withdrawn, and omits that if it was', async () => {
    const at = (index: number) => `c2sp.org/tlog-proof@v1\nindex ${index}\n\na note`;
    const other = '{"lot_id":"lot_x"}';
    const logged: PublicLot = {
      lot_id: ID,
      leaf: '{}',
      proof: at(41),
      withdrawal: null,
      withdrawals: [other],
      statement: { leaf: '{}', proof: at(1_234) },
    };
    const show = (changes: Partial<PublicLot>) => page(lotOf(), undefined, null, { ...logged, ...changes });
    const { text } = await show({});
    assert.match(text, /Logged as leaf 41 before anything was drawn from it/);
    assert.match(
      text,
      /was not withdrawn when the log had 1,234 leaves: all 1 withdrawals before that are of other lots/,
    );
    assert.match((await show({ withdrawals: [] })).text, /had 1,234 leaves: no lot was\./);
    assert.match(text, new RegExp(`href="/log/lots/${ID}"`));
    const mine = `{"lot_id":"${ID}"}`;
    const withdrawn = await show({ withdrawals: [other, mine], withdrawal: { leaf: mine, proof: at(50) } });
    assert.match(withdrawn.text, /Its withdrawal is in the log/);
    for (const reply of [withdrawn, await show({ statement: null }), await page(lotOf())])
      assert.doesNotMatch(reply.text, /was not withdrawn/);
    assert.match(
      (await page(lotOf())).text,
      /The lot has no leaf in the log\. Either nothing can be drawn from it yet/,
    );
  });

  it('answers 404 for an id that is malformed, unknown or markup', async () => {
    for (const path of ['/lots/', '/lots/lot_1', `/lots/${ID}x`, '/lots/%3Cb%3E', '/lots/<b>']) {
      const { status, text } = await page(lotOf(), path);
      assert.equal(status, 404, path);
      assert.doesNotMatch(text, /<b>/);
    }
    assert.equal((await page(undefined)).status, 404);
  });
});
