import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { BACKENDS, SOURCE_PRESETS } from '../../src/backend/backends.ts';
import type { Secret } from '../../src/backend/definition.ts';
import { loadSettings } from '../../src/config/config.ts';
import { ConfigError, sourceVariable } from '../../src/config/parsers.ts';
import { COMMON_OPTIONS, loadConfig, readSources, type SourceSetting } from '../../src/config/sources.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const folder = scratchFolder();

let files = 0;
function file(content: unknown, mode = 0o600): string {
  const path = join(folder, `${files++}.json`);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  chmodSync(path, mode);
  return path;
}

type Environment = Record<string, string>;
const one = (environment: Environment): SourceSetting => loadConfig(environment).sources[0];

function refused(environment: Environment, message: RegExp): void {
  assert.throws(
    () => loadConfig(environment),
    (error: unknown) => {
      assert.ok(error instanceof ConfigError);
      assert.match(error.message, message);
      return true;
    },
  );
}

/** A backend with an option that must be given, a secret among them. */
const ANU = { QRN_BACKEND: 'anu', QRN_SOURCE_ANU_API_KEY: 'tell-nobody' };

describe('sources', () => {
  it('are the names in QRN_BACKEND, in that order', () => {
    const path = file({ lab: { type: 'simulator' }, 'second-lab': { type: 'system' } });
    const config = loadConfig({ QRN_SOURCES: path, QRN_BACKEND: 'second-lab, simulator,lab' });
    assert.deepEqual(
      config.sources.map(({ name, backend }) => [name, backend.type]),
      [
        ['second-lab', 'system'],
        ['simulator', 'simulator'],
        ['lab', 'simulator'],
      ],
    );
  });

  it('have the type that their variable, the file or their name states', () => {
    const path = file({ lab: { type: 'simulator' } });
    assert.equal(one({ QRN_BACKEND: 'lab', QRN_SOURCES: path }).backend.type, 'simulator');
    const given = { QRN_BACKEND: 'lab', QRN_SOURCES: path, QRN_SOURCE_LAB_TYPE: 'system' };
    assert.equal(one(given).backend.type, 'system');
    assert.equal(one({ QRN_BACKEND: 'a-lab', QRN_SOURCE_A_LAB_TYPE: 'system' }).backend.type, 'system');
    assert.equal(one(ANU).backend.type, 'qrng-http');
    refused(
      { QRN_BACKEND: 'lab' },
      /^lab is not a known source\. The known sources are: .*simulator.*QRN_SOURCE_LAB_TYPE/,
    );
    refused(
      { QRN_BACKEND: 'lab', QRN_SOURCE_LAB_TYPE: 'toaster' },
      /^type of lab: "toaster" is not a type of source\. The types are: .*simulator, /,
    );
  });

  it('take an option from its variable before the file, and from the file before the default', () => {
    const path = file({ anu: { budget_per_day: 2.5, calls_per_day: 7 } });
    const from = (setting: SourceSetting) =>
      Object.fromEntries(setting.inForce.map(({ name, value, from }) => [name, `${value} ${from}`]));
    const filed = one({ ...ANU, QRN_SOURCES: path });
    assert.deepEqual(filed.limits, { amountPerDay: 2.5, callsPerDay: 7 });
    const both = one({ ...ANU, QRN_SOURCES: path, QRN_SOURCE_ANU_CALLS_PER_DAY: '9' });
    assert.deepEqual(both.limits, { amountPerDay: 2.5, callsPerDay: 9 });
    const shown = from(both);
    assert.equal(shown['budget_per_day'], '2.5 file');
    assert.equal(shown['calls_per_day'], '9 environment');
    assert.equal(shown['preset'], 'anu name');
    assert.equal(shown['type'], 'qrng-http name');
    assert.equal(shown['api_key'], '[secret] environment');
  });

  it('have a budget that is a number, the default, or unlimited', () => {
    const budget = (text?: string) => {
      const { limits, isBudgeted } = one({
        ...ANU,
        ...(text === undefined ? {} : { QRN_SOURCE_ANU_BUDGET_PER_DAY: text }),
      });
      return [limits.amountPerDay, isBudgeted];
    };
    assert.deepEqual(budget(), [null, false]);
    assert.deepEqual(budget('none'), [null, true]);
    assert.deepEqual(budget('0'), [0, true]);
    assert.deepEqual(budget('12.75'), [12.75, true]);
    for (const text of ['-1', '1e3', 'ten', '1.']) {
      refused(
        { ...ANU, QRN_SOURCE_ANU_BUDGET_PER_DAY: text },
        /^QRN_SOURCE_ANU_BUDGET_PER_DAY: ".*" is not none or a decimal number from 0 to/,
      );
    }
  });

  it('refuse unknown options, and list the known ones', () => {
    refused(
      { ...ANU, QRN_SOURCE_ANU_KEY: 'x' },
      /^QRN_SOURCE_ANU_KEY is not an option of anu \(qrng-http\)\. Its options are: type, budget_per_day, .*api_key/,
    );
    refused(
      { QRN_SOURCE_NOBODY_KEY: 'x' },
      /^QRN_SOURCE_NOBODY_KEY is not an option of a known source\. The known sources are: simulator/,
    );
    refused({ QRN_SOURCE_POLICE: 'share' }, /^QRN_SOURCE_POLICE is not an option of a known source/);
    const filed = file({ simulator: { qbits: 3 } });
    refused(
      { QRN_SOURCES: filed },
      /: qbits is not an option of simulator \(simulator\)\. Its options are: type,/,
    );
    refused({ QRN_SOURCES: file({ toString: {} }) }, /"toString" is not a valid name of a source/);
    refused({ QRN_SOURCES: file({ anu: 3 }) }, /anu must be an object with the options/);
    refused(
      { QRN_SOURCES: file({ anu: { calls_per_day: null } }), ...ANU },
      /^calls_per_day of anu in .* must be a string/,
    );
    refused({ QRN_SOURCES: file([]) }, /must contain one JSON object/);
    refused({ QRN_SOURCES: join(folder, 'missing') }, /^QRN_SOURCES: .* cannot be read as JSON: ENOENT/);
    refused(
      { QRN_SOURCES: file({ 'a-b': { type: 'simulator' }, simulator: { calls_per_day: -1 } }) },
      /^calls_per_day of simulator in .*: "-1" is not a whole number/,
    );
  });

  it('may be configured without being used, and then need no required options', () => {
    const { sources } = loadConfig({ QRN_SOURCE_ANU_BUDGET_PER_DAY: '3' });
    assert.deepEqual(
      sources.map(({ name }) => name),
      ['simulator'],
    );
    refused(
      { QRN_BACKEND: 'ibm' },
      /^the source ibm requires the option api_key .*\. Set QRN_SOURCE_IBM_API_KEY or QRN_SOURCE_IBM_API_KEY_FILE$/,
    );
    assert.equal(
      readSources({ QRN_SOURCE_ANU_API_KEY: 'k' }, ['anu'], '')[0].backend.type,
      'qrng-http',
      'one that is not in use may be asked for',
    );
  });

  it('must be renamed when a variable cannot tell them apart', () => {
    const path = file({ lab: { type: 'qrng-http' }, 'lab-base': { type: 'qrng-http' } });
    loadConfig({ QRN_SOURCES: path });
    refused(
      { QRN_SOURCES: path, QRN_SOURCE_LAB_BASE_URL: 'https://x.example' }, // base_url of lab, url of lab-base
      /^QRN_SOURCE_LAB_BASE_URL is ambiguous: it could be an option of the source lab or of the source lab-base\./,
    );
  });

  it('may be invalid for a command that needs no entropy', () => {
    const { dataDir } = loadSettings({ QRN_BACKEND: 'lab', QRN_SOURCE_LAB_X: '1', QRN_DATA_DIR: '/srv' });
    assert.equal(dataDir, '/srv');
  });
});

