import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RawRead, StreamBackend } from '../../../src/backend/backend.ts';
import { simulatorWith } from '../../../src/backend/simulator/simulator.ts';
import { concatBytes } from '../../../src/core/bytes.ts';
import { bytesOfBase32 } from '../../../src/core/ids.ts';
import { sha256Hex } from '../../../src/crypto/digest.ts';
import {
  type LotRecord,
  nistVerified,
  PURE_BLOCK_BYTES,
  SEED_BLOCK_BYTES,
} from '../../../src/ledger/records.ts';
import { ASSESSED_BITS } from '../../../src/pool/intake/assessor.ts';
import { condition } from '../../../src/pool/intake/conditioner.ts';
import { evidenceOf } from '../../../src/pool/intake/evidence/evidence.ts';
import { HealthMonitor, type HealthVerdict } from '../../../src/pool/intake/health.ts';
import { commitmentOf } from '../../../src/pool/intake/lot-commitment.ts';
import { makeLot } from '../../../src/pool/intake/lots.ts';
import { ShortLots } from '../../../src/pool/intake/short-lots.ts';
import { onesPerChannel } from '../../../src/stats/autocorrelation.ts';
import { biasedBackend, fixedBytes, rawRead, soundBackend, stuckBackend } from '../../support/backends.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { countingTurns, isZero, ScriptedAssessor } from '../fixtures.ts';

const NEVER = new AbortController().signal;
const MEBIBIT = 1024 * 1024;

/** A simulated device without noise. */
const SIMULATOR = {
  qubits: 16,
  readout_e01: 0,
  readout_e10: 0,
  bias: 0,
  faults: [],
  lot_bits: 4 * MEBIBIT,
} as const;

async function readOf(
  backend: StreamBackend,
  bits: number,
): Promise<{ read: RawRead; health: HealthVerdict }> {
  const read = await backend.read(bits, NEVER);
  const monitor = new HealthMonitor({
    width: read.width,
    minEntropyPerBit: backend.claimedMinEntropyPerBit,
  });
  return { read, health: monitor.check(read) };
}

async function lotOf(backend: StreamBackend, bits: number, assessor = new ScriptedAssessor()) {
  const { read, health } = await readOf(backend, bits);
  const clock = new ManualClock();
  const lot = await makeLot(backend, read, health, assessor, clock, new ShortLots());
  return { lot, read, health, assessor, clock };
}

/** Bit by bit. */
function shareOfOnes({ bits, width, shots }: RawRead, channel: number): number {
  let ones = 0;
  for (let at = channel; at < width * shots; at += width) ones += (bits[at >>> 3] >>> (7 - (at & 7))) & 1;
  return ones / shots;
}

