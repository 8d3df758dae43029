import type { Fault } from '../support/providers/http-server.ts';
import type { Spoilt } from '../support/providers/ibm.ts';
import { type JobFault, jobBackendContract } from './backend-contract.ts';
import { IbmSubject } from './ibm-fixtures.ts';

type IbmFault = JobFault<IbmSubject>;

const START = 'POST /api/v1/jobs';
const JOBS = 'GET /api/v1/jobs';
const TOKEN = 'POST /identity';

/** The next request whose `METHOD /path` begins with `at` meets the fault. */
const inject = (fault: Fault, at: string) => (subject: IbmSubject) => void subject.server.inject(fault, at);
/** The results of the only job meet it. */
const onResults = (fault: Fault) => (subject: IbmSubject) =>
  void subject.server.inject(fault, `${JOBS}/${subject.server.jobs[0].id}/results`);
/** The job's results are wrong, for good. */
const spoil = (spoilt: Spoilt) => (subject: IbmSubject) => subject.server.respoil(spoilt);
const lasting = 'IBM gives nothing else';

const error = (status: number, code: string, message: string, headers = {}): Fault => ({
  status,
  headers,
  body: { trace: 'abc', errors: [{ code, message }] },
});
const IAM_BUSY = { status: 429, headers: { 'retry-after': '7' } };
const SLOW_30_S = error(429, '1429', 'Slow down', { 'retry-after': '30' });
const NO_MINUTES = error(409, '1303', 'Usage exceeds instance limit');
const OTHER_SHAPE = { status: 400, body: { error: { code: 9, message: 'no' } } };

const FAULTS: readonly IbmFault[] = [
  [
    'submit',
    'a key that IAM does not know, in words that repeat it',
    'auth',
    ({ server }) => void server.inject(iamRefusal(server.apiKey), TOKEN),
    { message: /BXNIM0415E .*\[secret\]/ },
  ],
  ['submit', 'IAM is busy', 'retryable', inject(IAM_BUSY, TOKEN), { retryAfterMs: 7_000 }],
  ['submit', 'IAM gives no token', 'retryable', inject({ body: {} }, TOKEN)],
  [
    'submit',
    'IAM gives a token that no header holds',
    'retryable',
    inject(strangeToken('to\nken-of-a-test'), TOKEN),
    { message: /without a token/ },
  ],
  ['submit', 'the instance is not ours', 'auth', inject(error(403, '1224', 'not authorized'), START)],
  [
    'submit',
    'minutes used up',
    'quota',
    inject(NO_MINUTES, START),
    { retryAfterMs: 3_600_000, message: /usage limit/ },
  ],
  ['submit', 'too many jobs', 'retryable', inject(SLOW_30_S, START), { retryAfterMs: 30_000 }],
  [
    'submit',
    'too many requests, no time named',
    'retryable',
    inject(error(429, '1429', 'Slow down'), JOBS),
    { retryAfterMs: 60_000 },
  ],
  [
    'submit',
    'a circuit refused',
    'permanent',
    inject(error(400, '1211', 'Invalid params'), START),
    { message: /1211 Invalid params/ },
  ],
  [
    'submit',
    'the other shape of errors',
    'permanent',
    inject(OTHER_SHAPE, START),
    { message: /HTTP 400: 9 no$/ },
  ],
  ['submit', 'an answer that got lost', 'retryable', inject('cut', START)],
  ['submit', 'a job without a name', 'retryable', inject({ body: { backend: 'ibm_test' } }, START)],
  ['submit', 'a broken list of devices', 'retryable', inject('broken-json', 'GET /api/v1/backends')],
  ['submit', 'the service fails', 'retryable', inject({ status: 503 }, START)],
  ['poll', 'the service fails', 'retryable', inject({ status: 502, body: '<html>' }, JOBS)],
  ['poll', 'a connection that breaks', 'retryable', inject('reset', JOBS)],
  ['poll', 'half an answer', 'retryable', inject('broken-json', JOBS)],
  ['fetch', 'half a result', 'retryable', inject('cut', `${JOBS}/d`)],
  ['fetch', 'broken JSON for results', 'retryable', onResults('broken-json')],
  [
    'fetch',
    'results that are not there yet',
    'retryable',
    onResults({ status: 204 }),
    { message: /not available yet/ },
  ],
  ['fetch', 'a shot too few', 'permanent', spoil('truncated'), { lasting, message: /of \d+ shots/ }],
  ['fetch', 'counts', 'no_raw_shots', spoil('counts'), { lasting }],
];

function strangeToken(token: string): Fault {
  return { body: { access_token: token, expires_in: 3600 } };
}

function iamRefusal(key: string): Fault {
  const errorMessage = `Provided API key could not be found: ${key}`;
  return { status: 400, body: { errorCode: 'BXNIM0415E', errorMessage } };
}

// A job that is not private may be fetched again, as the suite does.
jobBackendContract('ibm', (t) => IbmSubject.start(t, { private: 'false' }), FAULTS);
