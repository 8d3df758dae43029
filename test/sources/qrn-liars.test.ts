import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { before, describe, it, type TestContext } from 'node:test';
import { BackendError, type BackendErrorKind } from '../../src/backend/backend.ts';
import type { AnswerVerifier } from '../../src/backend/definition.ts';
import { type Qrn, qrnBackend } from '../../src/backend/qrn/qrn.ts';
import { systemClock } from '../../src/core/clock.ts';
import { verifyUpstream } from '../../src/service/verify-upstream.ts';
import { answerScene } from '../certificate/example.ts';
import { changed } from '../certificate/scene.ts';
import { loggedCertificate, usageOf } from '../support/replies.ts';
import { TestServer } from '../support/server.ts';
import { MemoryNotes, type optionValues, sourceOf } from '../support/source-parts.ts';
import { type Between, BYTES, CERTIFICATE, MiddleMan, ofBytes, ofCertificate, savedKeys } from './between.ts';
import { leafOf } from './citations.ts';

/** A source of kind `qrn` and a real service, with somebody between them who lies. */

type Texts = Parameters<typeof optionValues<typeof qrnBackend.options>>[1];
const createQrn = (texts: Texts, { memory = new MemoryNotes(), verify = verifyUpstream } = {}) =>
  sourceOf('job', qrnBackend, texts, { name: 'hub', clock: systemClock, memory, verify }) as Qrn;
const CALLS = 2;
const BITS = CALLS * 8192;
const NEVER = new AbortController().signal;

let service: TestServer;
let apiKey: string;
before(async () => {
  service = await TestServer.shared();
  const account = await service.account(
    'enterprise',
    ...[
      '--requests-per-month',
      '100000',
      '--requests-per-minute',
      '100000',
      '--credits-per-month',
      '1000000',
    ],
  );
  apiKey = account.key;
});

interface Setting {
  readonly man: MiddleMan;
  readonly memory: MemoryNotes;
  readonly source: Qrn;
  /** The same source after a restart. */
  restarted(): Qrn;
}

interface Others {
  readonly keys?: unknown;
  readonly verify?: AnswerVerifier;
  readonly call_timeout_ms?: string;
}

async function setting(t: TestContext, others: Others = {}): Promise<Setting> {
  const man = await new MiddleMan(service).start(t);
  const memory = new MemoryNotes();
  const { keys = await service.keys(), verify = verifyUpstream, ...options } = others;
  const texts = { url: man.url, api_key: apiKey, log_keys: savedKeys(keys), ...options };
  const restarted = () => createQrn(texts, { memory, verify });
  return { man, memory, source: restarted(), restarted };
}

const jobOf = (source: Qrn) => source.submit(BITS, randomUUID(), NEVER);
const creditsUsed = async () => (await usageOf(service, apiKey)).credits.used;

async function refusal(fetching: Promise<unknown>): Promise<BackendError> {
  try {
    await fetching;
  } catch (error) {
    assert.ok(error instanceof BackendError, String(error));
    assert.match(error.message, /^127\.0\.0\.1:\d+: /);
    assert.ok(!error.message.includes(apiKey), 'the key is in no error');
    return error;
  }
  return assert.fail('it was taken');
}

