import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { BackendError } from '../../../../src/backend/backend.ts';
import { type ExpectedResult as ExpectedTask, readResult } from '../../../../src/backend/braket/result.ts';
import { decodeResult, type ExpectedResult } from '../../../../src/backend/ibm/results.ts';
import { decodeShots } from '../../../../src/backend/ionq/shots.ts';
import { parseRetryAfter, wordsOf } from '../../../../src/backend/provider.ts';
import { decodeReply } from '../../../../src/backend/qrng-http/decoder.ts';
import { DECODERS, QRNG_PRESETS, type QrngService } from '../../../../src/backend/qrng-http/presets.ts';
import type { Shots } from '../../../../src/backend/shots.ts';
import { type FuzzTarget, JSON_WORDS, jsonOf, refusalOf, textOf } from './target.ts';

/** Returns the kind of refusal without its figures. A refusal says what is wrong and does not quote the reply. */
function backendRefusal(error: unknown): string {
  return refusalOf(error, BackendError, ({ kind, message }: BackendError) => {
    assert.ok(message !== '');
    assert.ok(message.length <= 400, 'an error does not hold the reply');
    const words = message.replace(/(of schema|of task) .*$/s, '$1').replaceAll(/-?[\d.]+(e[+-]?\d+)?/g, 'N');
    return `${kind}: ${words}`;
  });
}

const EXPECTED: ExpectedResult = { shots: 3, width: 5 };

/** A sampler's result of three shots of five bits. */
const ibmResult: FuzzTarget = {
  name: 'ibm-result',
  words: [...JSON_WORDS, '"0x20"'],
  read: async (input) => {
    const json = jsonOf(input);
    if (json === undefined) return 'no JSON';
    let bits: Uint8Array;
    try {
      bits = (await decodeResult(json.value, EXPECTED)).bits;
    } catch (error) {
      return backendRefusal(error);
    }
    assert.equal(bits[1] & 1, 0, 'no bit behind the last shot');
    assertSamples(json.value, bits);
    return 'samples';
  },
};

/** Checks the bits by decoding them again with BigInt. */
function assertSamples(json: unknown, bits: Uint8Array): void {
  const { results } = json as { results: { data: { c: { samples: string[] } } }[] };
  const { samples } = results[0].data.c;
  samples.forEach((sample, shot) => {
    const value = BigInt(sample);
    for (let channel = 0; channel < EXPECTED.width; channel++) {
      const at = shot * EXPECTED.width + channel;
      const bit = (bits[at >>> 3] >>> (7 - (at & 7))) & 1;
      assert.equal(BigInt(bit), (value >> BigInt(channel)) & 1n, `shot ${shot}, channel ${channel}`);
    }
  });
}

const PLAIN: QrngService = {
  provider: 'fuzz',
  device: 'fuzz',
  quantumBackend: 'fuzz',
  origin: 'simulated',
  method: 'GET',
  url: 'https://fuzz.example',
  body: '',
  auth_header: '',
  path: '',
  decoder: 'hex',
  list: 'pieces',
  item_bytes: 2,
  items_per_call: 3,
  calls: 1,
  interval_ms: 0,
  min_entropy: 1,
  price_per_call: 0,
  currency: 'USD',
};
const ITEMS = 3;

/** Every decoder for a bare reply and for one in JSON, and every known service. */
const SERVICES: readonly QrngService[] = [
  ...DECODERS.map(
    (decoder): QrngService => ({ ...PLAIN, decoder, list: decoder === 'decimal' ? 'items' : 'pieces' }),
  ),
  ...DECODERS.filter((decoder) => decoder !== 'bytes').flatMap((decoder) =>
    ['data', 'data[].bytes', '[]', 'a.b[].c[]'].flatMap((path) =>
      (['items', 'pieces'] as const).map((list): QrngService => ({ ...PLAIN, decoder, path, list })),
    ),
  ),
  ...[...QRNG_PRESETS.values()].map((preset): QrngService => ({ ...preset, item_bytes: 2 })),
];

