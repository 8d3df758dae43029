/** `qrn assess`: what it writes and its exit status. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { assess as assessCommand } from '../../src/cli/assess.ts';
import { runBattery } from '../../src/stats/sp800-22/battery.ts';
import { verdictAcross } from '../support/bit-sequences.ts';
import { digitsOf } from '../support/constants.ts';
import { runCommand } from '../support/run-command.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { STRIPPED } from '../support/server.ts';
import { keystream } from '../vectors/sp800-90b/inputs.ts';
import { KNOWN_ANSWERS } from '../vectors/sp800-90b/kat.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const SEQUENCE_BYTES = 125_000;
const folder = scratchFolder();

interface Done {
  readonly status: number;
  readonly out: string;
  readonly talk: string;
}

const NAMES = /^(none(\/such)?|empty|short|text|digits|spoilt|good|pi|e(\.txt)?|zeros|broken)$/;

/** Runs it in this process on files of the folder, which its messages name as they were given. */
async function assess(...args: readonly string[]): Promise<Done> {
  const paths = args.map((arg) => (NAMES.test(arg) ? join(folder, arg) : arg));
  const { status, out, talk } = await runCommand(assessCommand, paths);
  return { status, out: out.replaceAll(`${folder}/`, ''), talk: talk.replaceAll(`${folder}/`, '') };
}

const known = new Map<string, ReturnType<typeof assessOnce>>();

/** Returns the output of `--json`. A file is assessed once with the same options, because a sequence takes a second. */
function assessed(...args: readonly string[]): ReturnType<typeof assessOnce> {
  const name = args.join(' ');
  const result = known.get(name) ?? assessOnce(args);
  known.set(name, result);
  return result;
}

