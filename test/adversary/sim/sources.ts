import {
  BackendError,
  type JobBackend,
  type JobReference,
  type JobState,
  type RawRead,
  type Spend,
  type StreamBackend,
} from '../../../src/backend/backend.ts';
import { sha256Hex } from '../../../src/crypto/digest.ts';
import type { SpendLimits } from '../../../src/ledger/records.ts';
import { Chance } from '../../support/chance.ts';
import type { SimMachine } from './machine.ts';

/** Probability of each fault of a call to a source, from 0 to 1. */
export interface SourceFaults {
  /** Fails before it was done, may be tried again. */
  fails: number;
  /** Done, and its answer lost. */
  lost: number;
  /** Never comes back. */
  stalls: number;
  /** Reports an error that cannot be repaired. */
  permanent: number;
  /** Repeats an earlier result. */
  repeats: number;
  /** Returns bits that are not random. */
  stuck: number;
  /** Returns fewer bits than it states. */
  short: number;
  /** For jobs: fails or is cancelled. */
  breaks: number;
}

export const SOUND: SourceFaults = {
  fails: 0,
  lost: 0,
  stalls: 0,
  permanent: 0,
  repeats: 0,
  stuck: 0,
  short: 0,
  breaks: 0,
};

const WIDTH = 16;
const CALL_MS = 10;
const QUEUE_MS = 1_000;
/** A read of the stream: about as long as a job, so that the lots of both take turns. */
const READ_MS = 1_200;

export const PRICE: Spend = { amount: 1.25, currency: 'USD', calls: 1 };
export const JOB_LIMITS: SpendLimits = { amountPerDay: 30, callsPerDay: 40 };

/** 64 seeds and some 4 KiB blocks: a lot of a size that a simulation turns over in seconds. */
const JOB_LOT_BITS = rawBitsOf(2, 0.9);
const STREAM_LOT_BITS = rawBitsOf(3, 1);

function rawBitsOf(blocks: number, entropyPerBit: number): number {
  return Math.ceil((320 * (64 + 128 * blocks + 1)) / entropyPerBit / WIDTH / 8) * WIDTH * 8;
}

/** A job at the provider. */
export interface Job {
  readonly id: string;
  readonly key: string;
  readonly bits: number;
  readonly startsAtMs: number;
  readonly doneAtMs: number;
  readonly end: 'done' | 'failed' | 'cancelled';
  /** The defect of its results, which is the same at each fetch. */
  readonly flaw: Flaw;
  cancelled: boolean;
  forgotten: boolean;
}

/** Callbacks for what the world pays for and what it returns. */
export interface SourceWatch {
  /** A call that may start a job arrived at the provider. */
  submitted(key: string, bits: number): void;
  /** A job was started, and is paid for. */
  paid(key: string): void;
  /** Bits were given out that must not serve. */
  spoilt(rawSha256: string): void;
}

/** Providers of entropy, outside of every process that asks them: they keep their jobs whatever becomes of those. */
export class SimSources {
  readonly jobs: Map<string, Job>;
  readonly #machine: SimMachine;
  readonly #random: Chance;
  readonly #faults: () => SourceFaults;
  readonly #watch: SourceWatch;
  #reads = 0;
  #lastStream: Uint8Array<ArrayBuffer> | undefined;
  #lastJob: Uint8Array<ArrayBuffer> | undefined;

  /** `jobs` are those of the provider, which all nodes ask: a node goes on with those of one that was fenced. */
  constructor(
    machine: SimMachine,
    random: Chance,
    faults: () => SourceFaults,
    watch: SourceWatch,
    jobs: Map<string, Job>,
  ) {
    this.jobs = jobs;
    this.#machine = machine;
    this.#random = random;
    this.#faults = faults;
    this.#watch = watch;
  }