/** Returns a valid answer of a service: its items at their path. */
function sampleReply({ decoder, path }: QrngService): string {
  const item = {
    hex: '"0a0b"',
    base64: '"AQI="',
    decimal: '513',
    binary: '"0000000100000010"',
    bytes: '"--"',
  }[decoder];
  if (path === '')
    return [1, 2, 3].map(() => item.replaceAll('"', '')).join(decoder === 'decimal' ? ',' : '');
  const steps = path.split('.').reverse();
  return steps.reduce(
    (inner, step, depth) => {
      const name = step.replace('[]', '');
      const list = step.endsWith('[]') && depth > 0 ? `[${inner},${inner},${inner}]` : inner;
      return name === '' ? list : `{"${name}":${list}}`;
    },
    path.includes('[].') ? item : `[${item},${item},${item}]`,
  );
}

/** The first byte chooses the service, the rest is its reply. */
const qrngReply: FuzzTarget = {
  name: 'qrng-reply',
  seeds: () =>
    SERVICES.map((service, i) => Buffer.concat([Buffer.from([i]), Buffer.from(sampleReply(service))])),
  words: [...JSON_WORDS, '65536', '0.25', '[[', ']]'],
  read: (input) => {
    const service = SERVICES[(input[0] ?? 0) % SERVICES.length];
    const body = new Uint8Array(input.subarray(1));
    const json = jsonOf(body)?.value;
    assert.equal(typeof wordsOf(json), 'string');
    parseRetryAfter(textOf(body), 1_700_000_000_000);
    try {
      const decoded = decodeReply({ status: 200, headers: new Headers(), body }, json, service, ITEMS);
      assert.equal(decoded.length, ITEMS * service.item_bytes, 'exactly what was asked for');
      if (service.decoder === 'bytes') assert.deepEqual(decoded, body);
      if (service.draws !== undefined)
        for (const { id } of service.draws(json)) assert.equal(typeof id, 'string');
      return `decoded ${service.decoder} at ${service.path}`;
    } catch (error) {
      return backendRefusal(error);
    }
  },
};

const SHOTS = 4;
const TASK: ExpectedTask = {
  taskArn: 'task',
  qubits: [3, 5, 7],
  shots: SHOTS,
  successfulShots: undefined,
};
/** With an odd first byte the service counts one shot as lost. The rest is results.json. */
const braket: FuzzTarget = {
  name: 'braket-result',
  words: JSON_WORDS,
  read: async (input) => {
    const isShort = ((input[0] ?? 0) & 1) === 1;
    const expected = isShort ? { ...TASK, successfulShots: SHOTS - 1 } : TASK;
    try {
      const document = input.slice(1);
      const { shots, rawSha256 } = await readResult(document, expected);
      assert.equal(rawSha256, createHash('sha256').update(document).digest('hex'));
      assert.ok(shots.shots === SHOTS || shots.shots === expected.successfulShots, 'no shot is missing');
      assertPacked(shots, expected.qubits.length);
      return `${shots.shots} shots`;
    } catch (error) {
      return backendRefusal(error);
    }
  },
};

/** With an odd first byte the result is numbers, with an even one registers. */
const ionq: FuzzTarget = {
  name: 'ionq-shots',
  words: [...JSON_WORDS, '"8"'],
  read: async (input) => {
    const format = ((input[0] ?? 0) & 1) === 1 ? 'v1' : 'v2';
    try {
      const expected = { jobId: 'job', qubits: 3, shots: SHOTS } as const;
      const { dropped, ...shots } = await decodeShots(format, input.slice(1), expected);
      assert.equal(shots.shots + dropped, SHOTS, 'each shot is there or is counted as leaked');
      assertPacked(shots, expected.qubits);
      return `${format}: ${dropped} leaked`;
    } catch (error) {
      return backendRefusal(error);
    }
  },
};

/** Checks the bits of every shot, and that nothing follows the last. */
function assertPacked({ bits, shots }: Shots, width: number): void {
  assert.equal(bits.length, Math.ceil((shots * width) / 8));
  const unused = 8 * bits.length - shots * width;
  if (unused > 0) assert.equal(bits[bits.length - 1] & (2 ** unused - 1), 0, 'no bit behind the last shot');
}

export const BACKEND_TARGETS: readonly FuzzTarget[] = [ibmResult, qrngReply, braket, ionq];
