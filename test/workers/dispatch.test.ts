import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { after, before, describe, it } from 'node:test';
import { unpack } from 'msgpackr';
import { DATA_START, type DrawOrder } from '../../src/answer/make.ts';
import { HOP_ABOVE_BYTES, Plan, type Written } from '../../src/answer/request.ts';
import { toHex } from '../../src/core/bytes.ts';
import { ApiError } from '../../src/core/errors.ts';
import { LIMITS } from '../../src/core/limits.ts';
import { silentLog } from '../../src/core/log.ts';
import type { BareType } from '../../src/core/vocabulary.ts';
import { PIECE_OUTPUT_BYTES } from '../../src/crypto/expander.ts';
import { assessLot, assessorInPlace } from '../../src/pool/intake/assess-lot.ts';
import { ASSESSED_BITS } from '../../src/pool/intake/assessor.ts';
import { octetTypeOf, type ValueRequest } from '../../src/values/value-request.ts';
import { AssessmentThread, Workers } from '../../src/workers/dispatch.ts';
import { bytesOf, expectedFrom, orderOf, REQUESTS } from '../answer/orders.ts';
import { isZero, recordingLog } from '../pool/fixtures.ts';
import { until } from '../support/server.ts';

const LARGE: ValueRequest = { kind: 'floats', count: 50_000, precision: null };

const AS_JSON: Written = { form: 'json', octets: undefined, mediaType: 'application/json' };
const REQUEST = {
  endpoint: 'floats',
  valueKey: 'values',
  members: {},
  mode: undefined,
  dryRun: false,
} as const;

const keyed = (label = 'key') => ({ from: 'one-time-key', key: bytesOf(label, 32) }) as const;
const pieced = (...pieces: Uint8Array<ArrayBuffer>[]) => ({ from: 'pieces', pieces }) as const;
const hasCode = (code: ApiError['code']) => (error: unknown) =>
  error instanceof ApiError && error.code === code;

describe('the choice of a worker', () => {
  it('depends on the bytes that the values may take in the requested form', () => {
    const firstLarge = (octets: BareType | undefined): number => {
      for (let count = 1; ; count++) {
        const plan = new Plan({ ...REQUEST, values: { kind: 'floats', count, precision: null } });
        if (plan.sizeAs({ ...AS_JSON, octets }).isLarge) return count;
      }
    };
    assert.equal(firstLarge(undefined), Math.floor((HOP_ABOVE_BYTES - 2) / 25) + 1);
    assert.equal(firstLarge('float64'), HOP_ABOVE_BYTES / 8 + 1);
  });

  it('also falls on an answer of many short lists, each of which is a draw', () => {
    const range = { length: 1, min: 0, max: 9, unique: true };
    const requests: [ValueRequest, boolean][] = [
      [{ kind: 'sequences', count: 156, ranges: Array(64).fill(range), sort: 'none' }, true],
      [
        { kind: 'sequences', count: 1, ranges: [{ ...range, length: 10_000, unique: false }], sort: 'none' },
        false,
      ],
      [{ kind: 'permutations', count: 5_000, length: 2 }, true],
      [{ kind: 'permutations', count: 1, length: 10_000 }, false],
    ];
    for (const [values, hasManyDraws] of requests) {
      const plan = new Plan({ ...REQUEST, values });
      const { valuesBytesMax, isLarge } = plan.sizeAs(AS_JSON);
      assert.deepEqual([valuesBytesMax > HOP_ABOVE_BYTES, isLarge], [false, hasManyDraws]);
    }
  });
});