describe('a secret', () => {
  const secretOf = (environment: Environment) => one(environment).options['api_key'] as Secret;

  it('comes from its variable or from the file that its _FILE variable names', () => {
    assert.equal(secretOf(ANU).reveal(), 'tell-nobody');
    const path = file('tell-nobody\n');
    const filed = { QRN_BACKEND: 'anu', QRN_SOURCE_ANU_API_KEY_FILE: path };
    assert.equal(secretOf(filed).reveal(), 'tell-nobody');
    assert.equal(secretOf({ ...filed, QRN_SOURCE_ANU_API_KEY: '' }).reveal(), 'tell-nobody');
    assert.deepEqual(
      one(filed).inForce.find(({ name }) => name === 'api_key'),
      { name: 'api_key', variable: 'QRN_SOURCE_ANU_API_KEY_FILE', value: '[secret]', from: 'environment' },
    );
    refused(
      { ...filed, QRN_SOURCE_ANU_API_KEY: 'other' },
      /^QRN_SOURCE_ANU_API_KEY and .*_FILE must not both be set$/,
    );
  });

  it('is refused when its file is missing, empty or of several lines', () => {
    const from = (path: string) => ({ QRN_BACKEND: 'anu', QRN_SOURCE_ANU_API_KEY_FILE: path });
    refused(
      from(join(folder, 'missing')),
      /^QRN_SOURCE_ANU_API_KEY_FILE: the secret file cannot be read: ENOENT/,
    );
    refused(from(file('\n')), /must contain exactly one line$/);
    refused(from(file('one\ntwo\n')), /must contain exactly one line$/);
    refused(
      { QRN_BACKEND: 'ibm', QRN_SOURCE_IBM_API_KEY: '' },
      /^the source ibm requires the option api_key/,
    );
  });

  it('causes a warning when everybody on the machine can read its file', {
    skip: process.platform === 'win32',
  }, () => {
    const warnings = (mode: number) =>
      one({ QRN_BACKEND: 'anu', QRN_SOURCE_ANU_API_KEY_FILE: file('k', mode) }).warnings;
    assert.deepEqual(warnings(0o600), []);
    assert.deepEqual(warnings(0o640), []);
    assert.match(warnings(0o644).join(), /^QRN_SOURCE_ANU_API_KEY_FILE: every user of this machine can read/);
  });

  it('is never in the JSON file', () => {
    refused(
      { ...ANU, QRN_SOURCES: file({ anu: { api_key: 'tell-nobody' } }) },
      /: api_key of anu is a secret and must not be in this file\. Set QRN_SOURCE_ANU_API_KEY or QRN_SOURCE_ANU_API_KEY_FILE instead$/,
    );
  });

  it('is in nothing that is printed of a configuration, nor in its errors', () => {
    const config = loadConfig(ANU);
    const secret = config.sources[0].options['api_key'];
    const printed = [config, [secret]].flatMap((each) => [
      JSON.stringify(each),
      inspect(each, { depth: 20, showHidden: true, getters: true }),
    ]);
    for (const text of [...printed, String(secret), Object.entries(secret as object).join()])
      assert.ok(!text.includes('tell-nobody'), text);
    for (const wrong of [
      { QRN_SOURCE_ANU_TYPO: 'x' },
      { QRN_SOURCES: file({ anu: { api_key: 'tell-nobody' } }) },
      { QRN_SOURCE_ANU_API_KEY_FILE: file('tell-nobody') },
      // what no header may hold: two lines, a zero-width space from a web page, a control character
      ...['\ntell-nobody', '\u200b', '\u0001', '\r'].map((end) => ({
        QRN_SOURCE_ANU_API_KEY: `tell-nobody${end}`,
      })),
      { QRN_SOURCE_ANU_API_KEY: '', QRN_SOURCE_ANU_API_KEY_FILE: file('tell-nobody\u200b\n') },
    ]) {
      assert.throws(
        () => loadConfig({ ...ANU, ...wrong } as Environment),
        (error: Error) =>
          error instanceof ConfigError && !inspect(error, { depth: 9 }).includes('tell-nobody'),
      );
    }
    const fitsNoHeader =
      /^QRN_SOURCE_ANU_API_KEY: the secret of anu must be one line of printable ASCII characters$/;
    refused({ ...ANU, QRN_SOURCE_ANU_API_KEY: 'tell-nobody\r' }, fitsNoHeader);
  });
});