describe('a lot that may serve', () => {
  it('has records of exactly what was read, tested and conditioned', async () => {
    const { lot, read, assessor, clock } = await lotOf(soundBackend(), 4 * MEBIBIT);
    const { output } = await condition(read.bits, 4 * MEBIBIT, 0.85);
    const { id, ...record } = lot.record;
    assert.match(id, /^lot_/);
    const idBytes = bytesOfBase32(id.slice(4))!;
    assert.equal(
      new DataView(idBytes.buffer).getUint32(0) * 65_536 + ((idBytes[4] << 8) | idBytes[5]),
      clock.wall,
    );
    const windows = [0, ASSESSED_BITS, 8 * output.length - ASSESSED_BITS];
    assert.deepEqual(
      record.assessments.map(({ of, bits, firstBit }) => [of, bits, firstBit]),
      [['raw', 4 * MEBIBIT, 0], ...windows.map((firstBit) => ['conditioned', ASSESSED_BITS, firstBit])],
    );
    assert.deepEqual(record, {
      source: 'test-sound',
      origin: 'simulated',
      isDeclared: false,
      deterministic: true,
      quantumBackend: 'test-sound',
      ...read.provenance,
      rawBits: 4 * MEBIBIT,
      rawSha256: sha256Hex(read.bits),
      conditionedBytes: output.length,
      processedSha256: sha256Hex(output),
      health: { samples: 4 * MEBIBIT, rctFailures: 0, aptFailures: 0, grade: 'pass' },
      minEntropyPerBit: 0.85,
      minEntropyMethod:
        'SP 800-90B 6.3, least of ten estimators over windows of all raw bits; at most what their autocorrelation leaves, and what the source claims',
      evidence: evidenceOf('simulated', read, {
        windows: [],
        autocorrelation: new ScriptedAssessor().autocorrelation,
        ones: onesPerChannel(read.bits, read.width, read.shots),
      }),
      assessments: record.assessments,
      rawWindows: 1,
      onesShares: Array.from({ length: read.width }, (_, channel) => shareOfOnes(read, channel)),
      accepted: true,
      rejection: '',
      commitment: await commitmentOf(lot.blocks),
    });
    assert.deepEqual(lot.output, output);
    assert.deepEqual(
      assessor.tested.map(({ of, bits, bitLength }) => [of, sha256Hex(bits), bitLength]),
      [
        ['lot', sha256Hex(read.bits), 4 * MEBIBIT],
        ...windows.map((firstBit) => {
          const window = output.subarray(firstBit / 8, (firstBit + ASSESSED_BITS) / 8);
          return ['conditioned', sha256Hex(window), ASSESSED_BITS];
        }),
      ],
    );
  });

  it('is cut into seeds and pure blocks, each byte in one block', async () => {
    const { lot } = await lotOf(soundBackend(), 4 * MEBIBIT);
    const seeds = lot.blocks.filter(({ kind }) => kind === 'seed');
    const pure = lot.blocks.filter(({ kind }) => kind === 'pure');
    assert.equal(seeds.length, 64);
    assert.ok(seeds.every(({ bytes }) => bytes.length === SEED_BLOCK_BYTES));
    assert.ok(pure.slice(0, -1).every(({ bytes }) => bytes.length === PURE_BLOCK_BYTES));
    assert.deepEqual(concatBytes(...lot.blocks.map(({ bytes }) => bytes)), lot.output);
  });

  it('is conditioned in slices, with a turn of the event loop between them', async () => {
    const { turns } = await countingTurns(() => lotOf(soundBackend(), 4 * MEBIBIT));
    assert.ok(turns >= 20, `${turns} turns for 21 slices of 512 pieces`);
  });

  it('leaves the raw bits to the caller, and its blocks are wiped with the output', async () => {
    const { lot, read } = await lotOf(soundBackend(), MEBIBIT);
    assert.ok(!isZero(read.bits));
    lot.output.fill(0);
    for (const { bytes } of lot.blocks) assert.ok(isZero(bytes));
  });

  it('is conditioned at the lower of claim and estimate, which is recorded', async () => {
    for (const [claim, estimate, expected] of [
      [1, 0.5, 0.5],
      [0.6, 0.85, 0.6],
      [0.4, 0.35, 0.35],
    ]) {
      const backend = { ...soundBackend(), claimedMinEntropyPerBit: claim };
      const assessor = new ScriptedAssessor();
      assessor.estimates = [estimate];
      const { lot, read } = await lotOf(backend, 2 * MEBIBIT, assessor);
      assert.equal(lot.record.minEntropyPerBit, expected);
      assert.deepEqual(lot.output, (await condition(read.bits, 2 * MEBIBIT, expected)).output);
    }
  });

  it('of a device is conditioned at the figure of its evidence if that is lower still', async () => {
    const options = { ...SIMULATOR, readout_e01: 0.02 } as const;
    const simulator = simulatorWith('sim', options, new ManualClock(), fixedBytes('evidence'));
    const outputOf = async (origin: 'quantum-processor' | 'simulated') => {
      const assessor = new ScriptedAssessor();
      assessor.estimates = [1];
      const { lot, read } = await lotOf(
        { ...simulator, origin, claimedMinEntropyPerBit: 1 },
        MEBIBIT,
        assessor,
      );
      return { lot, read, evidence: lot.record.evidence };
    };
    const measured = await outputOf('quantum-processor');
    const figure = measured.evidence?.minEntropyPerBit ?? 1;
    assert.ok(figure < 1 - Math.log2(1.02) && figure > 0.9, `${figure}`);
    assert.deepEqual(measured.lot.output, (await condition(measured.read.bits, MEBIBIT, figure)).output);
    // The same device, but simulated: no claim and no figure.
    const { lot, read } = await outputOf('simulated');
    assert.deepEqual(lot.output, (await condition(read.bits, MEBIBIT, 1)).output);
  });

  it('with too few bits is recorded as not assessed, and relies on the claim', async () => {
    const backend = { ...soundBackend(), claimedMinEntropyPerBit: 0.5 };
    const { lot, read } = await lotOf(backend, MEBIBIT / 4);
    assert.equal(lot.record.accepted, true);
    assert.equal(lot.record.minEntropyPerBit, null);
    assert.equal(lot.record.minEntropyMethod, 'not assessed: too few raw bits');
    assert.deepEqual(
      lot.record.assessments.map(({ of, bits, sp80022 }) => [of, bits, sp80022.verified]),
      [
        ['raw', MEBIBIT / 4, false],
        ['conditioned', lot.output.length * 8, false],
      ],
    );
    assert.deepEqual(lot.output, (await condition(read.bits, MEBIBIT / 4, 0.5)).output);
  });

  it('of a few bits gives one half to seeds and one half to a short pure block', async () => {
    const backend = { ...soundBackend(), claimedMinEntropyPerBit: 0.5 };
    const { lot } = await lotOf(backend, 16 * 1024);
    assert.equal(lot.output.length, Math.floor((16 * 1024) / 640) * 32);
    assert.deepEqual(
      lot.blocks.map(({ kind, bytes }) => [kind, bytes.length]),
      [...new Array(12).fill(['seed', 32]), ['pure', 13 * 32]],
    );
  });

  it('of one piece gives one seed', async () => {
    const { lot } = await lotOf({ ...soundBackend(), claimedMinEntropyPerBit: 0.02 }, 16 * 1024);
    assert.deepEqual(
      lot.blocks.map(({ kind, bytes }) => [kind, bytes.length]),
      [['seed', 32]],
    );
  });

  it('serves without the window of its output that failed, and is verified by the others', async () => {
    const assessor = new ScriptedAssessor();
    assessor.verdicts = [false, true, true];
    const { lot, read } = await lotOf(soundBackend(), 4 * MEBIBIT, assessor);
    assert.equal(lot.record.accepted, true);
    assert.deepEqual(
      lot.record.assessments.map(({ of, sp80022 }) => [of, sp80022.verified]),
      [
        ['raw', true],
        ['conditioned', false],
        ['conditioned', true],
        ['conditioned', true],
      ],
    );
    assert.equal(nistVerified(lot.record), true);
    const { output } = await condition(read.bits, 4 * MEBIBIT, 0.85);
    const rest = output.slice(ASSESSED_BITS / 8);
    assert.deepEqual(lot.output, rest.slice(0, rest.length - (rest.length % SEED_BLOCK_BYTES)));
    assert.equal(lot.record.conditionedBytes, lot.output.length);
    assert.equal(lot.record.processedSha256, sha256Hex(lot.output));
    assert.deepEqual(concatBytes(...lot.blocks.map(({ bytes }) => bytes)), lot.output);
    for (const bytes of assessor.lent)
      assert.ok(isZero(bytes), 'the output that held the failed window is erased');
  });

  it('states of many raw windows the first and the one of least min-entropy, which decides', async () => {
    const assessor = new ScriptedAssessor();
    const { assessLot } = assessor;
    assessor.assessLot = async (bits, width, shots) => {
      const assessed = await assessLot.call(assessor, bits, width, shots);
      const [window] = assessed.windows;
      const scores = [0.85, 0.7, 0.6, 0.8];
      const windows = scores.map((minEntropyPerBit, at) => ({
        ...window,
        firstBit: at * ASSESSED_BITS,
        order: at < 2 ? ('shots' as const) : ('channels' as const),
        minEntropyPerBit,
      }));
      return { ...assessed, windows, minEntropyPerBit: 0.6 };
    };
    const { lot } = await lotOf(soundBackend(), 2 * MEBIBIT, assessor);
    const { assessments, rawWindows, minEntropyPerBit } = lot.record;
    assert.deepEqual([rawWindows, minEntropyPerBit], [4, 0.6]);
    assert.deepEqual(
      assessments.filter(({ of }) => of === 'raw').map(({ order, firstBit }) => [order, firstBit]),
      [
        ['shots', 0],
        ['channels', 2 * ASSESSED_BITS],
      ],
    );
  });
});

