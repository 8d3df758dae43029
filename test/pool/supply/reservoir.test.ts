import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Log, silentLog } from '../../../src/core/log.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import { PURE_BLOCK_BYTES } from '../../../src/ledger/records.ts';
import { PureSupply } from '../../../src/pool/supply/pure.ts';
import type { EntropyReader } from '../../../src/values/entropy-reader.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { memoryLedger } from '../../support/memory-ledger.ts';
import { isZero, lotRecord, MarkedBlocks, recordingLog, settle, withCalls, wordsOf } from '../fixtures.ts';

const KIB = 1024;

/** A reservoir of marked blocks, and which lot each word came from. */
class World {
  readonly ledger = memoryLedger(new ManualClock());
  readonly lotOfWord = new Map<number, string>();
  readonly #marked = new MarkedBlocks();
  #lots = 0;
  #added = 0;

  async addLot(blocks: number, lastBytes = PURE_BLOCK_BYTES): Promise<string> {
    const id = `lot_${++this.#lots}`;
    const pure = this.#marked.pure(blocks, lastBytes);
    this.#added += (blocks - 1) * PURE_BLOCK_BYTES + lastBytes;
    for (const { bytes } of pure) for (const word of wordsOf(bytes)) this.lotOfWord.set(word, id);
    await this.ledger.addLot(lotRecord(id), pure);
    return id;
  }

  async claimedBytes(): Promise<number> {
    return this.#added - (await this.ledger.blockLevels()).pure.bytes;
  }

  /** Returns the lots of these words, in order. */
  lotsOf(words: readonly number[]): string[] {
    return [...new Set(words.map((word) => this.lotOfWord.get(word)!))];
  }
}

async function worldOf(...blocksOfLots: number[]) {
  const world = new World();
  for (const blocks of blocksOfLots) await world.addLot(blocks);
  return { world, supply: supplyOf(world.ledger) };
}

function take(bytes: number): (reader: EntropyReader) => Uint8Array {
  return (reader) => {
    const out = new Uint8Array(bytes);
    reader.fill(out);
    return out;
  };
}

/** Draws as the service does: from the ring at once, or as soon as it is filled. */
async function draw(supply: PureSupply, bytes: number) {
  for (;;) {
    const drawn = supply.tryDraw(bytes, take(bytes));
    if (drawn !== undefined || !(await supply.fill(bytes))) return drawn;
  }
}

/** A supply whose claims are remembered, and given out only when told to. */
async function holdingClaims(...blocksOfLots: number[]) {
  const { world } = await worldOf(...blocksOfLots);
  const claimed: Uint8Array[] = [];
  const gate = Promise.withResolvers<void>();
  const ledger = withCalls(world.ledger, {
    claimBlocks: (claimBlocks) => async (kind, max) => {
      const blocks = await claimBlocks(kind, max);
      claimed.push(...blocks.map(({ bytes }) => bytes));
      await gate.promise;
      return blocks;
    },
  });
  return { world, ledger, supply: supplyOf(ledger), claimed, release: () => gate.resolve() };
}

function supplyOf(ledger: Ledger, log: Log = silentLog): PureSupply {
  return new PureSupply(ledger, log);
}

type Step =
  | { readonly act: 'try' | 'draw'; readonly words: number; readonly spare: number }
  | { readonly act: 'claim'; readonly bytes: number }
  | { readonly act: 'lot'; readonly blocks: number; readonly lastWords: number }
  | { readonly act: 'keep' };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    act: fc.constantFrom('try' as const, 'draw' as const),
    words: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 8 * KIB })),
    spare: fc.integer({ min: 0, max: 64 }),
  }),
  fc.record({ act: fc.constant('claim' as const), bytes: fc.integer({ min: 1, max: 64 * KIB }) }),
  fc.record({
    act: fc.constant('lot' as const),
    blocks: fc.integer({ min: 1, max: 24 }),
    lastWords: fc.integer({ min: 1, max: PURE_BLOCK_BYTES / 4 }),
  }),
  fc.constant({ act: 'keep' as const }),
);

