import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { BACKENDS, SOURCE_PRESETS } from '../../src/backend/backends.ts';
import { COMMON_OPTIONS } from '../../src/config/sources.ts';

const page = readFileSync(fileURLToPath(new URL('../../docs/sources.md', import.meta.url)), 'utf8');

describe('the page on sources', () => {
  it('has a table of the options of every backend that has any', () => {
    const marked = [...page.matchAll(/<!-- options: ([\w-]+) -->/g)].map(([, type]) => type);
    const withOptions = BACKENDS.filter(({ options }) => Object.keys(options).length > 0);
    assert.deepEqual(marked.sort(), ['common', ...withOptions.map(({ type }) => type)].sort());
  });

  it('has a passage on every name that implies its type', () => {
    for (const [name, { type }] of SOURCE_PRESETS) {
      assert.match(page, new RegExp(`^## .*(: |kind )\`${name}\`$`, 'm'), `${name} (${type})`);
    }
  });

  it('shows files that the configuration accepts', () => {
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
