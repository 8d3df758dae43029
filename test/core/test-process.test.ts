import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { until } from '../support/server.ts';
import { runProcess } from '../support/test-process.ts';

const LONG_S = 1_000;
const SILENCE_MS = 60_000;

const shell = (script: string, silenceMs = SILENCE_MS) => runProcess(['sh', '-c', script], silenceMs);
/** Whether a process runs: one that was killed stays in the table until its parent asks for it. */
const runs = (pid: number) => /\) [^ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
const hasEnded = (pid: number) => !existsSync(`/proc/${pid}`) || !runs(pid);

describe('a command of the test run', { skip: !existsSync('/proc/self/stat') && 'there is no /proc' }, () => {
  it('returns its output and its exit status', async () => {
    const passed = await shell('echo out; echo talk >&2');
    assert.deepEqual([passed.output, passed.errors, passed.hasPassed], ['out\n', 'talk\n', true]);
    const failed = await shell('exit 3');
    assert.deepEqual([failed.hasPassed, failed.hung], [false, false]);
    assert.match((await shell('kill -TERM $$')).errors, /ended by SIGTERM/);
  });

  it('is ended with its children when it writes nothing', async () => {
    const hung = await shell(`sleep ${LONG_S} & echo $!; wait`, 300);
    assert.deepEqual([hung.hung, hung.hasPassed], [true, false]);
    assert.match(hung.errors, /wrote nothing for 0.3 s/);
    await until('the child has ended', () => hasEnded(Number(hung.output)));
  });

  it('loses no output before an immediate exit', async () => {
    const script = "process.stdout.write('x'.repeat(4e6)); process.exit()";
    const { output } = await runProcess([process.execPath, '-e', script], SILENCE_MS);
    assert.equal(output.length, 4_000_000);
  });

  it('does not wait for a process that was left behind with its output', async () => {
    const within = await shell(`sleep ${LONG_S} & echo $!`);
    assert.equal(within.hasPassed, true);
    await until('the child has ended', () => hasEnded(Number(within.output)));
    const outside = await shell(`setsid sleep ${LONG_S} & echo $!`);
    assert.equal(outside.hasPassed, true);
    process.kill(Number(outside.output), 'SIGKILL');
  });
});
