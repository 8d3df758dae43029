import { randomBytes } from 'node:crypto';
import { fixedBytes } from '../backends.ts';
import { measuredRows } from '../circuits.ts';
import type { ManualClock } from '../manual-clock.ts';
import { type ProviderReply, type ProviderRequest, ProviderServer } from './http-server.ts';
import { configurationOf, type IbmDevice, propertiesOf, TEST_DEVICE } from './ibm-device.ts';
import { readProgram } from './program.ts';

const API = '/api/v1';
const JOBS_PER_MINUTE = 5;
const TOKEN_SECONDS = 3600;
const RUN_MS = 4_000;
const PUBLISHED = '2026-11-20T06:00:00-05:00';

/** The form of a result; all but `sound` are defective. */
export type Spoilt =
  | 'sound'
  | 'truncated' // the last shot is missing
  | 'counts'
  | 'text'; // the JSON as a JSON text

/** The shots of one PUB as rows of bits, channel by channel. */
interface RunPub {
  readonly program: string;
  readonly rows: readonly (readonly number[])[];
}

interface ServerJob {
  readonly id: string;
  readonly createdMs: number;
  readonly tags: readonly string[];
  readonly isPrivate: boolean;
  readonly calibrationId: string;
  readonly body: JobBody;
  readonly pubs: readonly RunPub[];
  state: { status: string; reason?: string; reason_code?: number; reason_solution?: string };
  runningMs: number | null;
  finishedMs: number | null;
  /** The results, until a private job's were read. */
  results: string | null;
}

interface JobBody {
  readonly program_id: string;
  readonly backend: string;
  readonly tags?: readonly string[];
  readonly cost?: number;
  readonly private?: boolean;
  readonly params: {
    readonly version: number;
    readonly support_qiskit: boolean;
    readonly pubs: readonly (readonly [string, null, number])[];
    readonly options: object;
  };
}

const BODY_KEYS = ['program_id', 'backend', 'tags', 'cost', 'private', 'params'];
const PARAMS_KEYS = ['version', 'support_qiskit', 'pubs', 'options'];

/**
 * IBM Quantum Platform and IAM on one port: runs what is submitted on our simulator, with the readout errors of its
 * device's calibration. Jobs outlive the clients.
 */
export class IbmServer extends ProviderServer {
  readonly apiKey = `key-${randomBytes(16).toString('hex')}`;
  readonly crn = 'crn:v1:bluemix:public:quantum-computing:eu-de:a/0123456789abcdef:instance-1::';
  readonly jobs: ServerJob[] = [];
  readonly tokens = new Map<string, number>();
  device: IbmDevice = TEST_DEVICE;
  /** The state of the device in `/backends`. */
  status = 'online';
  /** True: a job is done before anyone asks for it. */
  hasNoQueue = false;
  /** False: the jobs API ignores the filter by tags. */
  filtersTags = true;
  readonly #clock: ManualClock;
  readonly #calibrations = new Map<string, object>();
  readonly #outcomes = fixedBytes('ibm');
  #submittedAtMs: number[] = [];

