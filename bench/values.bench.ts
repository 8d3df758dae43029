import { randomFillSync } from 'node:crypto';
import { EntropyReader } from '../src/values/entropy-reader.ts';
import { drawJson, drawOctets } from '../src/values/sample.ts';
import { jsonBytesMax, octetBytes, octetTypeOf, type ValueRequest } from '../src/values/value-request.ts';
import { summarize } from '../test/support/statistics.ts';
import { alternate, type Contender } from './support/rounds.ts';
import type { Report, Suite } from './support/suite.ts';
import { type Measure, rowsOf } from './support/tables.ts';
import { type Task, task } from './support/timing.ts';

const COUNTS = [1, 10, 100, 1_000, 100_000];
/** Of one measurement. */
const TIME_MS = 20;
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
  {
    name: 'gaussians 14 digits',
    request: (count) => ({ kind: 'gaussians', count, mean: 0, stddev: 1, digits: 14 }),
  },
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
  const form = octetTypeOf(request);
  if (form === undefined) return [{ form: 'json', make: drawText }];
  const octets = new Uint8Array(octetBytes(request));
  const make = () => {
    drawOctets(request, reader, octets, 0);
    reader.erase();
  };
  return [
    { form: 'json', make: drawText },
    { form, make },
  ];
}

const titleOf = (count: number) => `${count.toLocaleString('en-US')} ns`;

/** Of medians over a machine that others use, the lowest round is what the work itself takes. */
const COLUMNS = COUNTS.map(
  (count): Measure => ({
    title: titleOf(count),
    cell: (rounds, name) => summarize([rounds.of(name, titleOf(count))?.low]),
  }),
);

/** A kind in one form, at every count. */
function contender(
  { name, request, units = (count) => count }: Kind,
  form: string,
  i: number,
  seconds: number,
) {
  const tasks = COUNTS.map((count): [count: number, task: Task] => [
    count,
    task(formsOf(request(count))[i].make),
  ]);
  const measure: Contender['measure'] = async () => {
    const sample: Record<string, number> = {};
    for (const [count, { measure }] of tasks)
      sample[titleOf(count)] = (await measure(TIME_MS * seconds)) / units(count);
    return sample;
  };
  return { name: `${name}, ${form}`, measure };
}

/** What a number costs with its entropy at hand, in each form: draw, write and copy out, no expansion and no hash. */
export const values: Suite = {
  name: 'values',
  summary: 'ns per number with entropy at hand, kind by kind',
  byDefault: true,
  async run(run): Promise<Report> {
    const contenders = KINDS.flatMap((kind) =>
      formsOf(kind.request(1)).map(({ form }, i) => contender(kind, form, i, run.seconds)),
    );
    const rows = rowsOf(COLUMNS, await alternate(contenders, run.rounds));
    const note = 'ns a number, a byte of strings or a bit, by the count of the request: the lowest round.';
    return { tables: [{ title: 'Numbers with their entropy at hand', note, columns: COLUMNS, rows }] };
  },
};
