import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import type { AssessedBlock } from '../../../src/ledger/records.ts';
import {
  ASSESSED_BITS,
  type Assessor,
  DeliveredSampler,
  type DeliveredStream,
  sampleDelivered,
} from '../../../src/pool/intake/assessor.ts';
import { SeededKeystream } from '../../../src/pool/supply/keystream.ts';
import { EntropyReader } from '../../../src/values/entropy-reader.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { keystream } from '../../vectors/sp800-90b/inputs.ts';
import { isZero, recordingLog } from '../fixtures.ts';

const SAMPLE_BYTES = ASSESSED_BITS / 8;
const CHUNK_BYTES = 65_504;

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Keeps what it was handed, and says what it is told: then it passes. */
class HoldingAssessor implements Pick<Assessor, 'testBits'> {
  readonly copies: Uint8Array[] = [];
  readonly originals: Uint8Array[] = [];
  verdicts: boolean[] = [];
  /** Runs when a sample is at the tests. */
  meanwhile: () => void = () => {};

  async testBits<Of extends string>(of: Of, bits: Uint8Array, bitLength: number): Promise<AssessedBlock<Of>> {
    this.copies.push(bits.slice());
    this.originals.push(bits);
    this.meanwhile();
    const verified = this.verdicts.shift() ?? true;
    const sha256 = createHash('sha256').update(bits).digest('hex');
    return {
      of,
      bits: bitLength,
      sha256,
      sp80022: { passed: 1, total: 1, smallestP: 1, verified, reason: '' },
    };
  }
}

/** A reader of a known keystream, with the chunks that it was given. */
function knownStream(id: number) {
  const chunks: Uint8Array[] = [];
  let made = 0;
  const whole = new Uint8Array(keystream(id, 8 * CHUNK_BYTES));
  const reader = new EntropyReader(() => {
    const chunk = whole.slice(made, (made += CHUNK_BYTES));
    chunks.push(chunk);
    return chunk;
  });
  return { whole, reader, chunks };
}

describe('a delivered sample', () => {
  it('tests the next 10^6 bits of the stream, drawn like any other, and erases them', async () => {
    const { whole, reader, chunks } = knownStream(90);
    const assessor = new HoldingAssessor();
    reader.fill(new Uint8Array(1_000)); // an answer before it
    const sample = await sampleDelivered(reader, assessor);
    const expected = whole.subarray(1_000, 1_000 + SAMPLE_BYTES);
    assert.deepEqual(assessor.copies.map(sha256), [sha256(expected)]);
    assert.deepEqual([sample.of, sample.bits, sample.sha256], ['delivered', ASSESSED_BITS, sha256(expected)]);
    assert.ok(assessor.originals.every(isZero), 'its copy is wiped');
    assert.equal(reader.consumedBytes, 1_000 + SAMPLE_BYTES);
    assert.ok(isZero(chunks[0]) && isZero(chunks[1].subarray(0, 1_000 + SAMPLE_BYTES - CHUNK_BYTES)));
    const next = new Uint8Array(100);
    reader.fill(next); // an answer after it
    assert.deepEqual(next, whole.slice(1_000 + SAMPLE_BYTES, 1_100 + SAMPLE_BYTES));
  });

  it('wipes the sample also when its test fails', async () => {
    const assessor = new HoldingAssessor();
    assessor.meanwhile = () => {
      throw new Error('the thread died');
    };
    await assert.rejects(sampleDelivered(knownStream(91).reader, assessor), /the thread died/);
    assert.ok(assessor.originals.every(isZero));
  });

  it('takes the bytes of a keystream in use from nobody', async () => {
    const stream = new SeededKeystream(async () => {});
    stream.reseed(new Uint8Array(32).fill(7));
    const assessor = new HoldingAssessor();
    const answer = new Uint8Array(SAMPLE_BYTES);
    stream.reader.fill(answer);
    await sampleDelivered(stream.reader, assessor);
    assert.equal(stream.reader.consumedBytes, 2 * SAMPLE_BYTES);
    assert.ok(!isZero(assessor.copies[0]));
    assert.notEqual(sha256(assessor.copies[0]), sha256(answer));
    stream.close();
  });
});

describe('sampling', () => {
  function world(names: readonly string[]) {
    const assessor = new HoldingAssessor();
    const clock = new ManualClock();
    const log = recordingLog();
    const inUse: DeliveredStream[] = names.map((name, i) => ({ name, reader: knownStream(100 + i).reader }));
    const sampler = new DeliveredSampler({ streams: () => inUse, assessor, clock, log });
    const shas = () => Object.fromEntries(sampler.states().map(({ name, last }) => [name, last.sha256]));
    return { assessor, clock, log, inUse, sampler, shas };
  }

  it('takes the streams in turn, a new one first', async () => {
    const { clock, inUse, sampler } = world(['a', 'b']);
    const order: string[] = [];
    for (let turn = 0; turn < 7; turn++) {
      clock.advance(60_000);
      if (turn === 3) inUse.push({ name: 'c', reader: knownStream(110).reader });
      await sampler.sampleNext();
      const latest = sampler.states().find(({ sampledAtMs }) => sampledAtMs === clock.wallMs());
      order.push(latest?.name ?? '');
    }
    assert.deepEqual(order, ['a', 'b', 'a', 'c', 'b', 'a', 'c']);
  });

  it('passes over a stream that is not in use, and does nothing without any', async () => {
    const { assessor, inUse, sampler, shas } = world(['a', 'b']);
    await sampler.sampleNext();
    await sampler.sampleNext();
    const before = shas();
    inUse.shift();
    await sampler.sampleNext();
    await sampler.sampleNext();
    assert.equal(shas()['a'], before['a']);
    assert.notEqual(shas()['b'], before['b']);
    inUse.length = 0;
    await sampler.sampleNext();
    assert.equal(assessor.copies.length, 4);
  });

  it('tests the next bits when a sample is rejected, never the same', async () => {
    const { assessor, log, sampler } = world(['a']);
    assessor.verdicts = [false, true];
    await sampler.sampleNext();
    const { whole } = knownStream(100);
    const parts = [whole.subarray(0, SAMPLE_BYTES), whole.subarray(SAMPLE_BYTES, 2 * SAMPLE_BYTES)];
    assert.deepEqual(assessor.copies.map(sha256), parts.map(sha256));
    const [{ across, last }] = sampler.states();
    assert.deepEqual(
      [across.sequences, across.rejected, across.passed, last.sp80022.verified],
      [2, 1, true, true],
    );
    assert.deepEqual(
      log.lines.map(({ level, message }) => [level, message]),
      [['warn', 'a delivered sample was rejected']],
    );
  });

  it('raises an error when two in a row are rejected', async () => {
    const { assessor, log, sampler } = world(['a']);
    assessor.verdicts = [false, false];
    await sampler.sampleNext();
    assert.equal(sampler.states()[0].across.passed, false);
    assert.deepEqual(
      log.errors().map(({ message, facts }) => [message, facts['stream']]),
      [['two delivered samples in a row were rejected', 'a']],
    );
  });

  it('leaves a stream alone whose seed ended while its first sample was tested', async () => {
    const { assessor, inUse, log, sampler } = world(['a']);
    assessor.verdicts = [false];
    assessor.meanwhile = () => inUse.pop();
    await sampler.sampleNext();
    assert.equal(assessor.copies.length, 1);
    assert.deepEqual(log.errors(), []);
  });
});
