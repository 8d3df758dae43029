/**
 * Compares two revisions in one run: the working tree and REV, checked out into a temporary folder.
 *   node bench/compare.ts REV [NAME...] [--long] [--rounds N] [--seconds N]
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { SUITES } from './suites.ts';
import { chooseSuites, listOf, main, OPTIONS_HELP, readArguments, UsageError } from './support/arguments.ts';
import { say, talk } from './support/reporter.ts';
import { runSuites } from './support/run-suites.ts';
import type { Subject } from './support/suite.ts';

const root = new URL('../', import.meta.url);
/** The suites that measure a revision's own code; the others run programs of the working tree. */
const COMPARED = ['micro', 'dispatch', 'start', 'small', 'batch', 'ledger', 'latency'];
const USUAL = ['micro', 'small', 'batch', 'latency'];

function git(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: fileURLToPath(root), encoding: 'utf8' });
  if (status !== 0) throw new UsageError(`git ${args.join(' ')}: ${stderr.trim()}`);
  return stdout.trim();
}

/** Checks the revision out into a temporary folder with the packages of the working tree, until this process ends. */
function checkOut(revision: string): Subject {
  const commit = git('rev-parse', '--verify', '--short=10', `${revision}^{commit}`);
  const folder = join(mkdtempSync(join(tmpdir(), 'qrn-compare-')), commit);
  git('worktree', 'add', '--quiet', '--detach', folder, commit);
  process.once('exit', () => {
    git('worktree', 'remove', '--force', folder);
    rmSync(join(folder, '..'), { recursive: true, force: true });
  });
  symlinkSync(fileURLToPath(new URL('node_modules', root)), join(folder, 'node_modules'));
  return { name: commit, root: pathToFileURL(`${folder}/`) };
}

const compared = SUITES.filter(({ name }) => COMPARED.includes(name));
await main(async () => {
  const { operands, effort, help } = readArguments(process.argv.slice(2));
  const [revision, ...names] = operands;
  if (help) {
    const usage = 'usage: npm run bench:compare -- REV [NAME...] [options]';
    say(`${usage}\n\n${listOf(compared)}\n\nWithout a name: ${USUAL.join(', ')}.\n\n${OPTIONS_HELP}`);
    return;
  }
  if (revision === undefined) throw new UsageError('name a revision to compare with; --help says more');
  const chosen = chooseSuites(names.length === 0 ? USUAL : names, compared);
  const subjects = [{ name: 'now', root }, checkOut(revision)];
  const failures = await runSuites(chosen, { subjects, ...effort, talk });
  if (failures > 0) process.exitCode = 1;
});
