import type { TestContext } from 'node:test';
import { type StreamFault, streamBackendContract } from '../support/backend-contract.ts';
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

/** What goes wrong with every service alike. */
const COMMON: readonly StreamFault<QrngSubject>[] = [
  {
    what: 'a service that is down',
    kind: 'retryable',
    message: /HTTP 503/,
    arrange: persistent({ status: 503 }),
  },
  { what: 'a connection that is refused', kind: 'retryable', arrange: persistent('reset') },
  { what: 'a reply that breaks off', kind: 'retryable', arrange: persistent('cut') },
  { what: 'a reply cut short', kind: 'retryable', message: /not JSON/, arrange: persistent('broken-json') },
  {
    what: 'no JSON at all',
    kind: 'retryable',
    message: /not JSON/,
    arrange: persistent({ body: '<html>under maintenance</html>' }),
  },
  {
    what: 'a response that it gave before',
    kind: 'retryable',
    message: /delivered before/,
    arrange: persistent('replay'),
  },
  {
    what: 'too many requests, come back much later',
    kind: 'retryable',
    retryAfterMs: 120_000,
    message: /HTTP 429/,
    arrange: once({ status: 429, headers: { 'retry-after': '120' } }),
  },
  { what: 'payment required', kind: 'quota', retryAfterMs: 3_600_000, arrange: once({ status: 402 }) },
  {
    what: 'a redirect, which would take the key elsewhere',
    kind: 'permanent',
    message: /HTTP 302/,
    arrange: once({ status: 302, headers: { location: 'http://127.0.0.1:9/' } }),
  },
];

interface OwnFault {
  readonly what: string;
  readonly kind: StreamFault<QrngSubject>['kind'];
  readonly message?: RegExp;
  readonly retryAfterMs?: number;
  readonly body: unknown;
  readonly status?: number;
}

