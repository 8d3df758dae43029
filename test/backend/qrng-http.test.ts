import type { TestContext } from 'node:test';
import type { Fault } from '../support/providers/http-server.ts';
import {
  ANU_KEY,
  anuServer,
  lfdServer,
  OUTSHIFT_KEY,
  outshiftServer,
  QRYPT_KEY,
  QUANDELA_TOKEN,
  qryptServer,
  quandelaServer,
} from '../support/providers/qrng-services.ts';
import { type StreamFault, streamBackendContract } from './backend-contract.ts';
import { Pace, QrngSubject } from './qrng-http-fixtures.ts';

/** A call is tried four times. */
const TRIES = 4;

/** The second call of the read and all its tries meet the fault; the first was good. */
function persistent(fault: Fault): (subject: QrngSubject) => void {
  return ({ server }) => {
    server.inject('none');
    for (let tries = 0; tries < TRIES; tries++) server.inject(fault);
  };
}

/** The first call meets the fault, once. */
function once(fault: Fault): (subject: QrngSubject) => void {
  return ({ server }) => {
    server.inject(fault);
  };
}

type QrngFault = StreamFault<QrngSubject>;

const DOWN: Fault = { status: 503 };
const MAINTENANCE: Fault = { body: '<html>under maintenance</html>' };
const MUCH_LATER: Fault = { status: 429, headers: { 'retry-after': '120' } };
const ELSEWHERE: Fault = { status: 302, headers: { location: 'http://127.0.0.1:9/' } };

/** Faults that are possible with every service. */
const COMMON: readonly QrngFault[] = [
  ['a service that is down', 'retryable', persistent(DOWN), { message: /HTTP 503/ }],
  ['a connection that is refused', 'retryable', persistent('reset')],
  ['a reply that breaks off', 'retryable', persistent('cut')],
  ['a reply cut short', 'retryable', persistent('broken-json'), { message: /not JSON/ }],
  ['no JSON at all', 'retryable', persistent(MAINTENANCE), { message: /not JSON/ }],
  ['a response that it gave before', 'retryable', persistent('replay'), { message: /delivered before/ }],
  [
    'too many requests, come back much later',
    'retryable',
    once(MUCH_LATER),
    { message: /HTTP 429/, retryAfterMs: 120_000 },
  ],
  ['payment required', 'quota', once({ status: 402 }), { retryAfterMs: 3_600_000 }],
  ['a redirect, which would take the key elsewhere', 'permanent', once(ELSEWHERE), { message: /HTTP 302/ }],
];

/** A fault in a service's own words and the body that it comes with: met for as long as the read tries. */
type OwnFault = readonly [
  what: string,
  kind: QrngFault[1],
  body: unknown,
  expected?: QrngFault[3] & { readonly status?: number },
];

function own(faults: readonly OwnFault[]): QrngFault[] {
  return faults.map(([what, kind, body, { status = 200, ...expected } = {}]) => {
    const arrange = kind === 'retryable' ? persistent : once;
    return [what, kind, arrange({ status, body }), expected];
  });
}

function preset(
  name: string,
  texts: Readonly<Record<string, string>>,
  makeServer: (pace: Pace) => ReturnType<typeof lfdServer>,
) {
  return async (t: TestContext): Promise<QrngSubject> => {
    const pace = new Pace();
    const server = await makeServer(pace).start(t);
    return new QrngSubject(server, pace, { preset: name, ...texts });
  };
}

