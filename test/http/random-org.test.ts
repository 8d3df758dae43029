import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiError, type ErrorCode, type ErrorFacts } from '../../src/core/errors.ts';
import type { Exchange } from '../../src/http/exchange.ts';
import { type RpcError, rpcErrorOf } from '../../src/http/random-org/errors.ts';
import { type RpcSources, randomOrgRoute } from '../../src/http/random-org/invoke.ts';
import { drawOf, isDrawMethod } from '../../src/http/random-org/methods.ts';
import { newSerial, RpcSigner, rpcTime } from '../../src/http/random-org/signed.ts';

/**
 * How the interface of random.org treats parameters, tickets and errors; test/api/json-rpc.test.ts asks a service for
 * the rest.
 */

/** The code, the data and the message of a refusal; undefined when nothing is refused. */
function refusalOf(make: () => unknown): Pick<RpcError, 'code' | 'data' | 'message'> | undefined {
  try {
    make();
    return undefined;
  } catch (error) {
    const { code, data, message } = error instanceof ApiError ? rpcErrorOf(error) : (error as RpcError);
    return { code, data, message };
  }
}

const INTEGERS = { n: 2, min: 1, max: 6 };
const SEQUENCES = { ...INTEGERS, length: 3 };
const FRACTIONS = { n: 2, decimalPlaces: 1 };
const GAUSSIANS = { n: 2, mean: 0, standardDeviation: 1, significantDigits: 4 };
const STRINGS = { n: 2, length: 3, characters: 'ab' };
const BLOBS = { n: 1, size: 8 };
const OUT_OF_RANGE = 202;
const CONFLICT = 300;
const TOO_SMALL = 301;
const LATER = -32000;

