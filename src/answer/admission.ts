import { assert } from '../core/assert.ts';
import type { Clock } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { jsonBytesMax, type ValueRequest } from '../values/value-request.ts';
import type { AnswerOrder } from '../workers/protocol.ts';

/** An answer as it is weighed before anything is drawn for it. */
export interface WeighedAnswer {
  readonly values: ValueRequest;
  readonly also: AnswerOrder['also'];
  /** Number of the account that asks. */
  readonly account: number;
}

/** What admission learns of an answer that a worker made. */
interface MadeByWorker {
  /** What it took of its thread. */
  readonly busyMs: number;
}

export interface AdmissionOptions {
  /** Worker threads that make this front's large answers. */
  readonly threads: number;
  /** Bytes of replies that are made and wait: for the ledger, or for their readers. */
  readonly replyBytes: () => number;
  readonly clock: Clock;
}

type WorkKind =
  | 'integers'
  | 'integers, sorted'
  | 'integers, unique'
  | 'decimals'
  | 'floats'
  | 'bytes'
  | 'uuid'
  | 'bitstring'
  | 'shuffle';
type Averages = Record<AnswerOrder['also'], Record<WorkKind, number>>;

/**
 * Nanoseconds for each unit of work (`unitsOf`), by what is made beside the text: where the running averages start,
 * about what the table of costs of bench `overload` shows on a quiet core. They are replaced by what answers really
 * take.
 */
const START_NS: Averages = {
  nothing: {
    integers: 15,
    'integers, sorted': 90,
    'integers, unique': 60,
    decimals: 20,
    floats: 30,
    bytes: 4,
    uuid: 50,
    bitstring: 1,
    shuffle: 60,
  },
  octets: {
    integers: 25,
    'integers, sorted': 90,
    'integers, unique': 65,
    decimals: 60,
    floats: 90,
    bytes: 4,
    uuid: 65,
    bitstring: 1,
    shuffle: 60,
  },
  packed: {
    integers: 90,
    'integers, sorted': 125,
    'integers, unique': 105,
    decimals: 110,
    floats: 150,
    bytes: 15,
    uuid: 1_000,
    bitstring: 10,
    shuffle: 90,
  },
};

/** Weight of the newest answer in a running average: the last three dozen count. */
const NEWEST_SHARE = 1 / 16;
/** One answer that was held up for long, by another process or a collection of garbage, is no new price. */
const STEP_MAX = 4;

/** Answers cheaper and shorter than this are never shed for what they cost: only a full commit queue refuses them. */
const WEIGHED_FROM_US = 25;
/** From here on a body that its reader does not take stays in our memory (http/exchange.ts). */
const WEIGHED_FROM_BYTES = 16 * 1024;