describe('a lot that may not serve', () => {
  it('leaves the reason and the read, and no block', async () => {
    const { lot, read, assessor } = await lotOf(stuckBackend(3), MEBIBIT);
    assert.equal(lot.record.accepted, false);
    assert.match(lot.record.rejection, /^health tests: rct on channel 3, apt on channel 3$/);
    assert.ok(!('evidence' in lot.record), 'what fails the health tests is evidence of nothing else');
    assert.deepEqual(lot.record.health, {
      samples: MEBIBIT,
      rctFailures: 1,
      aptFailures: 1,
      grade: 'permanent',
    });
    assert.equal(lot.record.rawSha256, sha256Hex(read.bits));
    assert.deepEqual([lot.record.conditionedBytes, lot.record.processedSha256], [0, '']);
    assert.deepEqual([lot.blocks, lot.output.length, assessor.tested], [[], 0, []]);
  });

  it('names some failures of a device that is all dead, and counts the rest', async () => {
    const { lot, health } = await lotOf(biasedBackend(256), MEBIBIT / 4);
    assert.equal(health.failures.length, 32);
    assert.match(lot.record.rejection, / and 24 more$/);
  });

  it('is not conditioned if it is below the floor of min-entropy', async () => {
    const assessor = new ScriptedAssessor();
    assessor.estimates = [0.299];
    const { lot } = await lotOf(soundBackend(), 2 * MEBIBIT, assessor);
    assert.equal(lot.record.rejection, 'min-entropy 0.299 per bit is below the floor');
    assert.equal(lot.record.minEntropyPerBit, 0.299);
    assert.equal(lot.record.evidence?.claim, 'simulated');
    assert.equal(lot.record.accepted, false);
    assert.deepEqual([lot.blocks, lot.output.length], [[], 0]);
    assert.deepEqual(
      assessor.tested.map(({ of }) => of),
      ['lot'],
    );
  });

  it('fails on more windows of its output than chance explains', async () => {
    for (const [bits, verdicts, rejection] of [
      [4 * MEBIBIT, [false, true, false], 'SP 800-22 failed on 2 of 3 blocks of the conditioned output'],
      [2 * MEBIBIT, [false, false], 'SP 800-22 failed on 2 of 2 blocks of the conditioned output'],
    ] as const) {
      const assessor = new ScriptedAssessor();
      assessor.verdicts = [...verdicts, true];
      const { lot } = await lotOf(soundBackend(), bits, assessor);
      assert.equal(lot.record.rejection, rejection);
      assert.equal(lot.record.accepted, false);
      assert.equal(lot.record.assessments.length, 1 + verdicts.length);
      assert.deepEqual([lot.blocks, lot.output.length], [[], 0]);
      assert.equal(assessor.verdicts.length, 1);
      assert.equal(assessor.lent.length, verdicts.length);
      for (const bytes of assessor.lent)
        assert.ok(isZero(bytes), 'conditioned bytes that nobody gets are erased');
    }
  });

  it('is no fault if it is too small for a seed', async () => {
    const backend = { ...soundBackend(), claimedMinEntropyPerBit: 0.01 };
    const { lot } = await lotOf(backend, 16 * 1024);
    assert.equal(lot.record.rejection, 'too few bits for one seed');
    assert.deepEqual(lot.blocks, []);
  });

  it('is rejected when a test cannot be run', async () => {
    const assessor = new ScriptedAssessor();
    assessor.failure = new Error('no worker');
    await assert.rejects(lotOf(soundBackend(), MEBIBIT / 4, assessor), /no worker/);
    assert.equal(assessor.lent.length, 1);
    assert.ok(isZero(assessor.lent[0]));
  });
});

