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

export interface SimSources {
  /** A processor whose jobs cost money. */
  readonly processor: JobBackend;
  /** A simulator that costs nothing: its origin is less than the processor's. */
  readonly stream: StreamBackend;
}

/**
 * Providers of entropy, outside of every process that asks them: they keep their jobs whatever becomes of those. `jobs` are those of
 * the provider, which all nodes ask: a node goes on with those of one that was fenced. The faults are read at each call.
 */
export function simSources(
  machine: SimMachine,
  random: Chance,
  faults: () => SourceFaults,
  watch: SourceWatch,
  jobs: Map<string, Job>,
): SimSources {
  const last = new Map<'processor' | 'stream', Uint8Array<ArrayBuffer>>();
  let reads = 0;

  async function called<T>(work: () => T, meanMs = CALL_MS): Promise<T> {
    const { fails, lost, stalls, permanent } = faults();
    const drawn = random.uniform();
    const { owner } = machine;
    // what is on its way arrives, whatever becomes of who sent it
    await new Promise<void>((resolve) => machine.after(random.gap(meanMs), resolve, 'world'));
    machine.enter(owner);
    if (drawn < fails) throw new BackendError('retryable', 'injected: the call failed');
    if (drawn < fails + permanent) throw new BackendError('permanent', 'injected: the source is broken');
    if (drawn < fails + permanent + stalls) await new Promise<never>(() => {});
    const result = work();
    await new Promise<void>((resolve) => machine.after(random.gap(CALL_MS), resolve));
    if (drawn >= fails + permanent + stalls + lost) return result;
    throw new BackendError('retryable', 'injected: done, and the answer lost');
  }

  function submit(bits: number, key: string): JobReference {
    watch.submitted(key, bits);
    let job = [...jobs.values()].find((each) => each.key === key);
    if (job === undefined) {
      const { breaks } = faults();
      const startsAtMs = machine.nowMs + random.gap(QUEUE_MS);
      job = {
        ...{ id: `job-${jobs.size + 1}`, key, bits, startsAtMs },
        doneAtMs: startsAtMs + random.gap(QUEUE_MS),
        end: random.chance(breaks) ? random.pick(['failed', 'cancelled'] as const) : 'done',
        flaw: flawOf(random, faults()),
        ...{ cancelled: false, forgotten: false },
      };
      jobs.set(job.id, job);
      watch.paid(key);
    }
    return { jobId: job.id, idempotencyKey: key, bits, memo: `memo of ${job.id}` };
  }

  function poll({ jobId, memo }: JobReference): JobState {
    const job = jobOf(jobId, memo);
    if (job.cancelled) return { state: 'cancelled', reason: 'as asked' };
    if (machine.nowMs < job.startsAtMs) return { state: 'queued' };
    if (machine.nowMs < job.doneAtMs) return { state: 'running', retryAfterMs: 700 };
    return job.end === 'done' ? { state: 'done' } : { state: job.end, reason: 'injected' };
  }

  function fetch({ jobId, memo }: JobReference): RawRead {
    const job = jobOf(jobId, memo);
    if (job.forgotten) throw new BackendError('permanent', 'the results are deleted');
    return given('processor', `${jobId} ${job.key}`, job.bits, job.flaw, jobId);
  }

  function jobOf(jobId: string, memo: string): Job {
    const job = jobs.get(jobId);
    if (job !== undefined && memo === `memo of ${jobId}`) return job;
    throw new BackendError('permanent', `there is no job ${jobId}`);
  }

  function read(bits: number): RawRead {
    const flaw = flawOf(random, faults());
    return given('stream', `${random.u32()} read ${++reads}`, bits, flaw, null);
  }

  function given(
    device: 'processor' | 'stream',
    label: string,
    size: number,
    flaw: Flaw,
    jobId: string | null,
  ): RawRead {
    const bits = new Chance(label).fill(new Uint8Array(size / 8));
    const before = last.get(device);
    if (flaw === 'repeat' && before?.length === bits.length) bits.set(before);
    // one qubit always reads 0
    if (flaw === 'stuck') for (let at = 0; at < bits.length; at += WIDTH / 8) bits[at] &= 0x7f;
    last.set(device, bits.slice());
    const rawSha256 = sha256Hex(bits);
    if (flaw === 'stuck') watch.spoilt(rawSha256);
    const nowMs = Math.floor(machine.wallMs());
    return {
      bits: flaw === 'short' ? bits.slice(0, bits.length / 2) : bits,
      width: WIDTH,
      shots: size / WIDTH,
      rawSha256,
      provenance: {
        ...{
          provider: 'simulation',
          device,
          jobId,
          circuit: `circuit of the ${device}`,
          circuitVersion: '1.0.0',
        },
        ...{ circuitSha256: null, qubitsUsed: WIDTH, circuitDepth: 1, shots: size / WIDTH },
        ...{ startedAtMs: nowMs, finishedAtMs: nowMs, calibration: null },
      },
    };
  }

  return {
    processor: {
      kind: 'job',
      origin: 'quantum-processor',
      ...{ name: 'processor', quantumBackend: 'sim-qpu-16', deterministic: false },
      ...{ claimedMinEntropyPerBit: 0.9, lotRawBits: JOB_LOT_BITS },
      estimate: () => PRICE,
      submit: (bits, key) => called(() => submit(bits, key)),
      poll: (job) => called(() => poll(job)),
      fetch: (job) => called(() => fetch(job)),
      cancel: ({ jobId }) =>
        called(() => {
          const known = jobs.get(jobId);
          if (known !== undefined && known.doneAtMs > machine.nowMs) known.cancelled = true;
        }),
      forget: ({ jobId }) =>
        called(() => {
          const known = jobs.get(jobId);
          if (known !== undefined) known.forgotten = true;
        }),
    },
    stream: {
      kind: 'stream',
      origin: 'simulated',
      ...{ name: 'stream', quantumBackend: 'sim-stream', deterministic: true },
      ...{ claimedMinEntropyPerBit: 1, lotRawBits: STREAM_LOT_BITS },
      read: (bits) => called(() => read(bits), READ_MS),
    },
  };
}

type Flaw = 'none' | 'repeat' | 'stuck' | 'short';

function flawOf(random: Chance, { repeats, stuck, short }: SourceFaults): Flaw {
  const drawn = random.uniform();
  if (drawn < repeats) return 'repeat';
  if (drawn < repeats + stuck) return 'stuck';
  return drawn < repeats + stuck + short ? 'short' : 'none';
}
