import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BACKENDS, backendOfType } from '../../src/backend/backends.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { verify } from '../support/source-parts.ts';

const memory = { recall: async () => undefined, keep: async () => {} };

test('backends are found by their type and by nothing else', () => {
  for (const backend of BACKENDS) assert.equal(backendOfType(backend.type), backend);
  for (const type of ['Simulator', '', 'constructor', 'anu']) assert.equal(backendOfType(type), undefined);
});

test('what needs no option is made of its defaults, under the name that it is given', () => {
  const clock = new ManualClock();
  const made = (type: string) => {
    const backend = backendOfType(type)!;
    const options = Object.entries(backend.options).map(([name, { parse, fallback }]) => [
      name,
      parse(fallback!),
    ]);
    return backend.create('lab', Object.fromEntries(options), { clock, memory, verify });
  };
  assert.deepEqual(
    [made('simulator').name, made('simulator').quantumBackend, made('system').origin],
    ['lab', 'simulator-statevector', 'system'],
  );
  assert.equal(made('system').name, 'lab');
});
