import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RawRead, StreamBackend } from '../../../src/backend/backend.ts';
import { OptionError } from '../../../src/backend/definition.ts';
import { simulatorBackend, simulatorWith } from '../../../src/backend/simulator/simulator.ts';
import { HealthMonitor } from '../../../src/pool/intake/health.ts';
import { fixedBytes } from '../../support/backends.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { bitAt } from '../../support/shots.ts';
import { optionValues, sourceOf } from '../../support/source-parts.ts';

const NEVER = new AbortController().signal;

type Texts = { readonly [Name in keyof typeof simulatorBackend.options]?: string };

function simulator(texts: Texts = {}, label = 'simulator'): StreamBackend {
  return simulatorWith('sim', optionValues(simulatorBackend, texts), new ManualClock(), fixedBytes(label));
}

function onesOf(read: Pick<RawRead, 'bits' | 'shots' | 'width'>, channel: number, from = 0, to = read.shots) {
  let ones = 0;
  for (let shot = from; shot < to; shot++) ones += bitAt(read.bits, shot * read.width + channel);
  return ones;
}

describe('the simulator as a source', () => {
  it('reads a whole lot of 4 Mbit, the first one of 2 Mbit, and is deterministic only in tests', () => {
    const made = simulator();
    assert.deepEqual([made.lotRawBits, made.firstLotRawBits, made.deterministic], [2 ** 22, 2_000_000, true]);
    const real = sourceOf('stream', simulatorBackend, {}, { name: 'a' });
    assert.deepEqual([real.name, real.origin, real.deterministic], ['a', 'simulated', false]);
  });

  it('reads first lots that are no larger than others', () => {
    assert.equal(simulator({ lot_bits: '65536' }).firstLotRawBits, 65_536);
  });

  it('describes itself without a read', async () => {
    assert.deepEqual(await simulator({ faults: 'replay' }).describe?.(NEVER), {
      device: 'statevector',
      circuit: 'superposition-16',
      qubits: 16,
      readout_error: 0.01,
      bias: 0,
      faults: 'replay',
    });
  });

  it('refuses contradictory options, and states the allowed ones', () => {
    for (const [texts, says] of [
      [{ bias: '0.5' }, /leaves some entropy/],
      [{ qubits: '4', faults: 'dead-qubit:4' }, /faults of qubits 0 to 3/],
    ] as const) {
      assert.throws(
        () => simulator(texts),
        (error) => error instanceof OptionError && says.test(error.message),
        JSON.stringify(texts),
      );
    }
    for (const faults of [
      '',
      'dead-qubit',
      'dead-qubit:x',
      'dead-qubit:1,2',
      'replay:1',
      'fail:often',
      'fail:quota,1,2',
      'drift:1',
      'unknown',
      'replay,,replay',
    ]) {
      assert.throws(() => simulator({ faults }), OptionError, faults);
    }
  });
});

describe('faults', () => {
  const faulty = (faults: string, more: Texts = {}) => simulator({ qubits: '8', ...more, faults });

  it('are shown with the backend and do not change origin, name and claim', () => {
    const backend = faulty('dead-qubit:3,replay,fail:quota,2,fail:auth');
    assert.equal(
      backend.quantumBackend,
      'simulator-statevector (faults: dead-qubit:3, replay, fail:quota,2, fail:auth)',
    );
    const { origin, name, claimedMinEntropyPerBit } = simulator({ qubits: '8' });
    assert.deepEqual(
      [backend.origin, backend.name, backend.claimedMinEntropyPerBit],
      [origin, name, claimedMinEntropyPerBit],
    );
  });

  it('make a dead qubit read 0, and the health tests find it', async () => {
    const backend = faulty('dead-qubit:3', { readout_e01: '0.1' });
    const read = await backend.read(8 * 20_000, NEVER);
    for (let channel = 0; channel < 8; channel++) {
      assert.equal(onesOf(read, channel) === 0, channel === 3);
    }
    const monitor = new HealthMonitor({ width: 8, minEntropyPerBit: backend.claimedMinEntropyPerBit });
    const { grade, failures } = monitor.check(read);
    assert.equal(grade, 'permanent');
    assert.deepEqual(new Set(failures.map(({ channel }) => channel)), new Set([3]));
  });

  it('replay the first read, even when it was erased', async () => {
    const backend = faulty('replay');
    const first = await backend.read(8000, NEVER);
    const kept = structuredClone(first);
    first.bits.fill(0);
    const second = await backend.read(8000, NEVER);
    assert.deepEqual([second.bits, second.rawSha256], [kept.bits, kept.rawSha256]);
    second.bits.fill(0);
    assert.deepEqual((await backend.read(8000, NEVER)).bits, kept.bits);
  });

  it('make the first reads or all fail with the kind of error that is named', async () => {
    const twice = faulty('fail:quota,2');
    for (let i = 0; i < 2; i++) {
      await assert.rejects(twice.read(80, NEVER), { name: 'BackendError', kind: 'quota' });
    }
    assert.equal((await twice.read(80, NEVER)).shots, 10);
    const always = faulty('fail:no_raw_shots');
    for (let i = 0; i < 5; i++) await assert.rejects(always.read(80, NEVER), { kind: 'no_raw_shots' });
  });
});
