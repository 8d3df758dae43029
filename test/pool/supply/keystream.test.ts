import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import fc from 'fast-check';
import { concatBytes, toHex } from '../../../src/core/bytes.ts';
import { seedKey } from '../../../src/crypto/digest.ts';
import { Expander, PIECE_OUTPUT_BYTES } from '../../../src/crypto/expander.ts';
import {
  expandPieces,
  type RefillOrder,
  SeededKeystream,
  systemReader,
} from '../../../src/pool/supply/keystream.ts';
import { fixedBytes } from '../../support/backends.ts';
import { mixedPiece, systemGives, systemPiece } from '../../support/system-entropy.ts';
import { isZero, settle } from '../fixtures.ts';

const PIECES_AHEAD = 8;

function seedOf(label: string): Uint8Array<ArrayBuffer> {
  const seed = new Uint8Array(32);
  fixedBytes(label)(seed);
  return seed;
}

/** The kernel gives zeros: what is expanded depends on the seeds alone. */
function withoutSystemEntropy(t: TestContext): void {
  systemGives(t, (target) => target.fill(0));
}

const pieceOf = (key: Uint8Array, kernelKey = new Uint8Array(32)) => mixedPiece(key, kernelKey);

/** The pieces that a refill with this key gives while the kernel gives zeros. */
function refillPieces(key: Uint8Array, count: number): Uint8Array<ArrayBuffer>[] {
  const stream = new Expander(key);
  return Array.from({ length: count }, () => pieceOf(stream.deriveKey()));
}

function read(stream: SeededKeystream, bytes: number): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(bytes);
  stream.reader.fill(out);
  return out;
}

/** Carries every order out at once, as a free worker would: on its own copy of the key. */
async function atOnce({ key, pieces }: RefillOrder): Promise<Uint8Array<ArrayBuffer>[]> {
  return expandPieces({ key: new Uint8Array(key), pieces });
}

/** Keeps orders until the test completes or fails them, and the resulting pieces. */
function heldOrders() {
  const held: { order: RefillOrder; settle: (outcome: 'filled' | 'failed') => void }[] = [];
  const expanded: Uint8Array[] = [];
  const order = (order: RefillOrder) =>
    new Promise<Uint8Array<ArrayBuffer>[]>((resolve, reject) => {
      const carryOut = async () => {
        const pieces = await atOnce(order);
        expanded.push(...pieces);
        return pieces;
      };
      const settle = (outcome: 'filled' | 'failed') =>
        outcome === 'failed' ? reject(new Error('no worker')) : resolve(carryOut());
      held.push({ order, settle });
    });
  return { order, held, expanded };
}

/**
 * Remembers what it is shown; true when it was shown some of it before, at whatever offset: the 16 bytes from every
 * zero byte on, one place in 256, are compared.
 */
function repetition() {
  const seen = new Set<string>();
  return (bytes: Uint8Array) => {
    let isRepeated = false;
    for (let at = bytes.indexOf(0); at >= 0 && at + 16 <= bytes.length; at = bytes.indexOf(0, at + 1)) {
      const piece = toHex(bytes.subarray(at, at + 16));
      isRepeated ||= seen.has(piece);
      seen.add(piece);
    }
    return isRepeated;
  };
}

it('expandPieces expands keys derived from the one-time key, which it erases, each into memory of its own', (t) => {
  withoutSystemEntropy(t);
  const key = seedOf('fill');
  const expected = refillPieces(key, 3);
  const pieces = expandPieces({ key, pieces: 3 });
  assert.deepEqual(pieces, expected);
  assert.ok(isZero(key));
  assert.equal(new Set(pieces.map(({ buffer }) => buffer)).size, 3);
});

