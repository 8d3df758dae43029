import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Backend,
  BackendError,
  MAX_READ_BITS,
  type RawRead,
  type StreamBackend,
} from '../../../src/backend/backend.ts';
import { ORIGINS } from '../../../src/core/vocabulary.ts';
import { condition } from '../../../src/pool/intake/conditioner.ts';
import { JobDouble } from '../../pool/intake/job-double.ts';
import { deadBackend, soundBackend } from '../../support/backends.ts';
import { atRest, changedBackend, collected, collecting, FAILED_READS, LOT_RAW_BITS } from './lying.ts';

const NEVER = new AbortController().signal;

/** Asserts that nothing of the source was kept that could be drawn from. */
async function assertNothingServes({ ledger }: ReturnType<typeof collecting>): Promise<void> {
  const { pure, seed } = await ledger.blockLevels();
  assert.deepEqual([pure.blocks, seed.blocks], [0, 0]);
  assert.ok((await ledger.lots(100)).every(({ accepted }) => !accepted));
}

describe('a read that contradicts its own description', () => {
  const bytes = LOT_RAW_BITS / 8;
  const huge = { width: 2 ** 20, shots: 2 ** 20 };
  const contradictions: [what: string, change: Partial<RawRead>, reason: RegExp][] = [
    ['truncated', { bits: new Uint8Array(bytes - 1) }, /gave 8191 bytes for 65536 bits$/],
    ['too many bytes', { bits: new Uint8Array(bytes + 1) }, /gave 8193 bytes for 65536 bits$/],
    ['empty', { bits: new Uint8Array(0) }, /gave 0 bytes for 65536 bits$/],
    ['twice the width', { width: 32 }, /gave 8192 bytes for 131072 bits$/],
    ['a width of its own', { width: 17 }, /gave 8192 bytes for 69632 bits$/],
    ['no channels', { width: 0 }, /gave 4096 shots of 0 channels$/],
    ['half a channel', { width: 0.5, shots: 131_072 }, /gave 131072 shots of 0.5 channels$/],
    ['less than nothing', { width: -16, shots: -4096 }, /gave -4096 shots of -16 channels$/],
    ['no number', { width: Number.NaN }, /gave 4096 shots of NaN channels$/],
    ['without an end', { shots: Number.POSITIVE_INFINITY }, /gave Infinity shots of 16 channels$/],
    ['above what a read may be', huge, new RegExp(`gave ${2 ** 40} bits, above ${MAX_READ_BITS} a read$`)],
  ];
  for (const [what, change, reason] of contradictions) {
    it(`closes the source, and none of it is tested or kept: ${what}`, async () => {
      const world = collecting(changedBackend((read) => ({ ...read, ...change })));
      const { state, lastError, reads } = await collected(world);
      assert.equal(state, 'closed');
      assert.match(lastError, reason);
      assert.deepEqual([reads.failed, world.assessor.tested.length], [1, 0]);
      await assertNothingServes(world);
    });
  }

  it('is retried and never used when it has fewer shots than requested', async () => {
    const half = soundBackend('half');
    const world = collecting({ ...half, read: (bits, signal) => half.read(bits / 2, signal) });
    const { state, lastError } = await collected(world);
    assert.equal(state, 'failing');
    assert.match(lastError, /gave 32768 of 65536 bits$/);
    await assertNothingServes(world);
  });

  it('becomes a larger lot, tested in full, when it has more shots than requested', async () => {
    const more = soundBackend('more');
    const world = collecting({ ...more, read: (bits, signal) => more.read(3 * bits, signal) }, 3);
    const { state, lastLot, health } = await collected(world);
    assert.deepEqual([state, lastLot?.rawBits], ['ok', 3 * LOT_RAW_BITS]);
    assert.equal(health?.totals.samples, health!.reads * 3 * LOT_RAW_BITS);
  });
});

