import { type JobFault, jobBackendContract } from '../support/backend-contract.ts';
import type { Fault } from '../support/providers/http-server.ts';
import type { Spoilt } from '../support/providers/ibm.ts';
import { IbmSubject } from './ibm-fixtures.ts';

type IbmFault = JobFault<IbmSubject>;
type Expected = Omit<IbmFault, 'what' | 'on' | 'arrange'>;

const START = 'POST /api/v1/jobs';
const JOBS = 'GET /api/v1/jobs';

/** The next request whose `METHOD /path` begins with `at` meets the fault. */
function met(on: IbmFault['on'], what: string, fault: Fault, at: string, expected: Expected): IbmFault {
  return { on, what, arrange: ({ server }) => void server.inject(fault, at), ...expected };
}

/** The job's results are wrong, for good. */
function given(spoilt: Spoilt, expected: Pick<Expected, 'kind' | 'message'>): IbmFault {
  const arrange = ({ server }: IbmSubject) => server.respoil(spoilt);
  return { on: 'fetch', what: spoilt, arrange, ...expected, lasting: 'IBM gives nothing else' };
}

const error = (status: number, code: string, message: string, headers = {}): Fault => ({
  status,
  headers,
  body: { trace: 'abc', errors: [{ code, message }] },
});
const retryable = { kind: 'retryable' } as const;

const FAULTS: readonly IbmFault[] = [
  {
    on: 'submit',
    what: 'a key that IAM does not know, in words that repeat it',
    kind: 'auth',
    message: /BXNIM0415E .*\[secret\]/,
    arrange: ({ server }) => void server.inject(iamRefusal(server.apiKey), 'POST /identity'),
  },
  met('submit', 'IAM is busy', { status: 429, headers: { 'retry-after': '7' } }, 'POST /identity', {
    ...retryable,
    retryAfterMs: 7_000,
  }),
  met('submit', 'IAM gives no token', { body: {} }, 'POST /identity', retryable),
  met(
    'submit',
    'IAM gives a token that no header holds',
    strangeToken('to\nken-of-a-test'),
    'POST /identity',
    {
      ...retryable,
      message: /without a token/,
    },
  ),
  met('submit', 'the instance is not ours', error(403, '1224', 'not authorized'), START, { kind: 'auth' }),
  met('submit', 'minutes used up', error(409, '1303', 'Usage exceeds instance limit'), START, {
    kind: 'quota',
    retryAfterMs: 3_600_000,
    message: /usage limit/,
  }),
  met('submit', 'too many jobs', error(429, '1429', 'Slow down', { 'retry-after': '30' }), START, {
    ...retryable,
    retryAfterMs: 30_000,
  }),
  met('submit', 'too many requests, no time named', error(429, '1429', 'Slow down'), JOBS, {
    ...retryable,
    retryAfterMs: 60_000,
  }),
  met('submit', 'a circuit refused', error(400, '1211', 'Invalid params'), START, {
    kind: 'permanent',
    message: /1211 Invalid params/,
  }),
  met(
    'submit',
    'the other shape of errors',
    { status: 400, body: { error: { code: 9, message: 'no' } } },
    START,
    {
      kind: 'permanent',
      message: /HTTP 400: 9 no$/,
    },
  ),
  met('submit', 'an answer that got lost', 'cut', START, retryable),
  met('submit', 'a job without a name', { body: { backend: 'ibm_test' } }, START, retryable),
  met('submit', 'a broken list of devices', 'broken-json', 'GET /api/v1/backends', retryable),
  met('submit', 'the service fails', { status: 503 }, START, retryable),
  met('poll', 'the service fails', { status: 502, body: '<html>' }, JOBS, retryable),
  met('poll', 'a connection that breaks', 'reset', JOBS, retryable),
  met('poll', 'half an answer', 'broken-json', JOBS, retryable),
  met('fetch', 'half a result', 'cut', `${JOBS}/d`, retryable),
  {
    on: 'fetch',
    what: 'broken JSON for results',
    ...retryable,
    arrange: ({ server }) => void server.inject('broken-json', `${JOBS}/${server.jobs[0].id}/results`),
  },
  {
    on: 'fetch',
    what: 'results that are not there yet',
    ...retryable,
    message: /not there yet/,
    arrange: ({ server }) => void server.inject({ status: 204 }, `${JOBS}/${server.jobs[0].id}/results`),
  },
  given('truncated', { kind: 'permanent', message: /of \d+ shots/ }),
  given('pub-missing', { kind: 'permanent', message: /0 of 1 PUBs/ }),
  given('one-bit-less', { kind: 'permanent', message: /bits a shot/ }),
  given('too-wide', { kind: 'permanent', message: /more than \d+ bits|bytes a shot/ }),
  given('counts', { kind: 'no_raw_shots' }),
  given('probabilities', { kind: 'no_raw_shots' }),
];

function strangeToken(token: string): Fault {
  return { body: { access_token: token, expires_in: 3600 } };
}

function iamRefusal(key: string): Fault {
  const errorMessage = `Provided API key could not be found: ${key}`;
  return { status: 400, body: { errorCode: 'BXNIM0415E', errorMessage } };
}

// A job that is not private may be fetched again, as the suite does.
jobBackendContract('ibm, json', (t) => IbmSubject.start(t, { private: 'false' }), FAULTS);
jobBackendContract(
  'ibm, qiskit',
  (t) => IbmSubject.start(t, { private: 'false', result_form: 'qiskit' }),
  FAULTS.filter(({ on }) => on === 'fetch'),
);
