import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { lots } from '../../src/cli/lots.ts';
import { openTestLedger } from '../support/ledger-folder.ts';
import { block, lot, lotId, NOON_MS } from '../support/ledger-records.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { addReleased } from '../support/released-lots.ts';
import { runCommand } from '../support/run-command.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

describe('qrn lots', () => {
  const dataDir = scratchFolder();
  const clock = new ManualClock(NOON_MS + 5_000);
  const qrn = (...args: string[]) => runCommand(lots, args, { QRN_DATA_DIR: dataDir }, clock);

  before(async () => {
    const ledger = await openTestLedger(join(dataDir, 'ledger'));
    await addReleased(ledger, lot(1), [block('pure', 1, 4_096), block('seed', 2)]);
    await ledger.addLot(lot(2, { accepted: false, rejection: 'raw noise fails' }), []);
    await addReleased(ledger, lot(3, { minEntropyPerBit: null, jobId: 'job-3' }), [block('pure', 3, 4_096)]);
    await ledger.close();
  });

  it('lists lots, newest first', async () => {
    const { status, out, talk } = await qrn('list', '--json');
    assert.deepEqual([status, talk], [0, '']);
    const listed = JSON.parse(out) as { lot_id: string; status: string; refused_for?: string }[];
    assert.deepEqual(
      listed.map((each) => [each.lot_id, each.status, each.refused_for]),
      [
        [lotId(3), 'accepted', undefined],
        [lotId(2), 'refused', 'raw noise fails'],
        [lotId(1), 'accepted', undefined],
      ],
    );
    const table = await qrn('list', '--limit', '1');
    assert.match(
      table.out,
      new RegExp(`^LOT_ID +STATUS .*\\n${lotId(3)} +accepted +simulated .* - +2026-11-20T12[^\\n]*\\n$`),
    );
  });

  it('shows everything known of a lot', async () => {
    const { out } = await qrn('show', lotId(3), '--json');
    const shown = JSON.parse(out);
    assert.equal(shown.lot_id, lotId(3));
    assert.equal(shown.raw_output, `sha256:${'a'.repeat(64)}`);
    assert.deepEqual(shown.health, { grade: 'pass', samples: 65_536, rct_failures: 0, apt_failures: 0 });
    const facts = await qrn('show', lotId(3));
    assert.match(facts.out, /^job_id +job-3$/m);
    assert.match(facts.out, /^health\.samples +65536$/m);
    assert.match(facts.out, /^min_entropy_per_bit +-$/m);
  });

  it('revokes a lot permanently, once, with its unclaimed blocks', async () => {
    const { status, out, talk } = await qrn('revoke', lotId(1), '--why', '  detector fault ', '--json');
    assert.deepEqual([status, talk], [0, '']);
    const revokedAt = new Date(NOON_MS + 5_000).toISOString();
    assert.deepEqual(JSON.parse(out), { lot_id: lotId(1), revoked_at: revokedAt, reason: 'detector fault' });
    clock.advance(1_000);
    const again = await qrn('revoke', lotId(1), '--why', 'another reason');
    assert.deepEqual([again.status, again.out], [1, '']);
    assert.equal(again.talk, `qrn lots revoke: ${lotId(1)} was already revoked at ${revokedAt}\n`);
    const shown = JSON.parse((await qrn('show', lotId(1), '--json')).out);
    assert.deepEqual(
      [shown.status, shown.reason, shown.revoked_at],
      ['revoked', 'detector fault', revokedAt],
    );

    const ledger = await openTestLedger(join(dataDir, 'ledger'));
    const claimed = await ledger.claimBlocks('pure', 10);
    assert.deepEqual(
      claimed.map(({ lotId: id }) => id),
      [lotId(3)],
    );
    assert.deepEqual(await ledger.claimBlocks('seed', 10), []);
    assert.deepEqual(await ledger.lot(lotId(1)), lot(1), 'nothing is rewritten');
    await ledger.close();
  });

  it('refuses impossible changes in one line', async () => {
    const none = lotId(9);
    const cases: [args: string[], status: number, talk: string][] = [
      [['show', none], 1, `qrn lots show: there is no lot ${none}\n`],
      [['revoke', none, '--why', 'x'], 1, `qrn lots revoke: there is no lot ${none}\n`],
      [
        ['revoke', lotId(3)],
        2,
        "qrn lots revoke: required option '--why <TEXT>' not specified; see qrn lots revoke --help\n",
      ],
      ...['', ' ', 'a\nb', 'x'.repeat(1_001), '\ud800'].map((why): [string[], number, string] => [
        ['revoke', lotId(3), '--why', why],
        2,
        `qrn lots revoke: --why must be one line of 1 to 1000 characters, not ${JSON.stringify(why)}; see qrn lots revoke --help\n`,
      ]),
      [
        ['list', '--limit', 'all'],
        2,
        'qrn lots list: --limit must be a whole number from 1 to 2^53 - 1, not "all"; see qrn lots list --help\n',
      ],
    ];
    for (const [args, status, talk] of cases) {
      assert.deepEqual(await qrn(...args), { status, out: '', talk });
    }
    assert.equal(JSON.parse((await qrn('show', lotId(3), '--json')).out).status, 'accepted');
  });
});
