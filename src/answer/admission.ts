import { assert } from '../core/assert.ts';
import type { Clock } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { type BareType, isTextType } from '../core/vocabulary.ts';
import { Budget, type Hold } from '../fair/budget.ts';
import { drawCount, jsonBytesMax, type ValueRequest, valueCount } from '../values/value-request.ts';
import type { AnswerForm } from './request.ts';

/** An answer as it is weighed before anything is drawn for it. An Answer is one. */
export interface WeighedAnswer {
  readonly values: ValueRequest;
  readonly form: AnswerForm;
  /** How values without text beside them are written. */
  readonly octets?: BareType | undefined;
  /** Bytes that its values take as JSON, at most, or as octets. */
  readonly valuesBytesMax: number;
  /** Memory that making, keeping and sealing it takes until its reader has it, at most. */
  readonly memoryBytesMax: number;
  /** Number of the account that asks. */
  readonly accountNumber: number;
}

export interface AdmissionOptions {
  /** Worker threads that make this front's large answers. */
  readonly threads: number;
  /** Of large replies, for all that this front holds. */
  readonly memory: Budget;
  readonly clock: Clock;
}

/**
 * Nanoseconds for each unit of work (`unitsOf`) as JSON: where the running averages of all forms start, about what each took on
 * a quiet core in November 2026. They are replaced by what answers really take.
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

/** Weight of the newest answer in a running average: the last three dozen count. */
const NEWEST_SHARE = 1 / 16;

/** One answer that was held up for long, by another process or a collection of garbage, is not a new price. */
const STEP_MAX = 4;

/**
 * Answers cheaper and shorter than this are never shed for what they cost: only a full commit queue refuses
 * them.
 */
const WEIGHED_FROM_US = 25;
/** From here on a body that its reader does not take stays in our memory (http/exchange.ts). */
const WEIGHED_FROM_BYTES = 16 * 1024;

/**
 * Decides before anything is drawn whether an expensive answer is made now or shed with 503 `overloaded`. What a
 * queue holds is counted in time and bytes, not in requests: a batch of 100,000 UUIDs costs a thousand times
 * what 100 integers do. So small requests go on while large ones are shed, and what was let in is done within
 * a bound.
 *
 * Two bounds (core/limits.ts): the work that waits for workers, and the bytes of large replies from here to
 * their readers. No account has more than half of a bound, so that there is room for the next; what is dearer
 * than a bound is served alone. What is made in this thread has its owner's turns of the loop (fair/fair.ts),
 * and is shed when it has waited for them for too long.
 */
export class Admission {
  readonly #options: AdmissionOptions;
  /** Nanoseconds for each unit, the running averages by form and kind. */
  readonly #ns = { json: { ...START_NS }, msgpack: { ...START_NS }, 'octet-stream': { ...START_NS } };
  /** µs that the workers have to do. */
  readonly #queued: Budget;
  #largeAnswers = 0;
  #waiting = 0;

  constructor(options: AdmissionOptions) {
    assert(options.threads >= 1, 'the workers have a thread (Workers.threads)');
    this.#options = options;
    this.#queued = new Budget(1000 * LIMITS.largeQueueMs * options.threads);
  }

  /** What the answer will cost the thread that makes it, in whole microseconds, as its kind did lately. */
  costUs(answer: CostedAnswer): number {
    const { values } = answer;
    return Math.ceil((this.#ns[madeLike(answer)][kindOf(values)] * unitsOf(values)) / 1000);
  }

  /**
   * Lets an answer be made in this thread, now. Returns when that began, for `madeHere`, or NaN for one that
   * is too cheap to be weighed. Throws `overloaded` when there is no memory for it, or it comes late.
   */
  enterTurn(answer: WeighedAnswer, isLate = false): number {
    const costUs = this.costUs(answer);
    if (costUs < WEIGHED_FROM_US && answer.valuesBytesMax < WEIGHED_FROM_BYTES) return Number.NaN;
    if (isLate || !this.#fitsInMemory(answer)) throw overloaded();
    return this.#options.clock.monotonicMs();
  }

  /** Learns what an answer took that this thread has made. */
  madeHere(answer: WeighedAnswer, startedMs: number): void {
    if (startedMs >= 0) this.#learn(answer, this.#options.clock.monotonicMs() - startedMs);
  }

  /** Lets an answer be made by a worker. Throws `overloaded` when enough wait. */
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
   * Throws `overloaded` when the account may not hold a reply of so many bytes that is sent without being
   * made.
   */
  requireRoom(accountNumber: number, bytes: number): void {
    if (bytes >= WEIGHED_FROM_BYTES && !this.#options.memory.fits(accountNumber, bytes)) throw overloaded();
  }

  /** An answer that must wait for a seed, for pure bytes or for the first sample of the csprng stream. Throws `overloaded` when too many do. */
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
  /** What it takes of the memory, from now until its reader has it. */
  readonly memory: Hold;
  /** To be called when it is made, with what it took of its worker's time, or has failed. The first call counts. */
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

/** What the cost of a kind grows with: values, bytes of values, characters, bits or items. */
function unitsOf(values: ValueRequest): number {
  switch (values.kind) {
    case 'bytes':
      return values.count * (values.length + 2); // two for what each string costs beside its bytes
    case 'bitstring':
      return values.length;
    case 'sample':
      return values.items.length; // few of many items cost what the items do
    case 'strings':
      return values.count * (values.length + 4); // four for what each string costs beside its characters
    case 'weighted':
      return 8 * values.count + jsonBytesMax(values); // few items may make a long text
    case 'sequences':
    case 'permutations':
      return valueCount(values) + 25 * drawCount(values); // many short lists cost what their draws do
    default:
      return valueCount(values);
  }
}

/** Lines of text are made from JSON and cost what it does; octets cost the same whatever stands before them. */
function madeLike({ form, octets }: Pick<WeighedAnswer, 'form' | 'octets'>): AnswerForm {
  if (octets === undefined) return form;
  return isTextType(octets) ? 'json' : 'octet-stream';
}

function overloaded(): ApiError {
  return new ApiError('overloaded', { retryAfterS: 1 });
}
