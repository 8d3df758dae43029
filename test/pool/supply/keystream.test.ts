import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import fc from 'fast-check';
import { concatBytes, toHex } from '../../../src/core/bytes.ts';
import { seedKey } from '../../../src/crypto/digest.ts';
import { Expander, expandOnce } from '../../../src/crypto/expander.ts';
import {
  fillRing,
  KEYSTREAM_SLOT_BYTES,
  type RefillOrder,
  SeededKeystream,
  SystemStream,
} from '../../../src/pool/supply/keystream.ts';
import { SlotRing } from '../../../src/pool/supply/ring.ts';
import { fixedBytes } from '../../support/backends.ts';
import { systemGives, systemPiece } from '../../support/system-entropy.ts';
import { isZero, settle } from '../fixtures.ts';

const SLOTS = 8;

function seedOf(label: string): Uint8Array<ArrayBuffer> {
  const seed = new Uint8Array(32);
  fixedBytes(label)(seed);
  return seed;
}

/** The kernel gives zeros: what is expanded depends on the seeds alone. */
function withoutSystemEntropy(t: TestContext): void {
  systemGives(t, (target) => target.fill(0));
}

/** The same bytes as the key gives to whoever expands one piece while the kernel gives `kernelKey`. */
function pieceOf(key: Uint8Array, kernelKey = new Uint8Array(32)): Uint8Array<ArrayBuffer> {
  const piece = new Uint8Array(KEYSTREAM_SLOT_BYTES);
  expandOnce(key, piece, 'none');
  const mixed = systemPiece(kernelKey, 32 + KEYSTREAM_SLOT_BYTES).subarray(32);
  return piece.map((byte, i) => byte ^ mixed[i]);
}

/** The pieces that a refill with this key fills into slots while the kernel gives zeros. */
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
async function atOnce(order: RefillOrder): Promise<void> {
  fillRing({ ...order, key: new Uint8Array(order.key) });
}