describe('workers', () => {
  const log = recordingLog();
  let workers: Workers;
  before(() => {
    workers = new Workers(1, log);
  });
  after(() => workers.close());

  it('make the same answer as this thread does, in memory of its own', async () => {
    const stream = bytesOf('stream', 64 * 1024);
    for (const [name, values] of Object.entries(REQUESTS)) {
      const form = octetTypeOf(values) === undefined ? 'msgpack' : 'octet-stream';
      const made = await workers.make(orderOf(pieced(stream.slice(0, 999), stream.slice(999)), values, form));
      const expected = expectedFrom(stream, values);
      const data = expected.octets ?? expected.data;
      assert.deepEqual(made.bytes.slice(DATA_START, made.dataEnd), data, name);
      assert.equal(made.bytes.byteLength, made.bytes.buffer.byteLength, name);
      assert.deepEqual(made.delivered, expected.deliveredOctets ?? expected.delivered, name);
      assert.equal(made.consumedBytes, expected.consumedBytes, name);
      if (form === 'msgpack') {
        const packed = made.bytes.subarray(made.packedStart, made.packedEnd);
        assert.deepEqual(unpack(packed), expected.plain, name);
      }
    }
    const large = bytesOf('large', 7 * LARGE.count);
    const made = await workers.make(orderOf(pieced(large.slice()), LARGE));
    assert.deepEqual(made.delivered, expectedFrom(large, LARGE).delivered);
  });

  it('make different answers from a key and from the system', async () => {
    const made = await Promise.all([
      workers.make(orderOf(keyed(), REQUESTS.uuid)),
      workers.make(orderOf(keyed(), REQUESTS.uuid)),
      workers.make(orderOf({ from: 'system' }, REQUESTS.uuid)),
    ]);
    for (const { consumedBytes } of made) assert.equal(consumedBytes, 300 * 16);
    assert.equal(new Set(made.map(({ delivered }) => toHex(delivered))).size, 3);
  });

  it('leave no key and no piece with the caller', async () => {
    const piece = bytesOf('piece', 8_192);
    const draws: DrawOrder[] = [keyed(), pieced(piece)];
    for (const draw of draws) await workers.make(orderOf(draw, REQUESTS.uuid));
    assert.ok(draws[0].from === 'one-time-key' && isZero(draws[0].key));
    assert.ok(isZero(piece));
  });

  it('reject failed work, report it, and continue', async () => {
    const short = bytesOf('short', 10);
    await assert.rejects(workers.make(orderOf(pieced(short), REQUESTS.uuid)), /the pieces hold the bound/);
    assert.ok(isZero(short));
    const badKey = { from: 'one-time-key', key: new Uint8Array(31).fill(1) } as const;
    await assert.rejects(workers.make(orderOf(badKey, REQUESTS.uuid)), /32 bytes/);
    assert.ok(isZero(badKey.key));
    assert.deepEqual(
      log.errors().map(({ message }) => message),
      [
        'a worker thread failed to make values: the answer is refused',
        'a worker thread failed to make values: the answer is refused',
      ],
    );
    assert.equal((await workers.make(orderOf(keyed(), REQUESTS.uuid))).consumedBytes, 4_800);
  });

  it('expand pieces of a keystream, and leave no key with the caller', async () => {
    const key = bytesOf('key', 32);
    const pieces = await workers.expand({ key, pieces: 3 });
    assert.ok(isZero(key));
    assert.deepEqual(
      pieces.map(({ length }) => length),
      new Array(3).fill(PIECE_OUTPUT_BYTES),
    );
    assert.equal(new Set(pieces.map((piece) => toHex(piece.subarray(0, 32)))).size, 3);
  });

  it('are shed with 503 overloaded when more wait than admission allows', async () => {
    const making: Promise<unknown>[] = [];
    const make = () => making.push(workers.make(orderOf(keyed(), REQUESTS.uuid)));
    while (workers.queueLength < 2 * LIMITS.largeAnswersMax) make();
    const refused = keyed();
    await assert.rejects(workers.make(orderOf(refused, REQUESTS.uuid)), hasCode('overloaded'));
    assert.ok(isZero(refused.key));
    await Promise.all(making);
    assert.equal(workers.queueLength, 0);
  });
});

