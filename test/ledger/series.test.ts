import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AnswerLabel } from '../../src/ledger/label-records.ts';
import {
  closeSound,
  openJournaledLedger,
  openTestLedger,
  temporaryFolder,
} from '../support/ledger-folder.ts';
import { account, entry, NOON_MS, segment } from '../support/ledger-records.ts';

const RAFFLE: AnswerLabel = { isPublic: true, purpose: 'raffle', series: 'series_a' };
const SECRET: AnswerLabel = { isPublic: false, purposeCommitment: 'ab'.repeat(32), series: 'series_a' };
const OTHER: AnswerLabel = { isPublic: true, purpose: 'raffle', series: 'series_b', userData: 'x' };
const FROM_START = { series: undefined, from: 1, limit: 10 };

/** A segment of one answer for each label; undefined has none. */
function labelled(sequence: number, ...labels: (AnswerLabel | undefined)[]) {
  return segment(
    sequence,
    labels.map((label, i) => entry(100 * sequence + i, { label })),
    { committedAtMs: NOON_MS + sequence },
  );
}

describe('series of labelled answers', () => {
  it('number the answers of a series from 1 without gaps, once for a segment that is committed twice', async (t) => {
    const ledger = await openTestLedger(temporaryFolder(t));
    await ledger.createAccount(account(1));
    const first = labelled(1, undefined, RAFFLE, OTHER, SECRET);
    await ledger.commit([first, labelled(2, RAFFLE)], []);
    await ledger.commit([first], []);
    await ledger.commit([labelled(3, SECRET, undefined, RAFFLE)], []);
    const { series, answers } = await ledger.seriesPage('raffle', FROM_START);
    assert.deepEqual(series, [
      { id: 'series_a', count: 5 },
      { id: 'series_b', count: 1 },
    ]);
    assert.deepEqual(
      answers.map(({ serial, sequence, index, isPublic }) => [serial, sequence, index, isPublic]),
      [
        [1, 1, 1, true],
        [2, 1, 3, false],
        [3, 2, 0, true],
        [4, 3, 0, false],
        [5, 3, 2, true],
      ],
    );
    const read = await ledger.segment(1);
    assert.deepEqual(
      read?.notes?.map(({ index, label }) => [index, label.serial, label.userData]),
      [
        [1, 1, undefined],
        [2, 1, 'x'],
        [3, 2, undefined],
      ],
    );
    const rest = await ledger.seriesPage('raffle', { series: 'series_a', from: 4, limit: 1 });
    assert.deepEqual(
      rest.answers.map(({ serial }) => serial),
      [4],
    );
    assert.deepEqual((await ledger.seriesPage('another', FROM_START)).series, []);
    await closeSound(ledger);
  });

  it('number the answers of a journal before the log takes them', async (t) => {
    const ledger = await openJournaledLedger(temporaryFolder(t));
    await ledger.createAccount(account(1));
    await ledger.commit([labelled(1, RAFFLE), labelled(2, SECRET, RAFFLE)], []);
    const taken = await ledger.unsealed(10);
    const serials = taken.flatMap(({ notes = [] }) => notes.map(({ label }) => label.serial));
    assert.deepEqual(serials, [1, 2, 3]);
    await closeSound(ledger);
  });

  it('continue counting after retention dropped the first answers', async (t) => {
    const ledger = await openTestLedger(temporaryFolder(t));
    await ledger.createAccount(account(1));
    await ledger.commit([labelled(1, RAFFLE, RAFFLE), labelled(2, RAFFLE)], []);
    await ledger.expire(NOON_MS, NOON_MS + 2);
    await ledger.commit([labelled(3, RAFFLE)], []);
    const { series, answers } = await ledger.seriesPage('raffle', FROM_START);
    assert.deepEqual(series, [{ id: 'series_a', count: 4 }]);
    assert.deepEqual(
      answers.map(({ serial }) => serial),
      [3, 4],
    );
    await closeSound(ledger);
  });
});