/** Keeps orders until the test has them carried out, or fails them. */
function heldOrders() {
  const held: { order: RefillOrder; settle: (outcome: 'filled' | 'failed') => void }[] = [];
  const order = (order: RefillOrder) =>
    new Promise<void>((resolve, reject) => {
      held.push({
        order,
        settle(outcome) {
          if (outcome === 'failed') reject(new Error('no worker'));
          else resolve(atOnce(order));
        },
      });
    });
  return { order, held };
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

describe('fillRing', () => {
  it('fills slots with the expansion of keys derived from the one-time key, and erases that', (t) => {
    withoutSystemEntropy(t);
    const { memory } = new SeededKeystream(atOnce);
    const key = seedOf('fill');
    const expected = refillPieces(key, 3);
    assert.equal(fillRing({ memory, key, slots: 3, tag: 7 }), 3);
    assert.ok(isZero(key));
    const ring = new SlotRing(memory);
    for (const piece of expected) {
      assert.equal(ring.tag(), 7);
      assert.deepEqual(new Uint8Array(ring.peek()!), piece);
      ring.release();
    }
    assert.equal(ring.filled(), 0);
  });

  it('stops where the ring is full', () => {
    const { memory } = new SeededKeystream(atOnce);
    assert.equal(fillRing({ memory, key: seedOf('a'), slots: 5, tag: 1 }), 5);
    assert.equal(fillRing({ memory, key: seedOf('b'), slots: 5, tag: 1 }), 3);
    assert.equal(new SlotRing(memory).filled(), SLOTS);
  });

  it('mixes the entropy of the system in: the same key never gives the same bytes', () => {
    const slots = [1, 2].map(() => {
      const { memory } = new SeededKeystream(atOnce);
      fillRing({ memory, key: seedOf('same'), slots: 1, tag: 1 });
      return new Uint8Array(new SlotRing(memory).peek()!);
    });
    assert.notDeepEqual(slots[0], slots[1]);
  });
});

describe('seeded keystream', () => {
  it('gives what its keys and those of the kernel expand to, through refills and a reseed', async (t) => {
    withoutSystemEntropy(t);
    const { order, held } = heldOrders();
    const stream = new SeededKeystream(order);
    stream.reseed(seedOf('one'));
    let root = new Expander(seedKey(seedOf('one'), new Uint8Array(32), null));
    const firstRefill = refillPieces(root.deriveKey(), SLOTS);
    // The worker is behind: this thread expands the first piece itself.
    const head = pieceOf(root.deriveKey());
    assert.deepEqual(read(stream, 100), head.subarray(0, 100));
    held[0].settle('filled');
    await settle();
    assert.deepEqual(
      read(stream, KEYSTREAM_SLOT_BYTES),
      concatBytes(head.subarray(100), firstRefill[0].subarray(0, 100)),
    );
    assert.equal(held.length, 1);
    read(stream, 3 * KEYSTREAM_SLOT_BYTES); // down to the watermark
    assert.equal(held.length, 2);
    assert.equal(held[1].order.slots, SLOTS / 2);
    const secondRefill = refillPieces(root.deriveKey(), SLOTS / 2);
    held[1].settle('filled');
    await settle();
    const rest = concatBytes(firstRefill[3].subarray(100), ...firstRefill.slice(4), ...secondRefill);
    assert.deepEqual(read(stream, 4 * KEYSTREAM_SLOT_BYTES), rest.subarray(0, 4 * KEYSTREAM_SLOT_BYTES));
    // The refill that was asked for on the way is of the old seed: none of its bytes is handed out.
    const orders = held.length;
    root.deriveKey();
    stream.reseed(seedOf('two'));
    root = new Expander(seedKey(seedOf('two'), new Uint8Array(32), root.deriveKey()));
    held[orders - 1].settle('filled');
    await settle();
    assert.equal(held.length, orders + 1);
    const newRefill = refillPieces(root.deriveKey(), SLOTS);
    held[orders].settle('filled');
    await settle();
    assert.deepEqual(read(stream, 2 * KEYSTREAM_SLOT_BYTES), concatBytes(newRefill[0], newRefill[1]));
  });

  it('never gives a byte twice, whatever becomes of its orders and seeds', async () => {
    const step = fc.oneof(
      fc.record({
        act: fc.constant('read' as const),
        bytes: fc.integer({ min: 1, max: 3 * KEYSTREAM_SLOT_BYTES }),
      }),
      fc.record({ act: fc.constantFrom('filled' as const, 'failed' as const, 'partly' as const) }),
      fc.record({ act: fc.constantFrom('reseed' as const, 'erase' as const, 'key' as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const { order, held } = heldOrders();
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
            // A worker that dies midway has filled some slots.
            if (each.act === 'partly') fillRing({ ...order, key: new Uint8Array(order.key), slots: 2 });
            end(each.act === 'filled' ? 'filled' : 'failed');
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
        assert.ok(isZero(new Uint8Array(stream.memory.slots)));
      }),
      { numRuns: 40 },
    );
  });

  it('erases a slot as soon as it is taken, and all of them when the seed ends', async () => {
    const stream = new SeededKeystream(atOnce);
    stream.reseed(seedOf('erasure'));
    await settle();
    const slots = new Uint8Array(stream.memory.slots);
    const filled = () =>
      Array.from({ length: SLOTS }, (_, i) => i).filter(
        (i) => !isZero(slots.subarray(i * KEYSTREAM_SLOT_BYTES, (i + 1) * KEYSTREAM_SLOT_BYTES)),
      );
    assert.equal(filled().length, SLOTS);
    read(stream, 1);
    assert.deepEqual(filled(), [1, 2, 3, 4, 5, 6, 7]);
    stream.erase();
    assert.deepEqual(filled(), []);
    assert.equal(stream.seeded, false);
    assert.throws(() => read(stream, 1), { name: 'InvariantError' });
    assert.throws(() => stream.oneTimeKey(), { name: 'InvariantError' });
    stream.reseed(seedOf('erasure'));
    await settle();
    assert.equal(filled().length, SLOTS);
    assert.equal(read(stream, 10).length, 10);
  });

  it('lets nothing of a refill stay that ends after the seed did', async () => {
    const { order, held } = heldOrders();
    const stream = new SeededKeystream(order);
    stream.reseed(seedOf('late'));
    stream.erase();
    held[0].settle('filled');
    await settle();
    assert.ok(isZero(new Uint8Array(stream.memory.slots)));
    assert.equal(held.length, 1);
  });

  it('drops what was expanded from the seed before, also what its reader holds', async (t) => {
    withoutSystemEntropy(t);
    const stream = new SeededKeystream(atOnce);
    stream.reseed(seedOf('one'));
    await settle();
    read(stream, 10);
    const root = new Expander(seedKey(seedOf('one'), new Uint8Array(32), null));
    root.deriveKey(); // the refill's
    const key = seedKey(seedOf('two'), new Uint8Array(32), root.deriveKey());
    stream.reseed(seedOf('two'));
    await settle();
    assert.equal(stream.reader.consumedBytes, 10);
    const [first] = refillPieces(new Expander(key).deriveKey(), 1);
    assert.deepEqual(read(stream, 1000), first.subarray(0, 1000));
  });

  it('serves without any worker, and asks again with the next piece', async () => {
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
      assert.ok(!isRepeated(read(stream, KEYSTREAM_SLOT_BYTES)));
      await settle();
      assert.equal(orders, 1 + piece);
    }
  });

  it('mixes fresh entropy of the kernel into every piece that this thread expands itself', async (t) => {
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
    assert.deepEqual(read(stream, KEYSTREAM_SLOT_BYTES), first);
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

  it('leaves the quantum seed as it is: the caller wipes it', () => {
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

describe('system stream', () => {
  it('expands a fresh key of the kernel for each piece, and gives each byte once', (t) => {
    systemGives(t, fixedBytes('system'));
    const keys = new Uint8Array(64);
    fixedBytes('system')(keys);
    const pieces = [keys.subarray(0, 32), keys.subarray(32)].map((key) =>
      systemPiece(key, KEYSTREAM_SLOT_BYTES),
    );
    const { reader } = new SystemStream();
    const out = new Uint8Array(2 * KEYSTREAM_SLOT_BYTES - 5);
    reader.fill(out.subarray(0, 7));
    reader.fill(out.subarray(7));
    assert.deepEqual(out, concatBytes(...pieces).subarray(0, out.length));
  });
});