describe('lots below a million bits', () => {
  const short = (estimate: number | null) => {
    const assessor = new ScriptedAssessor();
    if (estimate !== null) assessor.estimates = [estimate];
    return assessor;
  };

  it('are conditioned at the least of claim, own estimate, and estimate of the last million bits', async () => {
    const shortLots = new ShortLots();
    const clock = new ManualClock();
    const backend = soundBackend();
    const bits = MEBIBIT / 4;
    const lots: LotRecord[] = [];
    // each lot's own, and beside it that of the million when it is full
    for (const estimates of [[0.6], [0.6], [0.6], [0.6, 0.55], [0.6], [0.4]]) {
      const { read, health } = await readOf(backend, bits);
      const assessor = short(null);
      assessor.estimates = estimates;
      const passed: HealthVerdict = { ...health, grade: 'pass', failures: [] };
      const { record, output } = await makeLot(backend, read, passed, assessor, clock, shortLots);
      const assessed = record.minEntropyPerBit ?? 0.6;
      assert.deepEqual(output, (await condition(read.bits, bits, assessed)).output);
      lots.push(record);
    }
    assert.deepEqual(
      lots.map(({ minEntropyPerBit }) => minEntropyPerBit),
      [null, null, null, 0.55, 0.55, 0.4],
    );
  });

  it('are refused when the million bits that they complete have too little entropy', async () => {
    const shortLots = new ShortLots();
    const { read, health } = await readOf(soundBackend(), MEBIBIT / 2);
    const passed: HealthVerdict = { ...health, grade: 'pass', failures: [] };
    const clock = new ManualClock();
    await makeLot(soundBackend(), read, passed, short(0.6), clock, shortLots);
    const assessor = short(null);
    assessor.estimates = [0.6, 0.1];
    const { record } = await makeLot(soundBackend(), read, passed, assessor, clock, shortLots);
    assert.equal(record.rejection, 'min-entropy 0.100 per bit of the last lots is below the floor');
  });

  it('are pooled bit by bit, and erased once assessed', async () => {
    const shortLots = new ShortLots();
    const shots = 3 * 33_335; // 10 channels, and shots that end within a byte
    const bits = new Uint8Array(Math.ceil((shots * 10) / 8));
    fixedBytes('pooled')(bits);
    const read = rawRead(bits, 10, shots);
    const seen: Uint8Array[] = [];
    const assessor = new ScriptedAssessor();
    const { assessLot } = assessor;
    assessor.assessLot = async (pooled, ...layout) => {
      seen.push(pooled, pooled.slice());
      return assessLot.call(assessor, pooled, ...layout);
    };
    const third = { ...read, shots: 33_335, bits: bits.slice(0, Math.ceil(333_350 / 8)) };
    third.bits[third.bits.length - 1] &= 0b1111_1100;
    for (let lot = 0; lot < 3; lot++) await shortLots.add(third, assessor);
    assert.equal(seen.length, 2);
    const bit = (of: Uint8Array, at: number) => (of[at >>> 3] >>> (7 - (at & 7))) & 1;
    for (let at = 0; at < 1_000_050; at += 7) assert.equal(bit(seen[1], at), bit(third.bits, at % 333_350));
    assert.ok(isZero(seen[0]));
  });
});
