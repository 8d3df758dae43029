/**
 * A lot from raw bits to blocks, as the service makes it, on one core: health tests, evidence, every window of raw and conditioned bits, hashing.
 *   node bench/lot.bench.ts [--rounds 5]     table of medians, JSON in bench/out/lot.json
 * The service runs the assessment and the extraction in a thread of their own at low priority, and the rest beside requests.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { RawRead, StreamBackend } from '../src/backend/backend.ts';
import { simulatorWith } from '../src/backend/simulator/simulator.ts';
import { systemClock } from '../src/core/clock.ts';
import { assessorInPlace } from '../src/pool/intake/assess-lot.ts';
import type { Assessor } from '../src/pool/intake/assessor.ts';
import { LOT_RAW_BITS } from '../src/pool/intake/collector.ts';
import { HealthMonitor } from '../src/pool/intake/health.ts';
import { makeLot } from '../src/pool/intake/lots.ts';
import { fixedBytes } from '../test/support/backends.ts';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } });
const rounds = Number(values.rounds);

const PARTS = ['health', 'raw windows', 'conditioned windows', 'extraction', 'rest', 'all'] as const;
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
    extraction: 0,
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
    extract: (bits, length, key, outputBits) =>
      timed('extraction', () => assessorInPlace.extract(bits, length, key, outputBits)),
  };
  const before = cpuMs();
  const monitor = new HealthMonitor({
    width: read.width,
    minEntropyPerBit: backend.claimedMinEntropyPerBit,
  });
  const health = await timed('health', () => monitor.checkInSlices(read));
  const lot = await makeLot(backend, read, health, assessor, systemClock);
  ms.all = cpuMs() - before;
  ms.rest = ms.all - ms.health - ms['raw windows'] - ms['conditioned windows'] - ms.extraction;
  return { lot, ms };
}

const rows: Record<string, string | number>[] = [];
for (const circuit of ['superposition', 'x-check', 'bell-chsh'] as const) {
  const options = {
    circuit,
    qubits: 16,
    x_test_share: 0.125,
    cluster_shots: 1,
    profile: null,
    lot_bits: LOT_RAW_BITS,
  };
  const errors = { readout_e01: 0.01, readout_e10: 0.01, bias: 0, depolarizing: 0, faults: [] };
  const simulator = simulatorWith('sim', { ...options, ...errors }, systemClock, fixedBytes(circuit));
  // The origin is part of what decides the claim, and with it how the lot is hashed.
  const backend: StreamBackend = { ...simulator, origin: 'quantum-processor' };
  const read = await backend.read(LOT_RAW_BITS, new AbortController().signal);
  const times: Record<Part, number>[] = [];
  let told: Record<string, string | number> = {};
  for (let round = 0; round <= rounds; round++) {
    const { lot, ms } = await timedLot(backend, read);
    if (!lot.record.accepted) throw new Error(`the lot was refused: ${lot.record.rejection}`);
    if (round > 0) times.push(ms); // the first compiles the loops
    const { evidence, minEntropyPerBit } = lot.record;
    told = {
      circuit,
      claim: evidence?.claim ?? '',
      'bits per bit': minEntropyPerBit?.toFixed(3) ?? '',
      bytes: lot.output.length,
      blocks: lot.blocks.length,
    };
  }
  const median = (part: Part) =>
    Math.round(times.map((ms) => ms[part]).sort((a, b) => a - b)[times.length >> 1]);
  rows.push({ ...told, ...Object.fromEntries(PARTS.map((part) => [`${part} ms`, median(part)])) });
}
process.stdout.write(`A lot of ${LOT_RAW_BITS} raw bits, median CPU of ${rounds} rounds\n`);
console.table(rows);
mkdirSync(new URL('out/', import.meta.url), { recursive: true });
const report = JSON.stringify({ rawBits: LOT_RAW_BITS, rounds, node: process.version, rows }, null, 2);
writeFileSync(new URL('out/lot.json', import.meta.url), `${report}\n`);
