// A planted bug, loaded into the service with --import: answers leave before their segment is durable, and the
// commit itself comes half a second late. The crash test must find it.
import { Committer, type Settled } from '../../../src/answer/committer.ts';
import type { AnswerEntry, StoredAnswer } from '../../../src/ledger/records.ts';

const { add } = Committer.prototype;
Committer.prototype.add = function early(
  this: Committer,
  entry: AnswerEntry,
  chargedPeriod: number,
  settled: Settled,
  stored?: StoredAnswer,
): void {
  settled(undefined);
  // the entry itself is written now, so that ids and sources stay those of the open segment; only nobody waits for it
  setTimeout(() => add.call(this, { ...entry, source: 0 }, chargedPeriod, () => {}, stored), 500);
};
