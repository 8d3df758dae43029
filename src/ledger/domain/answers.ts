import type { Clock } from '../../core/clock.ts';
import type { Books, StoredAnswerSize } from '../ledger.ts';
import type { StoredAnswer } from '../records.ts';
import { type Body, type Store, tx } from '../store.ts';
import { ANSWER_EXPIRY, ANSWERS } from '../tables.ts';
import type { Auditor } from './auditor.ts';

const MINUTE_MS = 60_000;
/** Answers erased by one transaction. Commits get their turn between two of them. */
const ANSWERS_PER_SWEEP = 256;

type AnswerStore = Pick<Books, 'storedAnswer' | 'storedAnswerSizes'> & {
  /** Erases the answers that expired, and returns how many. */
  expireAnswers(nowMs: number): Promise<number>;
};

/** The first answers to Idempotency-Keys. */
export function answersIn(store: Store, clock: Clock): AnswerStore {
  return {
    async storedAnswer(accountNumber, keyDigest) {
      const body = () => tx.get(ANSWERS, [accountNumber, keyDigest]);
      const isDue = (answer: StoredAnswer | undefined) => (answer?.expiresAtMs ?? 0) <= clock.wallMs();
      if (isDue(await store.read(body))) return undefined;
      const answer = await store.kept(body); // a client gets it again, so no failover may lose it
      return isDue(answer) ? undefined : answer;
    },

    async storedAnswerSizes(nowMs) {
      const sums = new Map<string, StoredAnswerSize>();
      const rows = await store.read(() => tx.range(ANSWER_EXPIRY, { from: [nowMs + 1, 0, ''] }));
      for (const { key, value: more } of rows) {
        const [expiresAtMs, accountNumber] = key;
        const name = `${accountNumber} ${Math.floor(expiresAtMs / MINUTE_MS)}`;
        const sum = sums.get(name) ?? { accountNumber, expiresAtMs, bytes: 0 };
        sums.set(name, { ...sum, bytes: sum.bytes + more });
      }
      return [...sums.values()];
    },

    async expireAnswers(nowMs) {
      for (let erased = 0; ; ) {
        const now = await store.write([], () => sweep(nowMs));
        if (now === 0) return erased;
        erased += now;
      }
    },
  };
}

/**
 * Stores answers, in the transaction that commits their segments. Of two answers to a key, the one that expires later stays,
 * so a late repeat of an old commit cannot bring back an old answer. The other one's expiry stays listed, and erases nothing.
 */
export function* putAnswers(answers: readonly StoredAnswer[]): Body<void> {
  const keys = answers.map(({ accountNumber, keyDigest }) => [accountNumber, keyDigest] as const);
  const newest = new Map((yield* tx.getMany(ANSWERS, keys)).map((stored, i) => [String(keys[i]), stored]));
  for (const [i, answer] of answers.entries()) {
    const stored = newest.get(String(keys[i]));
    if (stored !== undefined && stored.expiresAtMs >= answer.expiresAtMs) continue;
    newest.set(String(keys[i]), answer);
    yield* tx.put(ANSWERS, keys[i], answer);
    yield* tx.put(ANSWER_EXPIRY, [answer.expiresAtMs, ...keys[i]], answer.sealed.length);
  }
}

function* sweep(nowMs: number): Body<number> {
  const due = yield* tx.range(ANSWER_EXPIRY, { before: [nowMs + 1, 0, ''], limit: ANSWERS_PER_SWEEP });
  const keys = due.map(({ key: [, ...answer] }) => answer);
  const answers = yield* tx.getMany(ANSWERS, keys);
  for (const [i, { key }] of due.entries()) {
    yield* tx.remove(ANSWER_EXPIRY, [key]);
    if (answers[i]?.expiresAtMs === key[0]) yield* tx.remove(ANSWERS, [keys[i]]);
  }
  return due.length;
}

/** Checks that every stored answer will expire. */
export async function auditAnswers(auditor: Auditor): Promise<void> {
  const listed = new Set<string>();
  await auditor.walk(ANSWER_EXPIRY, ([atMs, ...answer]) => listed.add(`${answer} ${atMs}`));
  await auditor.walk(ANSWERS, (key, { expiresAtMs }) => {
    if (!listed.has(`${key} ${expiresAtMs}`))
      auditor.problem(`the stored answer ${key.join(' ')} would never expire`);
  });
}
