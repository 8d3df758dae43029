import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import { fixedBytes } from '../../support/backends.ts';
import { type Circuit, measuredRows } from '../../support/circuits.ts';
import type { ManualClock } from '../../support/manual-clock.ts';
import {
  type ProviderReply,
  type ProviderRequest,
  ProviderServer,
} from '../../support/providers/http-server.ts';

export const IONQ_KEY = 'ionq-key-0123456789abcdef';

/** How the shots of finished jobs are published. */
export type ShotsForm = 'url-v1' | 'artifact-v1' | 'artifact-v2' | 'both' | 'none';

/** Defects of the results of the jobs that finish next. */
export type ResultFault =
  | 'histogram'
  | 'truncated'
  | 'wide'
  | 'short-register'
  | 'not-a-number'
  | 'leaking'
  | 'leaking-much'
  | 'foreign-url'
  | 'other-backend';

interface LocalJob {
  readonly id: string;
  readonly name: string | null;
  readonly backend: string;
  readonly shots: number;
  readonly metadata: Readonly<Record<string, string>>;
  readonly circuit: Circuit | null;
  readonly submittedAtMs: number;
  status: string;
  endedAtMs: number | null;
  failure: Readonly<Record<string, string>> | null;
  /** Outcomes as rows of bits, qubit by qubit; leaked shots are in neither. */
  rows: readonly (readonly number[])[];
  documents: { readonly v1: string; readonly v2: string } | null;
}

const READOUT = { e01: 0.002, e10: 0.006 };

