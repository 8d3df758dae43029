import { type Idempotency, SealBroken } from '../answer/idempotency.ts';
import type { BeaconChains, ChainRound, KnownChain } from '../beacon/chains.ts';
import { type BeaconChain, BeaconError, chainOf, dueMs } from '../beacon/drand.ts';
import { type DrawStatement, drawCommitText, drawEndText, hashOf } from '../certificate/draw.ts';
import type { DrawBody, DrawOutcome, DrawReason } from '../certificate/draw-document.ts';
import { canonicalText } from '../certificate/members.ts';
import { messageOf } from '../core/assert.ts';
import { concatBytes, fromHex, utf8Bytes } from '../core/bytes.ts';
import { type Clock, isoTime } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';
import { inOrder } from '../core/in-order.ts';
import { LIMITS } from '../core/limits.ts';
import type { Log } from '../core/log.ts';
import { sha256Hex } from '../crypto/digest.ts';
import type { DrawRecord } from '../ledger/draw-records.ts';
import type { DrawStore } from '../ledger/ledger.ts';
import { type DrawRequest, statementOf } from './opening.ts';
import { drawnValues } from './values.ts';

/** The methods of the keeper that fronts call. The keeper runs on the main thread. */
export type CommittedDraws = Pick<DrawKeeper, 'openDraw' | 'settleDraw' | 'cancelDraw' | 'openNonce'>;

export interface DrawKeeperOptions {
  readonly draws: DrawStore;
  readonly idempotency: Pick<Idempotency, 'kept'>;
  readonly chains: BeaconChains;
  readonly clock: Clock;
  readonly log: Log;
}

interface DrawOpening {
  readonly id: string;
  readonly accountNumber: number;
  /** A retry of the request has the same fingerprint. */
  readonly fingerprint: string;
  readonly request: DrawRequest;
}

/**
 * Returns the Idempotency-Key under which the answer of a draw is kept, sealed, until the draw ends. No client's request has
 * such a fingerprint, so no client can get the answer with the key.
 */
export function keyOfDraw(statement: DrawStatement): {
  readonly keyText: string;
  readonly fingerprint: string;
} {
  return { keyText: `draw/${statement.id}`, fingerprint: `draw ${hashOf(statement)}` };
}

/** A draw that has not ended, as the keeper holds it in memory. */
interface Waiting {
  readonly beacon: { readonly chain: BeaconChain; readonly round: number } | undefined;
  /** Unix time at which the keeper next tries to end it. */
  atMs: number;
  tries: number;
  /** The try that is under way. */
  attempt: Promise<void> | undefined;
}

/** The number of open draws, and of draws that ended since the start. */
export interface DrawCounts {
  readonly open: number;
  /** Open draws that are due and wait for a beacon or a nonce. */
  readonly overdue: number;
  readonly revealed: number;
  readonly cancelled: number;
  readonly failed: number;
}

const RETRY_MIN_MS = 1_000;
const RETRY_MAX_MS = 60_000;
const OPEN_READ_MAX = 1_000_000;
const UNKNOWN_CHAIN =
  'beacon.chain is not a chain that the service knows. The service knows quicknet and default, unless its operator changed QRN_BEACONS.';

/**
 * Keeps committed draws until they end, and reveals each when it is due. It is the only writer of draws. All its state is in the
 * ledger, so a restart continues where the last run stopped. If that run was killed before the answer of a new draw was durable,
 * the start drops the draw; no client had been told of it.
 */
export class DrawKeeper {
  readonly #options: DrawKeeperOptions;
  readonly #waiting = new Map<string, Waiting>();
  readonly #ended = { revealed: 0, cancelled: 0, failed: 0 };
  /** Draws whose answers are being made. */
  readonly #making = new Set<string>();
  /** Runs changes of draws one after the other. */
  readonly #inTurn = inOrder();

  private constructor(options: DrawKeeperOptions) {
    this.#options = options;
  }

