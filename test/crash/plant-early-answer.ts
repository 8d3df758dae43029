// A planted bug, loaded into the service with --import: answers leave before their segment is durable, and the
// commit comes half a second late. The crash test must find it.
import { Committer, type Settled } from '../../src/delivery/committer.ts';
import type { AnswerEntry, DrawSource, StoredAnswer } from '../../src/store/records.ts';

const { add } = Committer.prototype;
Committer.prototype.add = function early(
  this: Committer,
  entry: Omit<AnswerEntry, 'source'>,
  from: DrawSource,
  settled: Settled,
  stored?: StoredAnswer,
): void {
  settled(undefined);
  setTimeout(() => add.call(this, entry, from, () => {}, stored), 500);
};
