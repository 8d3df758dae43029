import type { Cells } from '../account/cells.ts';
import type { Account } from '../account/directory.ts';
import { type Reservation, requireRequest } from '../account/reservation.ts';
import { type Allowance, seededTier } from '../account/tiers.ts';
import { type Clock, periodOf } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';
import { inOrder } from '../core/in-order.ts';
import { LIMITS } from '../core/limits.ts';
import type { EntropyMode } from '../core/vocabulary.ts';
import { Budget } from '../fair/budget.ts';
import type { Fair } from '../fair/fair.ts';
import type { AnswerEntry, StoredAnswer } from '../ledger/records.ts';
import { type LotShare, PureSupply, sharesOf } from '../pool/supply/pure.ts';
import type { SeedGroup } from '../pool/supply/seeds.ts';
import type { EntropyReader } from '../values/entropy-reader.ts';
import { Answer, type Ask, type Drawn, type Keeping, type Listener, type Quote } from './answer.ts';
import type { ReplyMemory } from './buffer.ts';
import type { Committer } from './commit.ts';
import { MeasuredCosts } from './cost.ts';
import { keptFields, type ServiceNames } from './fields.ts';
import { IDEMPOTENCY_LIFETIME_MS, type Idempotency, STORED_HEAD_BYTES_MAX } from './idempotency.ts';
import { labelOf, labelText } from './label.ts';
import {
  type AnswerWorkers,
  AT_SALT,
  answerBytesMax,
  commitInPlace,
  DATA_START,
  DIGEST_BYTES,
  type DrawOrder,
  drawFrom,
  type MadeByWorker,
  TAIL_BYTES_MAX,
} from './make.ts';
import { type DataRequest, DEAR_FROM_BYTES, entropyBytes, Plan, resolveMode } from './request.ts';
import { type EntropySupply, unavailable } from './supply.ts';
import { bodyTemplateOf, completePacked } from './text.ts';

export interface AnswersOptions {
  readonly supply: EntropySupply;
  readonly workers: AnswerWorkers;
  /** Continues an answer that waited, in a turn of its account, and bounds the memory of large replies. */
  readonly fair: Fair;
  readonly memory: ReplyMemory;
  readonly committer: Committer;
  /** Commits large answers that are kept. They take long to store, and other answers need not wait for them. */
  readonly keptCommitter: Committer;
  readonly idempotency: Idempotency;
  /** Is told of each answer that `draw` makes for a caller in the service. */
  readonly record: { answered(entry: AnswerEntry): void };
  readonly clock: Clock;
  /** System entropy for salts, not for values. */
  readonly random: EntropyReader;
  /** Read for each answer, because the URL is known only once the service listens. */
  readonly names: ServiceNames;
  /** Capacity of the reservoir of pure bytes. */
  readonly reservoirBytes: number;
  /** See Cells.ask. */
  readonly askCredits: Cells['ask'];
}

/**
 * Waits for something that an answer cannot be drawn without: a seed, pure bytes, the first sample of the system's stream, or
 * credits. Rejects when that is not available.
 */
type Missing = () => Promise<unknown>;

/**
 * Takes each answer through its steps, once and in this order: mode → price → draw → bytes → entry → reply. The
 * request is already valid and within its limits. A request that is refused here draws nothing and spends nothing.
 *
 * Expensive answers are shed with 503 `overloaded` before anything is drawn. What waits is measured in time and bytes, not in
 * requests, because a batch of 100,000 UUIDs costs a thousand times what 100 integers do. So small requests go on while large
 * ones are shed, and every admitted answer is done within a known time. There are two bounds (core/limits.ts): on the work that
 * waits for workers, and on the bytes of large replies until their readers have taken them. A dear answer that this thread makes
 * is also shed when it waited too long for its account's turn of the loop (fair/fair.ts).
 */
export class Answers {
  readonly #options: AnswersOptions;
  /** One group object per account, so that the supply finds the keystream by the object's identity. */
  readonly #groups = new WeakMap<Allowance, SeedGroup>();
  /** Holds the commitment of the answer that this thread makes now. It is read before the next one is made. */
  readonly #delivered = new Uint8Array(DIGEST_BYTES);
  /** Stored large answers are read one at a time, because each is in memory before its room is known. */
  readonly #afterOthers = inOrder();
  /** Estimates what workers will need for an answer. */
  readonly #costs = new MeasuredCosts();
  /** Microseconds of work that waits for the workers. */
  readonly #queued: Budget;
  /** The least of it that an answer counts for, so that `largeAnswersMax` of them are the most. */
  readonly #queuedUsMin: number;
  /** Answers that wait for what they lack. */
  readonly #waiting = new Budget(LIMITS.waitingDrawsMax, undefined, LIMITS.waitingDrawsMax);

