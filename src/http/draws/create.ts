import type { Account } from '../../account/directory.ts';
import type { Answers } from '../../answer/answers.ts';
import {
  type ChainFacts,
  type CommittedDraws,
  drawFingerprint,
  drawKeyText,
} from '../../answer/draw-keeper.ts';
import { dueMs } from '../../beacon/drand.ts';
import { type DrawBody, type DrawStatement, hashOf } from '../../certificate/draw.ts';
import { canonicalText, timeOf } from '../../certificate/members.ts';
import { assert } from '../../core/assert.ts';
import { utf8Bytes } from '../../core/bytes.ts';
import { ApiError } from '../../core/errors.ts';
import { grouped } from '../../core/figures.ts';
import { base32Of } from '../../core/ids.ts';
import { LIMITS } from '../../core/limits.ts';
import { deriveKey, sha256Hex } from '../../crypto/digest.ts';
import type { EntropyReader } from '../../values/entropy-reader.ts';
import { contentOfGet } from '../endpoint.ts';
import { valuesEndpoint } from '../endpoints/values.ts';
import type { Exchange } from '../exchange.ts';
import { type DrawRequest, readDrawRequest } from './request.ts';

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
const { request: COMMITTED_BYTES } = valuesEndpoint('bytes').parse(
  contentOfGet('count=32&encoding=hex&entropy_mode=pure'),
);

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
  const { clock } = exchange.pipeline;
  const account = exchange.account!;
  const reservation = exchange.enter(account);
  let isAsked = false;
  try {
    const request = readDrawRequest(exchange.body);
    const fingerprint = sha256Hex(exchange.body);
    const id = idOf(sources, exchange, account);
    // before times are compared: a retry may come when the draw is due
    const known = exchange.idempotencyKey && (await committedDraws.knownDraw(id, fingerprint));
    if (known === 'same') {
      reservation.release();
      return { id, isNew: false };
    }
    if (known) requireOpened(known);
    const beacon = await beaconOf(committedDraws, request);
    const statement = statementOf(id, request, beacon, clock.wallMs());
    const body: DrawBody = {
      statement,
      fingerprint,
      committed: null,
      nonce: null,
      chain: beacon?.chain.info ?? null,
      answer: null,
      outcome: null,
    };
    const dueAtMs = Date.parse(statement.due_at);
    const accountNumber = account.record.number;
    const opening = await committedDraws.openDraw({
      id,
      accountNumber,
      state: 'opening',
      dueAtMs,
      body: JSON.stringify(body),
    });
    if (opening === 'same') {
      reservation.release();
      return { id, isNew: false };
    }
    requireOpened(opening);
    const ask = exchange.asForJson(keepingOf(statement));
    isAsked = true; // from here on the answer releases what was reserved
    const committed = { ...COMMITTED_BYTES, label: labelOf(statement) };
    const drawing = answers.draw(ask, account, reservation, committed);
    const { isReplay, release } = await drawing.catch(async (error: unknown) => {
      // after any other failure the answer may be durable: the next start finds out
      if (error instanceof ApiError) await committedDraws.drawRefused(id);
      throw error;
    });
    release(); // what is committed to is told to nobody
    assert(!isReplay, 'the id of a draw is used once');
    await committedDraws.drawCommitted(id);
    return { id, isNew: true };
  } catch (error) {
    if (!isAsked) reservation.release();
    throw error;
  }
}

/** The round whose value enters the draw. */
interface Beacon {
  readonly chain: ChainFacts;
  readonly round: number;
}

async function beaconOf(
  committedDraws: CommittedDraws,
  { beacon }: DrawRequest,
): Promise<Beacon | undefined> {
  if (beacon === undefined) return undefined;
  const chain = await committedDraws.chainOf(beacon.chain);
  if (chain === undefined)
    throw new ApiError('invalid_beacon', {
      message:
        'The service does not know this chain. Unless its operator changed QRN_BEACONS, it knows quicknet and default.',
      details: { parameter: 'beacon.chain' },
    });
  return { chain, round: beacon.round };
}

