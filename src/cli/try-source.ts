import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs';
import {
  type Backend,
  BackendError,
  type BackendErrorKind,
  type JobBackend,
  type RawRead,
  type SourceFacts,
  type Spend,
} from '../backend/backend.ts';
import type { SourceMemory } from '../backend/definition.ts';
import { loadSettings } from '../config/config.ts';
import { readSources, type SourceSetting } from '../config/sources.ts';
import { messageOf } from '../core/assert.ts';
import { wipe } from '../core/bytes.ts';
import { systemWait } from '../core/clock.ts';
import { silentLog } from '../core/log.ts';
import { type SourceReaderOptions, sourceReader } from '../pool/intake/jobs.ts';
import { charge, estimateOf, readStream, UNLIMITED } from '../pool/intake/read.ts';
import { makeBackend, priceText } from '../service/sources.ts';
import { onesPerChannel } from '../stats/autocorrelation.ts';
import { action, type CommandContext, CommandError } from './command.ts';
import { changeLedger, isThere, withLedgerIfAny } from './ledger-access.ts';

/** 256 shots of 16 channels: every service gives them in one call, and they show a dead channel. */
const TRIAL_BITS = 4096;
/** The number of samples that SP 800-90B 3.1.1 asks for, one bit each. */
const DOSSIER_BITS = 1_000_000;

export const sourceTest = action({
  path: 'sources test',
  summary:
    'Shows the facts that the source states about itself, then reads some bits and shows their properties. The bits are not used,\n' +
    'and they are stored only with --raw-out, in the form that a laboratory assesses. If there is a ledger, the cost of the\n' +
    'read counts towards the budget of the day. The command works with and without a running service.',
  operands: [{ name: 'NAME', meaning: 'name of the source; it does not have to be in use' }],
  options: {
    rawOut: {
      value: 'FILE',
      meaning: 'new file for 1,000,000 unprocessed raw bits, shot by shot, eight bits per byte',
    },
    spend: {
      meaning: 'submit a job; without --spend, the command only shows what a job of the source would cost',
    },
    json: { meaning: 'print one JSON object: source, type, origin, facts, estimate, read, failure' },
  },
  run: async ({ rawOut: path, spend, operands: [name] }, context) => {
    const { sourcesFile } = loadSettings(context.environment);
    const [setting] = readSources(context.environment, [name], sourcesFile);
    for (const warning of setting.warnings) context.talk(`${warning}\n`);
    const backend = makeBackend(setting, trialMemory(name, context), context.clock);
    const rawOut = path === undefined ? undefined : newFile(path); // fails before the source is paid
    const bits = rawOut === undefined ? TRIAL_BITS : DOSSIER_BITS;
    const ask = { bits, maySpend: spend === true, rawOut };
    const trial = await tryOut(setting, backend, ask, context).finally(
      () => rawOut !== undefined && closeSync(rawOut),
    );
    const { read, failure } = trial;
    if (path !== undefined && read === null) rmSync(path);
    const unread = read === null ? 'nothing was read; use --spend to submit a job' : undefined;
    return { data: trial, shown: shownOf(trial, bits), failure: failure ?? unread };
  },
});

/** What the trial asks of the source. */
interface Ask {
  readonly bits: number;
  /** Whether a job may be submitted. */
  readonly maySpend: boolean;
  /** The open file that the raw bits go to; undefined when they are not kept. */
  readonly rawOut: number | undefined;
}

/** How long a source may take to describe itself. */
const DESCRIBE_TIMEOUT_MS = 60_000;

type Trial = Awaited<ReturnType<typeof tryOut>>;

async function tryOut(setting: SourceSetting, backend: Backend, ask: Ask, context: CommandContext) {
  const stopping = context.interruption();
  /** Null when the source has no description of itself. */
  let facts: SourceFacts | null = null;
  /** The cost of reading that many bits, which may depend on the device; null when it costs nothing. */
  let estimate = estimateOf(backend, ask.bits) ?? null;
  let read: ReturnType<typeof describeRead> | null = null;
  let failure: string | null = null;
  try {
    const timely = AbortSignal.any([stopping, AbortSignal.timeout(DESCRIBE_TIMEOUT_MS)]);
    facts = (await backend.describe?.(timely)) ?? null;
    estimate = estimateOf(backend, ask.bits) ?? null;
    if (backend.kind === 'stream' || ask.maySpend) {
      if (estimate !== null) await chargeDay(setting, backend, estimate, context);
      read = await readOnce(backend, ask, context, stopping);
    }
  } catch (error) {
    if (!(error instanceof BackendError)) throw error;
    failure = `${ERROR_WORDS[error.kind]}: ${error.message}`;
  }
  return {
    source: setting.name,
    type: setting.backend.type,
    origin: backend.origin, // read only now: the provider may have just named its device
    quantum_backend: backend.quantumBackend,
    facts,
    estimate,
    read,
    failure,
  };
}

async function readOnce(
  backend: Backend,
  { bits, rawOut }: Ask,
  context: CommandContext,
  stopping: AbortSignal,
): Promise<ReturnType<typeof describeRead>> {
  const startedMs = context.clock.monotonicMs();
  const read =
    backend.kind === 'job'
      ? await readJob(backend, bits, stopping, context)
      : await readStream(backend, bits, stopping);
  try {
    if (rawOut !== undefined) writeFileSync(rawOut, read.bits);
    return describeRead(backend, read, Math.round(context.clock.monotonicMs() - startedMs));
  } finally {
    wipe(read.bits);
  }
}