describe('a source that overwrites the bits it has handed out', () => {
  /** Returns the same array each time; `spoil` is called while its read is tested. */
  function mutating(): { readonly backend: StreamBackend; spoil(): void; readonly given: RawRead[] } {
    const sound = soundBackend('mutating');
    const own = new Uint8Array(LOT_RAW_BITS / 8);
    const given: RawRead[] = [];
    const backend: StreamBackend = {
      ...sound,
      async read(bits, signal) {
        const fresh = await sound.read(bits, signal);
        own.set(fresh.bits);
        const read = { ...fresh, bits: own };
        given.push({ ...fresh, bits: fresh.bits.slice() });
        return read;
      },
    };
    return { backend, spoil: () => own.fill(0xff), given };
  }

  it('affects nothing that was or is being tested: the tested bits are the original ones', async () => {
    const { backend, spoil, given } = mutating();
    const world = collecting(backend, 3);
    const { assessor } = world;
    const testBits = assessor.testBits.bind(assessor);
    assessor.testBits = (of, bits, bitLength) => {
      spoil();
      return testBits(of, bits, bitLength);
    };
    const spoiling = setInterval(spoil, 0); // runs between the slices of the health tests, too
    const { lotsAccepted } = await collected(world).finally(() => clearInterval(spoiling));
    assert.equal(lotsAccepted, 3);
    const raw = assessor.tested.filter(({ of }) => of === 'raw');
    for (const [place, { bits }] of raw.entries()) assert.equal(Buffer.compare(bits, given[place].bits), 0);
    const blocks = await world.ledger.claimBlocks('seed', 3 * 64);
    for (const { rawSha256, id } of await world.ledger.lots(3)) {
      const { bits } = given.find((read) => read.rawSha256 === rawSha256)!;
      const seeds = Buffer.concat(blocks.filter(({ lotId }) => lotId === id).map(({ bytes }) => bytes));
      const { output } = await condition(bits, LOT_RAW_BITS, 1);
      assert.equal(Buffer.compare(seeds, output.subarray(0, 64 * 32)), 0);
    }
  });

  it('changes no record of a lot either', async () => {
    const sound = soundBackend('record');
    const provenances: Record<string, unknown>[] = [];
    const world = collecting(
      changedBackend((read) => {
        const provenance = { ...read.provenance, calibration: { id: 'first' } };
        provenances.push(provenance);
        return { ...read, provenance };
      }, sound),
      1,
    );
    const { lastLot } = await collected(world);
    for (const each of provenances) Object.assign(each.calibration as object, { id: 'second' });
    assert.deepEqual(lastLot?.calibration, { id: 'first' });
  });
});

describe('a source that describes itself', () => {
  it('cannot set anything of a lot except where the read came from', async () => {
    const boasts = {
      id: 'lot_of_its_own',
      source: 'ibm',
      origin: 'quantum-processor',
      deterministic: false,
      quantumBackend: 'ibm_torino',
      accepted: true,
      rejection: '',
      rawBits: 1e12,
      health: { grade: 'pass' },
      minEntropyPerBit: 1,
      assessments: [],
    };
    for (const isRefused of [false, true]) {
      const world = collecting(
        changedBackend((read) => ({
          ...read,
          bits: isRefused ? new Uint8Array(read.bits.length) : read.bits,
          provenance: { ...read.provenance, ...boasts },
        })),
        1,
      );
      const { lastLot } = await collected(world);
      const { source, origin, deterministic, quantumBackend, accepted, rawBits, minEntropyPerBit } = lastLot!;
      assert.deepEqual(
        [source, origin, deterministic, quantumBackend, accepted, rawBits, minEntropyPerBit],
        ['test-liar', 'simulated', true, 'test-sound', !isRefused, LOT_RAW_BITS, null],
      );
      assert.notEqual(lastLot!.id, boasts.id);
    }
  });

  it('is never promoted: a change from any origin to a better one closes it, and no lot has the better one', async () => {
    for (const [rank, first] of ORIGINS.entries()) {
      for (const [better, later] of ORIGINS.entries()) {
        const sound = soundBackend(`${first} ${later}`);
        let reads = 0;
        const backend: Backend = {
          ...sound,
          get origin() {
            return reads < 2 ? first : later;
          },
          read: (bits, signal) => {
            reads++;
            return sound.read(bits, signal);
          },
        };
        const world = collecting(backend, 3);
        const { state } = await collected(world);
        const origins = new Set((await world.ledger.lots(9)).map(({ origin }) => origin));
        assert.deepEqual(state, better < rank ? 'closed' : 'ok', `${first} to ${later}`);
        assert.deepEqual(origins, new Set(better < rank ? [first] : [first, later]));
      }
    }
  });

  it('stays a test source once it was one', async () => {
    let reads = 0;
    const sound = soundBackend('test');
    const world = collecting({
      ...sound,
      get deterministic() {
        return reads < 2;
      },
      read: (bits, signal) => {
        reads++;
        return sound.read(bits, signal);
      },
    });
    const { state, lotsAccepted } = await collected(world);
    assert.deepEqual([state, lotsAccepted], ['closed', 1]);
    assert.equal((await world.ledger.lots(9))[0].deterministic, true);
  });

  it('cannot claim an impossible entropy: no read is used under it', async () => {
    for (const claimedMinEntropyPerBit of [0, -1, 1.5, Number.NaN]) {
      const world = collecting({ ...soundBackend(), claimedMinEntropyPerBit });
      const { state } = await collected(world);
      assert.equal(state, 'failing');
      await assertNothingServes(world);
    }
  });
});

