import type { Cells } from '../account/cells.ts';
import type { Account } from '../account/directory.ts';
import { type Reservation, requireRequest } from '../account/reservation.ts';
import { type Allowance, seededTier } from '../account/tiers.ts';
import { InvariantError } from '../core/assert.ts';
import { eraseBytes } from '../core/bytes.ts';
import { type Clock, isoTime, periodOf } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';
import type { EntropyMode } from '../core/vocabulary.ts';
import type { AnswerEntry, StoredAnswer } from '../ledger/records.ts';
import { type LotShare, PureSupply, sharesOf } from '../pool/supply/pure.ts';
import type { SeedGroup } from '../pool/supply/seeds.ts';
import type { EntropyReader } from '../values/entropy-reader.ts';
import type { Admission } from './admission.ts';
import { Answer, type Ask, type Drawn, type Keeping, type Listener, type Quote } from './answer.ts';
import type { ReplyMemory } from './buffer.ts';
import type { Committer } from './commit.ts';
import { keptFields, type ServiceNames } from './fields.ts';
import { IDEMPOTENCY_LIFETIME_MS, type Idempotency, STORED_HEAD_BYTES_MAX } from './idempotency.ts';
import { labelOf, labelText } from './label.ts';
import {
  type AnswerWorkers,
  answerBytesMax,
  DIGEST_BYTES,
  type DrawOrder,
  type MadeByWorker,
  makeFrom,
  REPLY_TAIL_BYTES_MAX,
  SALT_BYTES,
} from './make.ts';
import { type DataRequest, entropyBytes, Plan, resolveMode } from './request.ts';
import { type EntropySupply, type StreamHeld, unavailable } from './supply.ts';
import { completeJson, completePacked, envelopeOf, hasMoreMembers, withMoreMembers } from './text.ts';

export interface AnswersOptions {
  readonly supply: EntropySupply;
  readonly workers: AnswerWorkers;
  readonly admission: Admission;
  readonly memory: ReplyMemory;
  readonly committer: Committer;
  /** Of large answers that are kept, which take long to store: nobody else waits for them. */
  readonly keptCommitter: Committer;
  readonly idempotency: Idempotency;
  /** Told of each answer that is drawn for a caller in the service. */
  readonly record: { answered(entry: AnswerEntry): void };
  readonly clock: Clock;
  /** System entropy for salts, not for values. */
  readonly random: EntropyReader;
  /** Read with each answer: the URL is known once the service listens. */
  readonly names: ServiceNames;
  /** What the reservoir of pure bytes holds when it is full. */
  readonly reservoirBytes: number;
  /** See Cells.ask. */
  readonly askCredits: Cells['ask'];
}

/**
 * The life of an answer: mode → price → draw → bytes → entry → reply, in that order, once. The request that
 * comes in is valid and within its limits; one that is refused here has drawn nothing and spends nothing.
 */
export class Answers {
  readonly #options: AnswersOptions;
  /** The same group object for the same account, so that the supply finds its keystream by identity. */
  readonly #groups = new WeakMap<Allowance, SeedGroup>();
  /** Of the answer that this thread makes now; it is read before the next one is made. */
  readonly #salt = new Uint8Array(SALT_BYTES);
  readonly #delivered = new Uint8Array(DIGEST_BYTES);
  #lastLook: Promise<unknown> = Promise.resolve();
  /** A reading of the clock for the answer that is made at once; undefined for one that has waited. */
  #nowMs: number | undefined;

  constructor(options: AnswersOptions) {
    this.#options = options;
  }

  /**
   * Draws an answer in JSON for a caller that formats it itself. Resolves when it is durable, or was kept before; rejects with
   * the reason of a refusal. What is reserved was reserved by the caller; it is released here when it is not used.
   */
  draw(ask: Ask, account: Account, reservation: Reservation, request: DataRequest): Promise<Drawn> {
    const { promise, resolve, reject } = Promise.withResolvers<Drawn>();
    const listener: Listener = {
      answered: (answer) => {
        this.#options.record.answered(answer);
        resolve({ body: answer.body, isReplay: false, release: () => answer.release() });
      },
      replayed: ({ body }) => resolve({ body, isReplay: true, release: () => {} }),
      quoted: () => reject(new InvariantError('only a plain request of the API can be a dry run')),
      refused: reject,
    };
    const nowMs = this.#options.clock.monotonicMs();
    this.answer(ask, listener, account, reservation, new Plan(request), nowMs);
    return promise;
  }

