import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OptionError } from '../../src/backend/definition.ts';
import { ProviderServer } from '../support/providers/http-server.ts';
import { assertNoSecret } from './backend-contract.ts';
import { source } from './qrng-http-fixtures.ts';

const NEVER = new AbortController().signal;

const CUSTOM = {
  url: 'https://qrandom.io/api/random/ints?min=0&max=255&n={items}',
  path: 'numbers',
  decoder: 'decimal',
  items_per_call: '512',
  min_entropy: '0.7',
  origin: 'qrng-device',
};

test('a custom service is called as its options say', async (t) => {
  const server = await new ProviderServer(({ query }) => ({
    body: { numbers: Array.from({ length: Number(query.get('n')) }, (_, index) => index % 256) },
  })).start(t);
  const backend = source({
    ...CUSTOM,
    base_url: server.url,
    auth_header: 'Authorization: Token {key}, v1',
    api_key: 'custom-key-81',
    calls: '3',
    provider: 'qrandom.io',
    device: 'unknown device',
  });
  assert.deepEqual(
    [backend.origin, backend.quantumBackend, backend.lotRawBits, backend.claimedMinEntropyPerBit],
    ['qrng-device', 'qrng-http', 3 * 512 * 8, 0.7],
  );
  const read = await backend.read(64 * 8, NEVER);
  assert.deepEqual(
    [...read.bits],
    Array.from({ length: 64 }, (_, index) => index),
  );
  assert.deepEqual([read.provenance.provider, read.provenance.device], ['qrandom.io', 'unknown device']);
  const [request] = server.requests;
  assert.equal(request.path, '/api/random/ints');
  assert.deepEqual(
    [...request.query],
    [
      ['min', '0'],
      ['max', '255'],
      ['n', '64'],
    ],
  );
  assert.equal(request.headers.authorization, 'Token custom-key-81, v1');
  assertNoSecret(backend, ['custom-key-81']);
});

test('a service without a size parameter gives the same amount for every call', async (t) => {
  let next = 0;
  const server = await new ProviderServer(() => ({ body: Buffer.alloc(64, next++) })).start(t);
  const backend = source({
    url: `${server.url}/random`,
    decoder: 'bytes',
    items_per_call: '64',
    calls: '2',
    min_entropy: '0.5',
    origin: 'simulated',
  });
  const read = await backend.read(8, NEVER);
  assert.deepEqual([...read.bits], new Array(64).fill(0));
  assert.equal((await backend.read(65 * 8, NEVER)).bits.length, 128);
  assert.equal(backend.origin, 'simulated');
});

test('the origin of a preset is declared if the operator changes the service', () => {
  const preset = { preset: 'anu', api_key: 'k' };
  assert.equal(source(preset).isDeclared, false);
  assert.equal(source({ ...preset, calls: '2' }).isDeclared, false);
  for (const change of [
    { base_url: 'https://example.org' },
    { device: 'another' },
    { origin: 'qrng-device' },
  ]) {
    assert.equal(source({ ...preset, ...change }).isDeclared, true, JSON.stringify(change));
  }
  assert.equal(source({ ...preset, origin: 'simulated' }).isDeclared, false);
});

test('options override the values of a preset', async () => {
  const backend = source({
    preset: 'qrypt',
    api_key: 'some-key-of-it',
    base_url: 'https://api-weu.qrypt.com/',
    items_per_call: '128',
    min_entropy: '0.9',
    origin: 'simulated',
  });
  assert.equal((await backend.describe()).host, 'api-weu.qrypt.com');
  assert.deepEqual(
    [backend.origin, backend.lotRawBits, backend.claimedMinEntropyPerBit],
    ['simulated', 128 * 1024 * 8, 0.9],
  );
});

const MISTAKES: readonly [what: string, texts: Parameters<typeof source>[0], message: RegExp][] = [
  ['no url', { ...CUSTOM, url: '' }, /requires the option url/],
  ['no decoder', { ...CUSTOM, decoder: '' }, /requires the option decoder/],
  ['no size of a call', { ...CUSTOM, items_per_call: '' }, /requires the option items_per_call/],
  ['no claim', { ...CUSTOM, min_entropy: '' }, /requires the option min_entropy/],
  ['no word on what the device is', { ...CUSTOM, origin: '' }, /requires the option origin/],
  ['no URL', { ...CUSTOM, url: 'qrandom.io/ints' }, /http or https URL/],
  ['another scheme', { ...CUSTOM, url: 'ftp://qrandom.io/ints' }, /http or https URL/],
  ['a key in the URL', { ...CUSTOM, url: 'https://me:secret@qrandom.io/' }, /must not contain credentials/],
  ['a key over plain HTTP', { ...CUSTOM, url: 'http://qrng.example/?n={items}' }, /plain_http/],
  [
    'a host that only begins like the loopback',
    { ...CUSTOM, url: 'http://127.0.0.1.example/' },
    /plain_http/,
  ],
  ['a header without a key', { ...CUSTOM, auth_header: 'x-api-key: 1' }, /\{key\}/],
  ['a header of two lines', { ...CUSTOM, auth_header: 'x-api-key: {key}\nx: y' }, /\{key\}/],
  ['a path that is none', { ...CUSTOM, path: 'data[0]' }, /names separated by dots/],
  ['bytes within JSON', { ...CUSTOM, decoder: 'bytes' }, /not JSON/],
  ['a GET with a body', { ...CUSTOM, body: '{}' }, /body must be none/],
  ['a call of a few bytes', { ...CUSTOM, items_per_call: '31' }, /must be at least 32/],
  ['a lot too small to start with', { ...CUSTOM, items_per_call: '64' }, /must have 1024 to/],
  ['a lot too large to read', { ...CUSTOM, items_per_call: '1048576', calls: '100' }, /must have 1024 to/],
  ['a known service without its key', { preset: 'anu' }, /api_key/],
  [
    'a key for a service without',
    { preset: 'lfd', api_key: 'some-key-of-it' },
    /must not be set without auth_header/,
  ],
  ['a key with a line break', { preset: 'anu', api_key: 'some-key-of-it\n' }, /visible ASCII/],
  ['a key beyond ASCII', { preset: 'anu', api_key: 'schlüssel-of-it' }, /visible ASCII/],
];

for (const [what, texts, message] of MISTAKES) {
  test(`options are refused for ${what}`, () => {
    assert.throws(
      () => source(texts),
      (error: unknown) => {
        assert.ok(error instanceof OptionError, String(error));
        assert.match(error.message, message);
        if (texts.api_key !== undefined) assertNoSecret(error, [texts.api_key.trim()]);
        return true;
      },
    );
  });
}

test('plain HTTP is accepted for the loopback, or if the operator says so', () => {
  for (const url of ['http://127.0.0.1:8080/?n={items}', 'http://localhost/', 'http://[::1]:1/']) {
    source({ ...CUSTOM, url, items_per_call: '512' });
  }
  source({ ...CUSTOM, url: 'http://quantis.lan/?n={items}', plain_http: 'allow' });
});
