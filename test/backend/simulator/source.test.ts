import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { RawRead, StreamBackend } from '../../../src/backend/backend.ts';
import { OptionError } from '../../../src/backend/definition.ts';
import { simulatorBackend, simulatorWith } from '../../../src/backend/simulator/simulator.ts';
import { HealthMonitor } from '../../../src/pool/intake/health.ts';
import { fixedBytes } from '../../support/backends.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { scratchFolder } from '../../support/scratch-folder.ts';
import { bitAt } from '../../support/shots.ts';
import { MemoryNotes, optionValues, verify } from '../../support/source-parts.ts';

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

const folder = scratchFolder();

function profile(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const property = (name: string, value: number) => ({ name, value, unit: '', date: '2026-11-20T06:00:00Z' });
const IBM = {
  backend_name: 'ibm_example',
  backend_version: '1.2.3',
  last_update_date: '2026-11-20T06:00:00Z',
  qubits: [
    [property('T1', 250), property('prob_meas0_prep1', 0.02), property('prob_meas1_prep0', 0.01)],
    [property('prob_meas0_prep1', 0.9), property('prob_meas1_prep0', 0.3), property('readout_error', 0.6)],
    [property('readout_error', 0.004)],
    [property('prob_meas0_prep1', 0.001), property('prob_meas1_prep0', 0.0005)],
  ],
};
const IONQ = {
  characterizations: [
    {
      id: 'c1',
      backend: 'qpu.example-1',
      date: '2026-11-19T00:00:00Z',
      qubits: 36,
      fidelity: { spam: { median: 0.995, stderr: 0.001 } },
    },
  ],
};

describe('the simulator as a source', () => {
  it('reads a whole lot of 4 Mbit, the first one of 2 Mbit, and is deterministic in tests alone', () => {
    const made = simulator();
    assert.deepEqual([made.lotRawBits, made.firstLotRawBits, made.deterministic], [2 ** 22, 2_000_000, true]);
    const parts = { clock: new ManualClock(), memory: new MemoryNotes(), verify };
    const real = simulatorBackend.create('a', optionValues(simulatorBackend, {}), parts);
    assert.deepEqual([real.name, real.origin, real.deterministic], ['a', 'simulated', false]);
  });

  it('reads first lots that are no larger than others', () => {
    assert.equal(simulator({ lot_bits: '65536' }).firstLotRawBits, 65_536);
  });

  it('says what it is without a read', async () => {
    assert.deepEqual(await simulator({ faults: 'replay' }).describe?.(NEVER), {
      device: 'statevector',
      circuit: 'superposition-16',
      qubits: 16,
      readout_error_max: 0.01,
      bias: 0,
      profile: null,
      faults: 'replay',
    });
  });

  it('refuses options that contradict each other, and says what they may be', () => {
    const path = profile('refused.json', IBM);
    for (const [texts, says] of [
      [{ bias: '0.5' }, /leaves some entropy/],
      [{ profile: path, qubits: '5' }, /at most 4 qubits, which ibm_example has/],
      [{ profile: path, qubits: '4' }, /fewer qubits: ibm_example reads qubit 1 wrong/],
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

describe('profiles of real devices', () => {
  it('takes from IBM the qubits that are read best, with their errors and the date', async () => {
    const backend = simulator({ profile: profile('ibm.json', IBM), qubits: '3' });
    const { provenance } = await backend.read(24, NEVER);
    assert.deepEqual(provenance.calibration, {
      profile: 'ibm_example',
      date: '2026-11-20T06:00:00Z',
      qubits: [0, 2, 3],
      readout_e01: [0.01, 0.004, 0.0005],
      readout_e10: [0.02, 0.004, 0.001],
      bias: 0,
    });
    assert.ok(Math.abs(backend.claimedMinEntropyPerBit - (1 - Math.log2(1.03))) < 1e-12);
    const two = await simulator({ profile: profile('ibm.json', IBM), qubits: '2' }).read(24, NEVER);
    assert.deepEqual(two.provenance.calibration?.['qubits'], [2, 3]);
  });

  it('takes from IonQ one median for all qubits, in a list or alone', async () => {
    for (const [name, content] of [
      ['list.json', IONQ],
      ['alone.json', IONQ.characterizations[0]],
    ] as const) {
      const backend = simulator({ profile: profile(name, content), qubits: '36' });
      const { calibration } = (await backend.read(36, NEVER)).provenance;
      assert.deepEqual(
        [calibration?.['profile'], calibration?.['date']],
        ['qpu.example-1', '2026-11-19T00:00:00Z'],
      );
      const errors = calibration?.['readout_e01'] as number[];
      assert.equal(errors.length, 36);
      assert.ok(errors.every((error) => Math.abs(error - 0.005) < 1e-12));
    }
  });

  it('refuses what is no profile', () => {
    const wrong = [
      profile('text.json', 'no JSON'),
      profile('list2.json', []),
      profile('empty.json', {}),
      profile('no-qubits.json', { ...IBM, qubits: [] }),
      profile('no-error.json', { ...IBM, qubits: [[property('T1', 1)]] }),
      profile('above.json', { ...IBM, qubits: [[property('readout_error', 1.5)]] }),
      profile('no-median.json', { ...IONQ.characterizations[0], fidelity: {} }),
      join(folder, 'absent.json'),
      folder,
    ];
    for (const path of wrong) assert.throws(() => simulator({ profile: path }), OptionError, path);
  });
});

describe('faults', () => {
  const faulty = (faults: string, more: Texts = {}) => simulator({ qubits: '8', ...more, faults });

  it('are printed with the backend and leave origin, name and claim alone', () => {
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

  it('reads 0 from a dead-qubit, and the health tests find it', async () => {
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

  it('gives the first read again under replay, even when that was erased', async () => {
    const backend = faulty('replay');
    const first = await backend.read(8000, NEVER);
    const kept = structuredClone(first);
    first.bits.fill(0);
    const second = await backend.read(8000, NEVER);
    assert.deepEqual([second.bits, second.rawSha256], [kept.bits, kept.rawSha256]);
    second.bits.fill(0);
    assert.deepEqual((await backend.read(8000, NEVER)).bits, kept.bits);
  });

  it('fail: with the kind of error named, the first reads or all', async () => {
    const twice = faulty('fail:quota,2');
    for (let i = 0; i < 2; i++) {
      await assert.rejects(twice.read(80, NEVER), { name: 'BackendError', kind: 'quota' });
    }
    assert.equal((await twice.read(80, NEVER)).shots, 10);
    const always = faulty('fail:no_raw_shots');
    for (let i = 0; i < 5; i++) await assert.rejects(always.read(80, NEVER), { kind: 'no_raw_shots' });
  });
});