async function assessOnce(args: readonly string[]) {
  const { status, out, talk } = await assess(...args, '--json');
  assert.deepEqual([status, talk], [0, '']);
  assert.match(out, /^[^\n]+\n$/);
  return JSON.parse(out);
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function write(name: string, ...parts: readonly Uint8Array[]): void {
  writeFileSync(join(folder, name), Buffer.concat(parts));
}

/** Good sequences, each its own. */
const good = Array.from({ length: 3 }, (_, i) => keystream(200 + i, SEQUENCE_BYTES));

before(() => {
  write('pi', digitsOf('pi', 1_000_000));
  write('e', digitsOf('e', 1_000_000));
  write('good', ...good, Buffer.alloc(SEQUENCE_BYTES - 1));
});

describe('a file of one sequence', () => {
  for (const constant of ['pi', 'e'] as const) {
    const file = new URL(`../vectors/sp800-22/sp800-22-${constant}.json`, import.meta.url);
    const published = JSON.parse(readFileSync(file, 'utf8'));
    const names = published.tests.map((each: { name: string; subtest: string | null }) => [
      each.name,
      each.subtest,
    ]);

    it(`${constant} gives the rows and p-values of sts-2.1.2 with its constants`, async () => {
      const {
        sp800_22: result,
        sha256: digest,
        bits,
        sequences,
      } = await assessed(constant, '--constants', 'reference');
      assert.deepEqual([digest, bits, sequences], [published.sha256_packed_msb_first, 1_000_000, 1]);
      const rows: { test: string; subtest: string | null; p_value: number }[] = result.rows;
      assert.deepEqual(
        rows.map((row) => [row.test, row.subtest]),
        names,
      );
      for (const [i, { p_value: p }] of rows.entries()) {
        assert.ok(Math.abs(p - published.tests[i].p_value) <= 1e-6, `${names[i]}: ${p}`);
        assert.ok(Math.abs(p / published.tests[i].p_value_hp - 1) <= 1e-9, `${names[i]}: ${p}`);
      }
      assert.deepEqual(
        [result.passed, result.total, result.verdict, result.across, result.constants],
        [published.totals.passed, published.totals.rows, 'pass', null, 'reference'],
      );
    });

    if (constant === 'e') continue; // the corrected constants of a second file are those of the first
    it(`${constant} gives the p-values of the corrected constants by default`, async () => {
      const { sp800_22: result } = await assessed(constant);
      assert.equal(result.constants, 'corrected');
      const corrected = [
        'LongestRun exact pi',
        'OverlappingTemplate exact pi',
        'LinearComplexity exact pi0=1/96',
      ];
      for (const name of corrected) {
        const variant = published.variants.find((each: { name: string }) => each.name.startsWith(name));
        const row = result.rows.find(({ test }: { test: string }) => test === name.split(' ')[0]);
        assert.ok(Math.abs(row.p_value / variant.p_value_hp - 1) <= 1e-9, name);
      }
    });
  }

  it('pi gives the min-entropy estimates of NIST’s tool, by its names', async () => {
    const answer = KNOWN_ANSWERS.find(({ input }) => input === 'pi-bits');
    assert.ok(answer !== undefined);
    const { sp800_90b: result } = await assessed('pi');
    assert.deepEqual(Object.keys(result.estimators), Object.keys(answer.detail.H_original));
    for (const [name, detail] of Object.entries(answer.detail.H_original)) {
      assert.ok(Math.abs(result.estimators[name] - detail['min entropy']) <= 1e-9, name);
    }
    assert.equal(result.min_entropy_per_bit, Math.min(...(Object.values(result.estimators) as number[])));
    assert.equal(result.bits, 1_000_000);
  });

  it('is reported to a person with every test, the verdict, its rule and its meaning', async () => {
    const { status, out, talk } = await assess('e', '--constants', 'reference');
    assert.deepEqual([status, talk], [0, '']);
    assert.match(out, /^all rows +184\/188 +0\.\d+$/m);
    assert.match(out, /^NonOverlappingTemplate +145\/148 +0\.005374$/m);
    assert.match(out, /^RandomExcursions +x=-1 +0\.007779$/m);
    assert.match(out, /^verdict: pass\nrule: fails if more than 12 rows /m);
    assert.match(out, /^min-entropy per bit: 0\.850581, .* about 0\.85$/m);
    assert.match(out, /cannot prove it/);
  });

  it('gets the verdict fail, with exit status 0, when it is not random', async () => {
    write('zeros', Buffer.alloc(SEQUENCE_BYTES));
    const { sp800_22: result, sp800_90b: entropy } = await assessed('zeros');
    assert.equal(result.verdict, 'fail');
    assert.ok(result.first_sequence.failures > 12);
    assert.equal(entropy.min_entropy_per_bit, 0);
    const { status, out } = await assess('zeros');
    assert.equal(status, 0);
    assert.match(out, /^verdict: FAIL$/m);
    assert.match(out, /^and \d+ more$/m);
    assert.match(out, /^RandomExcursions +- +not applicable: /m);
  });

  it('may consist of the characters 0 and 1 with --ascii', async () => {
    const digits = Array.from(digitsOf('e', 1_000_000), (byte) => byte.toString(2).padStart(8, '0')).join('');
    const lines = digits.replaceAll(/.{75}/g, ' $&\r\n');
    writeFileSync(join(folder, 'e.txt'), lines);
    const constants = ['--constants', 'reference'];
    assert.deepEqual(await assessed('e.txt', '--ascii', ...constants), await assessed('e', ...constants));
  });
});

describe('a file of many sequences', () => {
  it('is judged as a whole; rows and estimates are those of the first sequence', async () => {
    const result = await assessed('good');
    const batteries = good.map((bytes) => runBattery(bytes, 1_000_000));
    assert.deepEqual([result.sequences, result.bits], [3, 3_000_000]);
    assert.equal(result.sha256, sha256(Buffer.concat(good)));
    assert.equal(result.sp800_22.first_sequence.sha256, sha256(good[0]));
    assert.equal(result.sp800_90b.sha256, sha256(good[0]));
    assert.deepEqual(
      result.sp800_22.rows,
      batteries[0].rows.map(({ test, subtest, pValue }) => ({ test, subtest, p_value: pValue })),
    );
    assert.deepEqual(
      [result.sp800_22.passed, result.sp800_22.total],
      [batteries[0].passed, batteries[0].total],
    );
    const { across } = result.sp800_22;
    const expected = verdictAcross(batteries.map(({ rows }) => rows));
    assert.deepEqual(
      across.rows.map((row: { failures: number; uniformity_p: number }) => [row.failures, row.uniformity_p]),
      expected.rows.map((row) => [row.failures, row.uniformityP]),
    );
    assert.deepEqual(
      [
        result.sp800_22.verdict,
        across.rows_verdict,
        across.rejected_verdict,
        across.rejected,
        across.sequences,
      ],
      ['pass', 'pass', 'pass', 0, 3],
    );
  });

  it('is tested in part with --sequences', async () => {
    const result = await assessed('good', '--sequences', '2');
    assert.equal(result.sp800_22.across.sequences, 2);
    assert.equal(result.sha256, sha256(Buffer.concat(good.slice(0, 2))));
    assert.equal(result.partial, false);
  });

  it('reports what was tested when it is interrupted', async () => {
    const interrupted = { interruption: () => AbortSignal.abort() };
    const path = join(folder, 'good');
    const { status, out } = await runCommand(assessCommand, [path, '--json'], {}, undefined, interrupted);
    assert.equal(status, 130);
    const { sequences, partial, sha256: digest, sp800_22 } = JSON.parse(out);
    assert.deepEqual([sequences, partial, digest], [1, true, sha256(good[0])]);
    assert.equal(sp800_22.across, null);
  });

  it('fails when sequences are rejected more often than by chance, whatever the first one shows', async () => {
    write('broken', good[0], Buffer.alloc(2 * SEQUENCE_BYTES, 0x5a));
    const { sp800_22: result } = await assessed('broken');
    assert.deepEqual(
      [result.verdict, result.first_sequence.verdict, result.across.rejected, result.across.rejected_verdict],
      ['fail', 'pass', 2, 'fail'],
    );
    const { out } = await assess('broken');
    assert.match(out, /^sequences rejected +2 of 3 /m);
    assert.match(out, /^verdict: FAIL$/m);
  });

  it('is tested in memory that does not grow with the file', async () => {
    write('long', ...good);
    truncateSync(join(folder, 'long'), 2 ** 31); // zeros behind the third, none of them on the disk
    const hook =
      'import { writeSync } from "node:fs";' +
      'process.on("exit", () => writeSync(3, String(process.resourceUsage().maxRSS)));';
    const preloaded = [...STRIPPED, '--import', `data:text/javascript,${hook}`];
    const command = ['assess', 'long', '--sequences', '4', '--json'];
    const child = spawn(process.execPath, [...preloaded, MAIN, ...command], {
      cwd: folder,
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    });
    let maxRssKib = '';
    child.stdio[3]!.on('data', (chunk: Buffer) => {
      maxRssKib += chunk.toString();
    });
    assert.equal(await new Promise((resolve) => child.once('close', resolve)), 0);
    assert.ok(Number(maxRssKib) > 0 && Number(maxRssKib) < 200 * 1024, `${maxRssKib} KiB at most`);
  });
});

it('a file that cannot be tested is refused in one line with the reason', async () => {
  write('empty');
  write('short', good[0].subarray(1));
  write('text', Buffer.from('Not random at all.\n'.repeat(10_000)));
  write('digits', Buffer.from('0110 1001\n'.repeat(200_000)));
  write('spoilt', Buffer.from('01'.repeat(500_000).replace(/01$/, '2')));
  const spoilt = good[0].findIndex((byte) => !isText(byte));
  const wrong: readonly [line: string, status: number, reason: string][] = [
    ['none', 1, 'none does not exist'],
    ['none/such', 1, 'none/such does not exist'],
    ['.', 1, '. is a directory'],
    ['empty', 1, 'empty is empty'],
    ['short', 1, 'short contains 999,992 bits, but at least 1,000,000 are required (125,000 packed bytes)'],
    ['text', 1, 'text contains text instead of packed bits (eight per byte, the most significant first)'],
    [
      'digits',
      1,
      'digits contains the characters 0 and 1 instead of packed bits, eight per byte; use --ascii to read it',
    ],
    ['spoilt --ascii', 1, 'spoilt: byte 999998 is neither 0, 1 nor white space'],
    ['good --ascii', 1, `good: byte ${spoilt} is neither 0, 1 nor white space`],
    ['', 2, "missing required argument 'FILE'; see qrn assess --help"],
    [
      'pi --sequences 0',
      2,
      '--sequences must be a whole number from 1 to 2^53 - 1, not "0"; see qrn assess --help',
    ],
    [
      'pi --constants best',
      2,
      '--constants must be one of corrected, reference, not "best"; see qrn assess --help',
    ],
  ];
  for (const [line, status, reason] of wrong) {
    const args = line.split(' ').filter((word) => word !== '');
    assert.deepEqual(await assess(...args), { status, out: '', talk: `qrn assess: ${reason}\n` });
  }
});

function isText(byte: number): boolean {
  return [0x30, 0x31, 0x20, 0x09, 0x0a, 0x0d].includes(byte);
}