  static async open(options: DrawKeeperOptions): Promise<DrawKeeper> {
    const keeper = new DrawKeeper(options);
    for (const draw of await options.draws.openDraws(OPEN_READ_MAX)) {
      if (draw.state === 'committed') keeper.#wait(draw);
      await keeper.#settle(draw).catch((error: unknown) => {
        // a ledger that is held back takes no writes: the next start tries again
        if (!(error instanceof ApiError)) throw error;
        options.log.warn(
          { draw: draw.id, reason: error.message },
          'could not commit to a draw; the next start tries again',
        );
      });
    }
    return keeper;
  }

  counts(): DrawCounts {
    const overdue = [...this.#waiting.values()].filter(({ tries }) => tries > 0).length;
    return { open: this.#waiting.size, overdue, ...this.#ended };
  }

  /**
   * Stores a new draw and returns its statement; undefined when an earlier request of the same fingerprint has made the draw.
   * Throws `idempotency_mismatch` when a request of another fingerprint has used the id, `idempotency_in_flight` while the draw
   * is being made, `draws_full`, and the errors of its beacon and its times.
   */
  async openDraw(opening: DrawOpening): Promise<DrawStatement | undefined> {
    const { id, accountNumber, fingerprint, request } = opening;
    const { draws, clock } = this.#options;
    // first, because a retry may come so late that its times are in the past
    if (await this.#inTurn(() => this.#isMade(id, fingerprint))) return undefined;
    // not within #inTurn, so that a slow beacon does not delay changes of other draws
    const known = request.beacon && (await this.#chainOf(request.beacon.chain));
    const statement = statementOf(id, request, known?.chain, clock.wallMs());
    const body: DrawBody = {
      statement,
      fingerprint,
      committed: null,
      nonce: null,
      chain: known?.info ?? null,
      answer: null,
      outcome: null,
    };
    const draw: DrawRecord = {
      id,
      accountNumber,
      state: 'opening',
      dueAtMs: Date.parse(statement.due_at),
      body: JSON.stringify(body),
    };
    return this.#inTurn(async () => {
      if (await this.#isMade(id, fingerprint)) return undefined;
      if (!(await draws.openDraw(draw, LIMITS.openDrawsMax)))
        throw new ApiError('draws_full', { details: { limit: LIMITS.openDrawsMax } });
      this.#making.add(id);
      return statement;
    });
  }

  async #chainOf(chain: string): Promise<KnownChain> {
    const { chains, log } = this.#options;
    const known = await chains.chain(chain).catch((error: unknown) => {
      log.warn(
        { chain, reason: messageOf(error) },
        'could not fetch the chain information of a beacon: draws that name it are refused; see QRN_BEACONS',
      );
      throw new ApiError('beacon_unavailable', { retryAfterS: 5 });
    });
    if (known !== undefined) return known;
    throw new ApiError('invalid_beacon', { message: UNKNOWN_CHAIN, details: { parameter: 'beacon.chain' } });
  }

  /** Tells whether the draw exists. Settles it first if the ledger refused to when it was made. */
  async #isMade(id: string, fingerprint: string): Promise<boolean> {
    const stored = await this.#options.draws.draw(id);
    if (stored === undefined) return false;
    if (bodyOf(stored).fingerprint !== fingerprint) throw new ApiError('idempotency_mismatch');
    if (this.#making.has(id)) throw new ApiError('idempotency_in_flight', { retryAfterS: 1 });
    return this.#settle(stored);
  }

  /** Commits to the draw if its answer is durable; else drops it and returns false. */
  async settleDraw(id: string): Promise<boolean> {
    const isCommitted = await this.#inTurn(async () => {
      this.#making.delete(id);
      const draw = await this.#options.draws.draw(id);
      return draw !== undefined && this.#settle(draw);
    });
    this.endDueDraws();
    return isCommitted;
  }

  /** Ends the draw as cancelled. Throws `draw_not_found`, `draw_due` or `draw_ended`. */
  cancelDraw(id: string, accountNumber: number): Promise<void> {
    return this.#inTurn(async () => {
      const draw = await this.#ownOpen(id, accountNumber);
      if (this.#options.clock.wallMs() >= cancelUntilMs(draw, bodyOf(draw))) throw new ApiError('draw_due');
      await this.#end(draw, 'cancelled', 'cancelled', undefined);
    });
  }

  /** Stores the nonce that the caller committed to. Throws `draw_not_found`, `invalid_nonce` or `draw_ended`. */
  async openNonce(id: string, accountNumber: number, nonce: string): Promise<void> {
    await this.#inTurn(async () => {
      const draw = await this.#ownOpen(id, accountNumber);
      const body = bodyOf(draw);
      if (`sha256:${sha256Hex(fromHex(nonce))}` !== body.statement.nonce_sha256)
        throw new ApiError('invalid_nonce', {
          message: 'The SHA-256 hash of the nonce differs from nonce_sha256.',
        });
      await this.#options.draws.putDraw({ ...draw, body: JSON.stringify({ ...body, nonce }) });
      this.#wait(draw);
    });
    this.endDueDraws();
  }

  /** Starts to end the draws that are due. Does not wait. */
  endDueDraws(): void {
    const nowMs = this.#options.clock.wallMs();
    for (const [id, waiting] of this.#waiting)
      if (waiting.atMs <= nowMs) waiting.attempt ??= this.#tryToEnd(id, waiting);
  }

  /** Tries to end all draws that are due. Never rejects. */
  async tick(): Promise<void> {
    this.endDueDraws();
    await Promise.all([...this.#waiting.values()].map(({ attempt }) => attempt));
  }

  /** Ends the draw if it can end now. Fetches the round outside #inTurn, so that a slow beacon delays no other draw. */
  async #tryToEnd(id: string, waiting: Waiting): Promise<void> {
    const { clock, log } = this.#options;
    try {
      const round = await this.#roundOf(id, waiting);
      await this.#inTurn(() => this.#endIfComplete(id, round));
    } catch (error) {
      log.error({ draw: id, reason: messageOf(error) }, 'could not end a draw that is due; trying again');
    }
    waiting.atMs = clock.wallMs() + Math.min(RETRY_MAX_MS, RETRY_MIN_MS * 2 ** waiting.tries++);
    waiting.attempt = undefined;
  }

  /** Ends the draw if nothing is missing, or if it has waited long enough for what is missing. */
  async #endIfComplete(id: string, found: ChainRound | undefined | DrawReason): Promise<void> {
    const { draws, clock } = this.#options;
    const draw = await draws.draw(id);
    if (draw?.state !== 'committed') return; // it has ended meanwhile
    const body = bodyOf(draw);
    const [round, missing] = typeof found === 'string' ? [undefined, found] : [found, null];
    const reason = missing ?? (nonceOf(body) === undefined ? 'nonce_missing' : null);
    if (reason === null) await this.#end(draw, 'revealed', null, round);
    else if (clock.wallMs() >= Date.parse(body.statement.gives_up_at ?? ''))
      await this.#end(draw, 'failed', reason, round);
  }

  /** Returns the round of the draw's beacon, undefined without a beacon, or the reason why the round is missing. */
  async #roundOf(id: string, { beacon }: Waiting): Promise<ChainRound | undefined | DrawReason> {
    if (beacon === undefined) return undefined;
    const { chains, log } = this.#options;
    try {
      return await chains.round(beacon, beacon.round);
    } catch (error) {
      log.warn(
        { draw: id, round: beacon.round, reason: messageOf(error) },
        'could not fetch the round of a beacon that a draw waits for; trying again; see QRN_BEACONS',
      );
      return error instanceof BeaconError ? 'beacon_wrong' : 'beacon_missing';
    }
  }

  async #end(
    draw: DrawRecord,
    state: DrawOutcome['state'],
    reason: DrawReason | null,
    round: ChainRound | undefined,
  ): Promise<void> {
    const { draws, clock, log } = this.#options;
    const body = bodyOf(draw);
    const { statement } = body;
    const answer = await this.#answerOf(draw);
    const secret = answer?.data.bytes ?? null;
    const opened = nonceOf(body);
    const nonce = opened ?? fromHex('');
    // the values of a cancelled draw with a beacon are not known, because its round is not out yet
    const isKnown =
      state === 'revealed' ||
      (state === 'cancelled' && statement.beacon === undefined && opened !== undefined);
    const statementSha256 = hashOf(statement);
    const outcome: DrawOutcome = {
      type: 'draw_outcome',
      version: 1,
      statement_sha256: statementSha256,
      nonce: nonce.length === 0 ? null : Buffer.from(nonce).toString('hex'),
      beacon: statement.beacon && round ? { chain: statement.beacon.chain, ...round } : null,
      ended_at: isoTime(clock.wallMs()),
      ...(secret === null ? { state: 'failed', reason: 'secret_lost' } : { state, reason }),
      secret,
      values:
        isKnown && secret !== null
          ? drawnValues(statement.request, {
              secret: fromHex(secret),
              nonce,
              randomness: fromHex(round?.randomness ?? ''),
              statementSha256: fromHex(statementSha256.slice('sha256:'.length)),
            })
          : null,
    };
    // anybody who has its id may read a draw, but the credits that an account has left are not public
    const { quantum_credits: _, ...publicAnswer } = answer ?? {};
    const ended: DrawRecord = {
      ...draw,
      state: 'ended',
      body: JSON.stringify({ ...body, answer: answer === undefined ? null : publicAnswer, outcome }),
    };
    await draws.putDraw(ended, { drawId: draw.id, kind: 'end', text: drawEndText(outcome) });
    this.#waiting.delete(draw.id);
    this.#ended[outcome.state]++;
    if (outcome.state === 'failed')
      log.error({ draw: draw.id, reason: outcome.reason }, 'a draw failed: it has no values');
  }

  /** Returns the answer that is kept for the draw; undefined if there is none or its seal cannot be opened. */
  async #answerOf(draw: DrawRecord): Promise<KeptAnswer | undefined> {
    const request = { accountNumber: draw.accountNumber, ...keyOfDraw(bodyOf(draw).statement) };
    try {
      const kept = await this.#options.idempotency.kept(request, this.#options.clock.wallMs());
      return kept && JSON.parse(Buffer.from(kept.body).toString('utf8'));
    } catch (error) {
      if (error instanceof SealBroken) return undefined; // another try would fail too
      throw error;
    }
  }

  /** Commits to the draw, or drops it and returns false if its answer is not durable. */
  async #settle(draw: DrawRecord): Promise<boolean> {
    if (draw.state !== 'opening') return true;
    const { draws } = this.#options;
    const answer = await this.#answerOf(draw);
    if (answer === undefined) {
      await draws.dropDraw(draw.id);
      return false;
    }
    const { certificate_id, certificate_salt: salt, timestamp: at } = answer.metadata;
    const digest = sha256Hex(concatBytes(fromHex(salt), utf8Bytes(canonicalText(answer.data))));
    const committed = { certificate_id, delivered: `sha256:${digest}`, at };
    const body = { ...bodyOf(draw), committed };
    const text = drawCommitText(body.statement, committed.delivered);
    const next: DrawRecord = { ...draw, state: 'committed', body: JSON.stringify(body) };
    await draws.putDraw(next, { drawId: draw.id, kind: 'commit', text });
    this.#wait(next);
    return true;
  }

  /** Returns the account's draw if it is committed and has not ended. */
  async #ownOpen(id: string, accountNumber: number): Promise<DrawRecord> {
    const draw = await this.#options.draws.draw(id);
    if (draw === undefined || draw.accountNumber !== accountNumber || draw.state === 'opening')
      throw new ApiError('draw_not_found');
    if (draw.state === 'ended') throw new ApiError('draw_ended');
    return draw;
  }

  #wait(draw: DrawRecord): void {
    const { statement, chain } = bodyOf(draw);
    const beacon = statement.beacon && {
      chain: chainOf(chain, statement.beacon.chain),
      round: statement.beacon.round,
    };
    this.#waiting.set(draw.id, { beacon, atMs: draw.dueAtMs, tries: 0, attempt: undefined });
  }
}

/** The members of a kept answer that the keeper reads. */
interface KeptAnswer {
  readonly data: { readonly bytes: string };
  readonly metadata: {
    readonly certificate_id: string;
    /** 64 hex digits. */
    readonly certificate_salt: string;
    readonly timestamp: string;
  };
  readonly quantum_credits?: object;
}

/** Returns the caller's nonce, empty if the draw has none; undefined while it has not been revealed. */
function nonceOf({ statement, nonce }: DrawBody): Uint8Array | undefined {
  if (statement.nonce_sha256 !== undefined) return nonce === null ? undefined : fromHex(nonce);
  return fromHex(statement.nonce ?? '');
}

/**
 * Returns the Unix time until which the draw may be cancelled. The log must hold the end of the draw before its round is out;
 * otherwise the end could have been chosen with knowledge of the values.
 */
function cancelUntilMs({ dueAtMs }: DrawRecord, { statement, chain }: DrawBody): number {
  const { beacon } = statement;
  if (beacon === undefined) return dueAtMs;
  return dueMs(chainOf(chain, beacon.chain), beacon.round) - LIMITS.drawRoundAheadMinMs;
}

function bodyOf({ body }: DrawRecord): DrawBody {
  return JSON.parse(body) as DrawBody;
}
