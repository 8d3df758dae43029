import type { Account } from '../../account/directory.ts';
import type { Answers } from '../../answer/answers.ts';
import { KEY_TEXT } from '../../answer/idempotency.ts';
import { type DrawStatement, hashOf } from '../../certificate/draw.ts';
import { assert } from '../../core/assert.ts';
import { utf8Bytes } from '../../core/bytes.ts';
import { ApiError } from '../../core/errors.ts';
import { base32Of } from '../../core/ids.ts';
import { deriveKey, sha256Hex } from '../../crypto/digest.ts';
import { type CommittedDraws, keyOfDraw } from '../../draws/keeper.ts';
import type { EntropyReader } from '../../values/entropy-reader.ts';
import { valuesRequest } from '../endpoints/values.ts';
import type { Exchange } from '../exchange.ts';
import { readDrawRequest } from './request.ts';

export interface DrawSources {
  readonly answers: Answers;
  readonly committedDraws: CommittedDraws;
  /** System entropy, for ids. */
  readonly random: EntropyReader;
  /** Secret of the node. The ids of draws under an Idempotency-Key are derived from it. */
  readonly nodeSecret: Uint8Array;
}

const ID_BYTES = 16;
/** How long an answer is kept after the end of its draw, so that a service that was stopped for long can still end the draw. */
const KEPT_BEYOND_MS = 30 * 24 * 60 * 60 * 1_000;

/** The request for the committed bytes: 32 pure bytes. */
const COMMITTED_BYTES = {
  ...valuesRequest('bytes', { encoding: 'hex' }, 32),
  mode: 'pure',
  dryRun: false,
} as const;

/**
 * Commits to a draw: stores its statement, and draws 32 pure bytes under a certificate that is bound to the statement. The
 * bytes are kept sealed. Returns the id of the draw, or that of the earlier draw if the Idempotency-Key was used for the same
 * request. A refused request has drawn, spent and stored nothing.
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
  } finally {
    if (statement === undefined) reservation.release(); // refused, or drawn earlier
  }
  if (statement === undefined) return { id, isNew: false };
  const ask = exchange.asForJson(keepingOf(statement));
  const committed = { ...COMMITTED_BYTES, label: labelOf(statement) };
  const drawing = answers.draw(ask, account, reservation, committed);
  const { isReplay, release } = await drawing.catch(async (error: unknown) => {
    // after any other failure the answer may be durable; the next start of the service settles the draw
    if (error instanceof ApiError) await committedDraws.settleDraw(id);
    throw error;
  });
  release(); // nobody may see the committed bytes
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
    if (!KEY_TEXT.test(idempotencyKey)) throw new ApiError('invalid_idempotency_key');
    const inputs = [nodeSecret, utf8Bytes(account.record.id), utf8Bytes(idempotencyKey)];
    bytes = deriveKey('drawId', inputs).slice(0, ID_BYTES);
  }
  return `draw_${base32Of(bytes)}`;
}

/** Returns the label that binds the certificate to the statement: the statement's hash is its user data. */
function labelOf(statement: DrawStatement) {
  const { purpose, public: isPublic } = statement;
  const userDataSha256 = hashOf(statement).slice('sha256:'.length);
  return { isPublic, purpose, userData: undefined, userDataSha256 };
}

/** Returns how the answer is kept: sealed, under the id of the draw. */
function keepingOf(statement: DrawStatement) {
  const { keyText: key, fingerprint } = keyOfDraw(statement);
  const untilMs = Date.parse(statement.gives_up_at ?? statement.due_at) + KEPT_BEYOND_MS;
  return { key, fingerprint, fields: [], untilMs };
}
