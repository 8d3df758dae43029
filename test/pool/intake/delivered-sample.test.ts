import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sha256Hex as sha256 } from '../../../src/crypto/digest.ts';
import { ASSESSED_BITS } from '../../../src/pool/intake/assessor.ts';
import { DeliveredSampler, type DeliveredStream } from '../../../src/pool/intake/delivered-sampler.ts';
import { EntropyReader } from '../../../src/values/entropy-reader.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { keystream } from '../../vectors/sp800-90b/inputs.ts';
import { isZero, recordingLog, ScriptedAssessor } from '../fixtures.ts';

const SAMPLE_BYTES = ASSESSED_BITS / 8;
const CHUNK_BYTES = 65_504;

/** Draws as EntropySupply.sample does. */
function drawing(name: string, reader: EntropyReader): DeliveredStream {
  const draw = async (size: number) => {
    const bytes = new Uint8Array(size);
    reader.fill(bytes);
    reader.erase();
    return bytes;
  };
  return { name, draw };
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

function world(...inUse: DeliveredStream[]) {
  const assessor = new ScriptedAssessor();
  const clock = new ManualClock();
  const log = recordingLog();
  const sampler = new DeliveredSampler({ streams: () => inUse, assessor, clock, log });
  const shas = () => Object.fromEntries(sampler.states().map(({ name, last }) => [name, last.sha256]));
  return { assessor, clock, log, inUse, sampler, shas };
}

function namedStreams(...names: string[]): DeliveredStream[] {
  return names.map((name, i) => drawing(name, knownStream(100 + i).reader));
}

describe('a delivered sample', () => {
  it('is the next 10^6 bits of the stream, drawn like any others, and is erased after the test', async () => {
    const { whole, reader, chunks } = knownStream(90);
    const { assessor, sampler } = world(drawing('a', reader));
    reader.fill(new Uint8Array(1_000)); // an answer before it
    await sampler.sampleNext();
    const expected = whole.subarray(1_000, 1_000 + SAMPLE_BYTES);
    assert.deepEqual(
      assessor.tested.map(({ bits }) => sha256(bits)),
      [sha256(expected)],
    );
    const [{ last }] = sampler.states();
    assert.deepEqual([last.of, last.bits, last.sha256], ['delivered', ASSESSED_BITS, sha256(expected)]);
    assert.ok(assessor.lent.every(isZero), 'its copy is wiped');
    assert.equal(reader.consumedBytes, 1_000 + SAMPLE_BYTES);
    assert.ok(isZero(chunks[0]) && isZero(chunks[1].subarray(0, 1_000 + SAMPLE_BYTES - CHUNK_BYTES)));
    const next = new Uint8Array(100);
    reader.fill(next); // an answer after it
    assert.deepEqual(next, whole.slice(1_000 + SAMPLE_BYTES, 1_100 + SAMPLE_BYTES));
  });

  it('is wiped even if its test fails', async () => {
    const { assessor, sampler } = world(...namedStreams('a'));
    assessor.failure = new Error('the thread died');
    await assert.rejects(sampler.sampleNext(), /the thread died/);
    assert.ok(assessor.lent.every(isZero));
  });
});

describe('sampling', () => {
  it('takes the streams in turn, a new one first', async () => {
    const { clock, inUse, sampler } = world(...namedStreams('a', 'b'));
    const order: string[] = [];
    for (let turn = 0; turn < 7; turn++) {
      clock.advance(60_000);
      if (turn === 3) inUse.push(drawing('c', knownStream(110).reader));
      await sampler.sampleNext();
      const latest = sampler.states().find(({ sampledAtMs }) => sampledAtMs === clock.wallMs());
      order.push(latest?.name ?? '');
    }
    assert.deepEqual(order, ['a', 'b', 'a', 'c', 'b', 'a', 'c']);
  });

  it('skips a stream that is not in use, and does nothing without any', async () => {
    const { assessor, inUse, sampler, shas } = world(...namedStreams('a', 'b'));
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
    assert.equal(assessor.tested.length, 4);
  });

  it('tests the next bits when a sample is rejected, never the same', async () => {
    const { assessor, log, sampler } = world(...namedStreams('a'));
    assessor.verdicts = [false, true];
    await sampler.sampleNext();
    const { whole } = knownStream(100);
    const parts = [whole.subarray(0, SAMPLE_BYTES), whole.subarray(SAMPLE_BYTES, 2 * SAMPLE_BYTES)];
    assert.deepEqual(
      assessor.tested.map(({ bits }) => sha256(bits)),
      parts.map(sha256),
    );
    const [{ alarm, last }] = sampler.states();
    assert.deepEqual([alarm.raisedBy, last.sp80022.verified], [null, true]);
    assert.ok(alarm.bits > 2, 'one of two is much');
    assert.deepEqual(
      log.lines.map(({ level, message }) => [level, message]),
      [['warn', 'a sample of a seeded stream failed its tests, which happens by chance; testing another']],
    );
  });

  it('raises an error when two samples in a row are rejected', async () => {
    const { assessor, log, sampler } = world(...namedStreams('a'));
    assessor.verdicts = [false, false];
    await sampler.sampleNext();
    assert.ok(sampler.states()[0].alarm.bits > 6);
    assert.deepEqual(
      log.errors().map(({ message, facts }) => [message, facts['stream']]),
      [
        [
          'two samples of a seeded stream in a row failed their tests: if this happens again, the stream may be broken',
          'a',
        ],
      ],
    );
  });

  it('ends for a stream whose seed ended while its first sample was tested', async () => {
    const { assessor, inUse, log, sampler } = world(...namedStreams('a'));
    assessor.verdicts = [false];
    const { testBits } = assessor;
    assessor.testBits = (...sample) => {
      inUse.pop();
      return testBits.apply(assessor, sample) as ReturnType<typeof testBits<(typeof sample)[0]>>;
    };
    await sampler.sampleNext();
    assert.equal(assessor.tested.length, 1);
    assert.deepEqual(log.errors(), []);
  });
});
