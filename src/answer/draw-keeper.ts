import type { BeaconChains, ChainRound, KnownChain } from '../beacon/chains.ts';
import { BeaconError, chainOf, dueMs } from '../beacon/drand.ts';
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
import { type DrawRequest, statementOf } from './draw-opening.ts';
import { drawnValues } from './draw-values.ts';
import { type Idempotency, SealBroken } from './idempotency.ts';

/** What the fronts ask of the keeper, which runs on the main thread. */
export type CommittedDraws = Pick<DrawKeeper, 'openDraw' | 'settleDraw' | 'cancelDraw' | 'openNonce'>;

export interface DrawKeeperOptions {
  readonly draws: DrawStore;
  readonly idempotency: Pick<Idempotency, 'kept'>;
  readonly chains: BeaconChains;
  readonly clock: Clock;
  readonly log: Log;
}

/** A draw that is to be. */
interface DrawOpening {
  readonly id: string;
  readonly accountNumber: number;
  /** By which a retry is known. */
  readonly fingerprint: string;
  readonly request: DrawRequest;
}

/**
 * Under this Idempotency-Key the answer of a draw is kept, sealed, until the draw ends. No client's request has such a
 * fingerprint, so no client gets the answer by its key.
 */
export function keyOfDraw(statement: DrawStatement): {
  readonly keyText: string;
  readonly fingerprint: string;
} {
  return { keyText: `draw/${statement.id}`, fingerprint: `draw ${hashOf(statement)}` };
}

/** A draw that has not ended, as the keeper holds it in memory. */
interface Waiting {
  /** Hash of its beacon's chain. */
  readonly chain: string | undefined;
  /** When it is looked at next (Unix ms). */
  atMs: number;
  tries: number;
}

/** Counts of draws since the start, by how they ended, and those that are open now. */
export interface DrawCounts {
  readonly open: number;
  /** Open draws whose time has come: they wait for a beacon or a nonce. */
  readonly overdue: number;
  readonly revealed: number;
  readonly cancelled: number;
  readonly failed: number;
}

const RETRY_MIN_MS = 1_000;
const RETRY_MAX_MS = 60_000;
const OPEN_READ_MAX = 1_000_000;
const NO_BYTES = new Uint8Array();
const UNKNOWN_CHAIN =
  'The service does not know this chain. Unless its operator changed QRN_BEACONS, it knows quicknet and default.';

/**
 * Keeps committed draws until their end, and reveals each when it is due. It is the only writer of draws. What it must know
 * is in the ledger, so a restart goes on where the last run was; draws of a run that was killed before their answers were
 * durable are forgotten, and nobody had been told of them.
 */
export class DrawKeeper {
  readonly #options: DrawKeeperOptions;
  readonly #waiting = new Map<string, Waiting>();
  /** Draws of one chain are looked at one after the other, so that a beacon that is slow holds up no other's draws. */
  readonly #underWay = new Map<string | undefined, Promise<void>>();
  readonly #ended = { revealed: 0, cancelled: 0, failed: 0 };
  /** Draws whose answers are being made. */
  readonly #making = new Set<string>();
  /** Changes of draws run one after the other. */
  readonly #inTurn = inOrder();

  private constructor(options: DrawKeeperOptions) {
    this.#options = options;
  }

