import type { RawRead, StreamBackend } from '../src/backend/backend.ts';
import { simulatorWith } from '../src/backend/simulator/simulator.ts';
import { systemClock } from '../src/core/clock.ts';
import { assessorInPlace } from '../src/pool/intake/assess-lot.ts';
import type { Assessor } from '../src/pool/intake/assessor.ts';
import { LOT_RAW_BITS } from '../src/pool/intake/collector.ts';
import { HealthMonitor } from '../src/pool/intake/health.ts';
import { makeLot } from '../src/pool/intake/lots.ts';
import { fixedBytes } from '../test/support/backends.ts';
import { alternate } from './support/rounds.ts';
import type { Cell, Report, Row, Suite } from './support/suite.ts';
import { of, rowOf } from './support/tables.ts';

const PARTS = ['health', 'raw windows', 'conditioned windows', 'rest', 'all'] as const;
type Part = (typeof PARTS)[number];

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** One lot, and the CPU that its parts took. */
async function timedLot(backend: StreamBackend, read: RawRead) {
  const ms: Record<Part, number> = {
    health: 0,
    'raw windows': 0,
    'conditioned windows': 0,
    rest: 0,
    all: 0,
  };
  const timed = async <T>(part: Part, work: () => Promise<T>): Promise<T> => {
    const before = cpuMs();
    const made = await work();
    ms[part] += cpuMs() - before;
    return made;
  };
  const assessor: Assessor = {
    ...assessorInPlace,
    testBits: (of, bits, length) =>
      timed('conditioned windows', () => assessorInPlace.testBits(of, bits, length)),
    assessLot: (bits, width, shots) =>
      timed('raw windows', () => assessorInPlace.assessLot(bits, width, shots)),
  };
  const before = cpuMs();
  const monitor = new HealthMonitor({
    width: read.width,
    minEntropyPerBit: backend.claimedMinEntropyPerBit,
  });
  const health = await timed('health', () => monitor.checkInSlices(read));
  const lot = await makeLot(backend, read, health, assessor, systemClock);
  ms.all = cpuMs() - before;
  ms.rest = ms.all - ms.health - ms['raw windows'] - ms['conditioned windows'];
  return { lot, ms };
}

const FACTS = ['claim', 'bits per bit', 'bytes', 'blocks'];
const MEASURES = PARTS.map((part) => of(`${part} ms`, part));

/**
 * A lot from raw bits to blocks, as the service makes it, on one core: health tests, evidence, every window of raw and conditioned
 * bits, hashing. The service runs the assessment in a thread of its own at low priority, and the rest
 * beside requests.
 */
export const lot: Suite = {
  name: 'lot',
  summary: 'CPU of a lot of 4 Mbit from raw bits to blocks, part by part',
  byDefault: false,
  async run(run): Promise<Report> {
    const options = {
      qubits: 16,
      profile: null,
      lot_bits: LOT_RAW_BITS,
    };
    const errors = { readout_e01: 0.01, readout_e10: 0.01, bias: 0, depolarizing: 0, faults: [] };
    const simulator = simulatorWith(
      'sim',
      { ...options, ...errors },
      systemClock,
      fixedBytes('superposition'),
    );
    // The origin is part of what decides the claim.
    const backend: StreamBackend = { ...simulator, origin: 'quantum-processor' };
    const read = await backend.read(LOT_RAW_BITS, new AbortController().signal);
    let facts: Cell[] = [];
    const measure = async () => {
      const { lot, ms } = await timedLot(backend, read);
      if (!lot.record.accepted) throw new Error(`the lot was refused: ${lot.record.rejection}`);
      const { evidence, minEntropyPerBit } = lot.record;
      facts = [
        evidence?.claim ?? '',
        minEntropyPerBit?.toFixed(3) ?? '',
        String(lot.output.length),
        String(lot.blocks.length),
      ];
      return ms;
    };
    const rounds = await alternate([{ name: 'superposition', measure }], run.rounds);
    const { label, cells } = rowOf(MEASURES, rounds, 'superposition');
    const rows: Row[] = [{ label, cells: [...facts, ...cells] }];
    const columns = [...FACTS.map((title) => ({ title })), ...MEASURES];
    return { tables: [{ title: `CPU of a lot of ${LOT_RAW_BITS} raw bits`, note: '', columns, rows }] };
  },
};
