import { utf8Bytes, wipe } from '../../core/bytes.ts';
import type { Clock } from '../../core/clock.ts';
import type { HttpReply } from '../../core/http-request.ts';
import { instantIn, objectIn, textIn } from '../../core/json.ts';
import { sha256Hex } from '../../crypto/digest.ts';
import { BackendError, type Provenance } from '../backend.ts';
import { CIRCUIT_DEPTH, circuitName } from '../circuit.ts';
import type { SourceParts } from '../definition.ts';
import { jsonOf } from '../http-call.ts';
import type { JobResults } from '../job.ts';
import { jobNotes, type RecentEntries } from '../seen.ts';
import type { IbmCloud } from './cloud.ts';
import type { Device } from './device.ts';
import { PHYSICAL_COMPILER_VERSION, type Plan, programOf } from './plan.ts';
import { decodeResult } from './results.ts';

/** A result that is not there so long after its job finished, and that a reading was begun of, was read. */
const RESULTS_LATE_MS = 300_000;
const METADATA_BYTES_MAX = 4 * 1024 * 1024;

/** When the job ran, and on which calibration. */
type RunFacts = Pick<Provenance, 'startedAtMs' | 'finishedAtMs' | 'calibration'>;

/** Fetches and decodes results. */
export class ResultReader {
  readonly #cloud: IbmCloud;
  readonly #device: Device;
  readonly #clock: Clock;
  /** Private jobs whose results may have been read, and so be gone. */
  readonly #begun: RecentEntries;

  constructor(cloud: IbmCloud, device: Device, { clock, memory }: SourceParts) {
    this.#cloud = cloud;
    this.#device = device;
    this.#clock = clock;
    this.#begun = jobNotes(memory, 'begun');
  }

  /**
   * All else is asked for before the results: those of a private job can be read only once. What no other try
   * will give better rejects as permanent: the job is lost.
   */
  async read(jobId: string, plan: Plan, signal: AbortSignal): Promise<JobResults> {
    const facts = await this.#runFacts(jobId, plan, signal);
    const reply = await this.#results(jobId, plan, facts.finishedAtMs, signal);
    const rawSha256 = sha256Hex(reply.body);
    const json = resultJson(reply);
    wipe(reply.body);
    if (json === undefined) {
      throw new BackendError('retryable', `job ${jobId}: IBM Quantum gave results that are not JSON`);
    }
    const { shots, qubits } = plan;
    const width = qubits.length;
    return {
      shots: { bits: await decodeResult(json, { shots, width }), shots },
      width,
      rawSha256,
      shortfall: 'every shot that was ordered',
      provenance: {
        provider: 'IBM Quantum',
        device: this.#device.name,
        circuit: circuitName(width),
        circuitVersion: PHYSICAL_COMPILER_VERSION,
        circuitSha256: sha256Hex(utf8Bytes(programOf(plan))),
        circuitDepth: CIRCUIT_DEPTH,
        ...facts,
      },
    };
  }

  /** The reply with the results. That IBM has none is not news of a job that has just finished. */
  async #results(jobId: string, plan: Plan, finishedAtMs: number, signal: AbortSignal): Promise<HttpReply> {
    await this.#begun.load();
    const isBegun = this.#begun.get(jobId) !== undefined;
    if (plan.isPrivate && !isBegun) {
      this.#begun.set(jobId, '');
      await this.#begun.keep();
    }
    const path = `/jobs/${encodeURIComponent(jobId)}/results`;
    const reply = await this.#cloud.send({
      method: 'GET',
      path,
      accepts: [404],
      replyBytesMax: resultBytesMax(plan),
      signal,
    });
    if (reply.status === 200) return reply;
    if (!isBegun && this.#begun.delete(jobId)) await this.#begun.keep(); // this reply was no reading
    const isLate = this.#clock.wallMs() - finishedAtMs > RESULTS_LATE_MS;
    if (isBegun && (isLate || reply.status === 404)) {
      const why =
        'the results of a private job can be read only once, and an earlier reading did not keep them';
      throw new BackendError('permanent', `job ${jobId}: ${why}`);
    }
    if (reply.status === 404)
      throw new BackendError('permanent', `job ${jobId}: IBM Quantum has no results of it`);
    throw new BackendError('retryable', `job ${jobId}: its results are not there yet`);
  }

  async #runFacts(jobId: string, plan: Plan, signal: AbortSignal): Promise<RunFacts> {
    const path = `/jobs/${encodeURIComponent(jobId)}`;
    const job = await this.#cloud.get(`${path}?exclude_params=true`, signal);
    const metrics = await this.#cloud.send({
      method: 'GET',
      path: `${path}/metrics`,
      accepts: [404],
      signal,
    });
    const { timestamps } = metrics.status === 404 ? {} : this.#cloud.object(metrics, `${path}/metrics`);
    const { running, finished } = objectIn(timestamps);
    const startedAtMs = instantIn(running) ?? instantIn(job.created) ?? plan.plannedAtMs;
    return {
      startedAtMs,
      finishedAtMs: Math.max(startedAtMs, instantIn(finished) ?? this.#clock.wallMs()),
      calibration: await this.#calibration(textIn(job.calibration_id), plan, signal),
    };
  }

  /**
   * The calibration that the job ran on, where IBM names and gives it; else the one by which its qubits were
   * chosen.
   */
  async #calibration(id: string | null, plan: Plan, signal: AbortSignal): Promise<Provenance['calibration']> {
    const qubits = plan.qubits;
    const own = id === null ? null : await this.#device.calibrationBy(id, signal);
    const figures = qubits.map((qubit) => own?.readout[qubit] ?? null);
    if (id === null || own === null || !figures.every((each) => each !== null)) {
      const date = plan.calibrationDate === null ? {} : { date: plan.calibrationDate };
      return { ...date, qubits, readout_e01: plan.e01, readout_e10: plan.e10 };
    }
    return {
      id,
      ...(own.date !== null && { date: own.date }),
      qubits,
      readout_e01: figures.map(({ e01 }) => e01),
      readout_e10: figures.map(({ e10 }) => e10),
    };
  }
}

/** `"0x…", ` with a digit for every four bits: 8 bytes more than the digits; the other form is smaller. */
function resultBytesMax({ qubits, shots }: Plan): number {
  return shots * (Math.ceil(qubits.length / 4) + 8) + METADATA_BYTES_MAX;
}

/** The results, which the API's description calls a text: JSON itself, or JSON in a JSON text. */
function resultJson(reply: HttpReply): unknown {
  const json = jsonOf(reply);
  return typeof json === 'string' ? jsonOf({ body: utf8Bytes(json) }) : json;
}
