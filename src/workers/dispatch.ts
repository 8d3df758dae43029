import { Piscina } from 'piscina';
import type { AnswerWorkers, MadeByWorker, WorkerOrder } from '../answer/make.ts';
import type { CertificateDocument } from '../certificate/document.ts';
import { messageOf } from '../core/assert.ts';
import { bitsFrom, wipe } from '../core/bytes.ts';
import { ApiError } from '../core/errors.ts';
import { inOrder } from '../core/in-order.ts';
import { LIMITS } from '../core/limits.ts';
import type { Log } from '../core/log.ts';
import type { AssessedBlock } from '../ledger/records.ts';
import type { Assessor, LotAssessment } from '../pool/intake/assessor.ts';
import type { RefillOrder } from '../pool/supply/keystream.ts';
import type { AssessTask, ExpandTask } from './protocol.ts';

/** Bound on the PDF documents that wait to be drawn. */
const DRAWING_QUEUE_MAX = 32;

/** Bound on the waiting tasks of both kinds: the large answers that answer/answers.ts admitted, and refills of keystreams. */
const TASK_QUEUE_MAX = 2 * LIMITS.largeAnswersMax;
/**
 * A thread gets its next task before it has finished the last one, so that it does not wait while the front sends the reply. An
 * answer of 100,000 small integers then takes 0.88 of the time (one worker on two cores, four connections).
 */
const TASKS_AT_A_THREAD = 2;
/**
 * Bound on the waiting tests. The tests of a lot come one after the other; tests of the system source may come at the same
 * time.
 */
const ASSESSMENT_QUEUE_MAX = 16;
/** For rare work: one thread, which ends when it had nothing to do for 5 seconds. */
const ONE_WHEN_NEEDED = { minThreads: 0, maxThreads: 1, idleTimeout: 5_000 };
/**
 * The tests of a lot hold at most 6 MB of heap and 70 MB of arrays. Without a limit V8 collects garbage late, and the
 * process grows by 92 MB; with this limit by 65 MB, for 8 % more time (resident set over four lots, Node 22.23).
 */
const ASSESSMENT_MEMORY = { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 64 };
/**
 * A task leaves only a few small objects as garbage, because its answer is in an array buffer. V8's default young generation,
 * 48 MB, would fill up before V8 collects them. With this limit here and in the ledger's thread the process takes 20 MB less
 * under load, and no more CPU (private memory and CPU time over small requests and batches, Node 22.23).
 */
const EXPANSION_MEMORY = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 64 };
/** A PDF takes a few megabytes of heap. */
const DRAWING_MEMORY = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 128 };
/**
 * Steps of priority (nice) by which threads stand behind those that serve requests. With 5, a third of their weight, workers still make
 * large answers however many small ones clients ask for. Only Linux has priorities of threads: elsewhere Piscina would lower the process.
 */
const EXPANSION_NICE_INCREMENT = process.platform === 'linux' ? 5 : 0;
const ASSESSMENT_NICE_INCREMENT = 2 * EXPANSION_NICE_INCREMENT;
/** How long a running task may go on once the pool is closed; then its thread is stopped. */
const CLOSE_TIMEOUT_MS = 2_000;

/** The worker threads of one front. Expansion and large answers share a pool; PDFs have a thread of their own. */
export class Workers implements AnswerWorkers {
  readonly #expansion: TaskPool<ExpandTask, Uint8Array<ArrayBuffer>[] | MadeByWorker>;
  readonly #drawing: TaskPool<CertificateDocument, Uint8Array>;
  readonly #log: Log;
  /** Refills take turns: two at a time would start a second thread, which only large answers are worth. */
  readonly #refillInOrder = inOrder();
  /** Number of threads that expand keystreams and make large answers. */
  readonly threads: number;