  static async open(options: DrawKeeperOptions): Promise<DrawKeeper> {
    const keeper = new DrawKeeper(options);
    for (const draw of await options.draws.openDraws(OPEN_READ_MAX)) {
      if (draw.state === 'committed') keeper.#wait(draw);
      else
        await keeper.#settle(draw).catch((error: unknown) => {
          // a ledger that is held back takes nothing: the next start tries again
          if (!(error instanceof ApiError)) throw error;
          options.log.warn({ draw: draw.id, reason: error.message }, 'a draw could not be committed to');
        });
    }
    return keeper;
  }

  counts(): DrawCounts {
    const overdue = [...this.#waiting.values()].filter(({ tries }) => tries > 0).length;
    return { open: this.#waiting.size, overdue, ...this.#ended };
  }

  /**
   * Fixes the statement of a new draw; undefined when a request of this fingerprint has made the draw. Throws
   * `idempotency_mismatch` when another one has its id, `idempotency_in_flight` while it is made, `draws_full`, and what is wrong
   * with its chain and its times.
   */
  async openDraw({
    id,
    accountNumber,
    fingerprint,
    request,
  }: DrawOpening): Promise<DrawStatement | undefined> {
    const { draws, clock } = this.#options;
    // before times are compared: a retry may come when the draw is due
    if (await this.#inTurn(() => this.#isMade(id, fingerprint))) return undefined;
    // outside of the turn, so that a slow beacon holds up no other draw's change
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

  async #chainOf(nameOrHash: string): Promise<KnownChain> {
    const known = await this.#options.chains.chain(nameOrHash).catch((error: unknown) => {
      const reason = messageOf(error);
      this.#options.log.warn(
        { chain: nameOrHash, reason },
        'the information of a beacon’s chain is not to be had',
      );
      throw new ApiError('beacon_unavailable', { retryAfterS: 5 });
    });
    if (known !== undefined) return known;
    throw new ApiError('invalid_beacon', { message: UNKNOWN_CHAIN, details: { parameter: 'beacon.chain' } });
  }

  /** A retry settles a draw that the ledger refused to settle before. */
  async #isMade(id: string, fingerprint: string): Promise<boolean> {
    const stored = await this.#options.draws.draw(id);
    if (stored === undefined) return false;
    if (bodyOf(stored).fingerprint !== fingerprint) throw new ApiError('idempotency_mismatch');
    if (this.#making.has(id)) throw new ApiError('idempotency_in_flight', { retryAfterS: 1 });
    return stored.state === 'opening' ? this.#settle(stored) : true;
  }

  /** Commits to a draw whose answer is durable, and forgets one that has none: then it gives false. */
  async settleDraw(id: string): Promise<boolean> {
    const isCommitted = await this.#inTurn(async () => {
      this.#making.delete(id);
      const draw = await this.#options.draws.draw(id);
      return draw?.state === 'opening' ? this.#settle(draw) : draw !== undefined;
    });
    this.lookAtDue();
    return isCommitted;
  }

  /** Throws `draw_not_found`, `draw_due` or `draw_ended`. */
  cancelDraw(id: string, accountNumber: number): Promise<void> {
    return this.#inTurn(async () => {
      const draw = await this.#ownOpen(id, accountNumber);
      if (this.#options.clock.wallMs() >= cancelUntilMs(draw, bodyOf(draw))) throw new ApiError('draw_due');
      await this.#end(draw, 'cancelled', 'cancelled', undefined);
    });
  }

  /** Takes the nonce that the caller committed to. Throws `draw_not_found`, `invalid_nonce` or `draw_ended`. */
  async openNonce(id: string, accountNumber: number, nonce: string): Promise<void> {
    await this.#inTurn(async () => {
      const draw = await this.#ownOpen(id, accountNumber);
      const body = bodyOf(draw);
      if (`sha256:${sha256Hex(fromHex(nonce))}` !== body.statement.nonce_sha256)
        throw new ApiError('invalid_nonce', { message: 'The nonce has another SHA-256 than nonce_sha256.' });
      await this.#options.draws.putDraw({ ...draw, body: JSON.stringify({ ...body, nonce }) });
      this.#wait(draw);
    });
    this.lookAtDue();
  }

  /** Begins to end what is due and can be ended now. */
  lookAtDue(): void {
    const nowMs = this.#options.clock.wallMs();
    const due = [...this.#waiting].filter(([, { atMs }]) => atMs <= nowMs);
    for (const [chain, draws] of Map.groupBy(due, ([, waiting]) => waiting.chain)) {
      if (this.#underWay.has(chain)) continue;
      const looked = this.#lookAtAll(draws).finally(() => this.#underWay.delete(chain));
      this.#underWay.set(chain, looked);
    }
  }

  /** Ends what is due and can be ended now. Never rejects. */
  async tick(): Promise<void> {
    this.lookAtDue();
    await Promise.all(this.#underWay.values());
  }

  async #lookAtAll(draws: readonly (readonly [string, Waiting])[]): Promise<void> {
    const { clock, log } = this.#options;
    for (const [id, waiting] of draws) {
      try {
        await this.#look(id);
      } catch (error) {
        const reason = messageOf(error);
        log.error({ draw: id, reason }, 'a draw could not be ended; trying again');
      }
      waiting.atMs = clock.wallMs() + retryMs(waiting.tries++);
    }
  }

  /** The round is fetched outside of the turn, so that a slow beacon holds up no other draw's change. */
  async #look(id: string): Promise<void> {
    const { draws, clock } = this.#options;
    const draw = await draws.draw(id);
    if (draw?.state !== 'committed') return; // it has ended since it was listed
    const body = bodyOf(draw);
    const round = await this.#roundOf(body);
    await this.#inTurn(async () => {
      const current = await draws.draw(id);
      if (current?.state !== 'committed') return;
      const missing =
        typeof round === 'string'
          ? round
          : nonceOf(bodyOf(current)) === undefined
            ? 'nonce_missing'
            : undefined;
      const givesUpAtMs = Date.parse(body.statement.gives_up_at ?? '');
      const had = typeof round === 'string' ? undefined : round;
      if (missing === undefined) await this.#end(current, 'revealed', null, had);
      else if (clock.wallMs() >= givesUpAtMs) await this.#end(current, 'failed', missing, had);
    });
  }

  /** Undefined for a draw without a beacon; why it lacks its round. */
  async #roundOf({ statement, chain }: DrawBody): Promise<ChainRound | undefined | DrawReason> {
    const { beacon } = statement;
    if (beacon === undefined) return undefined;
    const known = { chain: chainOf(chain, beacon.chain) };
    try {
      return await this.#options.chains.round(known, beacon.round);
    } catch (error) {
      const reason = messageOf(error);
      this.#options.log.warn(
        { draw: statement.id, round: beacon.round, reason },
        'a draw waits for its beacon',
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
    const nonce = opened ?? NO_BYTES;
    // of a cancelled draw with a beacon nobody knows yet what it would have been
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
              randomness: round === undefined ? NO_BYTES : fromHex(round.randomness),
              statementSha256: fromHex(statementSha256.slice('sha256:'.length)),
            })
          : null,
    };
    // whoever has its id may read a draw: what the account has left this month is told to its caller alone
    const { quantum_credits: _, ...told } = answer ?? {};
    const ended: DrawRecord = {
      ...draw,
      state: 'ended',
      body: JSON.stringify({ ...body, answer: answer === undefined ? null : told, outcome }),
    };
    await draws.putDraw(ended, { drawId: draw.id, kind: 'end', text: drawEndText(outcome) });
    this.#waiting.delete(draw.id);
    this.#ended[outcome.state]++;
    if (outcome.state === 'failed') log.error({ draw: draw.id, reason: outcome.reason }, 'a draw has failed');
  }

  /** The answer that was kept for the draw, as its caller would have got it. */
  async #answerOf(draw: DrawRecord): Promise<KeptAnswer | undefined> {
    const request = { accountNumber: draw.accountNumber, ...keyOfDraw(bodyOf(draw).statement) };
    try {
      const kept = await this.#options.idempotency.kept(request, this.#options.clock.wallMs());
      return kept && JSON.parse(Buffer.from(kept.body).toString('utf8'));
    } catch (error) {
      if (error instanceof SealBroken) return undefined; // it cannot be opened ever again
      throw error;
    }
  }

  async #settle(draw: DrawRecord): Promise<boolean> {
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

  async #ownOpen(id: string, accountNumber: number): Promise<DrawRecord> {
    const draw = await this.#options.draws.draw(id);
    if (draw === undefined || draw.accountNumber !== accountNumber || draw.state === 'opening')
      throw new ApiError('draw_not_found');
    if (draw.state === 'ended') throw new ApiError('draw_ended');
    return draw;
  }

  #wait(draw: DrawRecord): void {
    const chain = bodyOf(draw).statement.beacon?.chain;
    this.#waiting.set(draw.id, { chain, atMs: draw.dueAtMs, tries: 0 });
  }
}

/** What the keeper reads of a kept answer. */
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

/** The caller's nonce; undefined where it has not been opened. */
function nonceOf({ statement, nonce }: DrawBody): Uint8Array | undefined {
  if (statement.nonce_sha256 !== undefined) return nonce === null ? undefined : fromHex(nonce);
  return statement.nonce === undefined ? NO_BYTES : fromHex(statement.nonce);
}

/** A round that is not due yet is known to nobody. The log must hold the end before, or it would prove nothing. */
function cancelUntilMs({ dueAtMs }: DrawRecord, { statement, chain }: DrawBody): number {
  const { beacon } = statement;
  if (beacon === undefined) return dueAtMs;
  return dueMs(chainOf(chain, beacon.chain), beacon.round) - LIMITS.drawRoundAheadMinMs;
}

function bodyOf({ body }: DrawRecord): DrawBody {
  return JSON.parse(body) as DrawBody;
}

function retryMs(tries: number): number {
  return Math.min(RETRY_MAX_MS, RETRY_MIN_MS * 2 ** Math.min(tries, 6));
}
