import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { BACKENDS, SOURCE_PRESETS } from '../../src/backend/backends.ts';
import type { OptionDefinition } from '../../src/backend/definition.ts';
import { sourceVariable } from '../../src/config/parsers.ts';
import { COMMON_OPTIONS } from '../../src/config/sources.ts';

const page = readFileSync(fileURLToPath(new URL('../../docs/sources.md', import.meta.url)), 'utf8');

describe('the page on sources', () => {
  it('has a table of the options of every backend that has any', () => {
    const marked = [...page.matchAll(/<!-- options: ([\w-]+) -->/g)].map(([, type]) => type);
    const withOptions = BACKENDS.filter(({ options }) => Object.keys(options).length > 0);
    assert.deepEqual(marked.sort(), ['common', ...withOptions.map(({ type }) => type)].sort());
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
