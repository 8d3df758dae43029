import type { Cells } from '../account/cells.ts';
import type { Account } from '../account/directory.ts';
import { type Reservation, requireRequest } from '../account/reservation.ts';
import { type Allowance, seededTier } from '../account/tiers.ts';
import { type Clock, periodOf } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';
import { inOrder } from '../core/in-order.ts';
import type { EntropyMode } from '../core/vocabulary.ts';
import type { Fair } from '../fair/fair.ts';
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
  AT_SALT,
  answerBytesMax,
  commitInPlace,
  DATA_START,
  DIGEST_BYTES,
  type DrawOrder,
  drawFrom,
  type MadeByWorker,
  SALT_BYTES,
  TAIL_BYTES_MAX,
} from './make.ts';
import { type DataRequest, entropyBytes, Plan, resolveMode } from './request.ts';
import { type EntropySupply, unavailable } from './supply.ts';
import { completePacked } from './text.ts';

export interface AnswersOptions {
  readonly supply: EntropySupply;
  readonly workers: AnswerWorkers;
  readonly admission: Admission;
  /** Where an answer that waited goes on, in a turn of its account. */
  readonly fair: Fair;
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

/** Waits for what an answer cannot be drawn without: a seed, pure bytes, the first sample of the system's stream, or credits. Rejects where it does not come. */
type Missing = () => Promise<unknown>;

/**
 * The life of an answer: mode → price → draw → bytes → entry → reply, in that order, once. The request that
 * comes in is valid and within its limits; one that is refused here has drawn nothing and spends nothing.
 */
export class Answers {
  readonly #options: AnswersOptions;
  /** The same group object for the same account, so that the supply finds its keystream by identity. */
  readonly #groups = new WeakMap<Allowance, SeedGroup>();
  /** Of the answer that this thread makes now; it is read before the next one is made. */
  readonly #delivered = new Uint8Array(DIGEST_BYTES);
  /** Large kept answers are read one at a time: each has memory of its own before it is known whether there is room for it. */
  readonly #afterOthers = inOrder();
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
        const { record, names } = this.#options;
        record.answered(answer);
        const body = answer.body ?? answer.makeBody(names);
        resolve({ body, isReplay: false, release: () => answer.release() });
      },
      replayed: ({ body }) => resolve({ body, isReplay: true, release: () => {} }),
      refused: reject,
    };
    const nowMs = this.#options.clock.monotonicMs();
    this.answer(ask, listener, account, reservation, new Plan(request), nowMs);
    return promise;
  }

  /** The same for a listener. Never throws. `nowMs` is a reading of the monotonic clock in this turn of the loop. */
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
      // a replay needs no quota, and whether the request is one is not known before its key was looked up
      if (keeping === undefined) requireRequest(reservation, ask.atMs);
      const { memory } = this.#options;
      answer = new Answer(
        ask,
        listener,
        account,
        reservation,
        plan,
        this.#modeOf(ask, account, plan),
        memory,
      );
    } catch (error) {
      reservation.release();
      listener.refused(error);
      return;
    }
    if (keeping !== undefined) {
      this.#later(answer, this.#beginOnce(answer, keeping));
    } else {
      this.#nowMs = nowMs;
      try {
        this.#begin(answer);
      } finally {
        this.#nowMs = undefined; // a listener may throw, and no later answer may go by this time
      }
    }
  }

  /** What an answer would cost; it is refused as the answer would be. `atOnce` is what is drawn at once of a stream. */
  quote(ask: Ask, account: Account, reservation: Reservation, { request }: Plan, atOnce: Plan): Quote {
    reservation.release();
    return {
      mode: this.#modeOf(ask, account, atOnce),
      requiredBytes: entropyBytes(request.values),
      creditsRemaining: reservation.creditsRemaining,
      creditsTotal: account.allowance.creditsPerMonth,
      durationMs: this.#elapsedMs(ask),
    };
  }

  /** To be called when all requests of a turn of the loop were taken: their answers become one segment now. */
  endTurn(): void {
    this.#options.committer.endTurn();
  }

  /** The mode that is drawn in. A draw that the full reservoir could not serve is refused: it would be told to retry forever. */
  #modeOf(ask: Ask, { record, allowance }: Account, plan: Plan): EntropyMode {
    const { reservoirBytes } = this.#options;
    const mode = resolveMode(plan.request.mode, record.tier, allowance);
    ask.by.mode = mode;
    if (mode !== 'pure' || plan.drawBytesMax <= reservoirBytes) return mode;
    throw new ApiError('pure_too_large', {
      message: `This request may draw up to ${plan.drawBytesMax} pure bytes; the reservoir holds ${reservoirBytes} when it is full. Ask for fewer or shorter values, or use another entropy mode.`,
      details: { bytes: plan.drawBytesMax, limit: reservoirBytes },
    });
  }

  /** Under an Idempotency-Key: the first answer is kept, a retry gets it again and spends nothing. */
  async #beginOnce(answer: Answer, { key, fingerprint }: Keeping): Promise<void> {
    const { ask, accountNumber } = answer;
    const { idempotency, admission, fair } = this.#options;
    const bytesMax = answer.bodyBytesMax + STORED_HEAD_BYTES_MAX;
    const request = { accountNumber, keyText: key, fingerprint, bytesMax };
    const look = () => idempotency.begin(request, ask.atMs);
    const outcome = await (answer.isLarge ? this.#afterOthers(look) : look());
    if ('first' in outcome) {
      answer.first = outcome.first;
      requireRequest(answer.reservation, ask.atMs);
      await fair.inTurn(accountNumber, () => this.#begin(answer));
    } else {
      admission.requireRoom(accountNumber, outcome.replay.body.length);
      answer.reservation.release();
      answer.listener.replayed(outcome.replay);
    }
  }

  /** Draws the answer now, or when what it must wait for has come, unless too many wait. */
  #begin(answer: Answer): void {
    try {
      const missing = this.#drawNow(answer);
      if (missing === undefined) return;
      this.#later(
        answer,
        this.#options.admission.afterWaiting(() => this.#drawAfter(answer, missing)),
      );
    } catch (error) {
      answer.refuse(error);
    }
  }

  /**
   * Thousands may have waited for the same, and would go on all at once: each goes on in a turn of its account. By then what
   * came may be gone, to another answer or because it was replaced.
   */
  async #drawAfter(answer: Answer, first: Missing): Promise<void> {
    for (let missing: Missing | undefined = first; missing !== undefined; ) {
      await missing();
      missing = await this.#options.fair.inTurn(answer.accountNumber, () => this.#drawNow(answer));
    }
  }

  /** Draws the answer, unless its client is gone. Gives what must be waited for before. */
  #drawNow(answer: Answer): Missing | undefined {
    requirePresent(answer);
    const { account, mode } = answer;
    if (mode === 'pure' && !answer.isPaid) {
      if (account.meter.isShared) return () => this.#payAfterAsking(answer);
      takeCredits(answer);
    }
    this.#committerOf(answer).assertRoom();
    this.#options.memory.assertRoom();
    if (mode === 'pure') return this.#drawPure(answer);
    return this.#drawFromStream(answer, mode === 'csprng' ? undefined : this.#seedGroupOf(account));
  }

  /** Nodes share the credits: the ledger grants this one what the answer costs. They are taken at once, before they go back. */
  async #payAfterAsking(answer: Answer): Promise<void> {
    await this.#options.askCredits(answer.accountNumber, entropyBytes(answer.values));
    requirePresent(answer);
    takeCredits(answer);
  }

  /** From the keystream of a group's seed, or without a group from that of the system: small answers in this thread, large ones by a worker. */
  #drawFromStream(answer: Answer, group: SeedGroup | undefined): Missing | undefined {
    const { supply } = this.#options;
    const held = supply.held(group, this.#nowMs);
    if (held === undefined) return () => supply.comes(group);
    const { from, reader, order } = held;
    answer.from = from;
    answer.template = answer.plan.templateFor(answer.mode, from.quantumBackend);
    if (answer.isLarge) {
      answer.queued = this.#options.admission.enterQueue(answer);
      this.#later(
        answer,
        this.#workerMakes(answer, order()).then(() => this.#issue(answer)),
      );
    } else {
      this.#makeHere(answer, reader);
      this.#issue(answer);
    }
    return undefined;
  }

  /** From the ring where that may hold enough, else of blocks that are claimed for the answer. */
  #drawPure(answer: Answer): Missing | undefined {
    const { supply, admission } = this.#options;
    const { plan } = answer;
    if (answer.isLarge || !PureSupply.fitsRing(plan.drawBytesMax)) {
      answer.queued = admission.enterQueue(answer);
      this.#later(answer, this.#makeClaimed(answer));
      return undefined;
    }
    const draw = supply.pure.tryDraw(plan.drawBytesMax, (reader, { quantumBackend }) => {
      answer.template = plan.templateFor('pure', quantumBackend);
      this.#makeHere(answer, reader);
    });
    if (draw === undefined) {
      return async () => {
        if (!(await supply.pure.fill(plan.drawBytesMax))) throw unavailable('pure');
      };
    }
    answer.opening = draw.opening;
    this.#drawnFrom(answer, draw.shares);
    this.#issue(answer);
    return undefined;
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
    answer.template = answer.plan.templateFor('pure', blocks[0].lot.quantumBackend);
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
    const drawn = shares.map(({ lot, offset, bytes }) => ({ lot: lotIds.indexOf(lot.id), offset, bytes }));
    answer.drawSource = { mode, lotIds, drawn };
  }

  /** Returns the pieces that were not read. */
  async #workerMakes(answer: Answer, draw: DrawOrder): Promise<MadeByWorker['left']> {
    const { workers, memory } = this.#options;
    const { values, form, octets, template } = answer;
    const buffer = memory.large(answerBytesMax(answer, answer.valuesBytesMax));
    answer.hold(buffer);
    this.#salt(answer);
    const order = { values, form, octets, template, draw, memory: buffer.bytes };
    const { busyMs, left, ...made } = await workers.make(order);
    Object.assign(answer, made);
    buffer.returned(made.bytes, Math.max(made.dataEnd + TAIL_BYTES_MAX, made.packedEnd));
    answer.queued?.leave(busyMs);
    return left;
  }

  #makeHere(answer: Answer, reader: EntropyReader): void {
    const { admission, memory } = this.#options;
    const startedMs = admission.enterTurn(answer, answer.ask.by.isLate);
    answer.hold(memory.small(answerBytesMax(answer, answer.valuesBytesMax)));
    this.#salt(answer);
    drawFrom(reader, answer);
    if (!this.#committerOf(answer).commitTo(answer)) {
      answer.delivered = this.#delivered;
      commitInPlace(answer);
    }
    admission.madeHere(answer, startedMs);
  }

  /** It is told to nobody but the caller, and erased with the memory of the answer. */
  #salt({ bytes, start }: Answer): void {
    const { random } = this.#options;
    random.fill(bytes, start + AT_SALT, start + AT_SALT + SALT_BYTES);
    random.erase();
  }

  /** What goes on later ends by itself, or refuses the answer. */
  #later(answer: Answer, work: Promise<void>): void {
    work.catch((error: unknown) => answer.refuse(error));
  }

  /** Gives the answer its certificate and its reply, and has it committed; it leaves when it is durable. */
  #issue(answer: Answer): void {
    const { ask, form } = answer;
    const { names } = this.#options;
    const committer = this.#committerOf(answer);
    answer.issue(committer.nextCertificateId(), this.#elapsedMs(ask));
    answer.reservation.countIn(periodOf(answer.issuedAtMs));
    answer.deliveredBytes = answer.dataEnd - answer.start - DATA_START;
    const { label } = answer.request;
    if (label !== undefined) {
      answer.label = labelOf(label, answer.account.record.id, answer.salt);
      answer.labelText = labelText(label, answer.label);
    }
    let stored: StoredAnswer | undefined;
    // else the reply is printed when it is sent, by a template
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
    return answer.isLarge && answer.first !== undefined ? keptCommitter : committer;
  }

  #makeBody(answer: Answer): Uint8Array<ArrayBuffer> {
    const { names } = this.#options;
    const { form, bytes, start, dataEnd, request } = answer;
    if (form === 'json') return answer.makeBody(names);
    const isBare = form === 'octet-stream';
    return answer.keepBody(
      isBare ? bytes.subarray(start + DATA_START, dataEnd) : completePacked(answer, names, request, bytes),
    );
  }

  /** Of a tier with seeds: no other has the mode. */
  #seedGroupOf({ record, allowance }: Account): SeedGroup {
    let group = this.#groups.get(allowance);
    if (group === undefined) {
      group = { tier: seededTier(record.tier)!, intervalMs: allowance.seedIntervalMs! };
      this.#groups.set(allowance, group);
    }
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
function takeCredits(answer: Answer): void {
  const { values, reservation } = answer;
  const credits = entropyBytes(values);
  answer.isPaid = reservation.takeCredits(credits);
  if (answer.isPaid) return;
  const remaining = reservation.creditsRemaining;
  // on a node of several: what was granted has gone back, because this thread was held up for long
  if (remaining >= credits) throw new ApiError('overloaded', { retryAfterS: 1 });
  throw new ApiError('credits_exhausted', {
    message: `This request costs ${credits} credits; ${remaining} are left this month.`,
    details: { required: credits, remaining },
  });
}