/**
 * Decides before anything is drawn whether a dear answer is made now or shed with 503 `overloaded`. What a queue holds
 * is counted in time and bytes, not in requests: a batch of 100,000 UUIDs costs a thousand times what 100 integers do.
 * So small requests go on while large ones are shed, and what was let in is done within a bound.
 *
 * Three bounds (core/limits.ts): the work that waits for workers, the work that one turn of this thread's loop does
 * (what is ready in one turn is the queue of the front), and the bytes of large replies from here to their readers.
 * No account has more than half of a bound, so that there is room for the next; what is dearer than a bound is served
 * alone.
 */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #ns: Averages = structuredClone(START_NS);
  /** µs that the workers have to do. */
  readonly #queued: Load;
  /** Bytes of the answers that they will give, at most. */
  readonly #making = new Load(LIMITS.largeReplyBytesMax);
  /** µs that this turn of the loop has spent on dear answers. */
  readonly #turn = new Load(1000 * LIMITS.frontTurnMs);
  #turnOpen = false;
  #largeAnswers = 0;
  #waiting = 0;

  constructor(options: AdmissionOptions) {
    assert(options.threads >= 1, 'the workers have a thread (Workers.threads)');
    this.#options = options;
    this.#queued = new Load(1000 * LIMITS.largeQueueMs * options.threads);
  }

  /** Work of large answers that is let in and not done, in milliseconds of one worker each. */
  get queuedMs(): number {
    return this.#queued.total / 1000 / this.#options.threads;
  }

  /** Large answers that are being made or wait for it. */
  get largeAnswers(): number {
    return this.#largeAnswers;
  }

  /** What the answer will cost the thread that makes it, in whole microseconds, as its kind did lately. */
  costUs({ values, also }: Pick<WeighedAnswer, 'values' | 'also'>): number {
    return Math.ceil((this.#ns[also][kindOf(values)] * unitsOf(values)) / 1000);
  }

  /** Makes an answer in this thread. Throws `overloaded`, and makes nothing, when this turn has done enough. */
  here<T>(answer: WeighedAnswer, make: () => T): T {
    const costUs = this.costUs(answer);
    if (costUs < WEIGHED_FROM_US && jsonBytesMax(answer.values) < WEIGHED_FROM_BYTES) return make();
    const isRoom = this.#turn.fits(answer.account, costUs) && this.#fitsInMemory(answer);
    if (!isRoom) throw overloaded();
    this.#turn.add(answer.account, costUs);
    this.#endTurn();
    const { clock } = this.#options;
    const startedMs = clock.monotonicMs();
    const made = make();
    this.#learn(answer, clock.monotonicMs() - startedMs);
    return made;
  }

  /** Has an answer made by a worker. Throws `overloaded`, and begins nothing, when enough wait. */
  byWorker<T>(answer: WeighedAnswer, make: () => Promise<T & { readonly made: MadeByWorker }>): Promise<T> {
    const costUs = this.costUs(answer);
    const { account } = answer;
    const isRoom =
      this.#largeAnswers < LIMITS.largeAnswersMax &&
      this.#queued.fits(account, costUs) &&
      this.#fitsInMemory(answer);
    if (!isRoom) throw overloaded();
    const bytes = replyBytesOf(answer);
    this.#largeAnswers++;
    this.#queued.add(account, costUs);
    this.#making.add(account, bytes);
    return make()
      .then((delivered) => {
        this.#learn(answer, delivered.made.busyMs);
        return delivered;
      })
      .finally(() => {
        this.#largeAnswers--;
        this.#queued.remove(account, costUs);
        this.#making.remove(account, bytes);
      });
  }

  /** An answer that must wait for a seed or for pure bytes first. Throws `overloaded` when too many do. */
  afterWaiting<T>(wait: () => Promise<T>): Promise<T> {
    if (this.#waiting >= LIMITS.waitingDrawsMax) throw overloaded();
    this.#waiting++;
    return wait().finally(() => {
      this.#waiting--;
    });
  }

  #fitsInMemory(answer: WeighedAnswer): boolean {
    return this.#making.fits(answer.account, replyBytesOf(answer), this.#options.replyBytes());
  }

  /** The turn ends when all that was ready with it has been looked at. */
  #endTurn(): void {
    if (this.#turnOpen) return;
    this.#turnOpen = true;
    setImmediate(() => {
      this.#turnOpen = false;
      this.#turn.clear();
    });
  }

  #learn({ values, also }: WeighedAnswer, busyMs: number): void {
    assert(busyMs >= 0, 'who made an answer says how long it took (MadeByWorker.busyMs)');
    const averages = this.#ns[also];
    const kind = kindOf(values);
    const known = averages[kind];
    const seen = (busyMs * 1e6) / unitsOf(values);
    const newest = Math.min(STEP_MAX * known, Math.max(known / STEP_MAX, seen));
    averages[kind] = known + NEWEST_SHARE * (newest - known);
  }
}

/** What is under way against its bound, by account. Whole numbers, so that what is taken away leaves nothing. */
class Load {
  readonly #max: number;
  readonly #byAccount = new Map<number, number>();
  #total = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get total(): number {
    return this.#total;
  }

  /** `besides` is under way too, for nobody in particular. */
  fits(account: number, amount: number, besides = 0): boolean {
    const total = this.#total + besides;
    if (total === 0) return true; // what is above the bound by itself is served alone
    if (total + amount > this.#max) return false;
    const own = this.#byAccount.get(account);
    return own === undefined || own + amount <= this.#max / 2;
  }

  add(account: number, amount: number): void {
    this.#byAccount.set(account, (this.#byAccount.get(account) ?? 0) + amount);
    this.#total += amount;
  }

  remove(account: number, amount: number): void {
    const left = this.#byAccount.get(account)! - amount;
    if (left === 0) this.#byAccount.delete(account);
    else this.#byAccount.set(account, left);
    this.#total -= amount;
  }

  clear(): void {
    this.#byAccount.clear();
    this.#total = 0;
  }
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

/** What the cost of a kind grows with: values, bytes of values, bits or items. */
function unitsOf(values: ValueRequest): number {
  switch (values.kind) {
    case 'bytes':
      return values.count * (values.length + 2); // two for what each string costs beside its bytes
    case 'bitstring':
      return values.length;
    case 'shuffle':
      return values.items.length;
    default:
      return values.count;
  }
}

/** Memory of an answer, at most: its text, and its values in another form. */
function replyBytesOf({ values, also }: WeighedAnswer): number {
  return jsonBytesMax(values) * (also === 'nothing' ? 1 : 2);
}

function overloaded(): ApiError {
  return new ApiError('overloaded', { retryAfterS: 1 });
}