const data = (...items: readonly string[]) => ({ success: true, data: items });
const anu: readonly OwnFault[] = [
  ['a key that is not known', 'auth', { message: 'Forbidden' }, { status: 403, message: /Forbidden/ }],
  [
    'a key that it echoes',
    'auth',
    { message: `no such key ${ANU_KEY}` },
    { status: 403, message: /no such key \[secret\]/ },
  ],
  [
    'the plan is used up',
    'quota',
    { message: 'Limit Exceeded' },
    { status: 429, message: /Limit Exceeded/, retryAfterMs: 3_600_000 },
  ],
  ['too fast', 'retryable', { message: 'Too Many Requests' }, { status: 429 }],
  ['success: false with status 200', 'retryable', { success: false }, { message: /success: false/ }],
  ['a wrong request', 'permanent', { success: false }, { status: 400 }],
  ['too few items', 'retryable', data('00'.repeat(20), '01'.repeat(20)), { message: /2 of 1024 items/ }],
  ['no items', 'retryable', data(), { message: /0 of 1024 items/ }],
  ['no data', 'permanent', { success: true }, { message: /nothing at data/ }],
];

streamBackendContract(
  'ANU Quantum Numbers',
  preset('anu', { api_key: ANU_KEY }, (pace) => anuServer(pace.clock)),
  [...COMMON, ...own(anu)],
);

const outshift: readonly OwnFault[] = [
  ['a bad key', 'auth', { message: 'invalid API key' }, { status: 401 }],
  [
    'the day is used up',
    'quota',
    { message: 'request exceeds your daily limit of 100000 bits' },
    { status: 403, message: /daily limit/ },
  ],
  ['too few blocks', 'retryable', { random_numbers: [{ decimal: '173' }] }, { message: /1 of 1000 items/ }],
];

streamBackendContract('Outshift', preset('outshift', { api_key: OUTSHIFT_KEY }, outshiftServer), [
  ...COMMON,
  ...own(outshift),
]);

const qrypt: readonly OwnFault[] = [
  ['a token that ran out', 'auth', '', { status: 401 }],
  ['too few blocks', 'retryable', { random: ['AA=='], size: 1 }, { message: /1 of 8 items/ }],
];

streamBackendContract('Qrypt', preset('qrypt', { api_key: QRYPT_KEY, items_per_call: '8' }, qryptServer), [
  ...COMMON,
  ...own(qrypt),
]);

const lfd: readonly OwnFault[] = [
  ['an error with status 200', 'retryable', { error: 'device busy' }, { message: /device busy/ }],
  ['too few bytes', 'retryable', { qrn: 'beef', length: 2 }, { message: /2 of 4096 bytes/ }],
  ['too many bytes', 'retryable', { qrn: 'ab'.repeat(4097) }, { message: /4097 of 4096 bytes/ }],
];

streamBackendContract('LfD', preset('lfd', {}, lfdServer), [...COMMON, ...own(lfd)]);

const refused = (error: string) => ({ detail: {}, error });
const draw = (certificate: object) => ({
  jobs: [{ id: 'x', bytes: Buffer.alloc(1024, 7).toString('base64'), ...certificate }],
});
const quandela: readonly OwnFault[] = [
  ['the pool is empty', 'retryable', refused('Entropy Pool empty'), { status: 404, message: /Pool empty/ }],
  ['a wrong path', 'permanent', refused('Not Found'), { status: 404 }],
  ['no credits', 'quota', refused('Not enough credits'), { status: 401, message: /credits/ }],
  ['a token that ran out', 'auth', refused('Invalid or expired job token'), { status: 401 }],
  ['no permission', 'auth', refused('No permission to use algorithm'), { status: 403 }],
  ['no jobs', 'retryable', { jobs: [] }, { message: /0 of 1024 bytes/ }],
  [
    'a draw certified for less than is claimed',
    'retryable',
    draw({ chsh: 2.4, min_entropy: 0.2 }),
    { message: /certified for 0.2 bit per bit, below 0.25/ },
  ],
  [
    'a draw without a certificate',
    'permanent',
    draw({ min_entropy: 0.9 }),
    { message: /without its certificate/ },
  ],
];

streamBackendContract('Quandela', preset('quandela', { api_key: QUANDELA_TOKEN }, quandelaServer), [
  ...COMMON,
  ...own(quandela),
]);