  /**
   * The same for a listener, which also gets quotes. Never throws. `nowMs` is a reading of the monotonic clock in this turn of the
   * loop; `drawnAtOnce` is what is drawn at once of a quoted stream.
   */
  answer(
    ask: Ask,
    listener: Listener,
    account: Account,
    reservation: Reservation,
    plan: Plan,
    nowMs: number,
    drawnAtOnce = plan,
  ): void {
    const { request } = plan;
    const { keeping } = ask;
    let answer: Answer;
    try {
      // a replay needs no quota, and whether the request is one is not known before its key was looked up
      if (!request.dryRun && keeping === undefined) requireRequest(reservation, ask.atMs);
      const mode = resolveMode(request.mode, account.record.tier, account.allowance);
      ask.by.mode = mode;
      if (mode === 'pure') this.#requirePossible(drawnAtOnce);
      if (request.dryRun) {
        listener.quoted(this.#quote(ask, mode, account, reservation, request));
        return;
      }
      const { admission } = this.#options;
      answer = new Answer(
        ask,
        listener,
        account,
        reservation,
        plan,
        mode,
        admission,
        this.#salt,
        this.#delivered,
      );
    } catch (error) {
      reservation.release();
      listener.refused(error);
      return;
    }
    if (keeping !== undefined) {
      this.#beginOnce(answer, keeping).catch((error: unknown) => answer.refuse(error));
    } else {
      this.#nowMs = nowMs;
      try {
        this.#begin(answer);
      } finally {
        this.#nowMs = undefined; // a listener may throw, and no later answer may go by this time
      }
    }
  }

  /** To be called when all requests of a turn of the loop were taken: their answers become one segment now. */
  endTurn(): void {
    this.#options.committer.endTurn();
  }

  /** A draw that the full reservoir could not serve would be told to retry forever. */
  #requirePossible({ drawBytesMax }: Plan): void {
    const { reservoirBytes } = this.#options;
    if (drawBytesMax <= reservoirBytes) return;
    throw new ApiError('pure_too_large', {
      message: `This request may draw up to ${drawBytesMax} pure bytes; the reservoir holds ${reservoirBytes} when it is full. Ask for fewer or shorter values, or use another entropy mode.`,
      details: { bytes: drawBytesMax, limit: reservoirBytes },
    });
  }

