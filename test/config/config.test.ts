import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { describeSettings, loadSettings, localOrigin, readSettings } from '../../src/config/config.ts';
import { ConfigError } from '../../src/config/parsers.ts';
import { loadConfig } from '../../src/config/sources.ts';
import { COSIGNATURE_TYPE, verifierKey } from '../../src/crypto/note.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const folder = scratchFolder();

/** A configuration file with this content, by its path. */
function file(content: unknown): string {
  const path = join(folder, 'config.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

function refused(environment: Record<string, string>, message: RegExp): void {
  assert.throws(
    () => loadConfig(environment),
    (error: unknown) => error instanceof ConfigError && message.test(error.message),
    `${JSON.stringify(environment)} is refused with ${message}`,
  );
}

describe('the configuration', () => {
  it('is complete without any setting, and frozen', () => {
    const config = loadConfig({ PATH: '/bin' }, 8);
    const { sources, ...plain } = config;
    assert.deepEqual(
      sources.map(({ name, backend }) => [name, backend.type]),
      [['simulator', 'simulator']],
    );
    assert.deepEqual({ ...loadSettings({}, 8) }, plain);
    assert.deepEqual(
      config.beacons.map(({ name, hash }) => [name, hash.slice(0, 8)]),
      [
        ['quicknet', '52db9ba7'],
        ['default', '8990e7a9'],
      ],
    );
    const { workers, fronts, baseUrl, tls, rateLimitFields, strictParameters } = config;
    assert.deepEqual([workers, fronts, baseUrl, tls], [8, 1, null, null]);
    assert.deepEqual([rateLimitFields, strictParameters], [true, false]);
    assert.ok(Object.isFrozen(config));
    assert.equal(loadConfig({}, 1).workers, 1);
  });

  it('has the defaults that docs/settings.md names', () => {
    const page = readFileSync(new URL('../../docs/settings.md', import.meta.url), 'utf8');
    const told = page.split('\n').flatMap((row) => {
      const [, names = '', defaults = ''] = row.split('|').map((cell) => cell.trim());
      const variables = names.match(/QRN_[A-Z_]+(?=`)/g) ?? [];
      const texts = defaults.split(', ');
      return variables.map(
        (each, i) => [each, texts.length < variables.length ? defaults : texts[i]] as const,
      );
    });
    const inWords = ['the host name', 'from host and port', 'cores', '–', 'none', 'quicknet', 'off'];
    const ofClients = ['the local service', 'its demo key'];
    const sayings = [...inWords, ...ofClients];
    const byVariable = new Map(told);
    for (const { variable, fallback } of describeSettings(8)) {
      const text = byVariable.get(variable);
      if (text !== undefined && !sayings.includes(text)) assert.equal(fallback, text, variable);
    }
  });

  it('prefers the environment to the file, and the file to the default', () => {
    const path = file({
      port: 8080,
      dataDir: '/srv',
      rateLimitFields: false,
      corsOrigins: ['https://a.example'],
    });
    const config = loadConfig({ QRN_CONFIG: path, QRN_DATA_DIR: '/elsewhere' });
    assert.deepEqual(
      [config.port, config.dataDir, config.rateLimitFields, config.corsOrigins, config.logLevel],
      [8080, '/elsewhere', false, ['https://a.example'], 'info'],
    );
    const from = (name: string) =>
      readSettings({ QRN_CONFIG: path, QRN_DATA_DIR: '/elsewhere' }).find((each) => each.name === name)!.from;
    assert.deepEqual([from('port'), from('dataDir'), from('logLevel')], ['file', 'environment', 'default']);
  });

  it('parses each setting in its own form', () => {
    const one = (variable: string, value: string, name: keyof ReturnType<typeof loadConfig>) =>
      loadConfig({ [variable]: value })[name];
    assert.equal(one('QRN_BASE_URL', 'https://x.example/v1/', 'baseUrl'), 'https://x.example/v1');
    assert.equal(one('QRN_METRICS_PORT', '9464', 'metricsPort'), 9464);
    assert.equal(one('NO_COLOR', '1', 'logColour'), false);
    assert.equal(one('NO_COLOR', '', 'logColour'), true);
    assert.equal(one('TERM', 'dumb', 'logColour'), false);
    assert.equal(one('QRN_METRICS_PORT', 'off', 'metricsPort'), 'off');
    assert.equal(one('QRN_ACCESS_LOG_SAMPLE', '0', 'accessLogSample'), 0);
    assert.equal(one('QRN_ACCESS_LOG_SAMPLE', '.5', 'accessLogSample'), 0.5);
    assert.equal(one('QRN_ACCESS_LOG_SAMPLE', '1.0', 'accessLogSample'), 1);
    assert.deepEqual(one('QRN_CORS_ORIGINS', '*', 'corsOrigins'), ['*']);
    assert.deepEqual(one('QRN_CORS_ORIGINS', 'https://a.example, http://b.example:81', 'corsOrigins'), [
      'https://a.example',
      'http://b.example:81',
    ]);
    assert.deepEqual(loadConfig({ QRN_TLS_CERT_FILE: 'c.pem', QRN_TLS_KEY_FILE: 'k.pem' }).tls, {
      certFile: 'c.pem',
      keyFile: 'k.pem',
    });
  });

  it('refuses a misspelt variable and an invalid value, naming both', () => {
    refused({ QRN_PROT: '1' }, /^QRN_PROT is not a setting. The settings are: QRN_CONFIG, QRN_HOST/);
    refused({ QRN_PORT: '65536' }, /^QRN_PORT: "65536" is not a whole number from 0 to 65535$/);
    for (const port of ['', ' 1', '1.5', '0x10', '1e3', '-1']) refused({ QRN_PORT: port }, /QRN_PORT/);
    refused({ QRN_DURABILITY: 'sync' }, /one of fsync, commit/);
    for (const host of ['', 'a/b', 'a b'])
      refused({ QRN_HOST: host }, /^QRN_HOST: .* is not a host name or an/);
    refused({ QRN_DATA_DIR: '' }, /^QRN_DATA_DIR: "" is not the path of a folder$/);
    for (const url of [
      'ftp://x/v1',
      'https://u:p@x/v1',
      'https://x/v1?a',
      'https://x/v1#a',
      'https://x /v1',
      'https://x/\u00e9/v1', // no header field holds it
      'https://x/"/v1',
    ]) {
      refused({ QRN_BASE_URL: url }, /^QRN_BASE_URL: .* is not an http or https URL/);
      refused({ QRN_VERIFY_URL_BASE: url }, /^QRN_VERIFY_URL_BASE: .* is not an http or https URL/);
    }
    refused({ QRN_BASE_URL: 'https://x/v1/v2' }, /is not a URL that ends in \/v1/);
    for (const name of ['p'.repeat(101), 'a\nb', '\u0001'])
      refused({ QRN_POWERED_BY: name }, /^QRN_POWERED_BY: .* is not at most 100 printable characters$/);
    for (const share of ['', '1.1', '-0.1', '1%', '2']) {
      refused({ QRN_ACCESS_LOG_SAMPLE: share }, /from 0 to 1/);
    }
    for (const origins of ['a.example', 'https://a.example/', 'https://a.example,*', 'https://a.example,']) {
      refused({ QRN_CORS_ORIGINS: origins }, /a comma-separated list of origins/);
    }
    for (const port of ['none', '65536']) refused({ QRN_METRICS_PORT: port }, /main, public, off, or/);
    refused({ QRN_SOURCE_POLICY: 'both' }, /one of priority, share/);
    for (const names of ['', 'a,', 'a,a', 'A', 'a_b', '-a', 'a b', 'a'.repeat(33)]) {
      refused({ QRN_BACKEND: names }, /^QRN_BACKEND: .* is not a comma-separated list of different names/);
    }
    refused({ QRN_TLS_KEY_FILE: 'k.pem' }, /must both be set or both be empty/);
    const key = (name: string, byte: number) =>
      `${verifierKey(name, new Uint8Array(32).fill(byte), COSIGNATURE_TYPE)}@https://w.example/${name}/`;
    const two = `${key('a', 1)},${key('b', 2)}`;
    const hash = 'ab'.repeat(32);
    const beacons = `own ${hash} http://127.0.0.1:1/ https://b.example`;
    assert.deepEqual(loadConfig({ QRN_BEACONS: beacons }).beacons, [
      { name: 'own', hash, urls: ['http://127.0.0.1:1', 'https://b.example'] },
    ]);
    assert.deepEqual(loadConfig({ QRN_BEACONS: 'off' }).beacons, []);
    for (const wrong of [
      '',
      'own',
      `own ${hash}`,
      `own ${hash} ftp://b`,
      `own ab http://b`,
      `${beacons}; ${beacons}`,
    ])
      refused({ QRN_BEACONS: wrong }, /QRN_BEACONS/);
    assert.deepEqual(
      loadConfig({ QRN_WITNESSES: two }).witnesses.map(({ key, url }) => [key.name, url]),
      ['a', 'b'].map((name) => [name, `https://w.example/${name}`]),
    );
    refused({ QRN_WITNESSES: `${key('a', 1)},${key('b', 1)}` }, /contains each key once/);
    refused({ QRN_WITNESSES: key('a', 1).replace('a+', 'b+') }, /a comma-separated list of KEY@URL/);
  });

  it('accepts a PostgreSQL URL and a node name, and repeats no password when the URL is wrong', () => {
    const url = 'postgres://qrn:geheim@db.example:5432/qrn';
    assert.equal(loadConfig({ QRN_LEDGER: url }).ledger, url);
    assert.equal(
      loadConfig({ QRN_LEDGER: 'postgresql:///qrn?host=/run/postgresql', QRN_NODE: 'a.1' }).node,
      'a.1',
    );
    const shown = readSettings({ QRN_LEDGER: url }).find(({ name }) => name === 'ledger')?.value;
    assert.equal(shown, 'postgres://qrn:***@db.example:5432/qrn');
    for (const wrong of ['mysql://qrn:geheim@db.example/qrn', 'postgres//qrn:geheim@db.example', 'data']) {
      refused(
        { QRN_LEDGER: wrong },
        /^QRN_LEDGER: the value is not postgres:\/\/USER@HOST:PORT\/DATABASE, or empty for/,
      );
    }
    for (const name of [' a', 'a b', '-a', 'a.', 'ä', 'a'.repeat(64)]) {
      refused({ QRN_NODE: name }, /^QRN_NODE: .* is not 1 to 63 letters, digits/);
    }
  });

  it('refuses an invalid file, and names in it that are no settings', () => {
    refused({ QRN_CONFIG: join(folder, 'missing.json') }, /missing\.json cannot be read as JSON: ENOENT/);
    refused({ QRN_CONFIG: file('{"port": 1') }, /cannot be read as JSON/);
    refused({ QRN_CONFIG: file('[]') }, /^QRN_CONFIG: .* must contain one JSON object/);
    refused({ QRN_CONFIG: file({ prot: 1 }) }, /: prot is not a setting. The settings are: host, port/);
    refused({ QRN_CONFIG: file({ QRN_PORT: 1 }) }, /: QRN_PORT is not a setting/);
    refused({ QRN_CONFIG: file({ port: 'a' }) }, /^port in .*config\.json: "a" is not a whole number/);
    refused({ QRN_CONFIG: file({ port: { tcp: 1 } }) }, /^port in .* must be a string, a number/);
    refused({ QRN_CONFIG: file({ port: null }) }, /^port in .* must be a string, a number/);
  });

  it('describes every setting once', () => {
    const rows = describeSettings(4);
    assert.equal(new Set(rows.map(({ variable }) => variable)).size, rows.length);
    assert.ok(rows.every(({ meaning }) => meaning !== ''));
    assert.deepEqual(
      rows.map(({ variable }) => variable).slice(1, -3), // without the file, options of sources and QRN_URL, QRN_KEY
      readSettings({}).map(({ variable }) => variable),
    );
  });
});

it('the origin of a service without a base URL is one that this machine can open, whatever address it listens on', () => {
  const opens: Record<string, string> = {
    '127.0.0.1': 'http://127.0.0.1:3000',
    '0.0.0.0': 'http://127.0.0.1:3000',
    '::': 'http://[::1]:3000',
    '::1': 'http://[::1]:3000',
    'qrn.example': 'http://qrn.example:3000',
  };
  for (const [host, origin] of Object.entries(opens)) {
    assert.equal(localOrigin({ host, tls: null }, 3000), origin);
  }
  const tls = { certFile: 'c.pem', keyFile: 'k.pem' };
  assert.equal(localOrigin({ host: '0.0.0.0', tls }, 8443), 'https://127.0.0.1:8443');
});
