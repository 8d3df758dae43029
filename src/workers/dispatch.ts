import { Piscina } from 'piscina';
import type { AnswerWorkers, MadeByWorker, WorkerOrder } from '../answer/make.ts';
import type { CertificateDocument } from '../certificate/document.ts';
import { messageOf } from '../core/assert.ts';
import { bitsFrom, wipe } from '../core/bytes.ts';
import { ApiError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import type { Log } from '../core/log.ts';
import type { AssessedBlock } from '../ledger/records.ts';
import type { Assessor, LotAssessment } from '../pool/intake/assessor.ts';
import type { RefillOrder } from '../pool/supply/keystream.ts';
import type { AssessTask, ExpandTask } from './protocol.ts';

/** PDF documents that may wait to be drawn. */
const DRAWING_QUEUE_MAX = 32;

/**
 * Tasks of any kind that may wait: the large answers that answer/admission.ts let in, and refills of keystreams.
 */
const TASK_QUEUE_MAX = 2 * LIMITS.largeAnswersMax;
/**
 * A thread holds its next task already, so that it does not wait while the front sends the reply of the last one. An answer of
 * 100,000 small integers takes 0.88 of the time (one worker on two cores, four connections).
 */
const TASKS_AT_A_THREAD = 2;
/** Tests that may wait: those of a lot come one after the other, the system source's beside them. */
const ASSESSMENT_QUEUE_MAX = 16;
/** A thread for what is done seldom, which ends when it had nothing to do for this long. */
const ONE_WHEN_NEEDED = { minThreads: 0, maxThreads: 1, idleTimeout: 5_000 };
/**
 * The tests of a lot hold 6 MB of heap and 70 MB of arrays at most. Without a limit the engine lets garbage
 * lie, and the process grows by 92 MB; with this one by 65 MB, for 8 % more time (resident set over four
 * lots, Node 22.23).
 */
const ASSESSMENT_MEMORY = { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 64 };
/**
 * A task's garbage is a few small objects: its answer lies in memory of its own. The engine's own choice, 48
 * MB, is only filled before it is looked at, here and in the ledger's thread: 20 MB less for the process
 * under load, and no more CPU (private memory and CPU time over small requests and batches, Node 22.23).
 */
const EXPANSION_MEMORY = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 64 };
/** A PDF takes a few megabytes of heap. */
const DRAWING_MEMORY = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 128 };
/** What a running task may take once the pool is closed; then its thread is stopped. */
const CLOSE_TIMEOUT_MS = 2_000;

/** The threads of one front. Expansion and large answers share a pool, and PDFs have a thread of their own. */
export class Workers implements AnswerWorkers {
  readonly #expansion: TaskPool<ExpandTask, Uint8Array<ArrayBuffer>[] | MadeByWorker>;
  readonly #drawing: TaskPool<CertificateDocument, Uint8Array>;
  readonly #log: Log;
  /** Threads that expand and make large answers. */
  readonly threads: number;

