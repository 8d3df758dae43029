import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sha256Hex } from '../../../src/crypto/digest.ts';
import type { LotRecord } from '../../../src/ledger/records.ts';
import { ASSESSED_BITS } from '../../../src/pool/intake/assessor.ts';
import { sampleSystem } from '../../../src/pool/intake/system-sample.ts';
import { EntropyReader } from '../../../src/values/entropy-reader.ts';
import { fixedBytes } from '../../support/backends.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { recordingLog, ScriptedAssessor } from '../fixtures.ts';

const NEVER = new AbortController().signal;
const SAMPLE_BYTES = ASSESSED_BITS / 8;

function sampleOf(source: (bytes: Uint8Array<ArrayBuffer>) => void) {
  const assessor = new ScriptedAssessor();
  const log = recordingLog();
  const lots: LotRecord[] = [];
  const chunks: Uint8Array[] = [];
  const stream = new EntropyReader(() => {
    const chunk = new Uint8Array(65_504);
    source(chunk);
    chunks.push(chunk);
    return chunk;
  });
  const store = { addLot: async (lot: LotRecord) => lots.push(lot) > 0 };
  const drawn = async (size: number) => {
    const bytes = new Uint8Array(size);
    stream.fill(bytes);
    stream.erase();
    return bytes;
  };
  const options = { draw: drawn, store, assessor, clock: new ManualClock(), log };
  const draw = () => sampleSystem(options, NEVER);
  return { draw, assessor, lots, stream, chunks, log };
}

describe('the sample of the csprng stream', () => {
  it('is drawn from the stream of the answers, recorded before it counts, and erased', async () => {
    const { draw, lots, stream, chunks } = sampleOf(fixedBytes('stream'));
    const lot = await draw();
    assert.ok(lot?.accepted);
    assert.deepEqual(lots, [lot]);
    const bytes = new Uint8Array(3 * 65_504);
    fixedBytes('stream')(bytes);
    assert.equal(lot.rawSha256, sha256Hex(bytes.subarray(0, SAMPLE_BYTES)));
    assert.deepEqual(
      [lot.processedSha256, lot.conditionedBytes],
      [lot.rawSha256, 0],
      'no block is drawn from it',
    );
    assert.deepEqual([lot.rawWindows, lot.minEntropyPerBit, 'evidence' in lot], [1, 0.85, false]);
    assert.equal(lot.device, '/dev/urandom, expanded by ChaCha20');
    assert.deepEqual(
      lot.assessments.map(({ of, bits, firstBit }) => [of, bits, firstBit]),
      [['system', ASSESSED_BITS, 0]],
    );
    assert.equal(chunks[0].length, 0, 'nothing of it stays in the stream: its memory was given back');
    const next = new Uint8Array(16);
    stream.fill(next);
    assert.deepEqual(next, bytes.subarray(SAMPLE_BYTES, SAMPLE_BYTES + 16), 'answers go on behind it');
  });

  it('is kept as evidence if it is rejected, and the next bits are tested, not the same again', async () => {
    const { draw, lots, assessor, log } = sampleOf(fixedBytes('stream'));
    assessor.rawVerdicts = [false, false, true];
    const lot = await draw();
    assert.deepEqual(
      lots.map(({ accepted }) => accepted),
      [false, false, true],
    );
    assert.equal(lots[2], lot);
    assert.equal(new Set(lots.map(({ rawSha256 }) => rawSha256)).size, 3);
    assert.match(lots[0].rejection, /^SP 800-22: /);
    assert.equal(log.lines.length, 2);
  });

  it('is given up when three in a row are rejected: by SP 800-22, by the estimate, by the health tests', async () => {
    const rejected = sampleOf(fixedBytes('stream'));
    rejected.assessor.rawVerdicts = [false, false, false];
    assert.equal(await rejected.draw(), null);
    const low = sampleOf(fixedBytes('stream'));
    low.assessor.estimate = 0.29;
    assert.equal(await low.draw(), null);
    const stuck = sampleOf((bytes) => void bytes.fill(0));
    assert.equal(await stuck.draw(), null);
    assert.match(stuck.lots[0].rejection, /^health tests: rct/);
    assert.equal(stuck.lots.length, 3);
  });
});