/** IonQ's API v0.4 on the loopback: native circuits run with readout errors. */
export class LocalIonq {
  readonly server = new ProviderServer((request) => this.#handle(request));
  readonly #clock: ManualClock;
  readonly #outcomes = fixedBytes('ionq');
  readonly #jobs = new Map<string, LocalJob>();
  /** Documents of shots that were read, in order, verbatim. */
  readonly read: Buffer[] = [];
  form: ShotsForm = 'url-v1';
  fault: ResultFault | undefined;
  /** How far the clock advances while jobs are listed. */
  listingTakesMs = 0;
  backendStatus = 'available';
  /** True: a job is run before anyone asks for it. */
  hasNoQueue = false;
  spamFidelity: number | null = 0.9962;
  /** IonQ's own estimate for one circuit. */
  estimatedCost = 10;

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  async start(t: TestContext): Promise<this> {
    await this.server.start(t);
    return this;
  }

  get baseUrl(): string {
    return `${this.server.url}/v0.4`;
  }

  /** Jobs that were paid for. */
  get jobs(): number {
    return this.#jobs.size;
  }

  get ids(): string[] {
    return [...this.#jobs.keys()];
  }

  /** The outcomes of the job that was finished last. */
  measured: readonly (readonly number[])[] = [];

  /** Runs every job that waits. */
  finish(): void {
    for (const job of [...this.#jobs.values()]) {
      if (job.status !== 'ready') continue;
      this.#clock.advance(60_000);
      this.#run(job);
      this.measured = job.rows;
      job.status = 'completed';
      job.endedAtMs = this.#clock.wallMs();
      this.fault = this.fault === 'foreign-url' || this.fault === 'other-backend' ? this.fault : undefined;
    }
  }

  /** Sets the state of every job of the account. */
  setStatus(status: string, failure: Readonly<Record<string, string>> | null = null): void {
    for (const job of this.#jobs.values()) Object.assign(job, { status, failure });
  }

  /** Adds jobs of other users on the same system. */
  addForeignJobs(count: number): void {
    for (let i = 0; i < count; i++) this.#add({ metadata: {} }, 'qpu.forte-1', null, null);
  }

  #run(job: LocalJob): void {
    const circuit = job.circuit!;
    const readout = circuit.measured.map(() => READOUT);
    const outcomes = measuredRows(circuit, readout, this.#outcomes, job.shots);
    const leakEvery = { leaking: 50, 'leaking-much': 4 }[String(this.fault)];
    const isLeaked = (shot: number) => leakEvery !== undefined && shot % leakEvery === 1;
    job.rows = outcomes.filter((_, shot) => !isLeaked(shot));
    job.documents = this.#documents(outcomes, isLeaked);
  }

  #documents(outcomes: readonly number[][], isLeaked: (shot: number) => boolean) {
    const numbers = outcomes.map((row) => BigInt(`0b${row.toReversed().join('')}`).toString());
    const shots = outcomes.map((row, shot) => ({
      registers: { output_all: row },
      leakage_bits: row.map((_, qubit) => (isLeaked(shot) && qubit === 0 ? 1 : 0)),
    }));
    if (this.fault === 'truncated') {
      numbers.pop();
      shots.pop();
    }
    if (this.fault === 'wide') numbers[7] = (1n << BigInt(outcomes[0].length)).toString();
    if (this.fault === 'not-a-number') numbers[7] = '-1';
    if (this.fault === 'short-register') shots[7].registers.output_all.pop();
    return { v1: JSON.stringify(numbers), v2: JSON.stringify({ shots }) };
  }

  #handle(request: ProviderRequest): ProviderReply {
    const { method, query } = request;
    const [, version, resource, name, ...rest] = request.path.split('/').map(decodeURIComponent);
    if (version !== 'v0.4') return ionqError(404, `No such path: ${request.path}`);
    if (resource === 'backends' && method === 'GET') {
      return rest.length === 0 ? this.#backend(name) : this.#characterizations(name);
    }
    if (request.headers.authorization !== `apiKey ${IONQ_KEY}`) return ionqError(401, 'Invalid key provided');
    if (resource !== 'jobs') return ionqError(404, `No such path: ${request.path}`);
    if (name === undefined && method === 'POST') {
      const reply = this.#create(request.body);
      if (this.hasNoQueue) this.finish();
      return reply;
    }
    if (name === undefined) return this.#list(query);
    if (name === 'estimate') return this.#estimate(query);
    const job = this.#jobs.get(name);
    if (job === undefined) return ionqError(404, 'Job not found');
    if (method === 'DELETE') {
      this.#jobs.delete(name);
      return { body: { id: name, status: 'deleted' } };
    }
    if (method === 'PUT' && rest.join('/') === 'status/cancel') return this.#cancel(job);
    if (rest.length === 0) return { body: this.#described(job) };
    return this.#shots(job, rest.join('/'));
  }

  #backend(name: string): ProviderReply {
    return {
      body: {
        backend: name,
        status: this.backendStatus,
        qubits: 36,
        average_queue_time: 1_181_215,
        last_updated: '2026-11-20T00:00:00Z',
        characterization_id: 'char-1',
        degraded: false,
        location: 'Loopback',
      },
    };
  }

  #characterizations(name: string): ProviderReply {
    if (this.spamFidelity === null) return { body: { characterizations: [] } };
    return {
      body: {
        characterizations: [
          {
            id: 'char-1',
            backend: name,
            date: '2026-11-19T00:00:00Z',
            qubits: 36,
            connectivity: [],
            fidelity: { spam: { median: this.spamFidelity, stderr: null } },
            timing: { readout: 250, reset: 150 },
          },
        ],
      },
    };
  }

  #estimate(query: URLSearchParams): ProviderReply {
    return {
      body: {
        input_values: Object.fromEntries(query),
        cost_unit: 'usd',
        estimated_cost: this.estimatedCost,
        estimated_execution_time: 30,
        current_predicted_queue_time: 600,
      },
    };
  }

