import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { BACKENDS, SOURCE_PRESETS } from '../../src/backend/backends.ts';
import type { OptionDefinition, OptionDefinitions } from '../../src/backend/definition.ts';
import { sourceVariable } from '../../src/config/parsers.ts';
import { COMMON_OPTIONS, readSources } from '../../src/config/sources.ts';
import { rawBitsFor } from '../../src/pool/intake/conditioner.ts';
import { estimateOf } from '../../src/pool/intake/read.ts';
import { lotRawBitsOf, makeBackend } from '../../src/service/sources.ts';
import { ManualClock } from '../support/manual-clock.ts';

const page = readFileSync(fileURLToPath(new URL('../../docs/sources.md', import.meta.url)), 'utf8');

/** The table that follows the mark. */
function tableAt(mark: string): string {
  const parts = page.split(`<!-- ${mark} -->\n\n`);
  assert.equal(parts.length, 2, `the page has one mark ${mark}`);
  return parts[1].split('\n\n')[0];
}

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');

function optionsTable(options: OptionDefinitions): string {
  const rows = Object.entries(options).map(([name, { meaning, fallback, secret }]) => {
    const shown = fallback === undefined ? '**must be given**' : fallback === '' ? '' : `\`${fallback}\``;
    return `| \`${name}\`${secret === true ? ' (secret)' : ''} | ${shown} | ${cell(meaning)} |`;
  });
  return ['| Option | Default | Meaning |', '|---|---|---|', ...rows].join('\n');
}

/** What a backend needs beside the options that a row names; nobody is called. */
const REQUIRED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ibm: {
    api_key: 'k',
    crn: 'crn:v1:bluemix:public:quantum-computing:us-east:a/a:b::',
    device: 'ibm_fez',
  },
  braket: { bucket: 'a-bucket' },
  ionq: { api_key: 'k', backend: 'qpu.forte-1' },
  anu: { api_key: 'k' },
  outshift: { api_key: 'k' },
  qrypt: { api_key: 'k' },
  quandela: { api_key: 'k' },
};

/** A row of the costs as the code counts it. */
function costRow(name: string, given: string): string {
  const options: Record<string, string> = Object.fromEntries(
    given
      .split(' ')
      .filter((each) => each !== '')
      .map((each) => each.split('=')),
  );
  const environment = Object.fromEntries(
    Object.entries({ ...REQUIRED[name], ...options }).map(([option, text]) => {
      return [sourceVariable(name, option), text];
    }),
  );
  const [setting] = readSources(environment, [name], '');
  const memory = { recall: async () => undefined, keep: async () => {} };
  const backend = makeBackend(setting, memory, new ManualClock());
  const bits = lotRawBitsOf(backend);
  const lot = estimateOf(backend, bits);
  assert.ok(lot !== undefined, `${name} costs something`);
  const rawKiB = bits / 8192;
  const servedKiB = bits / rawBitsFor(1024, backend.claimedMinEntropyPerBit);
  const price = (amount: number) => (amount === 0 ? '–' : `${amount.toPrecision(3)} ${lot.currency}`);
  const calls = `${lot.calls} ${lot.calls === 1 ? 'call' : 'calls'}`;
  const costs = lot.amount === 0 ? calls : price(lot.amount);
  return `| \`${name}\` | ${given === '' ? '' : `\`${given}\``} | ${Math.round(rawKiB)} KiB | ${costs} | ${price(lot.amount / rawKiB)} | ${price(lot.amount / servedKiB)} |`;
}

describe('the page on sources', () => {
  it('has every option of every backend with its default and meaning, and no other', () => {
    assert.equal(tableAt('options: common'), optionsTable(COMMON_OPTIONS));
    for (const { type, options } of BACKENDS) {
      if (Object.keys(options).length === 0) continue;
      assert.equal(tableAt(`options: ${type}`), optionsTable(options), type);
    }
    const marked = [...page.matchAll(/<!-- options: ([\w-]+) -->/g)].map(([, type]) => type);
    const withOptions = BACKENDS.filter(({ options }) => Object.keys(options).length > 0);
    assert.deepEqual(marked.sort(), ['common', ...withOptions.map(({ type }) => type)].sort());
  });

  it('counts costs as the code does', () => {
    const [head, rule, ...rows] = tableAt('costs').split('\n');
    assert.equal(head, '| Source | Options | A lot | Costs | Per KiB raw | Per KiB that serves |');
    assert.equal(rule, '|---|---|---|---|---|---|');
    assert.ok(rows.length >= 10);
    for (const row of rows) {
      const [, name, options] = /^\| `([\w-]+)` \| (?:`([^`]*)`)? ?\|/.exec(row) ?? [];
      assert.ok(name, row);
      assert.equal(row, costRow(name, options ?? ''));
    }
  });

  it('has a passage on every name that needs no type', () => {
    for (const [name, { type }] of SOURCE_PRESETS) {
      assert.match(page, new RegExp(`^## .*(: |kind )\`${name}\`$`, 'm'), `${name} (${type})`);
    }
  });

  it('names variables of options that exist', () => {
    const variables = [...page.matchAll(/QRN_SOURCE_([A-Z][A-Z0-9_]*[A-Z0-9])/g)].map(([each]) => each);
    assert.ok(variables.length > 20);
    const named: Readonly<Record<string, string>> = { 'ibm-fez': 'ibm', hub: 'qrn' };
    const names = [...SOURCE_PRESETS.keys(), 'lab', ...Object.keys(named)];
    const known = new Set(['QRN_SOURCE_POLICY', 'QRN_SOURCE_LAB_TYPE']);
    for (const name of names) {
      const type = SOURCE_PRESETS.get(name)?.type ?? named[name] ?? '';
      const options = BACKENDS.find((backend) => backend.type === type)?.options ?? {};
      for (const [option, { secret }] of Object.entries<OptionDefinition<unknown>>({
        ...COMMON_OPTIONS,
        ...options,
      })) {
        known.add(sourceVariable(name, option));
        if (secret === true) known.add(`${sourceVariable(name, option)}_FILE`);
      }
    }
    assert.deepEqual(
      variables.filter((each) => !known.has(each)),
      [],
    );
  });

  it('shows files that the configuration takes', () => {
    const blocks = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text]) => JSON.parse(text));
    assert.ok(blocks.length >= 3);
    for (const block of blocks as Record<string, { type?: string }>[]) {
      for (const [name, options] of Object.entries(block)) {
        const type = options.type ?? SOURCE_PRESETS.get(name)?.type;
        const backend = BACKENDS.find((each) => each.type === type);
        assert.ok(backend, name);
        for (const option of Object.keys(options)) {
          assert.ok(Object.hasOwn({ ...COMMON_OPTIONS, ...backend.options }, option), `${name} ${option}`);
        }
      }
    }
  });
});
