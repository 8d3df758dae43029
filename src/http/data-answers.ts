import { pack } from 'msgpackr';
import type { Account } from '../account/directory.ts';
import { type Allowance, seededTier } from '../account/tiers.ts';
import type { Committer } from '../answer/committer.ts';
import type { DataRequest } from '../answer/data-request.ts';
import { DATA_START, type Delivered, type Delivery } from '../answer/deliver.ts';
import { type FirstUse, Idempotency } from '../answer/idempotency.ts';
import { resolveMode } from '../answer/mode.ts';
import { creditsFor, entropyBytes } from '../answer/price.ts';
import type { Clock } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';
import type { EntropyMode } from '../core/vocabulary.ts';
import type { AnswerEntry, StoredAnswer } from '../ledger/records.ts';
import type { SeedGroup } from '../pool/supply/seeds.ts';
import type { EntropyReader } from '../values/entropy-reader.ts';
import type { ValueRequest } from '../values/value-request.ts';
import {
  type AnswerReply,
  answerFields,
  bodyOf,
  fieldsHead,
  jsonReply,
  representationOf,
} from './answer-reply.ts';
import { creditText } from './answer-template.ts';
import type { Call } from './call.ts';
import type { CreditFacts, EnvelopeFacts } from './envelope.ts';
import { type Field, headOf } from './head.ts';
import { rateFields } from './rate-fields.ts';
import { MEDIA_TYPES, negotiate, type Representation } from './representation.ts';
import type { RequestRecord } from './request-record.ts';

/** What the answer to one data request needs beside the request. */
export interface DataAnswersOptions {
  readonly delivery: Delivery;
  readonly committer: Committer;
  readonly idempotency: Idempotency;
  readonly clock: Clock;
  /** System entropy for salts, not for values. */
  readonly random: EntropyReader;
  readonly poweredBy: string;
  readonly record: RequestRecord;
  /** Answers an error in the call's own form. */
  readonly fail: (call: Call, error: unknown) => void;
}

/** Reserved for one answer and given back when there is none. */
interface Reservation {
  readonly account: Account;
  readonly period: number;
  readonly credits: number;
  /** The month that the credits were taken of: a later one when the request's own ended while it waited. */
  readonly creditsPeriod: number;
}

/**
 * The second half of a data request's life: mode → price → draw → answer → ledger → reply, in that order, once. What
 * comes in is valid and within its limits; a request that is refused here has drawn nothing and spends nothing.
 */
export class DataAnswers {
  readonly #options: DataAnswersOptions;
  /** The same group object for the same account, so that the desk finds its keystream by identity. */
  readonly #groups = new WeakMap<Allowance, SeedGroup>();
  #isoAtMs = Number.NaN;
  #iso = '';

  constructor(options: DataAnswersOptions) {
    this.#options = options;
  }

  /** Answers the call. The month's quota was reserved by the caller and is released here when it is not used. */
  answer(call: Call, account: Account, period: number, request: DataRequest, ignored: string): void {
    const reservation: Reservation = { account, period, credits: 0, creditsPeriod: period };
    try {
      const mode = resolveMode(request.mode, account.record.tier, account.allowance);
      call.mode = mode;
      if (request.dryRun) this.#quote(call, account, request, mode, reservation);
      else if (mode === 'pure' && call.exchange.hasIdempotencyKey) {
        this.#answerOnce(call, request, mode, reservation, ignored);
      } else this.#make(call, request, mode, reservation, ignored, undefined);
    } catch (error) {
      this.#refuse(call, reservation, error);
    }
  }