describe('the backends', () => {
  it('have types and options that variables can name, none of them twice', () => {
    const types = BACKENDS.map(({ type }) => type);
    assert.equal(new Set(types).size, types.length);
    for (const { type, summary, options } of BACKENDS) {
      assert.match(type, /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/);
      assert.ok(summary.length > 10);
      const names = [...Object.keys(COMMON_OPTIONS), ...Object.keys(options)];
      const variables = names.flatMap((name) => {
        const secret = (options as Record<string, { secret?: true }>)[name]?.secret === true;
        return secret
          ? [sourceVariable('x', name), `${sourceVariable('x', name)}_FILE`]
          : [sourceVariable('x', name)];
      });
      assert.equal(new Set(variables).size, variables.length, `${type}: ${names}`);
      for (const [name, { meaning, fallback, secret, parse }] of Object.entries(options)) {
        assert.match(name, /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/, type);
        assert.ok(meaning.length > 5, `${type} ${name}`);
        if (fallback !== undefined && secret !== true) parse(fallback);
      }
    }
  });

  it('are named by themselves, and services by their presets', () => {
    for (const [name, preset] of SOURCE_PRESETS) {
      const backend = BACKENDS.find(({ type }) => type === preset.type);
      assert.ok(backend, name);
      for (const [option, text] of Object.entries(preset.options)) backend.options[option].parse(text);
    }
  });
});
