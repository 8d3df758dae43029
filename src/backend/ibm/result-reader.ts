import { wipe } from '../../core/bytes.ts';
import type { Clock } from '../../core/clock.ts';
import type { HttpReply } from '../../core/http-request.ts';
import { instantIn, objectIn, textIn } from '../../core/json.ts';
import { sha256Hex } from '../../crypto/digest.ts';
import { BackendError, type Provenance, type RawRead, type Witness } from '../backend.ts';
import type { SourceParts } from '../definition.ts';
import { jsonOf } from '../http-call.ts';
import { DRAWN_BEFORE_SUBMISSION } from '../parts.ts';
import { jobNotes, type RecentEntries, SeenResults } from '../seen.ts';
import type { IbmCloud } from './cloud.ts';
import type { Device } from './device.ts';
import { PHYSICAL_COMPILER_VERSION, type Plan, programsOf, X_TEST } from './plan.ts';
import { decodeResult, type ShotRange } from './results.ts';

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
  readonly #seen: SeenResults;
  /** Private jobs whose results may have been read, and so be gone. */
  readonly #begun: RecentEntries;

  constructor(cloud: IbmCloud, device: Device, { clock, memory }: SourceParts) {
    this.#cloud = cloud;
    this.#device = device;
    this.#clock = clock;
    this.#seen = new SeenResults(memory);
    this.#begun = jobNotes(memory, 'begun');
  }

  /**
   * All else is asked for before the results: those of a private job can be read only once. What no other try
   * will give better rejects as permanent: the job is lost.
   */
  async read(jobId: string, plan: Plan, signal: AbortSignal): Promise<RawRead> {
    const facts = await this.#runFacts(jobId, plan, signal);
    const reply = await this.#results(jobId, plan, facts.finishedAtMs, signal);
    const rawSha256 = sha256Hex(reply.body);
    const json = resultJson(reply);
    if (json === undefined) {
      throw new BackendError('retryable', `job ${jobId}: IBM Quantum gave results that are not JSON`);
    }
    await this.#seen.admit(rawSha256, jobId);
    try {
      return await decoded(jobId, this.#device.name, plan, json, rawSha256, facts);
    } finally {
      wipe(reply.body);
    }
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
function resultBytesMax({ qubits, shotsPerPub, order }: Plan): number {
  return shotsPerPub * order.length * (Math.ceil(qubits.length / 4) + 8) + METADATA_BYTES_MAX;
}

/** The results, which the API's description calls a text: JSON itself, or JSON in a JSON text. */
function resultJson(reply: HttpReply): unknown {
  const json = jsonOf(reply);
  if (typeof json !== 'string') return json;
  return jsonOf({ ...reply, body: new TextEncoder().encode(json) });
}

async function decoded(
  jobId: string,
  device: string,
  plan: Plan,
  json: unknown,
  rawSha256: string,
  facts: RunFacts,
): Promise<RawRead> {
  const { circuit, order, shotsPerPub, qubits } = plan;
  const width = qubits.length;
  const isTest = (program: number) => circuit === 'x-check' && program === X_TEST;
  const tests = order.filter(isTest).length;
  const shots = (order.length - tests) * shotsPerPub;
  const raw = new Uint8Array(Math.ceil((shots * width) / 8));
  const witness = new Uint8Array(Math.ceil((tests * shotsPerPub * width) / 8));
  const ranges = order.map((program, pub): ShotRange => {
    const before = order.slice(0, pub).filter((each) => isTest(each) === isTest(program)).length;
    return { bits: isTest(program) ? witness : raw, firstShot: before * shotsPerPub };
  });
  await decodeResult(json, { pubs: order.length, shots: shotsPerPub, width }, (pub) => ranges[pub]);
  const programs = programsOf(plan);
  return {
    bits: raw,
    width,
    shots,
    rawSha256,
    provenance: {
      provider: 'IBM Quantum',
      device,
      jobId,
      circuit: programs.name,
      circuitVersion: PHYSICAL_COMPILER_VERSION,
      circuitSha256: programs.sha256,
      qubitsUsed: width,
      circuitDepth: programs.depth,
      shots,
      ...facts,
    },
    ...witnessOf(plan, witness, tests),
  };
}

function witnessOf(
  { circuit, order, shotsPerPub }: Plan,
  bits: Uint8Array<ArrayBuffer>,
  testedClusters: number,
): { readonly witness?: Witness } {
  const clusters = { shotsOrdered: shotsPerPub, drawn: DRAWN_BEFORE_SUBMISSION };
  if (circuit === 'x-check') {
    const shots = testedClusters * shotsPerPub;
    const rawClusters = order.length - testedClusters;
    return { witness: { kind: 'x-basis', bits, shots, testedClusters, rawClusters, ...clusters } };
  }
  if (circuit !== 'bell-chsh') return {};
  const settings = new Uint8Array(order.length * shotsPerPub);
  order.forEach((setting, pub) => {
    settings.fill(setting, pub * shotsPerPub, (pub + 1) * shotsPerPub);
  });
  const clusterShots = new Uint32Array(order.length).fill(shotsPerPub);
  return { witness: { kind: 'chsh', settings, clusterShots, ...clusters } };
}