  constructor(threads: number, log: Log) {
    this.#log = log;
    this.threads = threads;
    this.#expansion = new TaskPool('./expand.ts', log, {
      // refills of keystreams take one, the others begin with the first large answers, and stay
      minThreads: 1,
      maxThreads: threads,
      idleTimeout: Number.POSITIVE_INFINITY,
      concurrentTasksPerWorker: TASKS_AT_A_THREAD,
      maxQueue: TASK_QUEUE_MAX,
      closeTimeout: CLOSE_TIMEOUT_MS,
      resourceLimits: EXPANSION_MEMORY,
      niceIncrement: EXPANSION_NICE_INCREMENT,
    });
    this.#drawing = new TaskPool('../certificate/pdf.ts', log, {
      ...ONE_WHEN_NEEDED,
      name: 'certificatePdf',
      maxQueue: DRAWING_QUEUE_MAX,
      resourceLimits: DRAWING_MEMORY,
    });
  }

  /** Expands pieces of a keystream. Rejects when the pool is full or stopping; the front then expands them itself. */
  async expand(order: RefillOrder): Promise<Uint8Array<ArrayBuffer>[]> {
    const expanded = await this.#refillInOrder(() => this.#expand({ task: 'expand', order }));
    return expanded as Uint8Array<ArrayBuffer>[];
  }

  /**
   * Makes a large answer. Takes over its memory and the secrets of `order.draw`, and erases the key and the pieces when it
   * settles. Rejects with `overloaded` or `shutting_down` when no worker has begun it.
   */
  async make(order: WorkerOrder): Promise<MadeByWorker> {
    try {
      return (await this.#expand({ task: 'make', order })) as MadeByWorker;
    } finally {
      // the secrets are still here only if no worker has begun the order: otherwise they have moved
      wipe(...secretsOf({ task: 'make', order }));
    }
  }

  /** Number of tasks that wait for a worker. */
  get queueLength(): number {
    return this.#expansion.queueLength;
  }

  /** Draws a certificate's PDF. Rejects with `overloaded` when too many wait. */
  async drawPdf(document: CertificateDocument): Promise<Uint8Array<ArrayBuffer>> {
    return new Uint8Array(await this.#drawing.run(document));
  }

  /** Lets the threads finish the answers that they have begun, rejects waiting tasks and all PDFs, and stops the threads. */
  async close(): Promise<void> {
    await Promise.all([this.#expansion.close(), this.#drawing.destroy()]);
  }

  /** Runs a task. Moves its secrets to the worker, because a copy would stay in the memory of the message. */
  async #expand(task: ExpandTask): Promise<Uint8Array<ArrayBuffer>[] | MadeByWorker> {
    const moved = movable(secretsOf(task));
    if (task.task === 'make') moved.push(task.order.memory.buffer);
    try {
      return await this.#expansion.run(task, moved);
    } catch (error) {
      if (!(error instanceof ApiError))
        this.#log.error(
          { reason: messageOf(error) },
          `a worker thread failed to ${task.task} values: the answer is refused`,
        );
      throw error;
    }
  }
}

/**
 * The thread that tests lots. The process has one, at low priority, so that requests go first.
 */
export class AssessmentThread implements Assessor {
  readonly #pool: TaskPool<AssessTask, unknown>;

  constructor(log: Log) {
    this.#pool = new TaskPool('./assess.ts', log, {
      ...ONE_WHEN_NEEDED,
      maxQueue: ASSESSMENT_QUEUE_MAX,
      resourceLimits: ASSESSMENT_MEMORY,
      niceIncrement: ASSESSMENT_NICE_INCREMENT,
    });
  }

  async testBits<Of extends string>(of: Of, bits: Uint8Array, bitLength: number): Promise<AssessedBlock<Of>> {
    const own = bitsFrom(bits, 0, bitLength);
    return this.#assess<AssessedBlock<Of>>({ method: 'testBits', args: [of, own, bitLength], bits: own });
  }

  async assessLot(bits: Uint8Array, width: number, shots: number): Promise<LotAssessment> {
    const own = bitsFrom(bits, 0, width * shots);
    return this.#assess({ method: 'assessLot', args: [own, width, shots], bits: own });
  }

  /** Abandons all tests, and stops the thread. */
  close(): Promise<void> {
    return this.#pool.destroy();
  }

  /** Has the thread call the assessor. `task.bits` is a copy, which moves to the thread; the thread erases it. */
  #assess<Result>(task: AssessTask): Promise<Result> {
    return this.#pool.run(task, [task.bits.buffer]) as Promise<Result>;
  }
}

/** A Piscina pool that rejects with `overloaded` or `shutting_down` what it cannot begin. */
class TaskPool<Task, Result> {
  readonly #pool: Piscina<Task, Result>;
  #closing: Promise<void> | undefined;

  /** `file` is the module whose default export runs a task. */
  constructor(file: string, log: Log, options: ConstructorParameters<typeof Piscina>[0]) {
    const filename = new URL(file, import.meta.url).href;
    this.#pool = new Piscina({ concurrentTasksPerWorker: 1, ...options, filename });
    // A thread died between two tasks. Without a listener the process would end.
    this.#pool.on('error', (error) =>
      log.error(
        { reason: messageOf(error), file },
        'a worker thread failed between two tasks; another takes its place',
      ),
    );
  }

  /** Number of tasks that wait for a thread. */
  get queueLength(): number {
    return this.#pool.queueSize;
  }

  /** Runs a task. Rejects with `shutting_down` or `overloaded` when no thread has begun it. */
  async run(task: Task, transferList: ArrayBuffer[] = []): Promise<Result> {
    this.#refuseWhenClosing();
    if (this.queueLength >= this.#pool.options.maxQueue) throw new ApiError('overloaded', { retryAfterS: 1 });
    try {
      return await this.#pool.run(task, { transferList });
    } catch (error) {
      this.#refuseWhenClosing();
      throw error;
    }
  }

  /** Finishes running tasks, rejects waiting ones, and stops the threads. */
  close(): Promise<void> {
    this.#closing ??= this.#pool.close({ force: true });
    return this.#closing;
  }

  /** Abandons running tasks too, and stops the threads. */
  destroy(): Promise<void> {
    this.#closing ??= this.#pool.destroy();
    return this.#closing;
  }

  #refuseWhenClosing(): void {
    if (this.#closing !== undefined) throw new ApiError('shutting_down', { retryAfterS: 1 });
  }
}

function secretsOf(task: ExpandTask): readonly Uint8Array<ArrayBuffer>[] {
  if (task.task === 'expand') return [task.order.key];
  switch (task.order.draw.from) {
    case 'one-time-key':
      return [task.order.draw.key];
    case 'system':
      return [];
    case 'pieces':
      return task.order.draw.pieces;
  }
}

/** Returns the buffers that hold nothing but a secret, and so may move. */
function movable(secrets: readonly Uint8Array<ArrayBuffer>[]): ArrayBuffer[] {
  return secrets.map(({ buffer }) => buffer).filter((buffer, i) => buffer.byteLength === secrets[i].length);
}
