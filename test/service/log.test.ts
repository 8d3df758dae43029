import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { LineWriter, personLine, sparingLog } from '../../src/core/log.ts';
import { recordingLog } from '../pool/fixtures.ts';
import { fetchWhole } from '../support/http.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { STRIPPED, until, withSmallPool } from '../support/server.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

describe('a log that cannot be written', () => {
  it('loses its lines and counts them, and the service continues', async () => {
    const writer = new LineWriter(openSync('/dev/full', 'w'));
    for (let i = 0; i < 100; i++) writer.write(`${i}\n`);
    let lost = 0;
    await until('all are lost', () => {
      lost += writer.takeLost();
      return lost >= 100;
    });
    assert.equal(lost, 100);
    assert.equal(writer.takeLost(), 0, 'each lost line is told once');
  });

  it('holds a bounded number of bytes for a blocked destination', () => {
    const writer = new LineWriter(openSync('/dev/full', 'w'));
    const line = 'x'.repeat(1024);
    for (let i = 0; i < 1_000; i++) writer.write(line);
    assert.equal(writer.takeLost(), 1_000 - 256);
  });

  it('counts the lines that other threads lose, because the thread of the ledger has no metrics', async () => {
    const folder = scratchFolder();
    const program = join(folder, 'program.mjs');
    writeFileSync(
      program,
      `import { isMainThread, Worker } from 'node:worker_threads';
       import { createLog, takeLostLogLines } from ${JSON.stringify(new URL('../../src/core/log.ts', import.meta.url).href)};
       if (isMainThread) {
         const worker = new Worker(new URL(import.meta.url));
         worker.on('exit', () => process.stdout.write(String(takeLostLogLines())));
       } else createLog({ logLevel: 'info', logColour: false }).info({}, 'lost');`,
    );
    const child = spawn('sh', ['-c', 'exec "$0" "$@" 2>/dev/full', process.execPath, program]);
    const told: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => told.push(chunk));
    await once(child, 'close');
    assert.equal(Buffer.concat(told).toString('utf8'), '1');
  });
});

describe('a fault that repeats', () => {
  it('is logged five times, then counted every ten seconds while it lasts, and logged again after a pause', (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const log = recordingLog();
    const sparing = sparingLog(log);
    const fail = (times: number) => {
      for (let i = 0; i < times; i++) sparing.error({ segment: i }, 'segment not committed');
    };
    const told = () => log.lines.splice(0).map(({ facts }) => facts['segment'] ?? facts);
    fail(1_000);
    assert.deepEqual(told(), [0, 1, 2, 3, 4]);
    t.mock.timers.tick(10_000);
    assert.deepEqual(told(), [{ lines: 995, of: 'segment not committed' }]);
    fail(7);
    assert.deepEqual(told(), [], 'it goes on');
    t.mock.timers.tick(10_000);
    assert.deepEqual(told(), [{ lines: 7, of: 'segment not committed' }]);
    t.mock.timers.tick(10_000);
    fail(1);
    assert.deepEqual(told(), [0]);
    t.mock.timers.tick(20_000);
    assert.deepEqual(told(), [], 'nothing was left out of the one');
  });

  it('is identified by its message and by the error that a request got', (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const log = recordingLog();
    const sparing = sparingLog(log);
    for (let i = 0; i < 10; i++) {
      sparing.info({ error: 'auth_invalid' }, 'request');
      sparing.info({ error: 'rate_limited' }, 'request');
      sparing.warn({}, 'request');
      sparing.warn({}, 'another');
    }
    assert.equal(log.lines.length, 20);
    t.mock.timers.tick(10_000);
    assert.deepEqual(
      log.lines.slice(20).map(({ level, facts }) => [level, facts]),
      [
        ['info', { lines: 5, of: 'request', error: 'auth_invalid' }],
        ['info', { lines: 5, of: 'request', error: 'rate_limited' }],
        ['warn', { lines: 5, of: 'request' }],
        ['warn', { lines: 5, of: 'another' }],
      ],
    );
  });

  it('does not suppress lines without a fault', () => {
    const log = recordingLog();
    const sparing = sparingLog(log);
    for (let i = 0; i < 100; i++) sparing.info({ status: 200 }, 'request');
    assert.equal(log.lines.length, 100);
  });
});

describe('a log line for a person', () => {
  const line = '{"level":40,"time":"2026-11-22T08:31:59.123Z","lines":3,"source":"ibm","msg":"a warning"}\n';

  it('shows time, level and message, and each fact on its own line, in colour if requested', () => {
    const indent = ' '.repeat(17);
    const plain = `08:31:59  warn   a warning\n${indent}lines   3\n${indent}source  ibm\n`;
    assert.equal(personLine(line, false), plain);
    const coloured = personLine(line, true);
    assert.ok(coloured.includes('\u001b[33mwarn \u001b[0m'));
    assert.equal(stripVTControlCharacters(coloured), plain);
  });
});

describe('the service on a terminal', { skip: !existsSync('/usr/bin/script') }, () => {
  /** Interrupts it once it has written what matches and `seen` has resolved. */
  const serveOnTerminal = async (awaited: RegExp, seen: (output: string) => Promise<void>) => {
    const dataDir = scratchFolder();
    // script(1) gives the service a pseudo-terminal for stdout and stderr
    const serve = `exec ${process.execPath} ${STRIPPED.join(' ')} src/main.ts serve`;
    const child = spawn('script', ['-qec', serve, '/dev/null'], {
      cwd: root,
      env: {
        PATH: process.env['PATH'],
        TERM: 'xterm',
        ...withSmallPool({ QRN_DATA_DIR: dataDir, QRN_PORT: '0' }),
      },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    let output = '';
    const ready = new Promise<void>((resolve) => {
      child.stdout.on('data', (chunk: Buffer) => {
        output += chunk.toString('utf8');
        if (awaited.test(output)) resolve();
      });
    });
    const exited = once(child, 'exit');
    try {
      await Promise.race([ready, exited]);
      await seen(output);
      child.stdin.write('\u0003'); // Ctrl-C
      assert.deepEqual(await exited, [0, null], output);
    } finally {
      child.kill('SIGKILL');
    }
    return output;
  };

  it('gets the key, a command that works when pasted and where to read on, and its log in colour', async () => {
    const output = await serveOnTerminal(/^More accounts: .*\r$/m, async (printed) => {
      const [, authorization, url] = /^ {2}curl -H 'Authorization: ([^']+)' '([^']+)'\r$/m.exec(printed)!;
      const response = await fetchWhole(url, { headers: { authorization } });
      assert.equal(response.status, 200, await response.text());
    });
    assert.match(output, /^demo key qrn_\S+\r$/m);
    assert.match(
      output,
      /^tier pro: 500 requests per minute, 500,000 requests and 10,240 bytes of pure mode per month/m,
    );
    assert.match(output, /^Documentation: +http:\/\/127\.0\.0\.1:\d+\/docs$/m);
    assert.ok(output.includes('\u001b[36minfo \u001b[0m  stopped'));
    assert.ok(!output.includes('"level"'), 'no line is JSON');
  });
});