describe('a source of kind qrn', () => {
  it('gives the octets of the answers, and cites the certificates and the origin', async (t) => {
    const { man, source } = await setting(t);
    assert.equal(source.origin, 'system');
    const before = await creditsUsed();
    const job = await jobOf(source);
    const { bits, provenance, shots } = await source.fetch(job, NEVER);
    const drawn = man.requests.filter(({ path }) => path === '/v1/bytes');
    assert.deepEqual(
      drawn.map(({ headers, query }) => [headers['idempotency-key'], query.get('entropy_mode')]),
      [
        [`${job.idempotencyKey}.0`, 'pure'],
        [`${job.idempotencyKey}.1`, 'pure'],
      ],
    );
    assert.deepEqual([bits.length, shots], [2048, BITS]);
    assert.deepEqual(Buffer.from(bits), Buffer.concat(man.sent.filter(({ length }) => length === 1024)));
    const { log, origin, certificates } = provenance.upstream ?? {};
    assert.deepEqual([log, origin], ['qrn.localhost/log', 'simulated']);
    const asked = man.requests.flatMap(({ path }) => /^\/verify\/(.*)$/.exec(path)?.[1] ?? []);
    const shown = [...new Set(asked)];
    assert.equal(shown.length, CALLS);
    assert.deepEqual(
      certificates,
      await Promise.all(
        shown.map(async (id) => ({ id, leaf: leafOf(await loggedCertificate(service, id)) })),
      ),
    );
    assert.deepEqual([source.origin, source.quantumBackend], ['simulated', 'simulator-statevector']);
    assert.equal(await creditsUsed(), before + source.estimate(BITS).amount);
    const keyed = man.requests.filter(({ headers }) => headers['authorization'] !== undefined);
    assert.ok(keyed.every(({ path }) => path === '/v1/bytes'));
  });

  for (const fault of ['cut', 'reset'] as const) {
    it(`fetches an answer whose reply was lost (${fault}) again, and pays once`, async (t) => {
      const { man, source, restarted } = await setting(t);
      const before = await creditsUsed();
      const job = await jobOf(source);
      man.inject('none', BYTES);
      man.inject(fault, BYTES);
      await assert.rejects(source.fetch(job, NEVER), { kind: 'retryable' });
      const read = await source.fetch(job, NEVER);
      const again = await restarted().fetch(job, NEVER);
      assert.deepEqual(again.bits, read.bits);
      assert.equal(await creditsUsed(), before + 2048);
    });
  }

  it('makes no call once it was stopped', async (t) => {
    const { man, source } = await setting(t);
    const job = await jobOf(source);
    const reason = new Error('stopped');
    await assert.rejects(source.fetch(job, AbortSignal.abort(reason)), (error) => error === reason);
    assert.equal(man.requests.length, 0);
  });

  it('asks nobody before it has keys to verify answers with', async (t) => {
    const { man, source } = await setting(t);
    const keyless = createQrn({ url: man.url, api_key: apiKey, log_keys: '/nowhere/keys.json' });
    const error = await refusal(keyless.fetch(await jobOf(source), NEVER));
    assert.equal(error.kind, 'auth');
    assert.match(error.message, /log_keys must name a copy of .*qrn-keys\.json/);
    assert.equal(man.requests.length, 0);
  });
});

/** The proxy, the kind of error, and its message. A lie that may be another's mistake leaves the job as it is. */
type Lie = readonly [what: string, between: Between, kind: BackendErrorKind, says: RegExp];

/** Asks the service for bytes by another value of a parameter. */
const asking = (name: string, value: string): Between => ({
  request(request) {
    if (request.path !== '/v1/bytes') return request;
    const query = new URLSearchParams(request.query);
    query.set(name, value);
    return { ...request, query };
  },
});

const LIES: readonly Lie[] = [
  [
    'other bytes than were certified',
    ofBytes((reply) => ({ ...reply, body: reply.body.map((byte, i) => (i === 700 ? byte ^ 1 : byte)) })),
    'auth',
    /does not prove its answer: delivered: .* None of its bytes was used\. If the other service has a new key, update log_keys$/,
  ],
  [
    'a proof of another place in the log',
    ofCertificate((document) => {
      const { proof } = (document as { certificate: { proof: string } }).certificate;
      const moved = proof.replace(/^index (\d+)$/m, (_, index) => `index ${Number(index) + 1}`);
      return changed(document, 'certificate.proof', moved);
    }),
    'auth',
    /does not prove its answer: .*inclusion: /,
  ],
  [
    'a certificate that says more of the origin than was logged',
    ofCertificate((document) => changed(document, 'certificate.provenance.origin', 'quantum-processor')),
    'auth',
    /does not prove its answer: /,
  ],
  ['bytes of csprng mode', asking('entropy_mode', 'csprng'), 'auth', /does not prove its answer: fixed: /],
  [
    'the answer of another call',
    asking('user_data_sha256', '0'.repeat(64)),
    'permanent',
    /was issued for another call; none of its bytes was used\. Report this to the operator of the other service$/,
  ],
  [
    'fewer bytes than were asked for',
    asking('count', '1000'),
    'permanent',
    /the answer has 1000 of 1024 bytes and was not used; report this to the operator/,
  ],
  [
    'an answer without a certificate',
    ofBytes(({ headers, ...reply }) => ({
      ...reply,
      headers: { ...headers, 'x-certificate-id': '../keys' },
    })),
    'auth',
    /the answer names no certificate in X-Certificate-ID/,
  ],
  [
    'a certificate that is no JSON',
    { reply: (reply, { path }) => (path.startsWith('/verify/') ? { ...reply, body: '<html>' } : reply) },
    'retryable',
    /certificate cert_\w{26} is not JSON$/,
  ],
  [
    'a certificate with a member twice',
    {
      reply: (reply, { path }) =>
        path.startsWith('/verify/')
          ? { ...reply, body: reply.body.toString('utf8').replace('{', '{"certificate":{"proof":""},') }
          : reply,
    },
    'permanent',
    /contains a member twice/,
  ],
];

