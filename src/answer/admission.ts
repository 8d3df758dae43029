import { assert } from '../core/assert.ts';
import type { Clock } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { type BareType, isTextType } from '../core/vocabulary.ts';
import { Budget, type Hold } from '../fair/budget.ts';
import { drawCount, jsonBytesMax, type ValueRequest, valueCount } from '../values/value-request.ts';
import type { AnswerForm } from './request.ts';

/** What Admission must know of an answer before anything is drawn for it. The class Answer implements it. */
export interface WeighedAnswer {
  readonly values: ValueRequest;
  readonly form: AnswerForm;
  /** How bare values are written; undefined for JSON and MessagePack. */
  readonly octets?: BareType | undefined;
  /** Upper bound on the bytes of the values: of their JSON, or of the bare values. */
  readonly valuesBytesMax: number;
  /** Upper bound on the bytes of memory that the answer holds until its reader has taken the reply, sealing included. */
  readonly memoryBytesMax: number;
  /** Number of the account that asks. */
  readonly accountNumber: number;
}

export interface AdmissionOptions {
  /** Worker threads that make this front's large answers. */
  readonly threads: number;
  /** The front's budget for the memory of large replies. */
  readonly memory: Budget;
  readonly clock: Clock;
}

/**
 * Initial values of the running averages of all forms: nanoseconds for each unit of work (`unitsOf`) as JSON, measured on a quiet
 * core in November 2026. The times that answers really take soon replace them.
 */
const START_NS = {
  integers: 15,
  'integers, sorted': 100,
  'integers, unique': 60,
  decimals: 20,
  floats: 30,
  bytes: 4,
  uuid: 50,
  bitstring: 1,
  shuffle: 60,
  sample: 60,
  weighted: 10,
  strings: 15,
  sequences: 60,
  permutations: 60,
  gaussians: 200,
};
type WorkKind = keyof typeof START_NS;

type CostedAnswer = Pick<WeighedAnswer, 'values' | 'form' | 'octets'>;

/** Weight of the newest answer in a running average. About the last three dozen answers count. */
const NEWEST_SHARE = 1 / 16;

/**
 * One answer counts as at most so many times the average, and at least the same fraction of it. So an answer that another process
 * or the garbage collector held up does not change the average much.
 */
const STEP_MAX = 4;

/**
 * Answers that are cheaper than this and shorter than WEIGHED_FROM_BYTES are never shed for their cost: only a full commit queue
 * refuses them.
 */
const WEIGHED_FROM_US = 25;
/** A body of this size or more stays in this process's memory while its reader does not take it (http/exchange.ts). */
const WEIGHED_FROM_BYTES = 16 * 1024;

/**
 * Decides before anything is drawn whether an expensive answer is made now or shed with 503 `overloaded`. Queues are
 * measured in time and bytes, not in requests: a batch of 100,000 UUIDs costs a thousand times what 100 integers
 * do. So small requests go on while large ones are shed, and every admitted answer is done within a known time.
 *
 * There are two bounds (core/limits.ts): on the work that waits for workers, and on the bytes of large replies
 * until their readers have taken them. No account gets more than half of a bound, so that there is room for the
 * next account. An answer that exceeds a bound by itself is admitted when nothing else is under way. An answer that
 * this thread makes runs in its account's turn of the loop (fair/fair.ts), and is shed when it waited too long for it.
 */
export class Admission {
  readonly #options: AdmissionOptions;
  /** Running averages by form and kind: nanoseconds for each unit. */
  readonly #ns = { json: { ...START_NS }, msgpack: { ...START_NS }, 'octet-stream': { ...START_NS } };
  /** Microseconds of work that is queued for the workers. */
  readonly #queued: Budget;
  #largeAnswers = 0;
  #waiting = 0;

  constructor(options: AdmissionOptions) {
    assert(options.threads >= 1, 'the workers have a thread (Workers.threads)');
    this.#options = options;
    this.#queued = new Budget(1000 * LIMITS.largeQueueMs * options.threads);
  }

