import assert from 'node:assert/strict';
import { deflateSync } from 'node:zlib';
import { BackendError } from '../../../../src/backend/backend.ts';
import { parseRetryAfter, wordsOf } from '../../../../src/backend/http-call.ts';
import { decodeResult, type ExpectedResult, readByteMatrix } from '../../../../src/backend/ibm/results.ts';
import { decodeReply } from '../../../../src/backend/qrng-http/decoder.ts';
import { DECODERS, QRNG_PRESETS, type QrngService } from '../../../../src/backend/qrng-http/presets.ts';
import { type FuzzTarget, JSON_WORDS, magnitude, refusalOf, textOf } from './target.ts';

/** The kind of refusal, its figures left out. A refusal says what is wrong and does not quote the reply. */
export function backendRefusal(error: unknown): string {
  return refusalOf(error, BackendError, ({ kind, message }: BackendError) => {
    assert.ok(message !== '');
    assert.ok(message.length <= 400, 'an error does not hold the reply');
    const words = message.replace(/(of schema|of task) .*$/s, '$1').replaceAll(/-?[\d.]+(e[+-]?\d+)?/g, 'N');
    return `${kind}: ${words}`;
  });
}

function jsonOf(input: Uint8Array): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(textOf(input)) as unknown };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const EXPECTED: ExpectedResult = { shots: 3, width: 5 };

/**
 * A sampler's result of three shots of five bits. `{"$npy": rows}` stands for the text that holds such a matrix:
 * chance finds no base64 of zlib.
 */
const ibmResult: FuzzTarget = {
  name: 'ibm-result',
  words: [...JSON_WORDS, '"0x20"', 'eJw='],
  read: async (input) => {
    const json = jsonOf(input);
    if (json === undefined) return 'no JSON';
    const result = packed(json.value);
    let bits: Uint8Array;
    try {
      bits = await decodeResult(result, EXPECTED);
    } catch (error) {
      return backendRefusal(error);
    }
    assert.equal(bits[1] & 1, 0, 'no bit behind the last shot');
    return isHexSamples(result, bits) ? 'samples' : 'arrays';
  },
};

/** The value with each `$npy` in its packed form. */
function packed(value: unknown): unknown {
  if (!isShallow(value)) return value;
  return JSON.parse(JSON.stringify(value), (_, inner: unknown) => {
    const rows = typeof inner === 'object' && inner !== null && '$npy' in inner ? inner.$npy : undefined;
    return Array.isArray(rows) ? deflateSync(npyOf(rows)).toString('base64') : inner;
  });
}

/** JSON.stringify and revivers go down by recursion. */
function isShallow(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; depth < 100; depth++) {
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []));
    if (level.length === 0) return true;
  }
  return false;
}

/** NumPy's own form of rows of bytes; what is no row is an empty one. */
function npyOf(rows: readonly unknown[]): Buffer {
  const lists = rows.map((row) => (Array.isArray(row) ? row : []));
  const shape = `(${rows.length}, ${lists[0]?.length ?? 0})`;
  const header = `{'descr': '|u1', 'fortran_order': False, 'shape': ${shape}, }`;
  const head = Buffer.from([0x93, ...Buffer.from('NUMPY'), 1, 0, header.length, 0]);
  return Buffer.concat([head, Buffer.from(header), ...lists.map((list) => Buffer.from(list.map(Number)))]);
}

/** Where shots came as numbers: the same bits, read once more with BigInt. False for another form. */
function isHexSamples(json: unknown, bits: Uint8Array): boolean {
  const { results } = json as { results?: { data?: { c?: { samples?: unknown; array?: unknown } } }[] };
  if (!Array.isArray(results)) return false;
  const { samples, array } = results[0]?.data?.c ?? {};
  if (!Array.isArray(samples) || array !== undefined) return false;
  samples.forEach((sample: string, shot) => {
    const value = BigInt(sample);
    for (let channel = 0; channel < EXPECTED.width; channel++) {
      const at = shot * EXPECTED.width + channel;
      const bit = (bits[at >>> 3] >>> (7 - (at & 7))) & 1;
      assert.equal(BigInt(bit), (value >> BigInt(channel)) & 1n, `shot ${shot}, channel ${channel}`);
    }
  });
  return true;
}

const npy: FuzzTarget = {
  name: 'npy',
  seeds: () => [
    npyOf([
      [1, 2, 3],
      [4, 5, 6],
    ]),
    npyOf([]),
  ],
  words: [
    '\x93NUMPY\x01\x00',
    '\x93NUMPY\x02\x00',
    "'descr': '|u1'",
    "'fortran_order': False",
    "'shape': (2, 3), ",
    "'shape': (0, 9999999999)",
    '\xff\xff',
  ],
  read: (input) => {
    try {
      const { rows, columns, data } = readByteMatrix(input);
      assert.equal(data.length, rows * columns);
      return `matrix of ${magnitude(rows)} by ${magnitude(columns)}`;
    } catch (error) {
      return backendRefusal(error);
    }
  },
};

const PLAIN: QrngService = {
  provider: 'fuzz',
  device: 'fuzz',
  quantumBackend: 'fuzz',
  origin: 'simulated',
  method: 'GET',
  url: 'https://fuzz.example',
  body: '',
  authHeader: '',
  path: '',
  decoder: 'hex',
  list: 'pieces',
  itemBytes: 2,
  itemsPerCall: 3,
  callsPerLot: 1,
  intervalMs: 0,
  minEntropyPerBit: 1,
  pricePerCall: 0,
  currency: 'USD',
};
const ITEMS = 3;

/** Every decoder on a bare reply and on one in JSON, and every service that is known. */
const SERVICES: readonly QrngService[] = [
  ...DECODERS.map(
    (decoder): QrngService => ({ ...PLAIN, decoder, list: decoder === 'decimal' ? 'items' : 'pieces' }),
  ),
  ...DECODERS.filter((decoder) => decoder !== 'bytes').flatMap((decoder) =>
    ['data', 'data[].bytes', '[]', 'a.b[].c[]'].flatMap((path) =>
      (['items', 'pieces'] as const).map((list): QrngService => ({ ...PLAIN, decoder, path, list })),
    ),
  ),
  ...[...QRNG_PRESETS.values()].map((preset): QrngService => ({ ...preset, itemBytes: 2 })),
];

/** What a service may answer: its items at their path. */
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
      assert.equal(decoded.length, ITEMS * service.itemBytes, 'exactly what was asked for');
      if (service.decoder === 'bytes') assert.deepEqual(decoded, body);
      if (service.draws !== undefined)
        for (const { id } of service.draws(json)) assert.equal(typeof id, 'string');
      return `decoded ${service.decoder} at ${service.path}`;
    } catch (error) {
      return backendRefusal(error);
    }
  },
};

export const BACKEND_TARGETS: readonly FuzzTarget[] = [ibmResult, npy, qrngReply];