describe('parameters of random.org', () => {
  /** Each member at its bounds, and just beyond them. */
  const bounds: [kind: string, good: object, name: string, taken: unknown[], refused: unknown[]][] = [
    ['Integers', INTEGERS, 'n', [1, 10_000], [0, 10_001, '2', 1.5]],
    ['Integers', INTEGERS, 'base', [2, 8, 10, 16], [1, 7, 17]],
    ['Integers', { ...INTEGERS, max: 1 }, 'min', [-(2 ** 53 - 2)], [-(2 ** 53)]],
    ['IntegerSequences', SEQUENCES, 'n', [1, 64], [0, 65]],
    ['IntegerSequences', SEQUENCES, 'length', [1, 5_000, [1, 9]], [0, 10_001]],
    ['IntegerSequences', SEQUENCES, 'base', [16, [10, 2]], [7]],
    ['DecimalFractions', FRACTIONS, 'decimalPlaces', [1, 15], [0, 16]],
    ['Gaussians', GAUSSIANS, 'mean', [-1_000_000, 1_000_000], [-1_000_001, 1_000_001]],
    ['Gaussians', GAUSSIANS, 'standardDeviation', [-1e-9, 1e-9, 1_000_000], [0, 1e-10, 1_000_001]],
    ['Gaussians', GAUSSIANS, 'significantDigits', [2, 14], [1, 15]],
    ['Strings', STRINGS, 'length', [1, 128], [0, 129]],
    ['Strings', STRINGS, 'characters', ['ab'], ['a', 'aba', 'x'.repeat(1_001)]],
    ['UUIDs', { n: 1 }, 'n', [1, 10_000], [0, 10_001]],
    ['Blobs', BLOBS, 'n', [1, 1_000], [0, 100_001]],
    ['Blobs', BLOBS, 'size', [8, 16, 8_192], [0, 9, 8_200]],
    ['Blobs', BLOBS, 'format', ['base64', 'hex', null], ['x']],
  ];
  for (const [kind, good, name, taken, refused] of bounds)
    it(`have the bounds of the service: ${name} of ${kind}`, () => {
      for (const value of taken)
        assert.equal(refusalOf(() => drawOf(kind, { ...good, [name]: value }))?.code, undefined, `${value}`);
      for (const value of refused) {
        const refusal = refusalOf(() => drawOf(kind, { ...good, [name]: value }));
        assert.equal(refusal?.code, OUT_OF_RANGE, `${value}`);
        if (kind !== 'IntegerSequences') assert.deepEqual(refusal.data, [name]);
        assert.ok(refusal.message.startsWith(`${name} must be `), refusal.message);
      }
    });

  const together: [what: string, kind: string, params: object, code: number | undefined, data?: unknown][] = [
    ['an empty range', 'Integers', { ...INTEGERS, min: 6 }, CONFLICT, null],
    ['a member that is null', 'Integers', { ...INTEGERS, n: null }, OUT_OF_RANGE, ['n']],
    ['all of a range', 'Integers', { ...INTEGERS, n: 6, replacement: false }, undefined],
    ['more than a range', 'Integers', { ...INTEGERS, n: 7, replacement: false }, TOO_SMALL, [7, 6]],
    ['lists of another length', 'IntegerSequences', { ...SEQUENCES, min: [1] }, CONFLICT, ['min']],
    [
      'more than one of the ranges',
      'IntegerSequences',
      { ...SEQUENCES, length: [7, 1], replacement: [false, true] },
      ...([TOO_SMALL, [7, 6]] as const),
    ],
    [
      'more than a range with replacement',
      'IntegerSequences',
      { ...SEQUENCES, length: [7, 1], replacement: [true, false] },
      undefined,
    ],
    ['all fractions', 'DecimalFractions', { ...FRACTIONS, n: 10, replacement: false }, undefined],
    [
      'more than all fractions',
      'DecimalFractions',
      { ...FRACTIONS, n: 11, replacement: false },
      ...([TOO_SMALL, [11, 10]] as const),
    ],
    ['all strings', 'Strings', { ...STRINGS, n: 8, replacement: false }, undefined],
    ['more than all strings', 'Strings', { ...STRINGS, n: 9, replacement: false }, TOO_SMALL, [9, 8]],
    ['more than a reply holds', 'Blobs', { n: 100_000, size: 8_192 }, CONFLICT, null],
  ];
  for (const [what, kind, params, code, data] of together)
    it(`are ${code === undefined ? 'taken' : `refused with ${code}`} for ${what} of ${kind}`, () => {
      const refusal = refusalOf(() => drawOf(kind, params as never));
      assert.equal(refusal?.code, code);
      if (data !== undefined) assert.deepEqual(refusal?.data, data);
    });

  it('are sent to the endpoint with such values, whose answer becomes that of random.org', () => {
    const dataOf = (kind: string, params: object, values: unknown) => {
      const { asked, dataOf: made } = drawOf(kind, params as never);
      return [asked.endpoint, made === undefined ? values : made(values as never)];
    };
    const some = { replacement: false };
    assert.deepEqual(dataOf('Integers', INTEGERS, [255]), ['integers', [255]]);
    assert.deepEqual(dataOf('Integers', { ...INTEGERS, base: 16 }, [255]), ['integers', ['ff']]);
    assert.deepEqual(dataOf('IntegerSequences', { ...SEQUENCES, base: [10, 2] }, [[[5], [5]]]), [
      ...['sequences', [[5], ['101']]],
    ]);
    assert.deepEqual(dataOf('DecimalFractions', FRACTIONS, [0.5]), ['floats', [0.5]]);
    assert.deepEqual(dataOf('DecimalFractions', { n: 2, decimalPlaces: 2, ...some }, [0, 7, 10]), [
      ...['integers', [0, 0.07, 0.1]],
    ]);
    const numbered = { n: 2, length: 3, characters: 'aé😀', ...some };
    assert.deepEqual(dataOf('Strings', numbered, [0, 5, 26]), ['integers', ['aaa', 'aé😀', '😀😀😀']]);
    assert.deepEqual(dataOf('Strings', { ...STRINGS, length: 53, ...some }, [])[0], 'integers');
    const long = { ...STRINGS, length: 54, ...some };
    assert.deepEqual(dataOf('Strings', long, ['a', 'b']), ['strings', ['a', 'b']]);
    const refused = refusalOf(() => dataOf('Strings', long, ['a', 'a']));
    assert.deepEqual([refused?.code, refused?.data], [LATER, [0]]);
    const { asked: blob } = drawOf('Blobs', { n: 2, size: 16, format: 'hex' });
    assert.deepEqual([blob.endpoint, JSON.stringify(blob.values).includes('"length":2')], ['batch', true]);
    const { asked: gaussian } = drawOf('Gaussians', { ...GAUSSIANS, standardDeviation: -3 });
    assert.ok(JSON.stringify(gaussian.values).includes('"stddev":3'));
    const { asked: mixed } = drawOf('IntegerSequences', { ...SEQUENCES, replacement: [true, false] });
    assert.deepEqual(
      (mixed.values as unknown as { ranges: { unique: boolean }[] }).ranges.map(({ unique }) => unique),
      [false, true],
    );
    const alike = [true, false].map((replacement) =>
      drawOf('IntegerSequences', { ...SEQUENCES, replacement }),
    );
    assert.deepEqual(
      alike.map(({ asked }) => (asked.members as { unique: boolean }).unique),
      [false, true],
    );
    assert.equal('unique' in (mixed.members as object), false, 'nothing that is true of one of them alone');
    assert.deepEqual([isDrawMethod('UUIDs'), isDrawMethod('toString')], [true, false]);
  });

  it('are repeated unchanged, with the defaults for those that were left out', () => {
    assert.deepEqual(drawOf('Integers', INTEGERS).echo, { ...INTEGERS, replacement: true, base: 10 });
    const given = { ...SEQUENCES, length: [1, 2] };
    assert.deepEqual(drawOf('IntegerSequences', given).echo, { ...given, replacement: true, base: 10 });
  });
});

