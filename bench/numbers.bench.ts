import { randomBytes } from 'node:crypto';
import { concatBytes } from '../src/core/bytes.ts';
import { drawFromOneFill, orderOf } from './peers/answers.ts';
import { type Modules, modulesOf } from './support/modules.ts';
import type { Line } from './support/plot.ts';
import { comparison, nameFor } from './support/revisions.ts';
import { alternate, type Contender, type Rounds } from './support/rounds.ts';
import type { BenchRun, Report, Row, Subject, Suite, Table } from './support/suite.ts';
import { type Measure, of, rowOf } from './support/tables.ts';
import { type Task, task } from './support/timing.ts';
import { batchBody, VALUE_KINDS, type ValueKind, valueRequest } from './support/value-kinds.ts';

const COUNTS = [1, 10, 100, 1_000, 10_000, 100_000];
const BATCH = 100_000;
/** A pure block, see src/pool/intake/lots.ts. */
const BLOCK_BYTES = 4_096;
const TWIN = 'Array + JSON.stringify';
const HASH = 'commitment';
/** Of one contender in one round. */
const TIME_MS = 40;

/** Values made in one thread, without HTTP: where the time of an answer goes once the front is paid. */
export const numbers: Suite = {
  name: 'numbers',
  summary: 'ns per number in process: draw, sample, write; by count, kind and mode',
  byDefault: true,
  async run(run): Promise<Report> {
    const makers = await makersOf(run);
    const byCount = new Map<number, Rounds>();
    for (const count of COUNTS) {
      run.talk(`integers 0..100, count ${count}`);
      byCount.set(count, await race(run, makers, VALUE_KINDS[0], count));
    }
    const byKind = new Map<string, Rounds>();
    for (const kind of VALUE_KINDS) {
      run.talk(`${kind.name}, count ${BATCH}`);
      byKind.set(kind.name, await race(run, makers, kind, BATCH));
    }
    const note =
      `ns per number from entropy to JSON text, in one thread; the commitment comes on top. quantum-seeded expands and ` +
      `mixes in this thread; pure reads claimed blocks.\nratio: time of ${TWIN} from system entropy, divided by quantum-seeded, round by round.`;
    const title = (what: string) => `Numbers made in process, ${what}`;
    return {
      tables: [
        table(run, title('integers 0..100 by count'), note, [...byCount]),
        table(run, title(`${BATCH.toLocaleString('en-US')} values by kind`), note, [...byKind]),
      ],
      plots: [
        {
          name: 'numbers',
          title: 'Integers 0..100 in process: ns per number against count',
          xTitle: 'numbers in the answer',
          yTitle: 'ns per number',
          lines: linesOf(run, byCount),
        },
      ],
    };
  },
};

const MODES = ['quantum-seeded', 'pure', 'csprng'] as const;

interface Maker {
  readonly name: string;
  /** Makes one answer's `data` member. */
  readonly make: (kind: ValueKind, count: number) => () => unknown;
}

async function makersOf(run: BenchRun): Promise<Maker[]> {
  const makers: Maker[] = [];
  for (const subject of run.subjects) {
    const modules = await modulesOf(subject);
    const readers = readersOf(modules);
    for (const mode of MODES) {
      makers.push({ name: nameFor(run, subject, mode), make: making(modules, readers[mode]) });
    }
    makers.push({ name: nameFor(run, subject, HASH), make: hashing(modules) });
  }
  makers.push({
    name: TWIN,
    make: (kind, count) => {
      const order = orderOf(batchBody(kind, count));
      return () => Buffer.from(JSON.stringify(drawFromOneFill(order)));
    },
  });
  return makers;
}

/** A reader of each mode's bytes as a front thread holds it, with no worker to help. */
function readersOf({ keystream, reader }: Modules) {
  const seeded = new keystream.SeededKeystream(() => Promise.reject(new Error('there are no workers here')));
  seeded.reseed(randomBytes(32));
  const blocks = randomBytes(256 * BLOCK_BYTES);
  let next = 0;
  const pure = new reader.EntropyReader(() => {
    const at = (next++ % 256) * BLOCK_BYTES;
    return new Uint8Array(blocks.subarray(at, at + BLOCK_BYTES)); // a copy: the reader erases what it has read
  });
  return { 'quantum-seeded': seeded.reader, pure, csprng: new keystream.SystemStream().reader };
}

type Reader = ReturnType<typeof readersOf>['pure'];

/** Draws, samples and writes into memory that is kept, as small answers are made; what was read is erased. */
function making({ sample, requests }: Modules, reader: Reader): Maker['make'] {
  return (kind, count) => {
    const request = valueRequest(kind, count);
    const buffer = new Uint8Array(requests.jsonBytesMax(request));
    return () => {
      const end = sample.drawJson(request, reader, buffer, 0);
      reader.erase();
      return end;
    };
  };
}

/** What the certificate's commitment to the same text takes. */
function hashing({ sample, requests, keystream, digest }: Modules): Maker['make'] {
  const { reader } = new keystream.SystemStream();
  const salt = randomBytes(32);
  return (kind, count) => {
    const request = valueRequest(kind, count);
    const buffer = new Uint8Array(requests.jsonBytesMax(request));
    const text = buffer.subarray(0, sample.drawJson(request, reader, buffer, 0));
    return () => digest.sha256(concatBytes(salt, text));
  };
}

function race(run: BenchRun, makers: readonly Maker[], kind: ValueKind, count: number): Promise<Rounds> {
  const contenders = makers.map(({ name, make }): Contender => {
    const work: Task = task(make(kind, count));
    return { name, measure: async () => ({ ns: (await work.measure(TIME_MS * run.seconds)) / count }) };
  });
  return alternate(contenders, run.rounds);
}

function measures(run: BenchRun, subject: Subject): readonly Measure[] {
  const own = (what: string) => of(`${what} ns`, 'ns', { name: nameFor(run, subject, what) });
  return [
    ...MODES.map(own),
    own(HASH),
    of(`${TWIN} ns`, 'ns', { name: TWIN }),
    { title: 'ratio', spread: true, cell: (rounds, name) => rounds.ratio(TWIN, name, 'ns') },
    ...comparison(run, 'seeded ns', 'ns'),
  ];
}

function table(
  run: BenchRun,
  title: string,
  note: string,
  measured: readonly (readonly [number | string, Rounds])[],
): Table {
  const rows = measured.flatMap(([count, rounds]) =>
    run.subjects.map((subject): Row => {
      const label = nameFor(run, subject, count.toLocaleString('en-US'));
      return rowOf(measures(run, subject), rounds, nameFor(run, subject, 'quantum-seeded'), label);
    }),
  );
  return { title, note, columns: measures(run, run.subjects[0]), rows };
}

function linesOf(run: BenchRun, byCount: ReadonlyMap<number, Rounds>): Line[] {
  const line = (name: string, dashed: boolean): Line => ({
    label: name,
    dashed,
    points: [...byCount].map(([count, rounds]) => [count, rounds.of(name, 'ns')!.median]),
  });
  const ours = run.subjects.flatMap((subject) =>
    MODES.map((mode) => line(nameFor(run, subject, mode), false)),
  );
  return [...ours, line(TWIN, true)];
}