function requireOpened(opening: Awaited<ReturnType<CommittedDraws['openDraw']>>): void {
  if (opening === 'full') throw new ApiError('draws_full', { details: { limit: LIMITS.openDrawsMax } });
  if (opening === 'other') throw new ApiError('idempotency_mismatch');
  if (opening === 'running') throw new ApiError('idempotency_in_flight', { retryAfterS: 1 });
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

function statementOf(
  id: string,
  { values, list, said }: DrawRequest,
  beacon: Beacon | undefined,
  nowMs: number,
): DrawStatement {
  const { user_data_sha256: userDataSha256, nonce_sha256: nonceSha256 } = said;
  const revealAtMs = said.reveal_at === undefined ? nowMs : revealTimeOf(said.reveal_at);
  if (!(revealAtMs >= nowMs && revealAtMs <= nowMs + LIMITS.drawAheadMaxMs))
    throw new ApiError('invalid_reveal_at', { details: { parameter: 'reveal_at' } });
  const roundAtMs = beacon === undefined ? nowMs : dueMs(beacon.chain, beacon.round);
  if (beacon !== undefined && roundAtMs < nowMs + LIMITS.drawRoundAheadMinMs)
    throw new ApiError('beacon_round_past', { details: { round: beacon.round } });
  if (roundAtMs > nowMs + LIMITS.drawAheadMaxMs)
    throw new ApiError('invalid_beacon', { message: 'Give a round that is due within 366 days.' });
  const dueAtMs = Math.max(revealAtMs, roundAtMs);
  const mayLack = beacon !== undefined || nonceSha256 !== undefined;
  const statement: DrawStatement = {
    type: 'draw_statement',
    version: 1,
    id,
    request: values,
    ...(list === undefined ? {} : { list }),
    purpose: said.purpose,
    public: said.public,
    ...(said.user_data === undefined ? {} : { user_data: said.user_data }),
    ...(userDataSha256 === undefined ? {} : { user_data_sha256: `sha256:${userDataSha256}` }),
    ...(said.nonce === undefined ? {} : { nonce: said.nonce }),
    ...(nonceSha256 === undefined ? {} : { nonce_sha256: `sha256:${nonceSha256}` }),
    ...(beacon === undefined ? {} : { beacon: { chain: beacon.chain.hash, round: beacon.round } }),
    due_at: new Date(dueAtMs).toISOString(),
    ...(mayLack ? { gives_up_at: new Date(dueAtMs + LIMITS.drawPatienceMs).toISOString() } : {}),
  };
  const { length: bytes } = utf8Bytes(canonicalText(statement));
  if (bytes <= LIMITS.drawStatementBytesMax) return statement;
  throw new ApiError('invalid_draw', {
    message: `What a draw commits to takes at most ${grouped(LIMITS.drawStatementBytesMax)} bytes; this takes ${grouped(bytes)}. Give a long list by its SHA-256 and size.`,
    details: { bytes, limit: LIMITS.drawStatementBytesMax },
  });
}

/** Unix ms; NaN for a day or an hour that there is not. */
function revealTimeOf(revealAt: string): number {
  return timeOf(revealAt.replace(/(?:\.(\d+))?Z$/, (_, parts = '') => `.${parts.padEnd(3, '0')}Z`));
}

/** The certificate of the committed bytes is bound to the statement as to any user data. */
function labelOf(statement: DrawStatement) {
  const { purpose, public: isPublic } = statement;
  const userDataSha256 = hashOf(statement).slice('sha256:'.length);
  return { isPublic, purpose, userData: undefined, userDataSha256 };
}

/** The answer is kept, sealed, under the id of the draw. */
function keepingOf(statement: DrawStatement) {
  return {
    key: drawKeyText(statement.id),
    fingerprint: drawFingerprint(hashOf(statement)),
    fields: [],
    untilMs: Date.parse(statement.gives_up_at ?? statement.due_at) + KEPT_BEYOND_MS,
  };
}
