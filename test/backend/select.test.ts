import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBackend } from '../../src/backend/select.ts';
import { ManualClock } from '../../src/core/clock.ts';

test('backends are chosen by name; an unknown name lists the known ones', () => {
  const clock = new ManualClock();
  assert.equal(createBackend('simulator', clock).quantumBackend, 'simulator-statevector');
  assert.equal(createBackend('system', clock).origin, 'system');
  for (const name of ['Simulator', '', 'constructor']) {
    assert.throws(() => createBackend(name, clock), {
      message: `unknown backend "${name}"; known: simulator, system`,
    });
  }
});