  constructor(threads: number, log: Log) {
    this.#log = log;
    this.threads = threads;
    this.#expansion = new TaskPool('./expand.ts', log, {
      minThreads: threads,
      maxThreads: threads,
      concurrentTasksPerWorker: TASKS_AT_A_THREAD,
      maxQueue: TASK_QUEUE_MAX,
      closeTimeout: CLOSE_TIMEOUT_MS,
      resourceLimits: EXPANSION_MEMORY,
    });
    this.#drawing = new TaskPool('../certificate/pdf.ts', log, {
      ...ONE_WHEN_NEEDED,
      name: 'certificatePdf',
      maxQueue: DRAWING_QUEUE_MAX,
      resourceLimits: DRAWING_MEMORY,
    });
  }

  /** Expands pieces of a keystream. Rejects when the pool is full or stopping; the front then expands for itself. */
  async expand(order: RefillOrder): Promise<Uint8Array<ArrayBuffer>[]> {
    return (await this.#expand({ task: 'expand', order })) as Uint8Array<ArrayBuffer>[];
  }

  /**
   * Makes a large answer. Takes over its memory, and the secrets of `order.draw`: key and pieces are erased
   * here too when it settles. Rejects with `overloaded` or `shutting_down` when it was not begun.
   */
  async make(order: WorkerOrder): Promise<MadeByWorker> {
    try {
      return (await this.#expand({ task: 'make', order })) as MadeByWorker;
    } finally {
      // those of an order that was not begun; the others have moved
      wipe(...secretsOf({ task: 'make', order }));
    }
  }

  /** Tasks that wait for a worker now. */
  get queueLength(): number {
    return this.#expansion.queueLength;
  }

  /** Draws a certificate's PDF in a thread of its own. Sheds with `overloaded`. */
  async drawPdf(document: CertificateDocument): Promise<Uint8Array<ArrayBuffer>> {
    return new Uint8Array(await this.#drawing.run(document));
  }

  /** Lets answers that are with a thread be finished, refuses those that wait, gives PDFs up, and stops the threads. */
  async close(): Promise<void> {
    await Promise.all([this.#expansion.close(), this.#drawing.destroy()]);
  }

  /** Secrets move: a copy would stay in the memory of the message that took it there. Until then they are the caller's. */
  async #expand(task: ExpandTask): Promise<Uint8Array<ArrayBuffer>[] | MadeByWorker> {
    const moved = movable(secretsOf(task));
    if (task.task === 'make') moved.push(task.order.memory.buffer);
    try {
      return await this.#expansion.run(task, moved);
    } catch (error) {
      if (!(error instanceof ApiError))
        this.#log.error({ reason: messageOf(error) }, `worker failed to ${task.task}`);
      throw error;
    }
  }
}

/**
 * The thread that tests lots: one for the process, at low priority, so that requests go first (bench `assessment-interference`
 * says how far).
 */
export class AssessmentThread implements Assessor {
  readonly #pool: TaskPool<AssessTask, unknown>;

  constructor(log: Log) {
    this.#pool = new TaskPool('./assess.ts', log, {
      ...ONE_WHEN_NEEDED,
      maxQueue: ASSESSMENT_QUEUE_MAX,
      resourceLimits: ASSESSMENT_MEMORY,
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

  /** Gives tests up, and stops the thread. */
  close(): Promise<void> {
    return this.#pool.destroy();
  }

  /** Has the thread call the assessor. `bits` are a copy of ours: it moves to the thread, which erases it. */
  #assess<Result>(task: AssessTask): Promise<Result> {
    return this.#pool.run(task, [task.bits.buffer]) as Promise<Result>;
  }
}

/** A Piscina pool that sheds what it has no room for, and says why it did not begin a task. */
class TaskPool<Task, Result> {
  readonly #pool: Piscina<Task, Result>;
  #closing: Promise<void> | undefined;

  /** `file` holds the task. */
  constructor(file: string, log: Log, options: ConstructorParameters<typeof Piscina>[0]) {
    const filename = new URL(file, import.meta.url).href;
    this.#pool = new Piscina({ concurrentTasksPerWorker: 1, ...options, filename });
    // A thread that dies between two tasks; with nobody to hear of it the process would end.
    this.#pool.on('error', (error) =>
      log.error({ reason: messageOf(error), file }, 'a worker thread failed'),
    );
  }

  /** Tasks that wait for a thread now. */
  get queueLength(): number {
    return this.#pool.queueSize;
  }

  /** Rejects with `shutting_down` or `overloaded` when it was not begun. */
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

  /** Finishes what runs, and refuses what waits. */
  close(): Promise<void> {
    this.#closing ??= this.#pool.close({ force: true });
    return this.#closing;
  }

  /** Gives up what runs, too. */
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

/** The buffers that hold nothing else. */
function movable(secrets: readonly Uint8Array<ArrayBuffer>[]): ArrayBuffer[] {
  return secrets.map(({ buffer }) => buffer).filter((buffer, i) => buffer.byteLength === secrets[i].length);
}