/** Statuses with their fields that come instead of bytes. */
const STATUSES: readonly [
  status: number,
  headers: Record<string, string>,
  code: string,
  kind: BackendErrorKind,
  says: RegExp,
  afterMs?: number,
][] = [
  [
    302,
    { location: 'https://elsewhere.example/' },
    '',
    'permanent',
    /HTTP 302: to https:\/\/elsewhere\.example\/: the API key is sent only to url; set url/,
  ],
  [401, {}, 'auth_invalid', 'auth', /HTTP 401: \w+ said so: set api_key to a key that is valid/],
  [
    402,
    { 'retry-after': '3600' },
    'credits_exhausted',
    'quota',
    /HTTP 402: \w+ said so: increase the credits/,
    3_600_000,
  ],
  [403, {}, 'mode_not_allowed', 'auth', /HTTP 403: \w+ said so: the account of api_key must have pure mode/],
  [
    409,
    { 'retry-after': '1' },
    'idempotency_in_flight',
    'retryable',
    /HTTP 409: \w+ said so: the source repeats the call$/,
    1_000,
  ],
  [422, {}, 'idempotency_mismatch', 'permanent', /HTTP 422: \w+ said so: another client uses/],
  [429, { 'retry-after': '7' }, 'rate_limited', 'retryable', /HTTP 429: \w+ said so$/, 7_000],
  [429, { 'retry-after': '86400' }, 'quota_exceeded', 'quota', /HTTP 429: \w+ said so$/, 86_400_000],
  [503, { 'retry-after': '30' }, 'entropy_unavailable', 'retryable', /HTTP 503: \w+ said so$/, 30_000],
];

