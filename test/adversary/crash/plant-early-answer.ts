// A planted bug, loaded into the service with --import: answers leave before their segment is durable, and the
// commit itself comes half a second late. The crash test must find it.
import { Committer, type PendingAnswer } from '../../../src/answer/commit.ts';
import type { AnswerEntry, StoredAnswer } from '../../../src/ledger/records.ts';
import { replaced } from '../planting.ts';

replaced(
  Committer.prototype,
  'add',
  (add) =>
    function early(this: Committer, answer: PendingAnswer, stored?: StoredAnswer): void {
      const entry = copyOf(answer);
      answer.settled(undefined);
      setTimeout(() => add.call(this, { ...entry, settled: () => {} }, stored), 500);
    },
);

/** What the committer reads of an answer now; only the source is another, since it is an index of the open segment. */
function copyOf({ requestId, issuedAtMs, accountNumber, endpoint, mode, delivered, ...rest }: AnswerEntry) {
  const { valueCount, deliveredBytes, consumedBytes, credits } = rest;
  return {
    ...{ requestId: requestId.slice(), issuedAtMs, accountNumber, endpoint, mode, source: 0 },
    ...{ delivered: delivered.slice(), valueCount, deliveredBytes, consumedBytes, credits },
  };
}