  constructor(options: AnswersOptions) {
    this.#options = options;
    const queuedUsMax = 1_000 * LIMITS.largeQueueMs * options.workers.threads;
    this.#queued = new Budget(queuedUsMax);
    this.#queuedUsMin = Math.floor(queuedUsMax / LIMITS.largeAnswersMax);
  }

  /**
   * Draws an answer in JSON for a caller that formats it itself. Resolves when the answer is durable, or with the kept answer of an
   * earlier request; rejects with the reason of a refusal. Releases the caller's reservation when the answer does not use it.
   */
  draw(ask: Ask, account: Account, reservation: Reservation, request: DataRequest): Promise<Drawn> {
    const { promise, resolve, reject } = Promise.withResolvers<Drawn>();
    const { record, clock } = this.#options;
    const listener: Listener = {
      answered: (answer) => {
        record.answered(answer);
        const body = answer.body ?? this.#makeBody(answer);
        resolve({ body, isReplay: false, release: () => answer.release() });
      },
      replayed: ({ body }) => resolve({ body, isReplay: true, release: () => {} }),
      refused: reject,
    };
    this.answer(ask, listener, account, reservation, new Plan(request), clock.monotonicMs());
    return promise;
  }

  /** Draws an answer for a listener. Never throws. `nowMs` is the monotonic time in this turn of the loop. */
  answer(
    ask: Ask,
    listener: Listener,
    account: Account,
    reservation: Reservation,
    plan: Plan,
    nowMs: number,
  ): void {
    const { keeping } = ask;
    let answer: Answer;
    try {
      // a replay needs no quota, and only the look-up of the key tells whether this request is a replay
      if (keeping === undefined) requireRequest(reservation, ask.atMs);
      const mode = this.#modeOf(ask, account, plan);
      answer = new Answer(ask, listener, account, reservation, plan, mode, this.#options.memory);
    } catch (error) {
      reservation.release();
      listener.refused(error);
      return;
    }
    if (keeping === undefined) this.#begin(answer, nowMs);
    else this.#refuseOnFailure(answer, this.#beginOnce(answer, keeping));
  }

  /**
   * Returns what an answer would cost, or throws the error with which it would be refused. `atOnce` is the plan of what a
   * stream draws at a time; other endpoints pass their plan twice.
   */
  quote(ask: Ask, account: Account, reservation: Reservation, { request }: Plan, atOnce: Plan): Quote {
    reservation.release();
    return {
      mode: this.#modeOf(ask, account, atOnce),
      requiredBytes: entropyBytes(request.values),
      creditsRemaining: reservation.creditsRemaining,
      creditsTotal: account.allowance.creditsPerMonth,
      durationMs: Math.round(this.#options.clock.monotonicMs() - ask.startedMonotonicMs),
    };
  }

  /**
   * Returns the entropy mode. Refuses a pure draw that exceeds the full reservoir: a client that retried it would never
   * succeed.
   */
  #modeOf(ask: Ask, { record, allowance }: Account, plan: Plan): EntropyMode {
    const { reservoirBytes } = this.#options;
    const mode = resolveMode(plan.request.mode, record.tier, allowance);
    ask.by.mode = mode;
    if (mode !== 'pure' || plan.drawBytesMax <= reservoirBytes) return mode;
    throw new ApiError('pure_too_large', {
      message: `This request may need up to ${plan.drawBytesMax} pure bytes, but the full reservoir holds ${reservoirBytes}. Request fewer or shorter values, or use another entropy mode.`,
      details: { bytes: plan.drawBytesMax, limit: reservoirBytes },
    });
  }

  /** Answers a request under an Idempotency-Key: keeps the first answer; a retry gets it again and spends nothing. */
  async #beginOnce(answer: Answer, { key, fingerprint }: Keeping): Promise<void> {
    const { ask, accountNumber, size, reservation, listener } = answer;
    const { idempotency, fair } = this.#options;
    const bytesMax = size.bodyBytesMax + STORED_HEAD_BYTES_MAX;
    const request = { accountNumber, keyText: key, fingerprint, bytesMax };
    const look = () => idempotency.begin(request, ask.atMs);
    const outcome = await (size.isLarge ? this.#afterOthers(look) : look());
    if ('first' in outcome) {
      answer.first = outcome.first;
      requireRequest(reservation, ask.atMs);
      await fair.inTurn(accountNumber, () => this.#begin(answer));
    } else {
      const { length } = outcome.replay.body;
      if (length >= DEAR_FROM_BYTES) this.#requireMemory(accountNumber, length);
      reservation.release();
      listener.replayed(outcome.replay);
    }
  }

  /** Draws the answer now, or once what it lacks has come. Refuses it when too many answers wait. */
  #begin(answer: Answer, nowMs?: number): void {
    try {
      const missing = this.#drawNow(answer, nowMs);
      if (missing !== undefined) this.#refuseOnFailure(answer, this.#drawAfter(answer, missing));
    } catch (error) {
      answer.refuse(error);
    }
  }

  /**
   * Draws the answer after waiting. Thousands of answers may have waited for the same seed, so each continues in a turn of its
   * account. By then another answer may have used what came, or a newer seed may have replaced it: then it waits again.
   */
  async #drawAfter(answer: Answer, first: Missing): Promise<void> {
    const { accountNumber } = answer;
    const waits = this.#waiting.hold(accountNumber, 1);
    try {
      for (let missing: Missing | undefined = first; missing !== undefined; ) {
        await missing();
        missing = await this.#options.fair.inTurn(accountNumber, () => this.#drawNow(answer));
      }
    } finally {
      waits.resize(0);
    }
  }

