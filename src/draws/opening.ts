import { type BeaconChain, dueMs } from '../beacon/drand.ts';
import type { DrawStatement } from '../certificate/draw.ts';
import { canonicalText, timeOf } from '../certificate/members.ts';
import { utf8Bytes } from '../core/bytes.ts';
import { ApiError } from '../core/errors.ts';
import { grouped } from '../core/figures.ts';
import { LIMITS } from '../core/limits.ts';

/** The draw that a caller asks for, checked. */
export interface DrawRequest {
  /** The members of the statement that come from the request unchanged. */
  readonly fixed: Omit<DrawStatement, 'type' | 'version' | 'id' | 'beacon' | 'due_at' | 'gives_up_at'>;
  readonly revealAt: string | undefined;
  /** `chain` is the chain's name or its hash. */
  readonly beacon: { readonly chain: string; readonly round: number } | undefined;
}

/**
 * Returns the statement that a draw commits to. `chain` is the chain of its beacon. Throws an ApiError when a time is out of
 * bounds or the statement is too long.
 */
export function statementOf(
  id: string,
  { fixed, revealAt, beacon }: DrawRequest,
  chain: BeaconChain | undefined,
  nowMs: number,
): DrawStatement {
  const revealAtMs = revealAt === undefined ? nowMs : revealTimeOf(revealAt);
  if (!(revealAtMs >= nowMs && revealAtMs <= nowMs + LIMITS.drawAheadMaxMs))
    throw new ApiError('invalid_reveal_at', { details: { parameter: 'reveal_at' } });
  const roundAtMs = beacon && chain ? dueMs(chain, beacon.round) : nowMs;
  if (beacon && roundAtMs < nowMs + LIMITS.drawRoundAheadMinMs)
    throw new ApiError('beacon_round_past', { details: { round: beacon.round } });
  if (roundAtMs > nowMs + LIMITS.drawAheadMaxMs)
    throw new ApiError('invalid_beacon', { message: 'The round of the beacon must be due within 366 days.' });
  const dueAtMs = Math.max(revealAtMs, roundAtMs);
  const mayLack = beacon !== undefined || fixed.nonce_sha256 !== undefined;
  const statement: DrawStatement = {
    type: 'draw_statement',
    version: 1,
    id,
    ...fixed,
    ...(beacon && chain && { beacon: { chain: chain.hash, round: beacon.round } }),
    due_at: new Date(dueAtMs).toISOString(),
    ...(mayLack ? { gives_up_at: new Date(dueAtMs + LIMITS.drawPatienceMs).toISOString() } : {}),
  };
  const { length: bytes } = utf8Bytes(canonicalText(statement));
  if (bytes <= LIMITS.drawStatementBytesMax) return statement;
  throw new ApiError('invalid_draw', {
    message: `The statement of this draw is ${grouped(bytes)} bytes long; the limit is ${grouped(LIMITS.drawStatementBytesMax)} bytes. Give a long list by its SHA-256 hash and size.`,
    details: { bytes, limit: LIMITS.drawStatementBytesMax },
  });
}

/** Returns the time in Unix ms, or NaN if its day or hour does not exist. */
function revealTimeOf(revealAt: string): number {
  return timeOf(revealAt.replace(/(?:\.(\d+))?Z$/, (_, parts = '') => `.${parts.padEnd(3, '0')}Z`));
}
