import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { LineWriter, personLine } from '../../src/core/log.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

describe('a log that cannot be written', () => {
  it('loses its lines, counts them and goes on', async () => {
    const writer = new LineWriter(openSync('/dev/full', 'w'));
    for (let i = 0; i < 100; i++) writer.write(`${i}\n`);
    for (let tries = 0; tries < 100 && writer.lost < 100; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    assert.equal(writer.lost, 100);
  });

  it('holds a bounded number of bytes for a destination that takes nothing', () => {
    const writer = new LineWriter(openSync('/dev/full', 'w'));
    const line = 'x'.repeat(1024);
    for (let i = 0; i < 1_000; i++) writer.write(line);
    assert.equal(writer.lost, 1_000 - 256);
  });

  it('stops nothing: a service whose stderr is a full disk starts, answers, counts and stops', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'qrn-log-'));
    const serve = [process.execPath, '--import', './scripts/stripped.mjs', 'src/main.ts', 'serve'];
    const child = spawn('sh', ['-c', 'exec "$0" "$@" 2>/dev/full', ...serve], {
      cwd: root,
      env: { PATH: process.env['PATH'], QRN_DATA_DIR: dataDir, QRN_PORT: '0', QRN_ACCESS_LOG_SAMPLE: '1' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let output = '';
    child.stdout!.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8');
    });
    const exited = once(child, 'exit');
    try {
      let origin: string | undefined;
      for (let tries = 0; tries < 600 && origin === undefined; tries++) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        origin = /^ready (\S+)\/v1$/m.exec(output)?.[1];
      }
      assert.ok(origin, output);
      const key = readFileSync(join(dataDir, 'demo-key'), 'utf8').trim();
      for (let i = 0; i < 20; i++) {
        assert.equal((await fetch(`${origin}/livez`)).status, 200);
        assert.equal((await fetch(`${origin}/v1/uuid`, { headers: { 'x-api-key': key } })).status, 200);
      }
      let lost = 0;
      for (let tries = 0; tries < 50 && lost < 40; tries++) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        const text = await (await fetch(`${origin}/metrics`)).text();
        lost = Number(/^qrn_log_lines_lost_total (\d+)$/m.exec(text)?.[1]);
      }
      assert.ok(lost >= 40, `${lost} lines are counted as lost`);
    } finally {
      child.kill('SIGTERM');
      assert.deepEqual(await exited, [0, null]);
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});

describe('a log line for a person', () => {
  const line = '{"level":40,"time":"2026-11-22T08:31:59.123Z","lines":3,"source":"ibm","msg":"a warning"}\n';

  it('shows time, level, message and facts', () => {
    assert.equal(personLine(line, false), '08:31:59  warn   a warning  lines=3  source=ibm\n');
  });

  it('paints the level alone, when asked to', () => {
    assert.equal(
      personLine(line, true),
      '08:31:59  \u001b[33mwarn \u001b[0m  a warning  lines=3  source=ibm\n',
    );
  });
});