describe('the threads of workers', {
  skip: process.platform === 'linux' ? false : 'priorities of threads are read from /proc',
}, () => {
  const behind = (steps = 5) => {
    const niceness = Math.min(19, getPriority() + steps);
    return readdirSync('/proc/self/task').filter((task) => {
      const stat = readFileSync(`/proc/self/task/${task}/stat`, 'latin1');
      return Number(stat.slice(stat.lastIndexOf(')')).split(' ')[17]) === niceness;
    }).length;
  };

  it('are started when one is not enough for large answers, and stand behind those that serve', async () => {
    const workers = new Workers(2, silentLog);
    await workers.make(orderOf(keyed(), REQUESTS.uuid));
    const refill = (i: number) => workers.expand({ key: bytesOf(`refill ${i}`, 32), pieces: 1 });
    await Promise.all(Array.from({ length: 8 }, (_, i) => refill(i)));
    assert.deepEqual([behind(), workers.threads], [1, 2]);
    const made = () => workers.make(orderOf(keyed(), REQUESTS.uuid));
    await until('both threads stand behind', async () => {
      await Promise.all(Array.from({ length: 8 }, made));
      return behind() === 2;
    });
    await workers.close();
    assert.equal(behind(), 0);
  });

  it('include one for the tests of lots, which stands further behind', async () => {
    const assessor = new AssessmentThread(silentLog);
    await assessor.testBits('system', new Uint8Array(ASSESSED_BITS / 8), ASSESSED_BITS);
    assert.equal(behind(10), 1);
    await assessor.close();
  });
});

describe('a stop of the workers', () => {
  it('ends the work of its threads, refuses waiting and new work, and kills nothing', async () => {
    const log = recordingLog();
    const workers = new Workers(1, log);
    await workers.make(orderOf(keyed(), REQUESTS.uuid)); // the thread is up
    const keys = Array.from({ length: 10 }, (_, i) => keyed(`key ${i}`));
    const making = keys.map((draw) => workers.make(orderOf(draw, LARGE)));
    const assessor = new AssessmentThread(log);
    const testing = assessor.testBits('system', new Uint8Array(ASSESSED_BITS / 8), ASSESSED_BITS);
    const outcomes = Promise.allSettled([...making, testing]);
    await Promise.all([workers.close(), workers.close(), assessor.close()]);
    const [running, next, ...rest] = await outcomes;
    assert.deepEqual([running.status, next.status], ['fulfilled', 'fulfilled']);
    for (const outcome of rest) {
      assert.ok(outcome.status === 'rejected' && hasCode('shutting_down')(outcome.reason));
    }
    for (const { key } of keys) assert.ok(isZero(key));
    const late = keyed();
    await assert.rejects(workers.make(orderOf(late, REQUESTS.uuid)), hasCode('shutting_down'));
    assert.ok(isZero(late.key));
    await assert.rejects(workers.expand({ key: bytesOf('key', 32), pieces: 1 }), hasCode('shutting_down'));
    const bits = new Uint8Array(ASSESSED_BITS / 8);
    await assert.rejects(assessor.testBits('raw', bits, 8), hasCode('shutting_down'));
    await assert.rejects(assessor.assessLot(bits, 1, ASSESSED_BITS), hasCode('shutting_down'));
    assert.deepEqual(log.lines, []);
  });

  it('ends workers that never did anything', async () => {
    await new Workers(2, silentLog).close();
  });
});

describe('the assessment worker', () => {
  const assessor = new AssessmentThread(silentLog);
  after(() => assessor.close());

  it('judges bits and lots as the assessor in this thread does, whole and partial bytes, and does not change them', async () => {
    for (const [bits, bitLength] of [
      [bytesOf('a good generator', 160_000), ASSESSED_BITS],
      [bytesOf('few', 1_000).fill(0xff, 999), 7_997],
    ] as const) {
      const copy = bits.slice();
      const packed = bits.slice(0, Math.ceil(bitLength / 8));
      if (bitLength % 8 !== 0) packed[packed.length - 1] &= 0b1111_1000;
      const block = await assessor.testBits('conditioned', bits, bitLength);
      assert.deepEqual(block, await assessorInPlace.testBits('conditioned', packed, bitLength));
      assert.deepEqual(bits, copy);
    }
    const lot = bytesOf('a lot', 3_000);
    const copy = lot.slice();
    assert.deepEqual(await assessor.assessLot(lot, 5, 4_799), assessLot(copy, 5, 4_799));
    assert.deepEqual(lot, copy);
  });
});