  #create(body: string): ProviderReply {
    const { type, backend, shots, metadata, settings, input, name, ...other } = JSON.parse(body);
    if (Object.keys(other).length > 0) return ionqError(400, `Unknown keys: ${Object.keys(other)}`);
    if (settings?.error_mitigation?.debiasing !== false) return ionqError(400, 'Debiasing is on');
    if (input.gateset !== 'native') return ionqError(400, `Gateset ${input.gateset}`);
    const payload = { metadata, shots };
    try {
      if (type !== 'ionq.circuit.v1') throw new Error(`Unknown type: ${type}`);
      const job = this.#add(payload, backend, circuitOf(input.circuit, input.qubits, backend), name);
      return { status: 201, body: { id: job.id, status: 'ready', session_id: null } };
    } catch (error) {
      return ionqError(400, (error as Error).message);
    }
  }

  #add(
    payload: { readonly metadata: Readonly<Record<string, string>>; readonly shots?: number },
    backend: string,
    circuit: Circuit | null,
    name: string | null,
  ): LocalJob {
    const job: LocalJob = {
      id: randomUUID(),
      name,
      backend,
      shots: payload.shots ?? 100,
      metadata: payload.metadata,
      circuit,
      submittedAtMs: this.#clock.wallMs(),
      status: 'ready',
      endedAtMs: null,
      failure: null,
      rows: [],
      documents: null,
    };
    this.#jobs.set(job.id, job);
    return job;
  }

  #list(query: URLSearchParams): ProviderReply {
    this.#clock.advance(this.listingTakesMs);
    const limit = Number(query.get('limit') ?? 25);
    const from = Number(query.get('next') ?? 0);
    const listed = [...this.#jobs.values()].filter(({ backend }) => backend === query.get('target'));
    const next = from + limit < listed.length ? String(from + limit) : null;
    return { body: { jobs: listed.slice(from, from + limit).map((job) => this.#described(job)), next } };
  }

  #cancel(job: LocalJob): ProviderReply {
    if (job.status === 'completed') return ionqError(400, 'Job is already completed');
    job.status = 'canceled';
    return { body: { id: job.id, status: 'canceled' } };
  }

  #described(job: LocalJob): Readonly<Record<string, unknown>> {
    const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
    return {
      id: job.id,
      status: job.status,
      type: 'ionq.circuit.v1',
      backend: this.fault === 'other-backend' ? 'qpu.aria-1' : job.backend,
      name: job.name,
      metadata: job.metadata,
      parent_job_id: null,
      child_job_ids: null,
      submitted_at: iso(job.submittedAtMs),
      started_at: job.endedAtMs === null ? null : iso(job.endedAtMs - 2_000),
      completed_at: iso(job.endedAtMs),
      predicted_wait_time_ms: 600_000,
      shots: job.shots,
      failure: job.failure,
      results: job.documents === null ? null : this.#results(job),
    };
  }

  #results(job: LocalJob): Readonly<Record<string, unknown>> {
    const at = `/v0.4/jobs/${job.id}/results`;
    const aggregated = {
      probabilities: { url: `${at}/probabilities` },
      histogram: { url: `${at}/histogram` },
    };
    const artifact = (format: string) => ({
      [`ionq.result.shots.json.${format}`]: {
        id: `shots-${format}`,
        format: `ionq.result.shots.json.${format}`,
        media_type: 'application/json',
      },
    });
    const url = this.fault === 'foreign-url' ? 'https://ionq.example/v0.4/shots' : `${at}/shots`;
    switch (this.form) {
      case 'none':
        return aggregated;
      case 'url-v1':
        return { ...aggregated, shots: { url } };
      case 'artifact-v1':
        return { ...aggregated, ...artifact('v1') };
      case 'artifact-v2':
        return { ...aggregated, ...artifact('v2') };
      case 'both':
        return { ...aggregated, shots: { url }, ...artifact('v1'), ...artifact('v2') };
    }
  }

  #shots({ documents }: LocalJob, path: string): ProviderReply {
    if (documents === null) return ionqError(404, 'Job not found or not yet completed.');
    const format = path === 'artifacts/shots-v2' ? 'v2' : 'v1';
    if (!['results/shots', 'artifacts/shots-v1', 'artifacts/shots-v2'].includes(path)) {
      return ionqError(404, `No such path: ${path}`);
    }
    const body = this.fault === 'histogram' ? '{"0":0.5,"3":0.5}' : documents[format];
    this.read.push(Buffer.from(body));
    return { body };
  }
}

interface NativeGate {
  readonly gate: string;
  readonly target: number;
  /** The phase, in turns. */
  readonly phase: number;
}

function circuitOf(gates: readonly NativeGate[], qubits: number, backend: string): Circuit {
  return {
    gates: gates.map(({ gate, target, phase }) => {
      if (gate !== 'gpi2') throw new Error(`${gate} is not a native gate of ${backend}`);
      return { name: gate, angles: [2 * Math.PI * phase], qubit: target };
    }),
    measured: [...new Array(qubits).keys()],
  };
}

/** An error in the shape of the OpenAPI document. */
export function ionqError(
  statusCode: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): ProviderReply {
  return { status: statusCode, headers, body: { statusCode, error: 'Error', message } };
}