  constructor(clock: ManualClock) {
    super((request) => this.#answer(request));
    this.#clock = clock;
    this.calibrate(PUBLISHED);
  }

  /** The device is measured again. */
  calibrate(date: string, device: IbmDevice = this.device): void {
    this.device = device;
    this.#calibrations.set(`cal-${this.#calibrations.size + 1}`, propertiesOf(device, date));
  }

  /** The calibration with this id is not given any more. */
  forgetCalibration(id: string): void {
    this.#calibrations.delete(id);
  }

  /** Runs every waiting job. */
  finishJobs(): void {
    for (const job of this.jobs.filter(
      ({ state }) => state.status === 'Queued' || state.status === 'Running',
    )) {
      job.runningMs = this.#clock.wallMs();
      this.#clock.advance(RUN_MS);
      job.finishedMs = this.#clock.wallMs();
      job.state = { status: 'Completed' };
    }
  }

  /** The results of the last job are like this from now on. */
  respoil(spoilt: Spoilt): void {
    const job = this.jobs.at(-1)!;
    job.results = resultsOf(job.pubs, spoilt);
  }

  revokeTokens(): void {
    this.tokens.clear();
  }

  async #answer(request: ProviderRequest): Promise<ProviderReply> {
    const { method, path } = request;
    if (path === '/identity/token') return this.#token(request);
    const token = request.headers['authorization']?.replace(/^Bearer /, '') ?? '';
    if (!((this.tokens.get(token) ?? 0) > this.#clock.monotonicMs()))
      return ibmError(401, 'unauthorized', token);
    if (request.headers['service-crn'] !== this.crn) return ibmError(403, 'forbidden', 'wrong instance');
    if (!/^\d{4}-\d{2}-\d{2}$/.test(request.headers['ibm-api-version'] ?? ''))
      return ibmError(400, 'no version', '');
    const [, resource, id, part] = path.slice(API.length).split('/');
    if (resource === 'backends') return this.#backends(id, part, request.query);
    if (resource === 'instances') {
      return { body: { usage_consumed_seconds: 12, usage_remaining_seconds: 588, usage_limit_seconds: 600 } };
    }
    if (resource !== 'jobs') return ibmError(404, 'not_found', path);
    if (id === undefined) return method === 'POST' ? this.#start(request.body) : this.#list(request.query);
    const job = this.jobs.find((each) => each.id === id);
    if (job === undefined) return ibmError(404, '1291', `Job not found. Job ID: ${id}`);
    return this.#job(job, `${method} ${part ?? ''}`.trim());
  }

  #token({ body, headers }: ProviderRequest): ProviderReply {
    const form = new URLSearchParams(body);
    if (form.get('grant_type') !== 'urn:ibm:params:oauth:grant-type:apikey') return { status: 400, body: {} };
    if (headers['content-type'] !== 'application/x-www-form-urlencoded') return { status: 415, body: {} };
    const key = form.get('apikey');
    if (key !== this.apiKey) {
      const errorMessage = `Provided API key could not be found: ${key}`;
      return { status: 400, body: { errorCode: 'BXNIM0415E', errorMessage } };
    }
    const token = `token-${randomBytes(16).toString('hex')}`;
    this.tokens.set(token, this.#clock.monotonicMs() + TOKEN_SECONDS * 1000);
    return {
      body: {
        access_token: token,
        refresh_token: 'not_supported',
        token_type: 'Bearer',
        expires_in: TOKEN_SECONDS,
        expiration: Math.floor(this.#clock.wallMs() / 1000) + TOKEN_SECONDS,
        scope: 'ibm openid',
      },
    };
  }

  #backends(id: string | undefined, part: string | undefined, query: URLSearchParams): ProviderReply {
    if (id === undefined) return { body: { devices: [this.#entry()] } };
    if (id !== this.device.name) return ibmError(404, '1216', 'device not found');
    if (part === 'configuration') return { body: configurationOf(this.device) };
    if (part !== 'properties') return ibmError(404, 'not_found', part ?? '');
    const calibration = query.get('calibration_id') ?? [...this.#calibrations.keys()].at(-1)!;
    const properties = this.#calibrations.get(calibration);
    return properties === undefined ? ibmError(404, '1216', 'calibration not found') : { body: properties };
  }

  #entry(): object {
    return {
      name: this.device.name,
      status: { name: this.status, reason: 'available' },
      is_simulator: this.device.isSimulator,
      qubits: this.device.qubits,
      queue_length: this.jobs.filter(({ state }) => state.status === 'Queued').length,
      processor_type: { family: 'Heron', revision: '2' },
    };
  }

  #start(text: string): ProviderReply {
    const nowMs = this.#clock.monotonicMs();
    this.#submittedAtMs = this.#submittedAtMs.filter((atMs) => nowMs - atMs < 60_000);
    if (this.#submittedAtMs.length >= JOBS_PER_MINUTE) {
      return { ...ibmError(429, '1429', 'Too many requests'), headers: { 'retry-after': '30' } };
    }
    const body: JobBody = JSON.parse(text);
    const unknown = [
      ...Object.keys(body).filter((key) => !BODY_KEYS.includes(key)),
      ...Object.keys(body.params).filter((key) => !PARAMS_KEYS.includes(key)),
    ];
    if (
      unknown.length > 0 ||
      body.program_id !== 'sampler' ||
      body.params.support_qiskit ||
      body.backend !== this.device.name
    ) {
      return ibmError(400, '1211', `params are not valid: ${unknown.join()}`);
    }
    if (body.tags?.some((tag) => tag.length > 86)) return ibmError(400, '1212', 'a tag is too long');
    this.#submittedAtMs.push(nowMs);
    const job = this.#run(body);
    this.jobs.push(job);
    if (this.hasNoQueue) this.finishJobs();
    const { id, calibrationId: calibration_id } = job;
    return { body: { id, backend: body.backend, calibration_id, ...(body.private && { private: true }) } };
  }

  #run(body: JobBody): ServerJob {
    const pubs = body.params.pubs.map(([program, , shots]) => this.#runPub(program, shots));
    return {
      id: `d${randomBytes(9).toString('hex')}`,
      createdMs: this.#clock.wallMs(),
      tags: body.tags ?? [],
      isPrivate: body.private === true,
      calibrationId: [...this.#calibrations.keys()].at(-1)!,
      body,
      pubs,
      state: { status: 'Queued' },
      runningMs: null,
      finishedMs: null,
      results: resultsOf(pubs, 'sound'),
    };
  }

  #runPub(program: string, shots: number): RunPub {
    const { qubits, basisGates: gates, table } = this.device;
    const circuit = readProgram(program, { gates, qubits: [...new Array(qubits).keys()], isPhysical: true });
    const readout = circuit.measured.map((qubit) => table[qubit]);
    return { program, rows: measuredRows(circuit, readout, this.#outcomes, shots) };
  }

  #list(query: URLSearchParams): ProviderReply {
    const wanted = this.filtersTags ? query.getAll('tags') : [];
    const jobs = this.jobs.filter(({ tags }) => wanted.every((tag) => tags.includes(tag)));
    return { body: { jobs: jobs.map(jobView).reverse(), count: jobs.length, offset: 0, limit: 200 } };
  }

  #job(job: ServerJob, call: string): ProviderReply {
    const hasEnded = !['Queued', 'Running'].includes(job.state.status);
    switch (call) {
      case 'GET':
        return { body: jobView(job) };
      case 'GET metrics':
        return { body: metricsOf(job) };
      case 'GET results':
        return this.#results(job);
      case 'POST cancel':
        if (hasEnded) return ibmError(409, '1305', 'Job is in non cancellable status');
        job.state = { status: 'Cancelled', reason: 'Cancelled by the user' };
        return { status: 204 };
      case 'DELETE':
        if (!hasEnded) return ibmError(400, '1306', 'Job is not in a terminal state');
        this.jobs.splice(this.jobs.indexOf(job), 1);
        return { status: 204 };
      default:
        return ibmError(404, 'not_found', call);
    }
  }

  #results(job: ServerJob): ProviderReply {
    if (job.state.status !== 'Completed' || job.results === null) return { status: 204 };
    const body = job.results;
    if (job.isPrivate) job.results = null;
    return { body };
  }
}

function ibmError(status: number, code: string, message: string): ProviderReply {
  return { status, body: { trace: 'abc', errors: [{ code, message, more_info: 'https://example.org' }] } };
}

function jobView({ id, createdMs, tags, state, body, isPrivate, calibrationId }: ServerJob): object {
  return {
    id,
    backend: body.backend,
    state,
    status: state.status,
    program: { id: body.program_id },
    created: new Date(createdMs).toISOString(),
    cost: body.cost ?? 0,
    tags,
    calibration_id: calibrationId,
    ...(isPrivate && { private: true }),
  };
}

function metricsOf({ createdMs, runningMs, finishedMs }: ServerJob): object {
  const instant = (ms: number | null) => (ms === null ? undefined : new Date(ms).toISOString());
  return {
    timestamps: { created: instant(createdMs), running: instant(runningMs), finished: instant(finishedMs) },
    usage: { qpu_charge_time_seconds: 4, status: 'complete' },
  };
}

/** The body of `GET /jobs/{id}/results`. */
function resultsOf(pubs: readonly RunPub[], spoilt: Spoilt): string {
  const results = pubs.map(({ rows }) => {
    const shots = spoilt === 'truncated' ? rows.slice(0, -1) : rows;
    const num_bits = rows[0].length;
    // channel 0 in the lowest bit
    const samples = shots.map((row) => `0x${BigInt(`0b${row.toReversed().join('')}`).toString(16)}`);
    const c = spoilt === 'counts' ? { counts: { '0x0': rows.length }, num_bits } : { samples, num_bits };
    return { data: { c }, metadata: { circuit_metadata: {} } };
  });
  const body = JSON.stringify({ results, metadata: { execution: { execution_spans: [] }, version: 2 } });
  return spoilt === 'text' ? JSON.stringify(body) : body;
}
