import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type BitForm, sequencesOf } from '../../src/cli/bit-file.ts';
import { packBits } from '../support/bit-sequences.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const folder = scratchFolder();
const path = join(folder, 'file');

interface Sequence {
  readonly bytes: readonly number[];
  readonly bitLength: number;
}

/** Returns every whole sequence, and the remainder. */
async function sequences(form: BitForm, sequenceBits: number, file = path): Promise<Sequence[]> {
  const all: Sequence[] = [];
  for await (const { bytes, bitLength } of sequencesOf(file, form, sequenceBits))
    all.push({ bytes: [...bytes.subarray(0, Math.ceil(bitLength / 8))], bitLength });
  return all;
}

describe('a file of bits', () => {
  it('may be a pipe that delivers it in pieces', async () => {
    const pipe = join(folder, 'pipe');
    execFileSync('sh', ['-c', `mkfifo ${pipe}`]);
    const writer = spawn('sh', ['-c', `{ printf 'a\\001'; sleep 0.05; printf '\\002\\003'; } > ${pipe}`]);
    assert.deepEqual(await sequences('packed', 24, pipe), [
      { bytes: [0x61, 1, 2], bitLength: 24 },
      { bytes: [3], bitLength: 8 },
    ]);
    if (writer.exitCode === null) await new Promise((resolve) => writer.once('exit', resolve));
  });

  it('gives the same bits as text, wherever white space and chunk borders are', async () => {
    const space = fc.constantFrom('', '', '', ' ', '\n', '\r\n\t');
    const digits = fc.array(fc.tuple(fc.nat(1), space), { minLength: 1, maxLength: 200, size: 'max' });
    // before the digits: white space up to a few characters from the end of the reader's chunk of 64 KiB
    const lead = fc.oneof(fc.constant(0), fc.integer({ min: 65_536 - 250, max: 65_536 + 10 }));
    await fc.assert(
      fc.asyncProperty(digits, lead, async (written, leading) => {
        writeFileSync(path, ' '.repeat(leading) + written.map(([bit, after]) => `${bit}${after}`).join(''));
        const found = await sequences('ascii', 40);
        const bits = written.map(([bit]) => bit);
        const expected: Sequence[] = [];
        for (let at = 0; at <= bits.length; at += 40) {
          const part = bits.slice(at, at + 40);
          expected.push({ bytes: [...packBits(part)], bitLength: part.length });
        }
        assert.deepEqual(found, expected);
      }),
      { numRuns: 60 },
    );
  });
});
