import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RawRead } from '../../../src/backend/backend.ts';
import { assessLot } from '../../../src/pool/intake/assess-lot.ts';
import { ASSESSED_BITS } from '../../../src/pool/intake/assessor.ts';
import { HealthMonitor } from '../../../src/pool/intake/health.ts';
import { makeLot } from '../../../src/pool/intake/lots.ts';
import { fixedBytes, rawRead, soundBackend } from '../../support/backends.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { ScriptedAssessor } from '../fixtures.ts';

/** Eight pairs whose sides are fair coins and equal with this probability, all in the setting 00, as a job's PUB gives them. */
function pairsRead(equal: number): RawRead {
  const source = fixedBytes('pairs');
  const words = new Uint32Array(ASSESSED_BITS);
  source(new Uint8Array(words.buffer));
  const bits = new Uint8Array(ASSESSED_BITS / 8);
  for (let at = 0; at < ASSESSED_BITS; at += 2) {
    const first = words[at] & 1;
    const second = words[at + 1] < equal * 2 ** 32 ? first : 1 - first;
    bits[at >> 3] |= ((first << 1) | second) << (6 - (at & 7));
  }
  const shots = ASSESSED_BITS / 16;
  const settings = new Uint8Array(shots);
  const clusterShots = Uint32Array.of(shots);
  return {
    ...rawRead(bits, 16, shots),
    witness: { kind: 'chsh', settings, clusterShots, shotsOrdered: shots, drawn: '' },
  };
}

async function lotOf(read: RawRead) {
  const assessor = Object.assign(new ScriptedAssessor(), {
    assessLot: async (bits: Uint8Array, width: number, shots: number) => assessLot(bits, width, shots),
  });
  const health = new HealthMonitor({ width: 16, minEntropyPerBit: 0.5 }).check(read);
  assert.equal(health.grade, 'pass');
  const backend = { ...soundBackend(), claimedMinEntropyPerBit: 0.5 };
  return (await makeLot(backend, read, health, assessor, new ManualClock())).record;
}

describe('the floor of lots of Bell tests', () => {
  it('accepts an ideal device in the setting that the estimators score lowest', async () => {
    const { accepted, minEntropyPerBit } = await lotOf(pairsRead(Math.cos(Math.PI / 8) ** 2));
    assert.ok(accepted && minEntropyPerBit !== null);
    assert.ok(minEntropyPerBit > 0.18 && minEntropyPerBit < 0.22, `${minEntropyPerBit}`);
  });

  it('refuses pairs that are equal more often than any quantum state makes them', async () => {
    const { accepted, rejection } = await lotOf(pairsRead(0.95));
    assert.equal(accepted, false);
    assert.match(rejection, /^min-entropy 0\.0\d\d per bit is below the floor$/);
  });

  it('refuses the same bits without a Bell test', async () => {
    const { witness: _, ...read } = pairsRead(Math.cos(Math.PI / 8) ** 2);
    assert.match((await lotOf(read)).rejection, /below the floor$/);
  });
});
