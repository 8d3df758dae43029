import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { RawRead } from '../../../src/backend/backend.ts';
import { HealthMonitor } from '../../../src/pool/intake/health.ts';
import { rawRead } from '../../support/backends.ts';

/**
 * Induced failures as data. A read lists its channels, a channel its stretches: [pattern of bits, times].
 * `alarms` are all that fire at that read: the expected one and no other.
 */
interface Vector {
  readonly why: string;
  readonly minEntropyPerBit: number;
  readonly reads: readonly {
    readonly channels: readonly (readonly [string, number])[][];
    readonly grade: string;
    readonly alarms: readonly { test: string; channel: number | null; observed: number }[];
  }[];
}

const FOLDER = new URL('../../vectors/health/', import.meta.url);
const vectors = readdirSync(FOLDER)
  .sort()
  .map(
    (file) =>
      [file.replace('.json', ''), JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as Vector] as const,
  );

function interleaved(channels: Vector['reads'][number]['channels']): RawRead {
  const texts = channels.map((stretches) =>
    stretches.map(([pattern, times]) => pattern.repeat(times)).join(''),
  );
  const [{ length: shots }] = texts;
  const bits = new Uint8Array(Math.ceil((shots * texts.length) / 8));
  texts.forEach((text, channel) => {
    assert.equal(text.length, shots, 'all channels have as many shots');
    for (let shot = 0; shot < shots; shot++) {
      const at = shot * texts.length + channel;
      if (text[shot] === '1') bits[at >> 3] |= 0x80 >> (at & 7);
    }
  });
  return rawRead(bits, texts.length, shots);
}

for (const [name, { why, minEntropyPerBit, reads }] of vectors) {
  test(`${name}: the expected alarm is raised and no other`, () => {
    assert.ok(why.length > 40, 'a vector says why only this test fires');
    const monitor = new HealthMonitor({ width: reads[0].channels.length, minEntropyPerBit });
    const seen = reads.map(({ channels }) => {
      const { grade, failures } = monitor.check(interleaved(channels));
      return { grade, alarms: failures.map(({ test, channel, observed }) => ({ test, channel, observed })) };
    });
    assert.deepEqual(
      seen,
      reads.map(({ grade, alarms }) => ({ grade, alarms })),
    );
  });
}

test('a vector exists for every test and grade', () => {
  const covered = new Set<string>();
  for (const [, { reads }] of vectors) {
    for (const { grade, alarms } of reads) for (const alarm of alarms) covered.add(`${alarm.test} ${grade}`);
  }
  // A startup that lacks samples is never permanent by itself.
  const expected = ['apt', 'rct', 'replay'].flatMap((each) => [`${each} intermittent`, `${each} permanent`]);
  assert.deepEqual([...covered].sort(), [...expected, 'startup intermittent'].sort());
});