  #quote(
    call: Call,
    account: Account,
    request: DataRequest,
    mode: EntropyMode,
    reservation: Reservation,
  ): void {
    account.meter.releaseRequest(reservation.period);
    const credits = this.#creditFacts(account, reservation.period, 0);
    const body = {
      data: { mode, required_bytes: entropyBytes(request.values) },
      meta: { duration_ms: this.#elapsedMs(call), request_id: call.requestUuid },
      metadata: { request_id: call.requestIdText, timestamp: new Date(call.atMs).toISOString() },
      quantum_credits: credits,
    };
    const form = negotiate(call.exchange.accept, ['json', 'msgpack']);
    const bytes = form === 'msgpack' ? pack(body) : Buffer.from(JSON.stringify(body));
    const fields: Field[] = [
      ['Content-Type', MEDIA_TYPES[form]],
      ['Cache-Control', 'no-store'],
      ['X-Entropy-Mode', mode],
      ['X-Quantum-Credits-Remaining', creditText(credits.remaining)],
      ['X-Request-ID', call.requestUuid],
      ...rateFields(call.rate),
    ];
    call.send(headOf(200, fields), bytes);
  }

  /** Pure mode under an Idempotency-Key: the first answer is kept, a retry gets it again and spends nothing. */
  #answerOnce(
    call: Call,
    request: DataRequest,
    mode: EntropyMode,
    reservation: Reservation,
    ignored: string,
  ): void {
    const { exchange } = call;
    const { idempotency } = this.#options;
    const form = representationOf(exchange.accept, request);
    const fingerprint = Idempotency.fingerprint([
      exchange.method,
      exchange.path,
      exchange.query,
      form,
      exchange.body,
    ]);
    idempotency
      .begin(reservation.account.record.number, exchange.idempotencyKey, fingerprint, call.atMs)
      .then((outcome) => {
        if ('first' in outcome) return this.#make(call, request, mode, reservation, ignored, outcome.first);
        reservation.account.meter.releaseRequest(reservation.period);
        const { form: firstForm, fields, body } = outcome.replay;
        call.send(fieldsHead(firstForm as Representation, fields, call.rate), body);
      })
      .catch((error: unknown) => this.#refuse(call, reservation, error));
  }

  #make(
    call: Call,
    request: DataRequest,
    mode: EntropyMode,
    quota: Reservation,
    ignored: string,
    first: FirstUse | undefined,
  ): void {
    let reservation = quota;
    const failed = (error: unknown) => {
      first?.finish();
      this.#refuse(call, reservation, error);
    };
    try {
      reservation = this.#reserveCredits(quota, creditsFor(request.values, mode));
      this.#options.committer.assertRoom();
      const salt = new Uint8Array(32);
      this.#options.random.fill(salt);
      this.#options.random.erase(); // it is told to nobody but the caller
      const form = representationOf(call.exchange.accept, request);
      const also = form === 'octet-stream' ? 'octets' : form === 'msgpack' ? 'packed' : 'nothing';
      const group = this.#seedGroupOf(quota.account);
      const { delivery, committer } = this.#options;
      const account = quota.account.record.number;
      const room = committer.room.take;
      const delivered = delivery.deliver({ request, mode, account, group, salt, also, room });
      const issue = (made: Delivered) =>
        this.#issue(call, request, reservation, made, salt, form, ignored, first);
      const issueLater = (later: Delivered) => {
        committer.room.hold(later.made.buffer.length); // it came with memory of its own
        issue(later);
      };
      if (delivered instanceof Promise) delivered.then(issueLater).catch(failed);
      else issue(delivered);
    } catch (error) {
      failed(error);
    }
  }

  #reserveCredits(quota: Reservation, credits: number): Reservation {
    if (credits === 0) return quota;
    const { meter } = quota.account;
    const creditsPeriod = meter.periodAt(quota.period);
    const reserved = meter.reserveCredits(credits, creditsPeriod);
    if (reserved.ok) return { ...quota, credits, creditsPeriod };
    throw new ApiError('credits_exhausted', {
      message: `This request costs ${credits} credits; ${reserved.remaining} are left this month.`,
      details: { required: credits, remaining: reserved.remaining },
    });
  }

  /** Gives the answer its certificate and has it committed; it leaves when it is durable. */
  #issue(
    call: Call,
    request: DataRequest,
    reservation: Reservation,
    delivered: Delivered,
    salt: Uint8Array<ArrayBuffer>,
    form: Representation,
    ignored: string,
    first: FirstUse | undefined,
  ): void {
    const { committer, poweredBy } = this.#options;
    const { from, made } = delivered;
    const { account, period, credits } = reservation;
    const issuedAtMs = Math.max(call.atMs, from.endedAtMs);
    const facts: EnvelopeFacts = {
      from,
      requestId: call.requestId,
      timestamp: this.#isoTime(issuedAtMs),
      certificateId: committer.nextCertificateId(),
      certificateSalt: salt,
      durationMs: this.#elapsedMs(call),
      consumedBytes: made.consumedBytes,
      credits: this.#creditFacts(account, period, credits),
    };
    let reply: AnswerReply;
    let stored: StoredAnswer | undefined;
    if (form === 'json' && ignored === '' && first === undefined) {
      reply = jsonReply(delivered, facts, poweredBy, call.rate);
    } else {
      const body = bodyOf(request, delivered, facts, poweredBy, form);
      const fields = answerFields(facts, form, ignored);
      stored = first?.complete({ form, fields, body }, call.atMs);
      reply = { body, head: () => fieldsHead(form, fields, call.rate) };
    }
    salt.fill(0);
    const entry: AnswerEntry = {
      requestId: call.requestId,
      issuedAtMs,
      accountNumber: account.record.number,
      endpoint: request.endpoint,
      mode: from.mode,
      source: committer.sourceOf(from),
      delivered: Buffer.from(made.delivered, 'hex'),
      valueCount: valueCountOf(request.values),
      deliveredBytes: made.dataEnd - DATA_START,
      consumedBytes: made.consumedBytes,
      credits,
    };
    const isInPlace = reply.body.buffer === made.buffer.buffer;
    if (!isInPlace) {
      committer.room.hold(reply.body.length);
      delivered.free?.();
    }
    const settled = (failure: Error | undefined, atMonotonicMs?: number) => {
      first?.finish();
      if (failure !== undefined) {
        if (isInPlace) delivered.free?.();
        this.#refuse(call, reservation, failure);
        return;
      }
      this.#options.record.answered(entry);
      call.send(reply.head(), reply.body, atMonotonicMs, isInPlace ? delivered.free : undefined);
    };
    committer.add(entry, reservation.creditsPeriod, settled, stored);
  }

  #seedGroupOf({ record, allowance }: Account): SeedGroup | undefined {
    const known = this.#groups.get(allowance);
    if (known !== undefined) return known;
    const tier = seededTier(record.tier);
    if (tier === undefined || allowance.seedIntervalMs === null) return undefined;
    const group = { tier, intervalMs: allowance.seedIntervalMs };
    this.#groups.set(allowance, group);
    return group;
  }

  /** ISO 8601; requests of one millisecond share it. */
  #isoTime(atMs: number): string {
    if (atMs !== this.#isoAtMs) {
      this.#isoAtMs = atMs;
      this.#iso = new Date(atMs).toISOString();
    }
    return this.#iso;
  }

  /** Gives back what was reserved and answers the failure. */
  #refuse(call: Call, reservation: Reservation, error: unknown): void {
    const { meter } = reservation.account;
    meter.releaseRequest(reservation.period);
    if (reservation.credits > 0) meter.releaseCredits(reservation.credits, reservation.creditsPeriod);
    this.#options.fail(call, error);
  }

  #creditFacts(account: Account, period: number, used: number): CreditFacts {
    const total = account.allowance.creditsPerMonth;
    const left = account.meter.creditsRemaining(period);
    return {
      remaining: Number.isFinite(left) ? left : null,
      used,
      total: Number.isFinite(total) ? total : null,
    };
  }

  #elapsedMs(call: Call): number {
    return Math.round(this.#options.clock.monotonicMs() - call.startedMonotonicMs);
  }
}

/** Values in an answer, for the usage counters: a bitstring is one. */
function valueCountOf(values: ValueRequest): number {
  if (values.kind === 'shuffle') return values.items.length;
  return values.kind === 'bitstring' ? 1 : values.count;
}
