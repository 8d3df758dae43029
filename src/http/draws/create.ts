import type { Account } from '../../account/directory.ts';
import type { Answers } from '../../answer/answers.ts';
import { type CommittedDraws, keyOfDraw } from '../../answer/draw-keeper.ts';
import { type DrawStatement, hashOf } from '../../certificate/draw.ts';
import { assert } from '../../core/assert.ts';
import { utf8Bytes } from '../../core/bytes.ts';
import { ApiError } from '../../core/errors.ts';
import { base32Of } from '../../core/ids.ts';
import { deriveKey, sha256Hex } from '../../crypto/digest.ts';
import type { EntropyReader } from '../../values/entropy-reader.ts';
import { valuesRequest } from '../endpoints/values.ts';
import type { Exchange } from '../exchange.ts';
import { readDrawRequest } from './request.ts';

export interface DrawSources {
  readonly answers: Answers;
  readonly committedDraws: CommittedDraws;
  /** System entropy, for ids. */
  readonly random: EntropyReader;
  /** Secret of the node, from which the ids under an Idempotency-Key follow. */
  readonly nodeSecret: Uint8Array;
}

const ID_BYTES = 16;
/** A kept answer outlives the end of its draw by so much, so that a service that was stopped for long can still end it. */
const KEPT_BEYOND_MS = 30 * 24 * 60 * 60 * 1_000;

/** 32 pure bytes: what is committed. */
const COMMITTED_BYTES = {
  ...valuesRequest('bytes', { encoding: 'hex' }, 32),
  mode: 'pure',
  dryRun: false,
} as const;

/**
 * Commits to a draw: its statement is fixed, 32 pure bytes are drawn under a certificate that is bound to it, and kept
 * sealed. Gives the id of the draw; of an earlier one where the Idempotency-Key was used for the same request. What is
 * refused has drawn, spent and stored nothing.
 */
export async function createDraw(
  sources: DrawSources,
  exchange: Exchange,
): Promise<{ readonly id: string; readonly isNew: boolean }> {
  const { answers, committedDraws } = sources;
  const account = exchange.account!;
  const reservation = exchange.enter(account);
  let id: string;
  let statement: DrawStatement | undefined;
  try {
    const request = readDrawRequest(exchange.body);
    id = idOf(sources, exchange, account);
    statement = await committedDraws.openDraw({
      id,
      accountNumber: account.record.number,
      fingerprint: sha256Hex(exchange.body),
      request,
    });
  } catch (error) {
    reservation.release();
    throw error;
  }
  if (statement === undefined) {
    reservation.release();
    return { id, isNew: false };
  }
  const ask = exchange.asForJson(keepingOf(statement));
  const committed = { ...COMMITTED_BYTES, label: labelOf(statement) };
  const drawing = answers.draw(ask, account, reservation, committed);
  const { isReplay, release } = await drawing.catch(async (error: unknown) => {
    // after any other failure the answer may be durable: the next start finds out
    if (error instanceof ApiError) await committedDraws.settleDraw(id);
    throw error;
  });
  release(); // what is committed to is told to nobody
  assert(!isReplay, 'the id of a draw is used once');
  assert(await committedDraws.settleDraw(id), 'the answer of a committed draw is kept');
  return { id, isNew: true };
}

function idOf({ random, nodeSecret }: DrawSources, { idempotencyKey }: Exchange, account: Account): string {
  let bytes = new Uint8Array(ID_BYTES);
  if (idempotencyKey === undefined) {
    random.fill(bytes);
    random.erase();
  } else {
    if (!/^[\x21-\x7e]{1,255}$/.test(idempotencyKey)) throw new ApiError('invalid_idempotency_key');
    const inputs = [nodeSecret, utf8Bytes(account.record.id), utf8Bytes(idempotencyKey)];
    bytes = deriveKey('drawId', inputs).slice(0, ID_BYTES);
  }
  return `draw_${base32Of(bytes)}`;
}

/** The certificate of the committed bytes is bound to the statement as to any user data. */
function labelOf(statement: DrawStatement) {
  const { purpose, public: isPublic } = statement;
  const userDataSha256 = hashOf(statement).slice('sha256:'.length);
  return { isPublic, purpose, userData: undefined, userDataSha256 };
}

/** The answer is kept, sealed, under the id of the draw. */
function keepingOf(statement: DrawStatement) {
  const { keyText: key, fingerprint } = keyOfDraw(statement);
  const untilMs = Date.parse(statement.gives_up_at ?? statement.due_at) + KEPT_BEYOND_MS;
  return { key, fingerprint, fields: [], untilMs };
}
