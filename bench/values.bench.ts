/**
 * What a number costs with its entropy at hand, in each form: draw, write and copy out, no expansion and no hash.
 *   node bench/values.bench.ts    table of ns per number (per byte of strings, per bit of bits), JSON in bench/out/values.json
 */
import { randomFillSync } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { EntropyReader } from '../src/values/entropy-reader.ts';
import { drawJson, drawOctets } from '../src/values/sample.ts';
import { jsonBytesMax, octetBytes, octetTypesOf, type ValueRequest } from '../src/values/value-request.ts';
import { task } from './support/timing.ts';

const COUNTS = [1, 10, 100, 1_000, 100_000];
const ROUNDS = 9;
/** Of one measurement; the engine has compiled the kernels well before the first that counts. */
const TIME_MS = 20;
const WARM_UP_MS = 300;
/** As large as a slot of the service's keystream. */
const CHUNK_BYTES = 64 * 1024 - 32;
/** Bytes of the byte strings, which count by byte. */
const LONG = 1_024;

interface Kind {
  readonly name: string;
  readonly request: (count: number) => ValueRequest;
  /** What of a request is counted. */
  readonly units?: (count: number) => number;
}

const integers = (min: number, max: number) => (count: number) =>
  ({ kind: 'integers', count, min, max, unique: false, sort: 'none' }) as const;
const floats = (precision: number | null) => (count: number) =>
  ({ kind: 'floats', count, precision }) as const;
const strings = (encoding: 'hex' | 'base64') => ({
  request: (count: number) =>
    ({ kind: 'bytes', count: Math.ceil(count / LONG), length: LONG, encoding, single: false }) as const,
  units: (count: number) => LONG * Math.ceil(count / LONG),
});

const KINDS: readonly Kind[] = [
  { name: 'integers 0..100', request: integers(0, 100) },
  { name: 'integers 0..999,999', request: integers(0, 999_999) },
  { name: 'integers int32', request: integers(-(2 ** 31), 2 ** 31 - 1) },
  { name: 'integers 0..2^53-1', request: integers(0, Number.MAX_SAFE_INTEGER) },
  {
    name: 'integers 0..999,999 sorted',
    request: (count) => ({ ...integers(0, 999_999)(count), sort: 'ascending' }),
  },
  { name: 'floats 6 places', request: floats(6) },
  { name: 'floats 15 places', request: floats(15) },
  { name: 'floats 53 bits', request: floats(null) },
  { name: 'uuid', request: (count) => ({ kind: 'uuid', count }) },
  { name: `hex, strings of ${LONG}`, ...strings('hex') },
  { name: `base64, strings of ${LONG}`, ...strings('base64') },
  { name: 'bits', request: (length) => ({ kind: 'bitstring', length }) },
];

/** Random chunks without end. A reader erases what it leaves, so each is a copy, at the price of a copy. */
function endlessReader(): EntropyReader {
  const chunk = randomFillSync(new Uint8Array(CHUNK_BYTES));
  const copies = [new Uint8Array(CHUNK_BYTES), new Uint8Array(CHUNK_BYTES), new Uint8Array(CHUNK_BYTES)];
  let turn = 0;
  return new EntropyReader(() => {
    const copy = copies[turn++ % copies.length];
    copy.set(chunk);
    return copy;
  });
}

const reader = endlessReader();

/** The forms of a request, each made over and over into the same memory. */
function formsOf(request: ValueRequest): { form: string; make: () => void }[] {
  const text = new Uint8Array(jsonBytesMax(request));
  const drawText = () => {
    drawJson(request, reader, text, 0);
    reader.erase();
  };
  const octetForms = octetTypesOf(request).map((type) => {
    const octets = new Uint8Array(octetBytes(request, type));
    const make = () => {
      drawOctets(request, type, reader, octets, 0);
      reader.erase();
    };
    return { form: type, make };
  });
  return [{ form: 'json', make: drawText }, ...octetForms];
}

const contenders = KINDS.flatMap(({ name, request, units = (count) => count }) =>
  formsOf(request(1)).map(({ form }, i) => ({
    kind: name,
    form,
    tasks: COUNTS.map((count) => ({
      units: units(count),
      task: task(formsOf(request(count))[i].make),
      ns: [] as number[],
    })),
  })),
);
for (const { tasks } of contenders) await tasks.at(-1)!.task.measure(WARM_UP_MS);
for (let round = 0; round < ROUNDS; round++) {
  for (const { tasks } of contenders) {
    for (const { units, task, ns } of tasks) ns.push((await task.measure(TIME_MS)) / units);
  }
}

// Of medians over a machine that others use, the lowest round is what the work itself takes.
const rows = contenders.map(({ kind, form, tasks }) => {
  const cells = tasks.map(({ ns }, i) => [
    `count ${COUNTS[i].toLocaleString('en-US')}`,
    Number(Math.min(...ns).toPrecision(3)),
  ]);
  return { kind, form, ...Object.fromEntries(cells) };
});
console.table(rows);
mkdirSync(new URL('out/', import.meta.url), { recursive: true });
writeFileSync(new URL('out/values.json', import.meta.url), `${JSON.stringify(rows, null, 2)}\n`);