  /** A processor whose jobs cost money. */
  processor(): JobBackend {
    return {
      kind: 'job',
      name: 'processor',
      origin: 'quantum-processor',
      quantumBackend: 'sim-qpu-16',
      deterministic: false,
      claimedMinEntropyPerBit: 0.9,
      lotRawBits: JOB_LOT_BITS,
      estimate: () => PRICE,
      submit: (bits, key) => this.#call(() => this.#submit(bits, key)),
      poll: (job) => this.#call(() => this.#poll(job)),
      fetch: (job) => this.#call(() => this.#fetch(job)),
      cancel: (job) =>
        this.#call(() => {
          const known = this.jobs.get(job.jobId);
          if (known !== undefined && known.doneAtMs > this.#machine.nowMs) known.cancelled = true;
        }),
      forget: (job) =>
        this.#call(() => {
          const known = this.jobs.get(job.jobId);
          if (known !== undefined) known.forgotten = true;
        }),
    };
  }

  /** A simulator that costs nothing: its origin is less than the processor's. */
  stream(): StreamBackend {
    return {
      kind: 'stream',
      name: 'stream',
      origin: 'simulated',
      quantumBackend: 'sim-stream',
      deterministic: true,
      claimedMinEntropyPerBit: 1,
      lotRawBits: STREAM_LOT_BITS,
      read: (bits) => this.#call(() => this.#read(bits), READ_MS),
    };
  }

  async #call<T>(work: () => T, meanMs = CALL_MS): Promise<T> {
    const { fails, lost, stalls, permanent } = this.#faults();
    const drawn = this.#random.uniform();
    const { owner } = this.#machine;
    // what is on its way arrives, whatever becomes of who sent it
    await new Promise<void>((resolve) => this.#machine.after(this.#random.gap(meanMs), resolve, 'world'));
    this.#machine.enter(owner);
    if (drawn < fails) throw new BackendError('retryable', 'injected: the call failed');
    if (drawn < fails + permanent) throw new BackendError('permanent', 'injected: the source is broken');
    if (drawn < fails + permanent + stalls) await new Promise<never>(() => {});
    const result = work();
    await new Promise<void>((resolve) => this.#machine.after(this.#random.gap(CALL_MS), resolve));
    if (drawn < fails + permanent + stalls + lost) {
      throw new BackendError('retryable', 'injected: done, and the answer lost');
    }
    return result;
  }

  #submit(bits: number, key: string): JobReference {
    this.#watch.submitted(key, bits);
    let job = [...this.jobs.values()].find((each) => each.key === key);
    if (job === undefined) {
      const { breaks } = this.#faults();
      const startsAtMs = this.#machine.nowMs + this.#random.gap(QUEUE_MS);
      job = {
        id: `job-${this.jobs.size + 1}`,
        key,
        bits,
        startsAtMs,
        doneAtMs: startsAtMs + this.#random.gap(QUEUE_MS),
        end: this.#random.chance(breaks) ? this.#random.pick(['failed', 'cancelled'] as const) : 'done',
        flaw: flawOf(this.#random, this.#faults()),
        cancelled: false,
        forgotten: false,
      };
      this.jobs.set(job.id, job);
      this.#watch.paid(key);
    }
    return { jobId: job.id, idempotencyKey: key, bits, memo: `memo of ${job.id}` };
  }

  #poll({ jobId, memo }: JobReference): JobState {
    const job = this.#job(jobId, memo);
    if (job.cancelled) return { state: 'cancelled', reason: 'as asked' };
    if (this.#machine.nowMs < job.startsAtMs) return { state: 'queued' };
    if (this.#machine.nowMs < job.doneAtMs) return { state: 'running', retryAfterMs: 700 };
    return job.end === 'done' ? { state: 'done' } : { state: job.end, reason: 'injected' };
  }

  #fetch({ jobId, memo }: JobReference): RawRead {
    const job = this.#job(jobId, memo);
    if (job.forgotten) throw new BackendError('permanent', 'the results are deleted');
    const { flaw } = job;
    const earlier = this.#lastJob;
    const bits = new Chance(`${jobId} ${job.key}`).fill(new Uint8Array(job.bits / 8));
    if (flaw === 'repeat' && earlier?.length === bits.length) bits.set(earlier);
    if (flaw === 'stuck') stick(bits);
    this.#lastJob = bits.slice();
    return this.#given(bits, flaw, 'processor', jobId);
  }

  #job(jobId: string, memo: string): Job {
    const job = this.jobs.get(jobId);
    if (job === undefined || memo !== `memo of ${jobId}`) {
      throw new BackendError('permanent', `there is no job ${jobId}`);
    }
    return job;
  }

  #read(bits: number): RawRead {
    const flaw = flawOf(this.#random, this.#faults());
    const fresh = new Chance(`${this.#random.u32()} read ${++this.#reads}`).fill(new Uint8Array(bits / 8));
    const given = flaw === 'repeat' && this.#lastStream?.length === fresh.length ? this.#lastStream : fresh;
    if (flaw === 'stuck') stick(given);
    this.#lastStream = given.slice();
    return this.#given(given, flaw, 'stream', null);
  }

  #given(bits: Uint8Array<ArrayBuffer>, flaw: Flaw, device: string, jobId: string | null): RawRead {
    const rawSha256 = sha256Hex(bits);
    const shots = (bits.length * 8) / WIDTH;
    if (flaw === 'stuck') this.#watch.spoilt(rawSha256);
    const nowMs = Math.floor(this.#machine.wallMs());
    return {
      bits: flaw === 'short' ? bits.slice(0, bits.length / 2) : bits,
      width: WIDTH,
      shots,
      rawSha256,
      provenance: {
        provider: 'simulation',
        device,
        jobId,
        circuit: `circuit of the ${device}`,
        circuitVersion: '1.0.0',
        circuitSha256: null,
        qubitsUsed: WIDTH,
        circuitDepth: 1,
        shots,
        startedAtMs: nowMs,
        finishedAtMs: nowMs,
        calibration: null,
      },
    };
  }
}

type Flaw = 'none' | 'repeat' | 'stuck' | 'short';

function flawOf(random: Chance, { repeats, stuck, short }: SourceFaults): Flaw {
  const drawn = random.uniform();
  if (drawn < repeats) return 'repeat';
  if (drawn < repeats + stuck) return 'stuck';
  return drawn < repeats + stuck + short ? 'short' : 'none';
}

/** Makes one qubit always read 0. */
function stick(bits: Uint8Array): void {
  for (let at = 0; at < bits.length; at += WIDTH / 8) bits[at] &= 0x7f;
}