  /** Estimates what the answer will cost the thread that makes it, in whole microseconds, from recent answers of its kind. */
  costUs(answer: CostedAnswer): number {
    const { values } = answer;
    return Math.ceil((this.#ns[madeLike(answer)][kindOf(values)] * unitsOf(values)) / 1000);
  }

  /**
   * Admits an answer that this thread makes now. Returns the start time, to be passed to `madeHere`, or NaN for an
   * answer that is too cheap to be weighed. Throws `overloaded` when there is no memory for it, or it comes late.
   */
  enterTurn(answer: WeighedAnswer, isLate = false): number {
    const costUs = this.costUs(answer);
    if (costUs < WEIGHED_FROM_US && answer.valuesBytesMax < WEIGHED_FROM_BYTES) return Number.NaN;
    if (isLate || !this.#fitsInMemory(answer)) throw overloaded();
    return this.#options.clock.monotonicMs();
  }

  /** Records how long an answer took that this thread has made. */
  madeHere(answer: WeighedAnswer, startedMs: number): void {
    if (startedMs >= 0) this.#learn(answer, this.#options.clock.monotonicMs() - startedMs);
  }

  /** Admits an answer that a worker makes. Throws `overloaded` when the queue or the memory is full. */
  enterQueue(answer: WeighedAnswer): QueuedWork {
    const costUs = this.costUs(answer);
    const { accountNumber, memoryBytesMax } = answer;
    if (this.#largeAnswers >= LIMITS.largeAnswersMax || !this.#fitsInMemory(answer)) throw overloaded();
    const time = this.#queued.hold(accountNumber, costUs);
    const memory = this.#options.memory.hold(accountNumber, memoryBytesMax);
    this.#largeAnswers++;
    let isQueued = true;
    const leave = (busyMs?: number) => {
      if (!isQueued) return;
      isQueued = false;
      this.#largeAnswers--;
      time.resize(0);
      if (busyMs !== undefined) this.#learn(answer, busyMs);
    };
    return { memory, leave };
  }

  /**
   * Throws `overloaded` when the account's share of the memory has no room for a stored reply of so many bytes.
   */
  requireRoom(accountNumber: number, bytes: number): void {
    if (bytes >= WEIGHED_FROM_BYTES && !this.#options.memory.fits(accountNumber, bytes)) throw overloaded();
  }

  /**
   * Runs `wait` for an answer that must wait for a seed, for pure bytes, for credits or for the first sample of the csprng
   * stream. Throws `overloaded` when too many answers wait already.
   */
  afterWaiting<T>(wait: () => Promise<T>): Promise<T> {
    if (this.#waiting >= LIMITS.waitingDrawsMax) throw overloaded();
    this.#waiting++;
    return wait().finally(() => {
      this.#waiting--;
    });
  }

  #fitsInMemory(answer: WeighedAnswer): boolean {
    return this.#options.memory.fits(answer.accountNumber, answer.memoryBytesMax);
  }

  #learn(answer: WeighedAnswer, busyMs: number): void {
    assert(busyMs >= 0, 'who made an answer says how long it took (MadeByWorker.busyMs)');
    const averages = this.#ns[madeLike(answer)];
    const kind = kindOf(answer.values);
    const ns = averages[kind];
    const seen = (busyMs * 1e6) / unitsOf(answer.values);
    const newest = Math.min(STEP_MAX * ns, Math.max(ns / STEP_MAX, seen));
    averages[kind] += NEWEST_SHARE * (newest - ns);
  }
}

/** An answer in the workers' queue. */
export interface QueuedWork {
  /** The memory that it holds from now until its reader has taken the reply. */
  readonly memory: Hold;
  /**
   * Must be called when the answer is made, with the milliseconds of its worker's time, or has failed. Only the first call
   * counts.
   */
  leave(busyMs?: number): void;
}

function kindOf(values: ValueRequest): WorkKind {
  switch (values.kind) {
    case 'integers':
      if (values.unique) return 'integers, unique';
      return values.sort === 'none' ? 'integers' : 'integers, sorted';
    case 'floats':
      return values.precision === null ? 'floats' : 'decimals';
    default:
      return values.kind;
  }
}

/** Returns the amount that the cost of a kind grows with: values, bytes of values, characters, bits or items. */
function unitsOf(values: ValueRequest): number {
  switch (values.kind) {
    case 'bytes':
      return values.count * (values.length + 2); // the 2 stands for the fixed cost of each string
    case 'bitstring':
      return values.length;
    case 'sample':
      return values.items.length; // a few of many items still cost a pass over the items
    case 'strings':
      return values.count * (values.length + 4); // the 4 stands for the fixed cost of each string
    case 'weighted':
      return 8 * values.count + jsonBytesMax(values); // the items may be long texts
    case 'sequences':
    case 'permutations':
      return valueCount(values) + 25 * drawCount(values); // of many short lists the fixed cost of each draw dominates
    default:
      return valueCount(values);
  }
}

/** Returns the form whose average applies: text lines are made from JSON and cost the same as JSON; octets have their own. */
function madeLike({ form, octets }: Pick<WeighedAnswer, 'form' | 'octets'>): AnswerForm {
  if (octets === undefined) return form;
  return isTextType(octets) ? 'json' : 'octet-stream';
}

function overloaded(): ApiError {
  return new ApiError('overloaded', { retryAfterS: 1 });
}