  #quote(
    ask: Ask,
    mode: EntropyMode,
    account: Account,
    reservation: Reservation,
    request: DataRequest,
  ): Quote {
    reservation.release();
    return {
      mode,
      requiredBytes: entropyBytes(request.values),
      creditsRemaining: reservation.creditsRemaining,
      creditsTotal: account.allowance.creditsPerMonth,
      durationMs: this.#elapsedMs(ask),
    };
  }

  /** Under an Idempotency-Key: the first answer is kept, a retry gets it again and spends nothing. */
  async #beginOnce(answer: Answer, { key, fingerprint }: Keeping): Promise<void> {
    const { ask, accountNumber } = answer;
    const { idempotency, admission } = this.#options;
    const bytesMax = answer.bodyBytesMax + STORED_HEAD_BYTES_MAX;
    const request = { accountNumber, keyText: key, fingerprint, bytesMax };
    const look = () => idempotency.begin(request, ask.atMs);
    const outcome = await (answer.isLarge ? this.#inTurn(look) : look());
    if ('first' in outcome) {
      answer.first = outcome.first;
      requireRequest(answer.reservation, ask.atMs);
      await this.#inTurnOf(answer, () => this.#begin(answer));
    } else {
      admission.requireRoom(accountNumber, outcome.replay.body.length);
      answer.reservation.release();
      answer.listener.replayed(outcome.replay);
    }
  }

  /** Large kept answers are read one at a time: each has memory of its own before it is known whether there is room for it. */
  #inTurn<T>(look: () => Promise<T>): Promise<T> {
    const looked = this.#lastLook.then(look);
    this.#lastLook = looked.catch(() => {}); // told to the caller
    return looked;
  }

  #begin(answer: Answer): void {
    try {
      requirePresent(answer);
      if (answer.mode !== 'pure') {
        this.#draw(answer);
      } else if (answer.account.meter.isShared) {
        this.#wait(answer, () => this.#drawAfterAsking(answer));
      } else {
        takeCredits(answer);
        this.#draw(answer);
      }
    } catch (error) {
      answer.refuse(error);
    }
  }

  /** Nodes share the credits: the ledger grants this one what the answer costs. They are taken at once, before they go back. */
  async #drawAfterAsking(answer: Answer): Promise<void> {
    await this.#options.askCredits(answer.accountNumber, entropyBytes(answer.values));
    requirePresent(answer);
    takeCredits(answer);
    await this.#inTurnOf(answer, () => this.#draw(answer));
  }

  #draw(answer: Answer): void {
    this.#committerOf(answer).assertRoom();
    this.#options.memory.assertRoom();
    if (answer.mode === 'pure') this.#drawPure(answer);
    else
      this.#drawFromStream(answer, answer.mode === 'csprng' ? undefined : this.#seedGroupOf(answer.account));
  }

  /** From the keystream of a group's seed, or without a group from that of the system. */
  #drawFromStream(answer: Answer, group: SeedGroup | undefined): void {
    const { supply } = this.#options;
    const held = () => (group === undefined ? supply.csprng() : supply.seeded(group, this.#nowMs));
    const now = held();
    if (now !== undefined) {
      this.#drawHeld(answer, now);
      return;
    }
    this.#wait(answer, async () => {
      await (group === undefined ? supply.awaitSystemLot() : supply.awaitSeed(group));
      await this.#inTurnOf(answer, () => {
        const then = held(); // what was awaited may have been replaced since
        if (then === undefined) throw unavailable(answer.mode);
        this.#drawHeld(answer, then);
      });
    });
  }

  /** Small answers at once in this thread, large ones by a worker. */
  #drawHeld(answer: Answer, { from, reader, order }: StreamHeld): void {
    answer.from = from;
    answer.useTemplate(answer.plan.templateFor(answer.mode, from.quantumBackend));
    if (answer.isLarge) {
      answer.enterQueue();
      this.#later(
        answer,
        this.#workerMakes(answer, order()).then(() => this.#issue(answer)),
      );
    } else {
      this.#makeHere(answer, reader);
      this.#issue(answer);
    }
  }

  #drawPure(answer: Answer): void {
    const { plan } = answer;
    if (answer.isLarge || !PureSupply.fitsRing(plan.drawBytesMax)) {
      answer.enterQueue();
      this.#later(answer, this.#makeClaimed(answer));
    } else if (!this.#makeFromRing(answer)) this.#wait(answer, () => this.#makeAfterFill(answer));
  }

  /** False when the ring does not hold enough. */
  #makeFromRing(answer: Answer): boolean {
    const { supply } = this.#options;
    const backend = supply.nextPureBackend();
    if (backend === undefined) return false;
    answer.useTemplate(answer.plan.templateFor('pure', backend));
    const draw = supply.pure.tryDraw(answer.plan.drawBytesMax, (reader) => this.#makeHere(answer, reader));
    if (draw === undefined) return false;
    answer.opening = draw.opening;
    this.#drawnFrom(answer, draw.shares);
    this.#issue(answer);
    return true;
  }

  async #makeAfterFill(answer: Answer): Promise<void> {
    // another request may be first at what was filled for this one
    while (await this.#options.supply.pure.fill(answer.plan.drawBytesMax)) {
      if (await this.#inTurnOf(answer, () => this.#makeFromRing(answer))) return;
    }
    throw unavailable('pure');
  }

  async #makeClaimed(answer: Answer): Promise<void> {
    const { supply } = this.#options;
    const blocks = await supply.pure.claim(answer.plan.drawBytesMax);
    if (blocks === undefined) throw unavailable('pure');
    try {
      requirePresent(answer);
    } catch (error) {
      supply.pure.giveBack(blocks.map((block) => ({ block, bytes: block.bytes })));
      throw error;
    }
    answer.useTemplate(answer.plan.templateFor('pure', supply.backendOf(blocks[0].lot.id)));
    // the pieces move to the worker: nothing is left of them here
    const pieces = blocks.map(({ bytes }) => bytes);
    const left = await this.#workerMakes(answer, { from: 'pieces', pieces });
    const firstLeft = blocks.length - left.length;
    supply.pure.giveBack(left.map((bytes, i) => ({ block: blocks[firstLeft + i], bytes })));
    this.#drawnFrom(answer, sharesOf(blocks, answer.consumedBytes));
    this.#issue(answer);
  }

  /** Says of which lots the answer is, and where in them its bytes lay. */
  #drawnFrom(answer: Answer, shares: readonly LotShare[]): void {
    answer.from = this.#options.supply.pureFrom(shares);
    const { mode, lotIds } = answer.from;
    const drawn = shares.map(({ lotId, offset, bytes }) => ({ lot: lotIds.indexOf(lotId), offset, bytes }));
    answer.drawSource = { mode, lotIds, drawn };
  }

  /** Returns the pieces that were not read. */
  async #workerMakes(answer: Answer, draw: DrawOrder): Promise<MadeByWorker['left']> {
    const { workers, memory } = this.#options;
    const { values, form, octets, before, after } = answer;
    const buffer = memory.large(answerBytesMax(answer, answer.valuesBytesMax));
    answer.hold(buffer);
    answer.salt = this.#newSalt(new Uint8Array(SALT_BYTES));
    const order = { values, form, octets, before, after, salt: answer.salt, draw, memory: buffer.bytes };
    const { busyMs, left, ...made } = await workers.make(order);
    Object.assign(answer, made);
    buffer.returned(made.bytes, Math.max(made.dataEnd + REPLY_TAIL_BYTES_MAX, made.packedEnd));
    answer.leaveQueue(busyMs);
    return left;
  }

  #makeHere(answer: Answer, reader: EntropyReader): void {
    const { admission, memory } = this.#options;
    const startedMs = admission.enterTurn(answer, answer.ask.by.isLate);
    this.#newSalt(answer.salt);
    answer.hold(memory.small(answerBytesMax(answer, answer.valuesBytesMax)));
    makeFrom(reader, answer);
    admission.madeHere(answer, startedMs);
  }

  /** It is told to nobody but the caller. */
  #newSalt(salt: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    const { random } = this.#options;
    random.fill(salt);
    random.erase();
    return salt;
  }

  /** Goes on with the answer after it has waited, unless too many do. It goes on in a turn of its account (`#inTurnOf`). */
  #wait(answer: Answer, work: () => Promise<void>): void {
    this.#later(answer, this.#options.admission.afterWaiting(work));
  }

  /**
   * Works on the answer, unless its client is gone, when its account has a turn of the loop: thousands may have waited for the
   * same, and would go on all at once. Within the turn, so that the time is counted.
   */
  #inTurnOf<T>(answer: Answer, work: () => T): Promise<T> {
    const { by } = answer.ask;
    return new Promise((resolve, reject) => {
      const step = () => {
        try {
          requirePresent(answer);
          resolve(work());
        } catch (error) {
          reject(error);
        }
      };
      if (by.inTurn === undefined) step();
      else by.inTurn(step);
    });
  }

  /** What goes on later ends by itself, or refuses the answer. */
  #later(answer: Answer, work: Promise<void>): void {
    work.catch((error: unknown) => answer.refuse(error));
  }

  /** Gives the answer its certificate and its reply, and has it committed; it leaves when it is durable. */
  #issue(answer: Answer): void {
    const { ask, form } = answer;
    const committer = this.#committerOf(answer);
    answer.certificateId = committer.nextCertificateId();
    const { issuedAtMs } = answer;
    answer.reservation.countIn(periodOf(issuedAtMs));
    answer.timestamp = isoTime(issuedAtMs);
    answer.durationMs = this.#elapsedMs(ask);
    answer.deliveredBytes = answer.dataEnd - answer.dataStart;
    const { label } = answer.request;
    if (label !== undefined) {
      answer.label = labelOf(label, answer.account.record.id, answer.salt);
      answer.labelText = labelText(label, answer.label);
    }
    this.#writeBody(answer);
    let stored: StoredAnswer | undefined;
    if (form !== 'json' || ask.ignored !== '' || answer.first !== undefined) {
      const { mediaType, ignored, keeping } = ask;
      const fields = keeping?.fields ?? keptFields(answer, this.#options.names, mediaType, ignored);
      answer.fields = fields;
      stored = answer.first?.complete(
        { fields, body: answer.body },
        keeping?.untilMs ?? ask.atMs + IDEMPOTENCY_LIFETIME_MS,
      );
    }
    eraseBytes(answer.salt, 0, SALT_BYTES);
    answer.source = committer.sourceOf(answer.drawSource ?? answer.from);
    committer.add(answer, stored);
  }

  #committerOf(answer: Answer): Committer {
    const { committer, keptCommitter } = this.#options;
    return answer.isLarge && answer.first !== undefined ? keptCommitter : committer;
  }

  #writeBody(answer: Answer): void {
    const { memory, names } = this.#options;
    const { from, form, bytes, start, dataStart, dataEnd, request } = answer;
    if (form === 'json') {
      answer.body = completeJson(answer, envelopeOf(from, names), bytes, start, dataEnd);
      if (hasMoreMembers(answer)) answer.body = withMoreMembers(answer.body, answer);
      else answer.keepTo(answer.body.byteOffset - bytes.byteOffset + answer.body.length);
    } else if (form === 'octet-stream') {
      answer.body = bytes.subarray(dataStart, dataEnd);
    } else {
      answer.body = completePacked(answer, names, request, bytes);
    }
    // a body with an opening or a long alphabet is longer than the room that it was made in
    if (answer.body.buffer !== bytes.buffer) answer.exchangeBuffer(memory.adopt(answer.body));
  }

  /** Throws `entropy_unavailable` for a tier without seeds. */
  #seedGroupOf({ record, allowance }: Account): SeedGroup {
    const known = this.#groups.get(allowance);
    if (known !== undefined) return known;
    const tier = seededTier(record.tier);
    if (tier === undefined || allowance.seedIntervalMs === null) throw unavailable('quantum-seeded');
    const group = { tier, intervalMs: allowance.seedIntervalMs };
    this.#groups.set(allowance, group);
    return group;
  }

  #elapsedMs(ask: Ask): number {
    return Math.round((this.#nowMs ?? this.#options.clock.monotonicMs()) - ask.startedMonotonicMs);
  }
}

/**
 * A client that left while its request waited, for a seed, for pure bytes or for the ledger, or was refused past the
 * deadline, gets no answer: nothing is drawn for it and it pays nothing. Nobody reads the error.
 */
function requirePresent({ ask: { by } }: Answer): void {
  if (by.isGone || by.isAnswered)
    throw new ApiError('overloaded', { message: 'The client left or was refused before the draw.' });
}

/** Throws 402 `credits_exhausted`, and takes none, when the answer costs more than is left. */
function takeCredits({ values, reservation }: Answer): void {
  const credits = entropyBytes(values);
  if (reservation.takeCredits(credits)) return;
  const remaining = reservation.creditsRemaining;
  // on a node of several: what was granted has gone back, because this thread was held up for long
  if (remaining >= credits) throw new ApiError('overloaded', { retryAfterS: 1 });
  throw new ApiError('credits_exhausted', {
    message: `This request costs ${credits} credits; ${remaining} are left this month.`,
    details: { required: credits, remaining },
  });
}
