import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type BitForm, openBitFile } from '../../src/cli/bit-file.ts';
import { CommandError } from '../../src/cli/command.ts';
import { packBits } from '../support/bit-sequences.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const folder = scratchFolder();
const path = join(folder, 'file');

interface Sequence {
  readonly bytes: readonly number[];
  readonly bitLength: number;
}

/** Every whole sequence, and what is left over. */
async function sequencesOf(file: string, form: BitForm, sequenceBits: number): Promise<Sequence[]> {
  const bits = await openBitFile(file, form, sequenceBits);
  const sequences: Sequence[] = [];
  try {
    for (;;) {
      const { bytes, bitLength } = await bits.next();
      sequences.push({ bytes: [...bytes.subarray(0, Math.ceil(bitLength / 8))], bitLength });
      if (bitLength < sequenceBits) return sequences;
    }
  } finally {
    await bits.close();
  }
}

describe('a file of bits', () => {
  it('is cut into sequences, the last one shorter', async () => {
    writeFileSync(path, Uint8Array.of(1, 2, 3, 4, 5, 6, 7));
    assert.deepEqual(await sequencesOf(path, 'packed', 24), [
      { bytes: [1, 2, 3], bitLength: 24 },
      { bytes: [4, 5, 6], bitLength: 24 },
      { bytes: [7], bitLength: 8 },
    ]);
  });

  it('knows its size, and how much of it was read', async () => {
    writeFileSync(path, Uint8Array.of(1, 2, 3, 4));
    const file = await openBitFile(path, 'packed', 24);
    const read = [file.sizeBytes, file.readBytes];
    await file.next();
    read.push(file.readBytes);
    await file.next();
    read.push(file.readBytes);
    await file.close();
    assert.deepEqual(read, [4, 0, 3, 4]);
  });

  it('may be a pipe that gives it in pieces', async () => {
    const pipe = join(folder, 'pipe');
    execFileSync('sh', ['-c', `mkfifo ${pipe}`]);
    const writer = spawn('sh', ['-c', `{ printf 'a\\001'; sleep 0.05; printf '\\002\\003'; } > ${pipe}`]);
    assert.deepEqual(await sequencesOf(pipe, 'packed', 24), [
      { bytes: [0x61, 1, 2], bitLength: 24 },
      { bytes: [3], bitLength: 8 },
    ]);
    if (writer.exitCode === null) await new Promise((resolve) => writer.once('exit', resolve));
  });

  it('gives the same bits as text, wherever white space and chunks end', async () => {
    const space = fc.constantFrom('', '', '', ' ', '\n', '\r\n\t');
    const digits = fc.array(fc.tuple(fc.nat(1), space), { minLength: 1, maxLength: 200 });
    // before the digits: white space up to a few characters from the end of the reader's chunk of 64 KiB
    const lead = fc.oneof(fc.constant(0), fc.integer({ min: 65_536 - 250, max: 65_536 + 10 }));
    await fc.assert(
      fc.asyncProperty(digits, lead, async (written, leading) => {
        writeFileSync(path, ' '.repeat(leading) + written.map(([bit, after]) => `${bit}${after}`).join(''));
        const sequences = await sequencesOf(path, 'ascii', 40);
        const bits = written.map(([bit]) => bit);
        const expected: Sequence[] = [];
        for (let at = 0; at <= bits.length; at += 40) {
          const part = bits.slice(at, at + 40);
          expected.push({ bytes: [...packBits(part)], bitLength: part.length });
        }
        assert.deepEqual(sequences, expected);
      }),
      { numRuns: 60 },
    );
  });

  it('names the byte of a text that is neither 0, 1 nor white space', async () => {
    writeFileSync(path, `${' '.repeat(65_530)}010101010201`);
    await assert.rejects(
      sequencesOf(path, 'ascii', 40),
      new CommandError(`${path}: byte 65539 is neither 0, 1 nor white space`),
    );
  });

  it('is told from text by its first sequence', async () => {
    const chance = Uint8Array.from({ length: 24 }, (_, i) => 0x41 + i);
    writeFileSync(path, chance);
    await assert.rejects(sequencesOf(path, 'packed', 8 * 24), /is text, not packed bits/);
    writeFileSync(path, chance.with(23, 0x80));
    assert.equal((await sequencesOf(path, 'packed', 8 * 24)).length, 2);
    writeFileSync(path, '1\n'.repeat(8));
    await assert.rejects(sequencesOf(path, 'packed', 8 * 24), /--ascii reads it$/);
    writeFileSync(path, chance.subarray(0, 15)); // so few random bytes may well look like text
    assert.equal((await sequencesOf(path, 'packed', 8 * 24)).length, 1);
  });
});
