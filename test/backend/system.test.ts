import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { createSystemSource } from '../../src/backend/system.ts';
import { ManualClock } from '../support/manual-clock.ts';

const NEVER = new AbortController().signal;

test('the system source claims no quantum origin and no circuit', async () => {
  const source = createSystemSource(new ManualClock(1_800_000_000_000));
  assert.equal(source.origin, 'system');
  assert.equal(source.quantumBackend, 'none');
  assert.equal(source.deterministic, false);
  assert.equal(source.claimedMinEntropyPerBit, 1);
  const read = await source.read(1001, NEVER);
  assert.deepEqual([read.width, read.shots, read.bits.length], [1, 1008, 126]);
  assert.equal(read.rawSha256, hash('sha256', read.bits, 'hex'));
  assert.equal(read.provenance.circuit, 'none');
  assert.equal(read.provenance.circuitVersion, 'none');
  assert.equal(read.provenance.circuitSha256, null);
  assert.equal(read.provenance.startedAtMs, 1_800_000_000_000);
  assert.notDeepEqual((await source.read(1001, NEVER)).bits, read.bits);
});

test('the system source fills the whole read', async () => {
  const { bits } = await createSystemSource(new ManualClock()).read(8 * 65_536, NEVER);
  // All 256 byte values occur in every quarter of 16 KiB: one is missing with probability below 256 e^-64.
  for (let quarter = 0; quarter < 4; quarter++) {
    assert.equal(new Set(bits.subarray(quarter * 16_384, (quarter + 1) * 16_384)).size, 256);
  }
});

test('an aborted read gives nothing', async () => {
  const source = createSystemSource(new ManualClock());
  await assert.rejects(source.read(8, AbortSignal.abort(new Error('stopped'))), /stopped/);
  const stop = new AbortController();
  const read = source.read(8 * 65_536, stop.signal);
  stop.abort(new Error('stopped midway'));
  await assert.rejects(read, /stopped midway/);
});