describe('seeded keystream', () => {
  it('gives the expansion of its keys and those of the kernel, through refills and a reseed', async (t) => {
    withoutSystemEntropy(t);
    const { order, held } = heldOrders();
    const stream = new SeededKeystream(order);
    stream.reseed(seedOf('one'));
    let root = new Expander(seedKey(seedOf('one'), new Uint8Array(32), null));
    const firstRefill = refillPieces(root.deriveKey(), PIECES_AHEAD);
    // The worker is behind: this thread expands the first piece itself.
    const head = pieceOf(root.deriveKey());
    assert.deepEqual(read(stream, 100), head.subarray(0, 100));
    held[0].settle('filled');
    await settle();
    assert.deepEqual(
      read(stream, PIECE_OUTPUT_BYTES),
      concatBytes(head.subarray(100), firstRefill[0].subarray(0, 100)),
    );
    assert.equal(held.length, 1);
    read(stream, 3 * PIECE_OUTPUT_BYTES); // down to the watermark
    assert.equal(held.length, 2);
    assert.equal(held[1].order.pieces, PIECES_AHEAD / 2);
    const secondRefill = refillPieces(root.deriveKey(), PIECES_AHEAD / 2);
    held[1].settle('filled');
    await settle();
    const rest = concatBytes(firstRefill[3].subarray(100), ...firstRefill.slice(4), ...secondRefill);
    assert.deepEqual(read(stream, 4 * PIECE_OUTPUT_BYTES), rest.subarray(0, 4 * PIECE_OUTPUT_BYTES));
    // The refill that was asked for on the way is of the old seed: none of its bytes is handed out.
    const orders = held.length;
    root.deriveKey();
    stream.reseed(seedOf('two'));
    root = new Expander(seedKey(seedOf('two'), new Uint8Array(32), root.deriveKey()));
    held[orders - 1].settle('filled');
    await settle();
    assert.equal(held.length, orders + 1);
    const newRefill = refillPieces(root.deriveKey(), PIECES_AHEAD);
    held[orders].settle('filled');
    await settle();
    assert.deepEqual(read(stream, 2 * PIECE_OUTPUT_BYTES), concatBytes(newRefill[0], newRefill[1]));
  });

  it('never repeats a byte, whatever happens to its orders and seeds', async () => {
    const step = fc.oneof(
      fc.record({
        act: fc.constant('read' as const),
        bytes: fc.integer({ min: 1, max: 3 * PIECE_OUTPUT_BYTES }),
      }),
      fc.record({ act: fc.constantFrom('filled' as const, 'failed' as const) }),
      fc.record({ act: fc.constantFrom('reseed' as const, 'erase' as const, 'key' as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const { order, held, expanded } = heldOrders();
        const stream = new SeededKeystream(order);
        const isRepeated = repetition();
        const keys = new Set<string>();
        stream.reseed(seedOf('property'));
        let settled = 0;
        for (const each of steps) {
          if (each.act === 'read') {
            if (stream.seeded) assert.ok(!isRepeated(read(stream, each.bytes)));
            else assert.throws(() => read(stream, each.bytes), { name: 'InvariantError' });
          } else if (each.act === 'reseed') stream.reseed(seedOf('property'));
          else if (each.act === 'erase') stream.erase();
          else if (each.act === 'key') {
            if (!stream.seeded) continue;
            const key = toHex(stream.oneTimeKey());
            assert.ok(!keys.has(key));
            keys.add(key);
          } else if (settled < held.length) {
            const { order, settle: end } = held[settled++];
            end(each.act);
            await settle();
            assert.ok(isZero(order.key));
          }
          assert.ok(held.length - settled <= 1, 'one refill at a time');
        }
        stream.close();
        if (settled < held.length) {
          held[settled].settle('filled');
          await settle();
        }
        for (const piece of expanded) assert.ok(isZero(piece));
      }),
      { numRuns: 40 },
    );
  });

  it('erases its bytes when the seed ends, and keeps nothing of a refill that ends later', async () => {
    const { order, held, expanded } = heldOrders();
    const stream = new SeededKeystream(order);
    stream.reseed(seedOf('erasure'));
    held[0].settle('filled');
    await settle();
    read(stream, 1);
    assert.equal(expanded.filter((piece) => !isZero(piece)).length, PIECES_AHEAD);
    read(stream, 4 * PIECE_OUTPUT_BYTES); // below the watermark
    stream.erase();
    held[1].settle('filled');
    await settle();
    for (const piece of expanded) assert.ok(isZero(piece));
    assert.equal(held.length, 2);
    assert.equal(stream.seeded, false);
    assert.throws(() => read(stream, 1), { name: 'InvariantError' });
    assert.throws(() => stream.oneTimeKey(), { name: 'InvariantError' });
    stream.reseed(seedOf('erasure'));
    assert.equal(read(stream, 10).length, 10);
  });

  it('serves without any worker, and requests again with the next piece', async () => {
    let orders = 0;
    const stream = new SeededKeystream(async () => {
      orders++;
      throw new Error('the pool is full');
    });
    const isRepeated = repetition();
    stream.reseed(seedOf('alone'));
    await settle();
    assert.equal(orders, 1);
    for (let piece = 1; piece <= 5; piece++) {
      assert.ok(!isRepeated(read(stream, PIECE_OUTPUT_BYTES)));
      await settle();
      assert.equal(orders, 1 + piece);
    }
  });

  it('mixes fresh kernel entropy into every piece that this thread expands itself', async (t) => {
    const kernel = fixedBytes('kernel');
    systemGives(t, kernel);
    const stream = new SeededKeystream(() => Promise.reject(new Error('no worker')));
    stream.reseed(seedOf('mixed'));
    const given = fixedBytes('kernel');
    const next = () => {
      const key = new Uint8Array(32);
      given(key);
      return key;
    };
    const root = new Expander(seedKey(seedOf('mixed'), next(), null));
    root.deriveKey(); // the refill's
    const first = pieceOf(root.deriveKey(), next());
    assert.deepEqual(read(stream, PIECE_OUTPUT_BYTES), first);
    await settle();
    assert.deepEqual(read(stream, 1_000), pieceOf(root.deriveKey(), next()).subarray(0, 1_000));
  });

  it('gives different bytes on two fronts with the same quantum seed', async () => {
    const fronts = [new SeededKeystream(atOnce), new SeededKeystream(atOnce)];
    for (const stream of fronts) stream.reseed(seedOf('shared'));
    await settle();
    assert.notDeepEqual(read(fronts[0], 64), read(fronts[1], 64));
    assert.notDeepEqual(fronts[0].oneTimeKey(), fronts[1].oneTimeKey());
  });

  it('does not change the quantum seed: the caller wipes it', () => {
    const seed = seedOf('caller');
    new SeededKeystream(atOnce).reseed(seed);
    assert.deepEqual(seed, seedOf('caller'));
  });

  it('takes no seed once closed', () => {
    const { order, held } = heldOrders();
    const stream = new SeededKeystream(order);
    stream.close();
    stream.reseed(seedOf('closed'));
    assert.equal(stream.seeded, false);
    assert.equal(held.length, 0);
  });
});

it('a system stream expands a fresh key of the kernel for each piece, and gives each byte once', (t) => {
  systemGives(t, fixedBytes('system'));
  const keys = new Uint8Array(64);
  fixedBytes('system')(keys);
  const pieces = [keys.subarray(0, 32), keys.subarray(32)].map((key) => systemPiece(key, PIECE_OUTPUT_BYTES));
  const reader = systemReader();
  const out = new Uint8Array(2 * PIECE_OUTPUT_BYTES - 5);
  reader.fill(out.subarray(0, 7));
  reader.fill(out.subarray(7));
  assert.deepEqual(out, concatBytes(...pieces).subarray(0, out.length));
});