describe('a service that lies to a source of kind qrn', () => {
  for (const [what, between, kind, says] of LIES) {
    it(`gives no bytes by ${what}, and the same answers honestly given are paid once`, async (t) => {
      const { man, source } = await setting(t);
      const before = await creditsUsed();
      const job = await jobOf(source);
      man.between = between;
      const error = await refusal(source.fetch(job, NEVER));
      assert.match(error.message, says);
      assert.equal(error.kind, kind);
      assert.equal(source.origin, 'system', 'a lie changes nothing');
      if (between.request !== undefined) return; // then the calls themselves were other ones
      man.between = {};
      await source.fetch(job, NEVER);
      assert.equal(await creditsUsed(), before + 2048);
    });
  }

  for (const [status, headers, code, kind, says, afterMs] of STATUSES) {
    it(`is told by HTTP ${status}${code === '' ? '' : ` ${code}`}, and nothing is lost`, async (t) => {
      const { man, source } = await setting(t);
      const job = await jobOf(source);
      man.inject('none', BYTES);
      const body = { error: { code, message: `said so` } };
      man.inject({ status, headers, body }, BYTES);
      const error = await refusal(source.fetch(job, NEVER));
      assert.match(error.message, says);
      assert.deepEqual([error.kind, error.retryAfterMs], [kind, afterMs]);
      assert.equal((await source.fetch(job, NEVER)).bits.length, 2048);
    });
  }

  it('gives no bytes under the key of another log', async (t) => {
    const { keys } = await answerScene('worked-example');
    const { source } = await setting(t, { keys: { ...keys } });
    const error = await refusal(source.fetch(await jobOf(source), NEVER));
    assert.equal(error.kind, 'auth');
    assert.match(error.message, /does not prove its answer: .*signature: /);
  });

  it('gives no bytes of an answer of an earlier call with its certificate', async (t) => {
    const { man, source } = await setting(t);
    await source.fetch(await jobOf(source), NEVER);
    man.inject('none', BYTES);
    let earlier: { headers: Record<string, string>; body: Buffer } | undefined;
    man.between = ofBytes((reply) => (earlier ??= { headers: { ...reply.headers }, body: reply.body }));
    const error = await refusal(source.fetch(await jobOf(source), NEVER));
    assert.match(error.message, /was issued for another call/);
  });

  it('gives no bytes twice, even with a new certificate, also after a restart', async (t) => {
    const taken = {
      log: 'log',
      leaf: 'leaf',
      endpoint: 'bytes',
      mode: 'pure',
      origin: 'simulated',
      isDeclared: false,
    } as const;
    let call = '';
    const verify: AnswerVerifier = async () => {
      return { ...taken, deterministic: false, quantumBackend: 'b', userDataSha256: `sha256:${call}` };
    };
    const { man, source, restarted } = await setting(t, { verify });
    const told: Between['request'] = (request) => {
      call = request.query.get('user_data_sha256') ?? call;
      return request;
    };
    const job = await source.submit(8192, randomUUID(), NEVER);
    man.between = { request: told };
    await source.fetch(job, NEVER);
    const [bytes] = man.sent;
    man.between = { request: told, ...ofBytes((reply) => ({ ...reply, body: bytes })) };
    const next = await source.submit(8192, randomUUID(), NEVER);
    for (const each of [source, restarted()]) {
      const error = await refusal(each.fetch(next, NEVER));
      assert.match(error.message, /is for bytes that were received before; none of its bytes was used/);
      assert.equal(error.kind, 'permanent');
    }
    assert.equal(
      (await restarted().fetch(job, NEVER)).bits.length,
      1024,
      'the same call gives the same bytes',
    );
  });

  it('is given up when it is slow, and asked again under the same key', async (t) => {
    const { man, source } = await setting(t, { call_timeout_ms: '3000' });
    const job = await jobOf(source);
    man.inject('stall', BYTES);
    const error = await refusal(source.fetch(job, NEVER));
    assert.equal(error.kind, 'retryable');
    assert.match(error.message, /no answer within 3 s$/);
    await source.fetch(job, NEVER);
    const keys = man.requests.flatMap(({ headers }) => headers['idempotency-key'] ?? []);
    assert.equal(keys.filter((key) => key === `${job.idempotencyKey}.0`).length, 2);
  });

  it('is read no further than an answer and a certificate may be long', async (t) => {
    for (const [on, bytes] of [
      [BYTES, 17 * 1024],
      [CERTIFICATE, 1025 * 1024],
    ] as const) {
      const { man, source } = await setting(t);
      man.inject({ headers: { 'content-type': 'application/octet-stream' }, body: Buffer.alloc(bytes) }, on);
      const error = await refusal(source.fetch(await jobOf(source), NEVER));
      assert.equal(error.kind, 'permanent');
      assert.match(error.message, /a reply of more than \d+ bytes$/);
    }
  });

  it('gives no bytes in JSON', async (t) => {
    const { man, source } = await setting(t);
    man.inject({ body: { data: [] } }, BYTES);
    const error = await refusal(source.fetch(await jobOf(source), NEVER));
    assert.match(
      error.message,
      /the answer is application\/json instead of application\/octet-stream; check that url/,
    );
  });

  it('keeps a weaker origin that it once had, and never gets a better one again', async (t) => {
    const origins = ['quantum-processor', 'simulated', 'quantum-processor'] as const;
    let at = 0;
    const verify: AnswerVerifier = async (...args) => {
      const facts = await verifyUpstream(...args);
      return typeof facts === 'string' ? facts : { ...facts, origin: origins[at] };
    };
    const { source } = await setting(t, { verify });
    const seen: string[] = [];
    for (; at < origins.length; at++) {
      await source.fetch(await source.submit(8192, randomUUID(), NEVER), NEVER);
      seen.push(source.origin);
    }
    assert.deepEqual(seen, ['quantum-processor', 'simulated', 'simulated']);
  });
});

describe('the options of a source of kind qrn', () => {
  const create = (texts: Record<string, string>) =>
    createQrn({ api_key: 'k'.repeat(20), log_keys: 'k.json', ...texts });

  it('accept https, and http only to this machine', () => {
    for (const url of [
      'https://rng.example',
      'https://rng.example:8443/',
      'http://127.0.0.1:3000',
      'http://[::1]:1',
    ])
      assert.equal(create({ url }).kind, 'job');
    const others = [
      'http://rng.example',
      'https://rng.example/v1',
      'ftp://rng.example',
      'https://a:b@rng.example',
      'rng',
    ];
    for (const url of [
      ...others,
      'http://localhost.example',
      'https://rng.example?a',
      'https://rng.example/#',
    ])
      assert.throws(() => create({ url }), { name: 'OptionError', message: /^https:\/\/HOST/ }, url);
  });

  it('accept a key that a header can hold, and show it nowhere', async () => {
    assert.throws(() => create({ url: 'https://rng.example', api_key: 'a b' }), { name: 'OptionError' });
    const source = create({ url: 'https://rng.example' });
    assert.ok(!JSON.stringify([source, await source.describe()]).includes('k'.repeat(20)));
  });

  it('count a credit for each byte that is asked for', () => {
    const source = create({ url: 'https://rng.example', calls: '3' });
    assert.equal(source.lotRawBits, 3 * 8192);
    assert.deepEqual(source.estimate(source.lotRawBits), { amount: 3072, currency: 'credits', calls: 3 });
    assert.deepEqual(source.estimate(100), { amount: 32, currency: 'credits', calls: 1 });
  });
});