/** What goes wrong in a service's own way: met for as long as the read tries. */
function own(faults: readonly OwnFault[]): StreamFault<QrngSubject>[] {
  return faults.map(({ body, status = 200, ...expectation }) => {
    const arrange = expectation.kind === 'retryable' ? persistent : once;
    return { ...expectation, arrange: arrange({ status, body }) };
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

streamBackendContract(
  'ANU Quantum Numbers',
  preset('anu', { api_key: ANU_KEY }, (pace) => anuServer(pace.clock)),
  [
    ...COMMON,
    ...own([
      {
        what: 'a key that is not known',
        kind: 'auth',
        message: /Forbidden/,
        status: 403,
        body: { message: 'Forbidden' },
      },
      {
        what: 'a key that it echoes',
        kind: 'auth',
        message: /no such key \[secret\]/,
        status: 403,
        body: { message: `no such key ${ANU_KEY}` },
      },
      {
        what: 'the plan is used up',
        kind: 'quota',
        message: /Limit Exceeded/,
        retryAfterMs: 3_600_000,
        status: 429,
        body: { message: 'Limit Exceeded' },
      },
      { what: 'too fast', kind: 'retryable', status: 429, body: { message: 'Too Many Requests' } },
      {
        what: 'success: false with status 200',
        kind: 'retryable',
        message: /success: false/,
        body: { success: false },
      },
      { what: 'a wrong request', kind: 'permanent', status: 400, body: { success: false } },
      {
        what: 'too few items',
        kind: 'retryable',
        message: /2 of 1024 items/,
        body: { success: true, data: ['00'.repeat(20), '01'.repeat(20)] },
      },
      { what: 'no items', kind: 'retryable', message: /0 of 1024 items/, body: { success: true, data: [] } },
      {
        what: 'items of a wrong length',
        kind: 'retryable',
        message: /8 instead of 20 bytes/,
        body: { success: true, data: new Array(1024).fill('e811d8b7c0096c6c') },
      },
      {
        what: 'items that are no hex',
        kind: 'permanent',
        message: /not hex/,
        body: { success: true, data: ['zz'] },
      },
      { what: 'no data', kind: 'permanent', message: /nothing at data/, body: { success: true } },
      { what: 'a histogram', kind: 'no_raw_shots', body: { success: true, data: { '00': 512, '01': 512 } } },
    ]),
  ],
);

streamBackendContract('Outshift', preset('outshift', { api_key: OUTSHIFT_KEY }, outshiftServer), [
  ...COMMON,
  ...own([
    { what: 'a bad key', kind: 'auth', status: 401, body: { message: 'invalid API key' } },
    {
      what: 'the day is used up',
      kind: 'quota',
      message: /daily limit/,
      status: 403,
      body: { message: 'request exceeds your daily limit of 100000 bits' },
    },
    {
      what: 'too few blocks',
      kind: 'retryable',
      message: /1 of 1000 items/,
      body: { random_numbers: [{ decimal: '173' }] },
    },
    {
      what: 'blocks without their number',
      kind: 'retryable',
      message: /0 of 1000 items/,
      body: { random_numbers: new Array(1000).fill({ octal: '255' }) },
    },
    {
      what: 'a block of nine bits',
      kind: 'permanent',
      message: /does not fit 1 byte/,
      body: { random_numbers: new Array(1000).fill({ decimal: '256' }) },
    },
    {
      what: 'numbers that are none',
      kind: 'permanent',
      message: /not an unsigned whole number/,
      body: { random_numbers: new Array(1000).fill({ decimal: '12abc' }) },
    },
    {
      what: 'shares instead of outcomes',
      kind: 'no_raw_shots',
      body: { random_numbers: new Array(1000).fill({ decimal: 0.5 }) },
    },
  ]),
]);

streamBackendContract('Qrypt', preset('qrypt', { api_key: QRYPT_KEY, items_per_call: '8' }, qryptServer), [
  ...COMMON,
  ...own([
    { what: 'a token that ran out', kind: 'auth', status: 401, body: '' },
    {
      what: 'too few blocks',
      kind: 'retryable',
      message: /1 of 8 items/,
      body: { random: ['AA=='], size: 8 },
    },
    {
      what: 'a block of another size',
      kind: 'retryable',
      message: /1023 instead of 1024 bytes/,
      body: { random: new Array(8).fill(Buffer.alloc(1023).toString('base64')), size: 8 },
    },
    { what: 'no base64', kind: 'permanent', message: /not base64/, body: { random: ['!'], size: 1 } },
  ]),
]);

streamBackendContract('LfD', preset('lfd', {}, lfdServer), [
  ...COMMON,
  ...own([
    {
      what: 'an error with status 200',
      kind: 'retryable',
      message: /device busy/,
      body: { error: 'device busy' },
    },
    {
      what: 'too few bytes',
      kind: 'retryable',
      message: /2 of 4096 bytes/,
      body: { qrn: 'beef', length: 2 },
    },
    {
      what: 'too many bytes',
      kind: 'retryable',
      message: /4097 of 4096 bytes/,
      body: { qrn: 'ab'.repeat(4097) },
    },
    { what: 'half a byte', kind: 'permanent', message: /not hex/, body: { qrn: 'a'.repeat(8191) } },
    { what: 'a number', kind: 'permanent', message: /a number where hex/, body: { qrn: 17 } },
  ]),
]);

streamBackendContract('Quandela', preset('quandela', { api_key: QUANDELA_TOKEN }, quandelaServer), [
  ...COMMON,
  ...own([
    {
      what: 'the pool is empty',
      kind: 'retryable',
      message: /Pool empty/,
      status: 404,
      body: { detail: {}, error: 'Entropy Pool empty' },
    },
    { what: 'a wrong path', kind: 'permanent', status: 404, body: { detail: {}, error: 'Not Found' } },
    {
      what: 'no credits',
      kind: 'quota',
      message: /credits/,
      status: 401,
      body: { detail: {}, error: 'Not enough credits' },
    },
    {
      what: 'a token that ran out',
      kind: 'auth',
      status: 401,
      body: { detail: {}, error: 'Invalid or expired job token' },
    },
    {
      what: 'no permission',
      kind: 'auth',
      status: 403,
      body: { detail: {}, error: 'No permission to use algorithm' },
    },
    { what: 'no jobs', kind: 'retryable', message: /0 of 1024 bytes/, body: { jobs: [] } },
    {
      what: 'a draw certified for less than is claimed',
      kind: 'retryable',
      message: /certified for 0.2 bit per bit, below 0.25/,
      body: {
        jobs: [{ id: 'x', bytes: Buffer.alloc(1024, 7).toString('base64'), chsh: 2.4, min_entropy: 0.2 }],
      },
    },
    {
      what: 'a draw without a certificate',
      kind: 'permanent',
      message: /without its certificate/,
      body: { jobs: [{ id: 'x', bytes: Buffer.alloc(1024, 7).toString('base64'), min_entropy: 0.9 }] },
    },
  ]),
]);
