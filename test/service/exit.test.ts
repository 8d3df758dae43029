import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { lock } from '../../src/core/spin-lock.ts';
import { STRIPPED } from '../support/server.ts';

const CHILD = fileURLToPath(new URL('./exit-in-transaction.ts', import.meta.url));
/** Time limit; without the gate the process would not end at all. */
const ENDS_WITHIN_MS = 100_000;

describe('a process that exits', () => {
  it('ends while its ledger is inside a write transaction', async () => {
    const child = spawn(process.execPath, [...STRIPPED, CHILD], {
      stdio: 'ignore',
      timeout: ENDS_WITHIN_MS,
      killSignal: 'SIGKILL',
    });
    assert.deepEqual(await once(child, 'exit'), [7, null]);
  });

  it('gives up a transaction that does not end', () => {
    const held = new Int32Array(new SharedArrayBuffer(4));
    lock(held, 0);
    assert.throws(() => lock(held, 0, 1), /never released/);
  });
});
