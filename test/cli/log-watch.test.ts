import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { LogWatcher } from '../../clients/typescript/program/log.ts';
import { LogUnavailable } from '../../src/certificate/log-source.ts';
import { log } from '../../src/cli/log.ts';
import { WatchedLog } from '../certificate/watched-log.ts';
import { fetchWhole } from '../support/http.ts';
import { recorded, runCommand } from '../support/run-command.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { served } from '../support/served.ts';

/** The routes of the service's log behind HTTP. */
function serve(service: Pick<WatchedLog, 'read'>): Promise<string> {
  return served((request, response) => {
    service.read(request.url ?? '').then(
      (body) => response.end(body),
      (error) => response.writeHead(error instanceof LogUnavailable ? 404 : 500).end(),
    );
  });
}

async function scene() {
  const service = await WatchedLog.open();
  const lot = await service.addLot('b');
  await service.grow(20);
  const url = await serve(service);
  const state = join(scratchFolder(), 'state.json');
  const watch = (at: string, ...more: string[]) =>
    runCommand(log, ['watch', at, '--state', state, '--once', ...more], {}, service.world.clock);
  return { service, lot, url, state, watch };
}

describe('qrn log watch', () => {
  it('pins the log, continues from its state, and prints withdrawals', async () => {
    const { service, lot, url, state, watch } = await scene();
    const first = await watch(url);
    const keyId = service.world.keys.currentKeyId;
    assert.deepEqual(first, {
      status: 0,
      out: '',
      talk: `${url}: pinned the log qrn.example/log with the keys ${keyId}\n`,
    });
    await service.withdraw(lot, 'a fault');
    writeFileSync(`${state}.draft`, '{"type":"qrn-log-st'); // a power cut before the new state was whole
    const second = await watch(url);
    assert.match(second.out, new RegExp(`^withdrawn ${lot} at \\S+Z: "a fault" \\(leaf 22\\)\\n$`));
    assert.equal(second.talk, '');
    await service.addLot('c');
    const [event] = (await watch(url, '--json')).out.trim().split('\n');
    assert.equal((JSON.parse(event) as { event: string }).event, 'lot');
  });

  it('finds a fork at another server within one poll, and its report can be checked again', async () => {
    const { url, state, watch } = await scene();
    const fork = await WatchedLog.open();
    await fork.addLot('b');
    await fork.grow(25, 1);
    const forkUrl = await serve(fork);
    assert.equal((await watch(url)).status, 0);
    const kept = readFileSync(state, 'utf8');
    const found = await watch(forkUrl);
    assert.equal(found.status, 1);
    const file = `${state}.finding.json`;
    assert.match(
      found.talk,
      /^FINDING rewritten: The log signed a tree of 27 leaves whose first 22 are not those /,
    );
    assert.equal(readFileSync(state, 'utf8'), kept, 'the state stays as it was');
    const checked = await runCommand(log, ['check', file]);
    assert.equal(checked.status, 0);
    assert.match(
      checked.out,
      /^holds: The log signed a tree of 27 leaves .*\nThe signatures of the log prove it \(keys /,
    );
    writeFileSync(file, readFileSync(file, 'utf8').replace('"rewritten"', '"fork"'));
    assert.deepEqual(await runCommand(log, ['check', file]), {
      status: 1,
      out: 'does not hold: The evidence does not show what the finding says.\n',
      talk: '',
    });
    assert.equal((await watch(url)).status, 0, 'the log that was followed is as it was');
  });

  it('polls until it is interrupted, or exits with its finding, and serves metrics meanwhile', async () => {
    const [service, fork] = [await WatchedLog.open(), await WatchedLog.open()];
    await service.grow(5);
    await fork.grow(5, 1);
    let served = service;
    const url = await serve({ read: (path) => served.read(path) });
    for (const end of ['interrupted', 'forked'] as const) {
      served = service;
      const interruption = new AbortController();
      let metrics = '';
      let looked: Promise<void> = Promise.resolve();
      const { context, said } = recorded({}, service.world.clock, {
        interruption: () => interruption.signal,
        talk: (text) => {
          if (text.includes('pinned')) looked = lookAndEnd();
        },
      });
      const lookAndEnd = async () => {
        const at = said.talk.match(/metrics at (\S+)/)?.[1] ?? '';
        metrics = await (await fetchWhole(at)).text();
        assert.equal((await fetchWhole(at.replace('/metrics', '/other'))).status, 404);
        if (end === 'interrupted') interruption.abort();
        else served = fork;
      };
      const state = join(scratchFolder(), 'state.json');
      const line = ['watch', url, '--state', state, '--interval', '1s', '--metrics', '0'];
      const status = await log.run(line, context);
      await looked;
      assert.match(metrics, /^qrn_watch_log_leaves 5$/m);
      const { talk } = said;
      assert.equal(status, end === 'forked' ? 1 : 0, talk);
      assert.equal(
        talk.includes('FINDING fork: The log signed two different trees of 5 leaves.'),
        end === 'forked',
      );
      const at = talk.match(/metrics at (\S+)/)?.[1] ?? '';
      await assert.rejects(fetchWhole(at), 'the port is closed with it');
    }
  });

  it('never starts over when its state is torn', async () => {
    const { url, state, watch } = await scene();
    await watch(url);
    writeFileSync(state, readFileSync(state, 'utf8').slice(0, 100));
    const { status, talk } = await watch(url);
    assert.equal(status, 1);
    assert.match(talk, /is not a state file of qrn log watch: restore a copy of the state file/);
  });

  it('reports once what no signature proves, keeps what it has seen and continues', async () => {
    const { service, url, state, watch } = await scene();
    assert.equal((await watch(url)).status, 0);
    const kept = readFileSync(state, 'utf8');
    const { context, said } = recorded({}, service.world.clock);
    const findingPath = `${state}.finding.json`;
    const watcher = new LogWatcher({
      url,
      statePath: state,
      findingPath,
      asJson: true,
      isOnce: false,
      context,
    });
    await service.grow(5);
    service.lies.set('/log/tile/0/000.p/27', () => new Uint8Array(27 * 32));
    assert.deepEqual([await watcher.poll(), await watcher.poll()], ['doubt', 'doubt']);
    const what = 'The hashes at /log/tile/ do not lead to the root of the 27 leaves that the log signed.';
    assert.deepEqual(said, {
      out: `${JSON.stringify({ event: 'doubt', what })}\n`,
      talk: `DOUBT ${url}: ${what}\n`,
    });
    assert.equal(readFileSync(state, 'utf8'), kept, 'the state stays as it was');
    assert.ok(!existsSync(findingPath), 'a finding is what anybody can check');
    assert.match(watcher.metrics(), /^qrn_watch_polls_total\{outcome="doubt"\} 2$/m);
    assert.equal((await watch(url)).status, 1, '--once says that not all holds');
    service.lies.clear();
    assert.equal(await watcher.poll(), 'ok');
    assert.notEqual(readFileSync(state, 'utf8'), kept);
  });

  it('reports once that a log cannot be read, and counts its polls', async () => {
    const { service, url, state, watch } = await scene();
    const { context, said } = recorded({}, service.world.clock);
    const watcher = new LogWatcher({
      url,
      statePath: state,
      findingPath: 'x',
      asJson: false,
      isOnce: false,
      context,
    });
    service.lies.set('/log/checkpoint', () => {
      throw new LogUnavailable('away');
    });
    assert.deepEqual([await watcher.poll(), await watcher.poll()], ['unavailable', 'unavailable']);
    assert.equal(said.talk, `${url}: /log/checkpoint answered 404; trying again\n`);
    const once = await watch(url);
    assert.deepEqual([once.status, once.out], [1, '']);
    assert.match(once.talk, /answered 404; check that this is the address of a running service\n$/);
    assert.ok(!existsSync(state));
    service.lies.clear();
    assert.equal(await watcher.poll(), 'ok');
    const metrics = watcher.metrics();
    assert.match(metrics, /^qrn_watch_polls_total\{outcome="unavailable"\} 2$/m);
    assert.match(metrics, /^qrn_watch_log_leaves 22$/m);
    assert.match(metrics, /^qrn_watch_public_leaves\{kind="lot"\} 1$/m);
  });

  it('names the option with an unusable file or port', async () => {
    const { service, url, state, watch } = await scene();
    const missing = join(state, 'state.json');
    const { port } = new URL(url);
    for (const [args, talk] of [
      [
        ['--state', missing, '--once'],
        `cannot write ${missing}: ENOENT: no such file or directory; set --state to a file that can be written`,
      ],
      [
        ['--state', state, '--metrics', port],
        `cannot listen on 127.0.0.1:${port} (listen EADDRINUSE: address already in use 127.0.0.1:${port}): ` +
          'set --metrics to a free port, or to 0',
      ],
    ] as const) {
      const told = await runCommand(log, ['watch', url, ...args], {}, service.world.clock);
      assert.deepEqual(told, { status: 1, out: '', talk: `qrn log watch: ${talk}\n` });
    }
    assert.equal((await watch(url)).status, 0);
  });

  it('refuses invalid arguments', async () => {
    const state = join(scratchFolder(), 'state.json');
    for (const [args, told] of [
      [['watch', 'ftp://x', '--state', state], /URL must be an http or https address, not "ftp:\/\/x"/],
      [
        ['watch', 'http://127.0.0.1:9', '--state', state, '--interval', '0'],
        /--interval must be at least 1s/,
      ],
      [['watch', 'http://127.0.0.1:9'], /--state/],
    ] as const) {
      const { status, talk } = await runCommand(log, args);
      assert.equal(status, 2);
      assert.match(talk, told);
    }
  });
});
