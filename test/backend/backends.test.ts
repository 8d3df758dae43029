import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SOURCE_KINDS, SOURCE_PRESETS, sourceKindOf } from '../../src/backend/backends.ts';
import { ManualClock } from '../../src/core/clock.ts';

const memory = { recall: async () => undefined, keep: async () => {} };

test('kinds are found by their type, and by nothing else', () => {
  for (const kind of SOURCE_KINDS) assert.equal(sourceKindOf(kind.type), kind);
  for (const type of ['Simulator', '', 'constructor', 'anu']) assert.equal(sourceKindOf(type), undefined);
});

test('what needs no option is made of its defaults, under the name that it is given', () => {
  const clock = new ManualClock();
  const made = (type: string) => {
    const kind = sourceKindOf(type)!;
    const options = Object.entries(kind.options).map(([name, { parse, fallback }]) => [
      name,
      parse(fallback!),
    ]);
    return kind.create('lab', Object.fromEntries(options), { clock, memory });
  };
  assert.deepEqual(
    [made('simulator').name, made('simulator').quantumBackend, made('system').origin],
    ['lab', 'simulator-statevector', 'system'],
  );
  assert.equal(made('system').name, 'lab');
});

test('a name that stands for a kind stands for one that is there', () => {
  for (const [name, { type }] of SOURCE_PRESETS) assert.ok(sourceKindOf(type), name);
  assert.deepEqual(SOURCE_PRESETS.get('anu'), { type: 'qrng-http', options: { preset: 'anu' } });
  assert.deepEqual(SOURCE_PRESETS.get('simulator'), { type: 'simulator', options: {} });
});