describe('a source that throws', () => {
  it('is retried with pauses, whatever it throws and whenever', async () => {
    for (const thrown of [new TypeError('a bug'), 'words', undefined, null, { kind: 'permanent' }]) {
      for (const isLate of [false, true]) {
        const world = collecting({
          ...soundBackend(),
          read: () => {
            if (!isLate) throw thrown;
            return Promise.reject(thrown);
          },
        });
        const { state, reads } = await collected(world);
        assert.equal(state, 'failing');
        assert.equal(reads.failed, FAILED_READS);
      }
    }
  });

  it('is retried after the usual pause when the pause it asks for is not a number', async () => {
    for (const retryAfterMs of [Number.NaN, Number.NEGATIVE_INFINITY, -5]) {
      const { reads } = await collected(
        collecting(deadBackend(new BackendError('quota', 'spent', retryAfterMs))),
      );
      assert.equal(reads.failed, FAILED_READS, `${retryAfterMs}`);
    }
    const hours = collecting(deadBackend(new BackendError('quota', 'spent', Number.POSITIVE_INFINITY)));
    assert.equal((await collected(hours)).reads.failed, 1);
  });

  it('is polled at the usual times when the time it asks for is not a number', async () => {
    const jobs = new JobDouble({ state: 'queued', retryAfterMs: Number.NaN });
    jobs.repeatsLastState = true;
    const world = collecting(jobs);
    await collected(world);
    const polls = jobs.calls.filter((call) => call === 'poll').length;
    assert.ok(Math.abs(polls - 120) <= 1, `${polls}`); // every 5 s of ten minutes
  });
});

describe('a source that is too fast or too slow', () => {
  it('is read only for its seeds when its lots are one seed and nothing else', async () => {
    // 409 assessed bits: one block
    const world = collecting({ ...soundBackend('one seed'), claimedMinEntropyPerBit: 0.05 }, 12, 8192);
    const { collector, time, ledger } = world;
    collector.start();
    for (const _ of [1, 2]) {
      await atRest(world);
      await time.pass(60_000);
      assert.deepEqual(await ledger.blockLevels(), {
        pure: { blocks: 0, bytes: 0 },
        seed: { blocks: 16, bytes: 512 }, // SEEDS_LOW
      });
      await ledger.claimBlocks('seed', 1);
    }
    await collector.stop();
  });

  it('is ignored when it answers after its timeout', async () => {
    const sound = soundBackend('late');
    const late: ((read: RawRead) => void)[] = [];
    const world = collecting({ ...sound, read: () => new Promise<RawRead>((resolve) => late.push(resolve)) });
    world.collector.start();
    for (let minutes = 0; minutes < 10; minutes++) {
      await world.time.pass(60_000);
      for (const answer of late.slice(0, -1)) answer(await sound.read(LOT_RAW_BITS, NEVER));
    }
    const { state, lastError, reads } = world.collector.status();
    assert.deepEqual([state, lastError, reads.pass], ['failing', 'no answer within 30 s', 0]);
    assert.ok(reads.failed > 5);
    await assertNothingServes(world);
    await world.collector.stop();
  });
});