describe('pure supply', () => {
  it('hands every byte out once, books it under its lot, and knows exactly what it holds', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { world, supply } = await worldOf(10);
        const seen = new Set<number>();
        let fromRing = 0;
        let claimedBytes = 0;
        const spend = (words: readonly number[]) => {
          for (const word of words) {
            assert.ok(world.lotOfWord.has(word), `word ${word} comes from no lot`);
            assert.ok(!seen.has(word), `word ${word} is handed out twice`);
            seen.add(word);
          }
        };
        for (const each of steps) {
          if (each.act === 'lot') await world.addLot(each.blocks, 4 * each.lastWords);
          if (each.act === 'keep') {
            supply.keepFilled();
            await settle();
          }
          if (each.act === 'claim') {
            const blocks = await supply.claim(each.bytes);
            for (const { lot, bytes } of blocks ?? []) {
              assert.deepEqual(world.lotsOf(wordsOf(bytes)), [lot.id]);
              claimedBytes += bytes.length;
              spend(wordsOf(bytes));
            }
          }
          if (each.act === 'try' || each.act === 'draw') {
            const size = Math.min(4 * each.words, 32 * KIB - 4 * each.spare);
            if (each.act === 'draw') await supply.fill(size + 4 * each.spare);
            let first = '';
            const drawn = supply.tryDraw(size + 4 * each.spare, (reader, lot) => {
              first = lot.id;
              return take(size)(reader);
            });
            if (drawn === undefined) {
              assert.ok(supply.available() < size + 4 * each.spare);
            } else {
              spend(wordsOf(drawn.value));
              const pieces = drawn.shares.reduce((sum, { bytes }) => sum + bytes, 0);
              assert.ok(
                pieces >= size && pieces < size + 16,
                'what was drawn, and the rest of its last piece',
              );
              fromRing += pieces;
              assert.deepEqual(
                [...new Set(drawn.shares.map(({ lot }) => lot.id))],
                world.lotsOf(wordsOf(drawn.value)),
              );
              assert.equal(drawn.shares[0].lot.id, first);
            }
          }
          await settle();
          assert.equal(supply.available(), (await world.claimedBytes()) - claimedBytes - fromRing);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('serves a burst that is larger than the ring as long as the reservoir lasts, and no longer', async () => {
    const { supply } = await worldOf(20, 20); // 160 KiB
    const draws = await Promise.all(Array.from({ length: 200 }, () => draw(supply, KIB)));
    const served = draws.filter((drawn) => drawn !== undefined);
    assert.equal(served.length, 160);
    assert.equal(new Set(served.flatMap(({ value }) => wordsOf(value))).size, (160 * KIB) / 4);
  });

  it('waits for more than the claim under way when that brings too little', async () => {
    const { world, supply, release } = await holdingClaims(2);
    supply.keepFilled();
    await settle(); // two blocks are on their way
    await world.addLot(10);
    const filled = supply.fill(32 * KIB);
    release();
    assert.equal(await filled, true);
  });

  it('erases what is on its way from a withdrawn lot, and keeps the rest', async () => {
    const { supply, claimed, release } = await holdingClaims(3, 3);
    const filled = supply.fill(KIB);
    await settle();
    supply.withdraw(new Set(['lot_1']));
    release();
    assert.equal(await filled, true);
    assert.equal(supply.available(), 3 * PURE_BLOCK_BYTES);
    assert.deepEqual(claimed.map(isZero), [true, true, true, false, false, false]);
  });

  it('serves draws of the largest size that fits the ring, one after the other', async () => {
    const { supply } = await worldOf(33);
    assert.ok(PureSupply.fitsRing(32 * KIB));
    assert.ok(!PureSupply.fitsRing(32 * KIB + 1));
    const draws = await Promise.all(Array.from({ length: 5 }, () => draw(supply, 32 * KIB)));
    assert.equal(draws.filter((drawn) => drawn !== undefined).length, 4);
  });

  it('erases what was drawn, and books what was drawn by a use that threw', async () => {
    const { supply, claimed, release } = await holdingClaims(4);
    release();
    await supply.fill(KIB);
    const before = supply.available();
    const failing = () =>
      supply.tryDraw(KIB, (reader) => {
        reader.fill(new Uint8Array(600));
        throw new Error('no more');
      });
    assert.throws(failing, /no more/);
    assert.equal(supply.available(), before - 608);
    assert.ok(isZero(claimed[0].subarray(0, 608)));
    assert.ok(!isZero(claimed[0].subarray(608, 612)));
    const drawn = supply.tryDraw(KIB, take(KIB))!;
    assert.deepEqual(wordsOf(drawn.value)[0], 1 + 608 / 4);
    const [{ lot, ...share }, ...others] = drawn.shares;
    assert.deepEqual([lot.id, share, others], ['lot_1', { offset: 608, bytes: KIB, releasedAtMs: 0 }, []]);
    assert.ok(isZero(claimed[0].subarray(0, 608 + KIB)));
  });

  it('holds a sampler to its bound, and books the bytes of one that exceeds it', async () => {
    const { supply } = await worldOf(4);
    await supply.fill(KIB);
    const before = supply.available();
    assert.throws(() => supply.tryDraw(100, take(101)), { name: 'InvariantError' });
    assert.equal(supply.available(), before - 112);
  });

  it('takes nothing for a use that wants more than the ring holds', async () => {
    const { supply } = await worldOf(1);
    await supply.fill(KIB);
    assert.throws(() => supply.tryDraw(KIB, take(PURE_BLOCK_BYTES + 1)), { name: 'InvariantError' });
    assert.equal(supply.available(), PURE_BLOCK_BYTES);
    assert.deepEqual(wordsOf(supply.tryDraw(KIB, take(4))!.value), [1]);
  });

  it('draws nothing once closed, and erases what it held', async () => {
    const { supply, claimed, release } = await holdingClaims(30);
    release();
    await supply.fill(KIB);
    supply.tryDraw(10, take(10)); // the reader has a block now
    await settle();
    supply.close();
    assert.equal(claimed.length, 16);
    for (const bytes of claimed) assert.ok(isZero(bytes));
    assert.equal(supply.available(), 0);
    assert.equal(supply.tryDraw(1, take(1)), undefined);
    assert.equal(await supply.fill(1), false);
    assert.equal(await supply.claim(1), undefined);
    supply.keepFilled();
    await settle();
    assert.equal(claimed.length, 16);
  });

  it('erases what arrives after it was closed with claims under way', async () => {
    const { supply, claimed, release } = await holdingClaims(30);
    const filling = supply.fill(KIB);
    const claiming = supply.claim(40 * KIB);
    await settle();
    supply.close();
    release();
    assert.equal(await filling, false);
    assert.equal(await claiming, undefined);
    assert.equal(claimed.length, 8);
    for (const bytes of claimed) assert.ok(isZero(bytes));
    assert.equal(supply.available(), 0);
  });

  it('keeps for small draws what a large one got when another front was faster', async () => {
    const { world } = await worldOf(30);
    const racing = withCalls(world.ledger, {
      claimBlocks: (claimBlocks) => async (kind, max) => {
        if (max > 16) await claimBlocks(kind, 10); // the other front
        return claimBlocks(kind, max);
      },
    });
    const supply = supplyOf(racing);
    assert.equal(await supply.claim(30 * PURE_BLOCK_BYTES), undefined);
    assert.equal(supply.available(), 20 * PURE_BLOCK_BYTES);
    assert.equal(await supply.fill(1), true);
    assert.equal(wordsOf(supply.tryDraw(4, take(4))!.value)[0], 1 + (10 * PURE_BLOCK_BYTES) / 4);
  });

  it('claims nothing when the reservoir cannot give all of it', async () => {
    const { world, supply } = await worldOf(3);
    assert.equal(await supply.claim(4 * PURE_BLOCK_BYTES), undefined);
    assert.equal((await world.ledger.audit()).blocksClaimed, 0);
    assert.equal((await supply.claim(3 * PURE_BLOCK_BYTES))!.length, 3);
  });

  it('draws the same from many short blocks as from one long one', async () => {
    const { world, supply } = await worldOf();
    for (let lot = 0; lot < 700; lot++) await world.addLot(1, 192); // 64 KiB, and as much again
    assert.equal(await supply.fill(32 * KIB), true);
    const small = supply.tryDraw(32 * KIB, take(32 * KIB))!;
    assert.equal(small.shares.length, Math.ceil((32 * KIB) / 192));
    const large = await supply.claim(48 * KIB);
    assert.equal(large!.length, (48 * KIB) / 192);
    const words = [small.value, ...large!.map(({ bytes }) => bytes)].flatMap(wordsOf);
    assert.equal(new Set(words).size, (80 * KIB) / 4);
    assert.ok(supply.available() <= 64 * KIB);
  });

  it('keeps for small draws what a large one had claimed when the ledger fails, and erases it when the sources close', async () => {
    for (const end of ['fails', 'closes'] as const) {
      const { world } = await worldOf();
      for (let lot = 0; lot < 40; lot++) await world.addLot(1, 1024);
      const claimed: Uint8Array[] = [];
      const ending = withCalls(world.ledger, {
        claimBlocks: (claimBlocks) => async (kind, max) => {
          if (claimed.length > 0 && end === 'fails') throw new Error('the disk is away');
          if (claimed.length > 0) supply.close();
          const blocks = await claimBlocks(kind, max);
          claimed.push(...blocks.map(({ bytes }) => bytes));
          return blocks;
        },
      });
      const supply = supplyOf(ending);
      const large = supply.claim(32 * KIB);
      if (end === 'fails') await assert.rejects(large, /the disk is away/);
      else assert.equal(await large, undefined);
      assert.ok(claimed.length >= 8);
      for (const bytes of claimed) assert.equal(isZero(bytes), end === 'closes');
      assert.equal(supply.available(), end === 'closes' ? 0 : claimed.length * KIB);
    }
  });

  it('survives a ledger that fails for a while', async () => {
    const { world } = await worldOf(30);
    let isFailing = true;
    const failing = withCalls(world.ledger, {
      claimBlocks: (claimBlocks) => async (kind, max) => {
        if (isFailing) throw new Error('the disk is away');
        return claimBlocks(kind, max);
      },
    });
    const log = recordingLog();
    const supply = supplyOf(failing, log);
    supply.keepFilled();
    await settle();
    assert.deepEqual(
      log.errors().map(({ facts }) => facts.reason),
      ['the disk is away'],
    );
    await assert.rejects(supply.fill(1), /the disk is away/);
    isFailing = false;
    assert.equal(await supply.fill(1), true);
  });

  it('erases blocks whose lot cannot be read', async () => {
    const { ledger, claimed, release } = await holdingClaims(30);
    release();
    const failing = withCalls(ledger, {
      lot: () => async () => {
        throw new Error('unreadable');
      },
    });
    const supply = supplyOf(failing);
    await assert.rejects(supply.fill(1), /unreadable/);
    assert.equal(claimed.length, 8);
    for (const bytes of claimed) assert.ok(isZero(bytes));
    assert.equal(supply.available(), 0);
  });
});