function newFile(path: string): number {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (error) {
    throw new CommandError(`--raw-out: the file cannot be created: ${messageOf(error)}`);
  }
}

/** Charges the trial to the day's budget, as any other read, where there is a ledger. */
async function chargeDay(
  { limits }: SourceSetting,
  backend: Backend,
  spend: Spend,
  context: CommandContext,
): Promise<void> {
  if (!isThere(context)) return;
  await changeLedger(context, (ledger) => {
    const store = { ...ledger, openJob: async () => false }; // a trial opens no job
    return charge({ backend, store, limits, clock: context.clock }, spend);
  });
}

/**
 * Runs a job and returns its bits. Tells the person who waits the job's id and every change of its state. Deletes the
 * job's raw results at the provider in the end.
 */
async function readJob(
  backend: JobBackend,
  bits: number,
  signal: AbortSignal,
  context: CommandContext,
): Promise<RawRead> {
  let told = '';
  const tell = (text: string) => {
    if (text !== told) context.talk(`${text}\n`);
    told = text;
  };
  const watched: JobBackend = {
    kind: 'job',
    name: backend.name,
    origin: backend.origin,
    quantumBackend: backend.quantumBackend,
    deterministic: backend.deterministic,
    claimedMinEntropyPerBit: backend.claimedMinEntropyPerBit,
    async submit(asked, idempotencyKey, over) {
      const submitted = await backend.submit(asked, idempotencyKey, over);
      tell(`job ${submitted.jobId} is submitted; press Ctrl+C to cancel it`);
      return submitted;
    },
    async poll(job, over) {
      const state = await backend.poll(job, over);
      tell(`job ${job.jobId} ${state.state}`);
      return state;
    },
    fetch: (job, over) => backend.fetch(job, over),
    cancel: (job, over) => backend.cancel(job, over),
    forget: async (job, over) => backend.forget?.(job, over),
  };
  const parts = { limits: UNLIMITED, clock: context.clock, log: silentLog, wait: systemWait };
  const reader = sourceReader({ ...parts, backend: watched, store: NOTHING_KEPT });
  try {
    const { read, jobKey } = await reader.read(bits, signal);
    if (jobKey !== undefined) await reader.lotStored(jobKey, signal);
    return read;
  } catch (error) {
    await reader.abandon();
    throw error;
  }
}

/** A store that keeps nothing: `chargeDay` has charged the day, and the job makes no lot. */
const NOTHING_KEPT: SourceReaderOptions['store'] = {
  openJobs: async () => [],
  openJob: async () => true,
  putJob: async () => {},
  charge: async () => true,
  spent: () => Promise.reject(new Error('a trial has no bound of its own')),
};

/**
 * Returns a memory that knows what a service has kept for the source, and forgets what the source keeps during the
 * trial.
 */
function trialMemory(source: string, context: CommandContext): SourceMemory {
  const kept = new Map<string, string>();
  return {
    recall: async (key) =>
      kept.get(key) ?? (await withLedgerIfAny(context, async (ledger) => ledger?.sourceNote(source, key))),
    recallAll: async (key) => [
      ...(kept.has(key) ? [kept.get(key)!] : []),
      ...((await withLedgerIfAny(context, async (ledger) => ledger?.sourceNotes(key))) ?? []),
    ],
    keep: async (key, value) => {
      kept.set(key, value);
    },
  };
}

const ERROR_WORDS: Readonly<Record<BackendErrorKind, string>> = {
  retryable: 'the source may work later',
  quota: 'the quota is used up',
  auth: 'the credentials are refused',
  permanent: 'the source cannot work with these settings',
  no_raw_shots: 'the source does not return single shots',
};

function describeRead(backend: Backend, read: RawRead, tookMs: number) {
  const { width, shots, rawSha256, provenance } = read;
  return {
    bits: width * shots,
    channels: width,
    shots,
    /** The share of ones, by channel. */
    ones_share: onesShares(read),
    claimed_min_entropy_per_bit: backend.claimedMinEntropyPerBit,
    raw_output: `sha256:${rawSha256}`,
    took_ms: tookMs,
    provider: provenance.provider,
    device: provenance.device,
    job_id: provenance.jobId,
    lang_circuit: provenance.circuit,
    qubits_used: provenance.qubitsUsed,
    circuit_depth: provenance.circuitDepth,
    calibration: provenance.calibration,
  };
}

/** Returns the share of ones of each channel, to four decimals. */
function onesShares({ bits, width, shots }: RawRead): number[] {
  return Array.from(onesPerChannel(bits, width, shots), (count) => Number((count / shots).toFixed(4)));
}

function shownOf({ facts, estimate, read, failure: _said, ...source }: Trial, bits: number): object[] {
  const price = { estimate: estimate === null ? 'costs nothing' : estimateText(estimate, bits) };
  const parts = [source, facts ?? { facts: 'none' }, price];
  if (read === null) return parts;
  const { ones_share: shares, calibration, ...plain } = read;
  const stuck = shares.flatMap((share, channel) => (share === 0 || share === 1 ? [channel] : []));
  return [
    ...parts,
    {
      ...plain,
      ones_share: `${Math.min(...shares)} to ${Math.max(...shares)}`,
      stuck_channels: stuck.join(', ') || 'none',
      ...(calibration ?? { calibration }),
    },
  ];
}

function estimateText(estimate: Spend, bits: number): string {
  const money = estimate.amount === 0 ? '' : `about ${priceText(estimate)}, `;
  return `${bits} bits: ${money}${estimate.calls} ${estimate.calls === 1 ? 'call' : 'calls'}`;
}