  /**
   * Draws the answer. Returns what it must wait for first, if anything. Throws when the client is gone. `nowMs` is the monotonic
   * time if the caller knows it.
   */
  #drawNow(answer: Answer, nowMs?: number): Missing | undefined {
    requirePresent(answer);
    const { account, mode } = answer;
    if (mode === 'pure' && !answer.isPaid) {
      if (account.meter.isShared) return () => this.#payAfterAsking(answer);
      takeCredits(answer);
    }
    this.#committerOf(answer).assertRoom();
    this.#options.memory.assertRoom();
    if (mode === 'pure') return this.#drawPure(answer, nowMs);
    return this.#drawFromStream(answer, mode === 'csprng' ? undefined : this.#seedGroupOf(account), nowMs);
  }

  /**
   * Pays on a node that shares the credits with other nodes: the ledger grants this node what the answer costs. The answer takes
   * the credits at once, because unused grants go back to the ledger.
   */
  async #payAfterAsking(answer: Answer): Promise<void> {
    await this.#options.askCredits(answer.accountNumber, entropyBytes(answer.values));
    requirePresent(answer);
    takeCredits(answer);
  }

  /**
   * Draws from the keystream of the group's seed, or without a group from system entropy. This thread makes small answers, a worker
   * makes large ones.
   */
  #drawFromStream(answer: Answer, group: SeedGroup | undefined, nowMs?: number): Missing | undefined {
    const { supply } = this.#options;
    const held = supply.held(group, nowMs);
    if (held === undefined) return () => supply.waitUntilAvailable(group);
    const { from, reader, order } = held;
    answer.from = from;
    answer.template = answer.plan.templateFor(answer.mode, from.quantumBackend);
    if (answer.size.isLarge) {
      this.#enterQueue(answer);
      const made = this.#workerMakes(answer, order()).then(() => this.#issue(answer));
      this.#refuseOnFailure(answer, made);
    } else {
      this.#makeHere(answer, reader);
      this.#issue(answer, nowMs);
    }
    return undefined;
  }

  /** Draws in pure mode: from the ring if the draw can fit into it, else from blocks that are claimed for the answer. */
  #drawPure(answer: Answer, nowMs?: number): Missing | undefined {
    const { supply } = this.#options;
    const { plan } = answer;
    const bytesMax = plan.drawBytesMax;
    if (answer.size.isLarge || !PureSupply.fitsRing(bytesMax)) {
      this.#enterQueue(answer);
      this.#refuseOnFailure(answer, this.#makeClaimed(answer));
      return undefined;
    }
    const draw = supply.pure.tryDraw(bytesMax, (reader, { quantumBackend }) => {
      answer.template = plan.templateFor('pure', quantumBackend);
      this.#makeHere(answer, reader);
    });
    if (draw === undefined) {
      return async () => {
        if (!(await supply.pure.fill(bytesMax))) throw unavailable('pure');
      };
    }
    if (draw.opening !== undefined) answer.more = `,"opening":${draw.opening}`;
    this.#drawnFrom(answer, draw.shares);
    this.#issue(answer, nowMs);
    return undefined;
  }

  async #makeClaimed(answer: Answer): Promise<void> {
    const { pure } = this.#options.supply;
    const blocks = await pure.claim(answer.plan.drawBytesMax);
    if (blocks === undefined) throw unavailable('pure');
    try {
      requirePresent(answer);
    } catch (error) {
      pure.giveBack(blocks.map((block) => ({ block, bytes: block.bytes })));
      throw error;
    }
    answer.template = answer.plan.templateFor('pure', blocks[0].lot.quantumBackend);
    // the pieces move to the worker, so no copy stays here
    const pieces = blocks.map(({ bytes }) => bytes);
    const left = await this.#workerMakes(answer, { from: 'pieces', pieces });
    const firstLeft = blocks.length - left.length;
    pure.giveBack(left.map((bytes, i) => ({ block: blocks[firstLeft + i], bytes })));
    this.#drawnFrom(answer, sharesOf(blocks, answer.consumedBytes));
    this.#issue(answer);
  }

  /** Records which lots the answer was drawn from, and where in them its bytes lay. */
  #drawnFrom(answer: Answer, shares: readonly LotShare[]): void {
    answer.from = this.#options.supply.pureFrom(shares);
    const { mode, lotIds } = answer.from;
    const drawn = shares.map(({ lot, offset, bytes }) => ({ lot: lotIds.indexOf(lot.id), offset, bytes }));
    answer.drawSource = { mode, lotIds, drawn };
  }

  /** Admits an answer that a worker makes. Throws `overloaded` when too much work waits, or too much memory is held. */
  #enterQueue(answer: Answer): void {
    const { accountNumber, memoryBytesMax } = answer;
    answer.heldMemory = this.#options.fair.memory.hold(accountNumber, memoryBytesMax);
    answer.queued = this.#queued.hold(accountNumber, Math.max(this.#queuedUsMin, this.#costs.us(answer)));
  }

  /** Throws `overloaded` when the account's share of the memory has no room for so many bytes. */
  #requireMemory(accountNumber: number, bytes: number): void {
    if (!this.#options.fair.memory.fits(accountNumber, bytes)) throw overloaded();
  }

  /** Has a worker make the answer. Returns the pieces that were not read. */
  async #workerMakes(answer: Answer, draw: DrawOrder): Promise<MadeByWorker['left']> {
    const { workers, memory } = this.#options;
    const { values, form, octets, template, size } = answer;
    const bytes = memory.forWorker(answerBytesMax(answer, size.valuesBytesMax));
    this.#salt(bytes, 0);
    const { busyMs, left, ...made } = await workers.make({
      values,
      form,
      octets,
      template,
      draw,
      memory: bytes,
    });
    answer.hold(memory.large(made.bytes, Math.max(made.dataEnd + TAIL_BYTES_MAX, made.packedEnd)));
    Object.assign(answer, made);
    answer.queued?.resize(0);
    this.#costs.learn(answer, busyMs);
    return left;
  }

  #makeHere(answer: Answer, reader: EntropyReader): void {
    const { ask, accountNumber, size } = answer;
    if (size.isDear) {
      if (ask.by.isLate) throw overloaded();
      this.#requireMemory(accountNumber, answer.memoryBytesMax);
    }
    answer.hold(this.#options.memory.small(answerBytesMax(answer, size.valuesBytesMax)));
    this.#salt(answer.bytes, answer.start);
    drawFrom(reader, answer);
    if (this.#committerOf(answer).commitTo(answer)) return;
    answer.delivered = this.#delivered;
    commitInPlace(answer);
  }

  /** Draws the salt. Only the caller gets it, and it is erased with the memory of the answer. */
  #salt(bytes: Uint8Array, start: number): void {
    const { random } = this.#options;
    random.fill(bytes, start + AT_SALT, start + DATA_START);
    random.erase();
  }

  /** Refuses the answer if `work` rejects. */
  #refuseOnFailure(answer: Answer, work: Promise<void>): void {
    work.catch((error: unknown) => answer.refuse(error));
  }

  /** Gives the answer its certificate and adds it to the open segment. The reply is sent when that is durable. */
  #issue(answer: Answer, nowMs = this.#options.clock.monotonicMs()): void {
    const { ask, form, bytes, start } = answer;
    const { names } = this.#options;
    if (ask.by.isAnswered) throw overloaded(); // it was refused while a worker made the answer, so nothing may be charged
    const committer = this.#committerOf(answer);
    answer.issue(committer.nextCertificateId(), Math.round(nowMs - ask.startedMonotonicMs));
    answer.reservation.countIn(periodOf(answer.issuedAtMs));
    const { label } = answer.plan.request;
    if (label !== undefined) {
      const salt = bytes.subarray(start + AT_SALT, start + DATA_START);
      answer.label = labelOf(label, answer.account.record.id, salt);
      answer.more = `,"label":${labelText(label, answer.label)}${answer.more}`;
    }
    let stored: StoredAnswer | undefined;
    // of all other answers a template prints the reply when it is sent
    if (form !== 'json' || ask.ignored !== '' || answer.first !== undefined) {
      const { offer, ignored, keeping } = ask;
      const fields = keeping?.fields ?? keptFields(answer, names, offer.mediaType, ignored);
      answer.fields = fields;
      const body = this.#makeBody(answer);
      stored = answer.first?.complete(
        { fields, body },
        keeping?.untilMs ?? ask.atMs + IDEMPOTENCY_LIFETIME_MS,
      );
    }
    answer.source = committer.sourceOf(answer.drawSource ?? answer.from);
    committer.add(answer, stored);
  }

  #committerOf(answer: Answer): Committer {
    const { committer, keptCommitter } = this.#options;
    return answer.size.isLarge && answer.first !== undefined ? keptCommitter : committer;
  }

  /** Makes and keeps the body before the reply is sent. */
  #makeBody(answer: Answer): Uint8Array<ArrayBuffer> {
    const { names } = this.#options;
    const { form, bytes, start, dataEnd, plan, from } = answer;
    if (form === 'octet-stream') return answer.keepBody(bytes.subarray(start + DATA_START, dataEnd));
    if (form === 'msgpack') return answer.keepBody(completePacked(answer, names, plan.request));
    const template = bodyTemplateOf(from, names);
    try {
      const body = answer.print(template, undefined);
      return answer.keepBody(body.buffer === answer.bytes.buffer ? body : body.slice());
    } finally {
      template.forget();
    }
  }

  /** Returns the seed group of the account. Its tier has seeds, because no other tier allows quantum-seeded mode. */
  #seedGroupOf({ record, allowance }: Account): SeedGroup {
    let group = this.#groups.get(allowance);
    if (group === undefined) {
      group = { tier: seededTier(record.tier)!, intervalMs: allowance.seedIntervalMs! };
      this.#groups.set(allowance, group);
    }
    return group;
  }
}

function overloaded(): ApiError {
  return new ApiError('overloaded', { retryAfterS: 1 });
}

/**
 * Throws when the client left or was refused past the deadline while its request waited for a seed, for pure bytes or for
 * the ledger. Then nothing is drawn and nothing is paid. Nobody reads the error.
 */
function requirePresent({ ask: { by } }: Answer): void {
  if (by.isGone || by.isAnswered)
    throw new ApiError('overloaded', { message: 'The connection ended before the values were drawn.' });
}

/** Takes the credits that the answer costs. Throws 402 `credits_exhausted`, and takes none, when fewer are left. */
function takeCredits(answer: Answer): void {
  const { values, reservation } = answer;
  const credits = entropyBytes(values);
  answer.isPaid = reservation.takeCredits(credits);
  if (answer.isPaid) return;
  const remaining = reservation.creditsRemaining;
  // only with several nodes: the grant has gone back to the ledger, because this thread was held up for long
  if (remaining >= credits) throw new ApiError('overloaded', { retryAfterS: 1 });
  throw new ApiError('credits_exhausted', {
    message: `This request costs ${credits} credits, but the account has ${remaining} left this month.`,
    details: { required: credits, remaining },
  });
}
