import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { assess } from '../../src/cli/assess.ts';
import { sha256Hex } from '../../src/crypto/digest.ts';
import { unpackBits } from '../../src/stats/sp800-90b/alphabet.ts';
import { assessNonIid } from '../../src/stats/sp800-90b/assess.ts';
import { additionalIidTests } from '../../src/stats/sp800-90b/iid.ts';
import { assessRestarts } from '../../src/stats/sp800-90b/restart.ts';
import { runCommand } from '../support/run-command.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { keystream } from '../vectors/sp800-90b/inputs.ts';

const folder = scratchFolder();

function written(name: string, bytes: Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

const packed = keystream(210, 125_000);
const matrix = keystream(211, 125_000);
const bitsFile = written('bits', packed);
const matrixFile = written('matrix', matrix);

describe('qrn assess --restarts', () => {
  it('validates a good source by rows and columns of its restarts', async () => {
    const { status, out } = await runCommand(assess, [bitsFile, '--restarts', matrixFile, '--json']);
    assert.equal(status, 0);
    const { sp800_90b: entropy, restarts } = JSON.parse(out);
    const bits = unpackBits(packed, 1_000_000);
    const initial = assessNonIid(bits, 1);
    assert.equal(entropy.h_initial, initial.minEntropyPerSymbol);
    assert.deepEqual(entropy.estimators, initial.estimators);
    assert.equal(entropy.iid_tests.repeat_length, additionalIidTests(bits).repeatLength.length);
    const expected = assessRestarts(unpackBits(matrix, 1_000_000), 1, entropy.h_initial);
    assert.deepEqual(restarts, {
      sanity_cutoff: expected.cutoff,
      largest_count: expected.maxCount,
      sane: true,
      h_rows: expected.hRows,
      h_columns: expected.hColumns,
      validated: true,
      min_entropy_per_symbol: expected.minEntropy,
      sha256: sha256Hex(matrix),
    });
  });

  it('refuses a source whose restarts begin alike, though each run looks good', async () => {
    const row = matrix.subarray(0, 125);
    const alike = written('alike', Buffer.concat(Array.from({ length: 1_000 }, () => row)));
    const { status, out } = await runCommand(assess, [bitsFile, '--restarts', alike]);
    assert.equal(status, 0);
    assert.match(out, /^restarts\.largest_count +1000\nrestarts\.sane +false$/m);
    assert.match(out, /^FAIL: the restarts refute the estimate, so no entropy may be credited$/m);
  });

  it("uses the maker's claim if it is the lowest figure", async () => {
    const { out } = await runCommand(assess, [bitsFile, '--claim', '0.25', '--json']);
    const { sp800_90b: entropy, restarts } = JSON.parse(out);
    assert.deepEqual([entropy.h_submitter, entropy.h_initial, restarts], [0.25, 0.25, null]);
  });
});

/**
 * The results of assessNonIid, which test/stats compares with NIST's tool, for the symbols below. Computing them again
 * would double the ten seconds that this test takes.
 */
const OF_SYMBOLS = {
  'Most Common Value': 1.009077471196929,
  't-Tuple': 1.0049484960403219,
  LRS: 1.489731140659631,
  'MultiMCW Prediction': 1.009323559219578,
  'Lag Prediction': 1.5922930115929717,
  'MultiMMC Prediction': 1.0090978190127617,
  'LZ78Y Prediction': 1.0090994358451442,
};
const OF_THEIR_BITS = {
  'Most Common Value': 0.5893605028857536,
  Collision: 0.4249790111449845,
  Markov: 0.5049435139257303,
  Compression: 0.34988199624698796,
  't-Tuple': 0.5024413056213829,
  LRS: 0.7499611972555327,
  'MultiMCW Prediction': 0.5894886681325116,
  'Lag Prediction': 0.7148349206827436,
  'MultiMMC Prediction': 0.5893699084695299,
  'LZ78Y Prediction': 0.5893656099335216,
};

describe('qrn assess --symbol-bits', () => {
  it('assesses symbols of two bits as symbols and as bits', async () => {
    // 3 as often as 0, 1 and 2 together
    const symbols = Uint8Array.from(keystream(212, 1_000_000), (byte) => Math.min(3, byte % 6));
    const file = written('symbols', symbols);
    const { out } = await runCommand(assess, [file, '--symbol-bits', '2', '--json']);
    const { sp800_90b: entropy } = JSON.parse(out);
    for (const [found, expected] of [
      [entropy.estimators, OF_SYMBOLS],
      [entropy.bitstring_estimators, OF_THEIR_BITS],
    ]) {
      assert.deepEqual(Object.keys(found), Object.keys(expected));
      for (const [name, h] of Object.entries<number>(expected))
        assert.ok(Math.abs(found[name] - h) <= 1e-9, name);
    }
    const { Compression: least } = OF_THEIR_BITS;
    assert.ok(Math.abs(entropy.h_initial - 2 * least) <= 1e-9);
    assert.ok(Math.abs(entropy.min_entropy_per_bit - least) <= 1e-9);
    assert.deepEqual([entropy.bits_per_symbol, entropy.symbols], [2, 1_000_000]);
  });

  it('explains what is wrong with each input that it cannot read', async () => {
    const short = written('short', new Uint8Array(999_999));
    const wide = written('wide', new Uint8Array(1_000_000).fill(4, 17, 18));
    const stuck = written('stuck', new Uint8Array(1_000_000));
    const wrong: readonly [args: readonly string[], status: number, line: RegExp][] = [
      [[short, '--symbol-bits', '2'], 1, /contains 999,999 symbols, but at least 1,000,000 are required/],
      [[wide, '--symbol-bits', '2'], 1, /byte 17 is 4, which is not a symbol of 2 bits/],
      [[stuck, '--symbol-bits', '2', '--restarts', stuck], 1, /estimated entropy of .* is 0/],
      [[stuck, '--symbol-bits', '9'], 2, /--symbol-bits must be a whole number from 1 to 8/],
      [[stuck, '--symbol-bits', '2', '--claim', '2.5'], 2, /--claim must be above 0 and at most 2/],
      [[stuck, '--symbol-bits', '2', '--ascii'], 2, /--ascii must not be combined with/],
      [[stuck, '--restarts', stuck, '--constants', 'corrected'], 2, /--constants must not be combined with/],
    ];
    for (const [args, status, line] of wrong) {
      const done = await runCommand(assess, args);
      assert.equal(done.status, status);
      assert.match(done.talk, line);
    }
  });
});
