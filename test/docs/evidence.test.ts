import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { status } from '../../clients/typescript/program/status.ts';
import { simulatorBackend } from '../../src/backend/simulator/simulator.ts';
import { assess } from '../../src/cli/assess.ts';
import { evidence as evidenceCommand } from '../../src/cli/evidence.ts';
import { lots } from '../../src/cli/lots.ts';
import { sources } from '../../src/cli/sources.ts';
import { EVIDENCE_LEVELS } from '../../src/ledger/records.ts';
import { assessLot } from '../../src/pool/intake/assess-lot.ts';
import { HISTORY_BLOCKS } from '../../src/pool/intake/assessor.ts';
import { readoutMinEntropy } from '../../src/pool/intake/evidence/bounds.ts';
import { evidenceOf } from '../../src/pool/intake/evidence/evidence.ts';
import { ALARM_BITS } from '../../src/pool/intake/lot-alarm.ts';
import { ALPHA, BATTERY_BITS, runBattery, TEST_NAMES } from '../../src/stats/sp800-22/battery.ts';
import { verdict, verdictOnRejections } from '../../src/stats/sp800-22/verdict.ts';
import { minimumCycles } from '../../src/stats/sp800-22/walk.ts';
import { ESTIMATORS } from '../../src/stats/sp800-90b/assess.ts';
import { verdictAcross } from '../support/bit-sequences.ts';
import { digitsOf } from '../support/constants.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { runCommand } from '../support/run-command.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { STRIPPED } from '../support/server.ts';
import { sourceOf } from '../support/source-parts.ts';

/** docs/evidence.md says what the code does: its rules, bounds and names are those of the code. */

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(join(root, 'docs/evidence.md'), 'utf8');
/** The page as one line, so that it may be wrapped anywhere. */
const text = page.replaceAll(/\s+/g, ' ');

function says(sentence: string): void {
  assert.ok(text.includes(sentence), `docs/evidence.md does not say: ${sentence}`);
}

const e = digitsOf('e', BATTERY_BITS);
const { rows, total } = runBattery(e, BATTERY_BITS);
const folder = scratchFolder();

describe('docs/evidence.md', () => {
  it('states every rule in the words of the code', () => {
    const one = verdict(rows);
    assert.ok(page.includes(`\`\`\`\n${one.rule}\n\`\`\``));
    says(`**at most ${one.falseRejectRate}**`);
    assert.ok(page.includes(`\`\`\`\n${verdictAcross([rows]).rule}\n\`\`\``));
    assert.ok(page.includes(`\`\`\`\n${verdictOnRejections(0, 0).rule}\n\`\`\``));
  });

  it('states the bounds of the code', () => {
    says(`the alarm of the last ${HISTORY_BLOCKS} lots`);
    says(`At **${ALARM_BITS}** bits it makes a warning`);
    says(`Fewer than ${BATTERY_BITS.toLocaleString('en')} bits are never \`true\``);
    says(`returns to zero at least ${minimumCycles(BATTERY_BITS)} times`);
    says(`p-values at or above ${ALPHA}, of all that apply`);
  });

  it('lists every test with its rows, and every estimator', () => {
    const cells = [...page.matchAll(/(?<=\| )(\w+) \| (\d+) (?=\|)/g)].map(([, test, count]) => [
      test,
      Number(count),
    ]);
    const counted = TEST_NAMES.map((test) => [test, rows.filter((row) => row.test === test).length]);
    assert.deepEqual(new Map(cells as [string, number][]), new Map(counted as [string, number][]));
    says(`Fifteen tests give ${total} p-values`);
    says(`ten estimators (${ESTIMATORS.join(', ')})`);
  });

  it('lists every claim of evidence, every figure, and the numbers that their formulas give', async () => {
    const section = page.slice(page.indexOf('## How quantum'), page.indexOf('## Health tests'));
    const rows = [...section.matchAll(/^\| `([^`]+)` \|/gm)].map(([, first]) => first);
    assert.deepEqual(rows.slice(0, EVIDENCE_LEVELS.length), EVIDENCE_LEVELS);
    const simulator = sourceOf('stream', simulatorBackend, {});
    const read = await simulator.read(65_536, new AbortController().signal);
    const { figures } = evidenceOf('simulated', read, assessLot(read.bits, read.width, read.shots));
    const table = section.slice(section.indexOf('| Figure |'), section.indexOf('### What more'));
    const told = Array.from(table.matchAll(/`(\w+)`/g), ([, name]) => name);
    assert.deepEqual(new Set(told), new Set(Object.keys(figures)));
    const ideal = [0.01, 0.046].map((sum) =>
      readoutMinEntropy({ e01: sum, e10: 0 }, (1 + sum) / 2, (1 - sum) / 2).toFixed(3),
    );
    says(`| bits, ideal qubit | ${ideal.join(' | ')} |`);
  });

  it('gives a laboratory commands that work', async () => {
    const section = page.slice(page.indexOf('## What a laboratory will ask'));
    const typed = [
      ...Array.from(section.matchAll(/^qrn (.+?) {2,}#/gm), ([, command]) => `qrn ${command}`),
      ...Array.from(section.matchAll(/`((?:qrn|tests) [^`]+)`/g), ([, command]) => command),
    ];
    const files = typed.filter((command) => command.startsWith('tests '));
    for (const command of files) assert.ok(existsSync(join(root, command.slice(6))), command);
    const commands = { sources, assess, status, lots, evidence: evidenceCommand };
    const raw = join(folder, 'RAW');
    for (const command of typed.filter((each) => each.startsWith('qrn '))) {
      const [name, ...words] = command.slice(4).split(' ') as [keyof typeof commands, ...string[]];
      assert.ok(name in commands, command);
      // Commands that need a service, a ledger or another file are tested elsewhere.
      const isRun = name === 'sources' || (name === 'assess' && !words.includes('N'));
      const args = isRun
        ? words.map((word) => (/^(RAW|MATRIX)$/.test(word) ? raw : word))
        : [...words.filter((word) => /^[a-z]+$/.test(word)), '--help'];
      const { status: code, talk } = await runCommand(commands[name], args, {}, new ManualClock());
      assert.deepEqual([code, talk], [0, ''], command);
    }
    assert.ok(files.length >= 5 && typed.length >= 15, 'all commands are found');
  });

  it('names every member that qrn assess --json has', () => {
    const file = join(folder, 'e');
    writeFileSync(file, e);
    const out = execFileSync(process.execPath, [
      ...STRIPPED,
      join(root, 'src/main.ts'),
      'assess',
      file,
      '--json',
    ]);
    const members = Object.entries(JSON.parse(out.toString())).flatMap(([name, value]) =>
      typeof value === 'object' && value !== null ? Object.keys(value) : [name],
    );
    const table = page.slice(page.indexOf('| Member of `--json` |'));
    const notNamed = members.filter((name) => !new RegExp(`\`(\\w+\\.)?${name}(\\[\\])?\``).test(table));
    assert.deepEqual(notNamed, []);
  });
});