describe("the error that random.org's clients get for a refusal of the service", () => {
  const cases: [code: ErrorCode, facts: ErrorFacts, told: number, data: unknown][] = [
    ['auth_missing', {}, 400, null],
    ['auth_invalid', {}, 400, null],
    ['auth_scope', {}, 401, null],
    ['quota_exceeded', { retryAfterS: 9 }, 402, [1, 0]],
    ['credits_exhausted', { details: { required: 3, remaining: 1 } }, 403, [24, 8]],
    ['payload_too_large', {}, -32600, null],
    ['internal_error', {}, -32603, null],
    ['rate_limited', { retryAfterS: 3 }, LATER, [3]],
    ['shutting_down', {}, LATER, null],
    ['invalid_count', { details: { parameter: 'n' } }, OUT_OF_RANGE, ['n']],
    ['invalid_range', {}, CONFLICT, null],
  ];
  for (const [code, facts, told, data] of cases)
    it(`is ${told} for ${code}`, () => {
      const error = rpcErrorOf(new ApiError(code, facts));
      assert.deepEqual([error.code, error.data], [told, data]);
    });
});

describe('a signed answer', () => {
  it('is read in the form in which earlier builds stored it', async () => {
    const signer = new RpcSigner(new Uint8Array(32).fill(1));
    const ticket = signer.newTicket(7, Date.UTC(2026, 10, 27, 8), true);
    const { ticketId, serialNumber } = ticket;
    const echo = { n: 2, min: 1, max: 6, replacement: true, base: 10 };
    // as cd498bf9 kept it
    const facts = {
      method: 'generateSignedIntegers',
      hashedApiKey: 'aGFzaA==',
      echo,
      userData: { a: 1 },
      ticket: { ticketId, showResult: true },
      serialNumber,
    };
    const metadata = {
      timestamp: '2026-11-27T08:00:00.000Z',
      certificate_id: 'cert_1',
      certificate_salt: '00',
    };
    const body = Buffer.from(JSON.stringify({ data: { values: [4, 6] }, metadata }));
    const kept = async () => ({ fields: [['X-JSON-RPC', JSON.stringify(facts)]], body });
    const { handler } = randomOrgRoute({ signer, idempotency: { kept } } as unknown as RpcSources);
    const fair = {
      lookUp: (_: unknown, work: () => unknown) => work(),
      inTurn: async (_: unknown, work: () => unknown) => work(),
    };
    const call = { jsonrpc: '2.0', method: 'getTicket', params: { ticketId }, id: 1 };
    const exchange = { body: Buffer.from(JSON.stringify(call)), fair } as unknown as Exchange;
    const reply = await handler(exchange);
    const { random, signature } = JSON.parse(Buffer.from(reply.body).toString()).result.result;
    assert.equal(signer.isAuthentic(random, signature), true);
    assert.deepEqual(Object.keys(random).slice(2, 7), Object.keys(echo));
    const { data, ticketData, completionTime } = random;
    assert.deepEqual([data, ticketData.ticketId, completionTime], [[4, 6], ticketId, '2026-11-27 08:00:00Z']);
  });
});

describe('a ticket', () => {
  const [signer, other] = [1, 2].map((fill) => new RpcSigner(new Uint8Array(32).fill(fill)));
  const NOW_MS = Date.UTC(2026, 10, 27, 8);

  it('shows its owner, its time and whether its result is shown, only to its maker', () => {
    for (const showResult of [true, false]) {
      const ticket = signer.newTicket(2 ** 32 - 1, NOW_MS, showResult);
      const { accountNumber, createdAtMs, ticketId } = ticket;
      assert.deepEqual([accountNumber, createdAtMs, ticket.showResult], [2 ** 32 - 1, NOW_MS, showResult]);
      assert.deepEqual(signer.openTicket(ticketId), ticket);
      const forged = [...ticketId].map(
        (digit, i) => ticketId.slice(0, i) + (digit === '0' ? '1' : '0') + ticketId.slice(i + 1),
      );
      for (const each of ['', `${ticketId}0`, ticketId.slice(1), ...forged])
        assert.equal(refusalOf(() => signer.openTicket(each))?.code, 420, each);
      assert.equal(refusalOf(() => other.openTicket(ticketId))?.code, 420);
    }
  });

  it('is numbered by the millisecond like a signature, each of which has 4,096 numbers', () => {
    const numbers = Array.from({ length: 2_000 }, () => newSerial(NOW_MS + 0.5) - 4_096 * NOW_MS);
    assert.ok(numbers.every((number) => number >= 0 && number < 4_096));
    assert.ok(Math.max(...numbers) > 3_900 && Math.min(...numbers) < 200, 'the chance of either is 10^-41');
    assert.equal(rpcTime('2026-11-22T17:00:09.123Z'), '2026-11-22 17:00:09Z');
  });

  it('differs from a signature of the same text, and a signature is valid for one object', () => {
    const signature = signer.sign({ a: 1, b: [2] });
    assert.equal(Buffer.from(signature, 'base64').length, 64);
    assert.equal(signer.isAuthentic({ b: [2], a: 1 }, signature), true);
    assert.equal(signer.isAuthentic({ a: 1, b: [3] }, signature), false);
    assert.equal(other.isAuthentic({ a: 1, b: [2] }, signature), false);
    assert.equal(signer.isAuthentic({ a: 1, b: [2] }, ''), false);
  });
});
