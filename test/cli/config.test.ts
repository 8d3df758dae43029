import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { config } from '../../src/cli/config.ts';
import { runCommand, runQrnHere } from '../support/run-command.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const folder = scratchFolder();

const run = (args: string[], environment: Record<string, string>) => runCommand(config, args, environment);

describe('qrn config', () => {
  const path = join(folder, 'config.json');
  writeFileSync(path, JSON.stringify({ port: 8080, fronts: 2 }));

  it('prints the settings in force and their sources', async () => {
    const { status, out } = await run([], { QRN_CONFIG: path, QRN_PORT: '9090' });
    assert.equal(status, 0);
    assert.match(out, /^port +QRN_PORT +9090 +environment$/m);
    assert.match(out, /^fronts +QRN_FRONTS +2 +file$/m);
    assert.match(out, /^host +QRN_HOST +127\.0\.0\.1 +default$/m);
    assert.match(out, /^baseUrl +QRN_BASE_URL +- +default$/m);
  });

  it('hides the password in the URL of the ledger', async () => {
    const environment = { QRN_LEDGER: 'postgres://qrn:geheim@db.example/qrn?password=geheim' };
    for (const args of [[], ['--json']]) {
      const { out } = await run(args, environment);
      assert.match(out, /postgres:\/\/qrn:\*\*\*@db\.example\/qrn\?password=\*\*\*/);
      assert.doesNotMatch(out, /geheim/);
    }
  });

  it('prints the same as JSON', async () => {
    const { out } = await run(['--json'], { QRN_CONFIG: path });
    const settings = JSON.parse(out);
    assert.deepEqual(settings.port, { variable: 'QRN_PORT', value: '8080', from: 'file' });
    assert.equal(settings.tlsCertFile.from, 'default');
  });

  it('shows the options of sources, and of a secret only that it is set', async () => {
    const environment = {
      QRN_BACKEND: 'anu,simulator',
      QRN_SOURCE_ANU_API_KEY: 'tell-nobody',
      QRN_SOURCE_ANU_CALLS_PER_DAY: '40',
    };
    const { out } = await run([], environment);
    assert.match(out, /^backend +QRN_BACKEND +anu,simulator +environment$/m);
    assert.match(out, /^anu\.api_key +QRN_SOURCE_ANU_API_KEY +\[secret\] +environment$/m);
    assert.match(out, /^anu\.preset +QRN_SOURCE_ANU_PRESET +anu +name$/m);
    assert.match(out, /^simulator\.faults +QRN_SOURCE_SIMULATOR_FAULTS +none +default$/m);
    const asJson = (await run(['--json'], environment)).out;
    assert.deepEqual(JSON.parse(asJson).sources.anu.calls_per_day, {
      variable: 'QRN_SOURCE_ANU_CALLS_PER_DAY',
      value: '40',
      from: 'environment',
    });
    assert.ok(!`${out}${asJson}`.includes('tell-nobody'));
  });

  it('reports in one line what is wrong, also when settings contradict each other', async () => {
    for (const environment of [{ QRN_PORT: 'x' }, { QRN_TLS_CERT_FILE: 'c.pem' }, { QRN_CONFIG: folder }]) {
      const { status, out, talk } = await run([], environment as unknown as Record<string, string>);
      assert.equal(status, 1);
      assert.equal(out, '');
      assert.match(talk, /^qrn config: .*\n$/);
    }
  });
});

it('the commands of a cluster require QRN_LEDGER', async () => {
  const { code, stderr } = await runQrnHere(folder, ['cluster', 'status']);
  assert.equal(code, 1);
  assert.match(stderr, /QRN_LEDGER is not set: set it to postgres:\/\/USER@HOST:PORT\/DATABASE/);
});
