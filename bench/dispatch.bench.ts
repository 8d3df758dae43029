import { randomBytes } from 'node:crypto';
import type { Making } from '../src/answer/make.ts';
import { utf8Bytes } from '../src/core/bytes.ts';
import { silentLog } from '../src/core/log.ts';
import { jsonBytesMax } from '../src/values/value-request.ts';
import { cpuTime } from '../test/support/process-usage.ts';
import { type Summary, summarize } from '../test/support/statistics.ts';
import { type Modules, modulesOf } from './support/modules.ts';
import { nameFor } from './support/revisions.ts';
import { alternate, type Contender, type Rounds } from './support/rounds.ts';
import type { BenchRun, Report, Row, Subject, Suite, Table } from './support/suite.ts';
import { type Measure, of, rowOf } from './support/tables.ts';
import { VALUE_KINDS, type ValueKind, valueRequest } from './support/value-kinds.ts';

const COUNTS = [1_000, 3_000, 10_000, 30_000, 100_000];
const KINDS = ['integers 0..100', 'integers 0..999,999', 'floats 53 bits', 'uuid'];
const HERE = 'in this thread';
const THERE = 'by a worker';
/** Time of one contender in one round: long, because the scheduler accounts CPU time in steps of 4 ms. */
const TIME_MS = 80;

/** Finds the size from which handing an answer over costs the front less CPU than making it. */
export const dispatch: Suite = {
  name: 'dispatch',
  summary: 'one answer made in the front thread or by a worker: where handing over pays',
  byDefault: true,
  async run(run): Promise<Report> {
    const tables: Table[] = [];
    for (const subject of run.subjects) {
      const modules = await modulesOf(subject);
      const workers = new modules.dispatch.Workers(1, silentLog);
      try {
        tables.push(...(await measureSubject(run, subject, modules, workers)));
      } finally {
        await workers.close();
      }
    }
    return { tables };
  },
};

const MEASURES: readonly Measure[] = [
  of('here, front CPU µs', 'frontUs', { name: HERE }),
  of('worker, front CPU µs', 'frontUs', { name: THERE }),
  { title: 'worker / here', spread: true, cell: (rounds) => rounds.ratio(THERE, HERE, 'frontUs') },
  of('here, latency µs', 'wallUs', { name: HERE }),
  of('worker, latency µs', 'wallUs', { name: THERE }),
];

type Workers = InstanceType<Modules['dispatch']['Workers']>;

async function measureSubject(
  run: BenchRun,
  subject: Subject,
  modules: Modules,
  workers: Workers,
): Promise<[Table, Table]> {
  const rows: Row[] = [];
  const breakEvens: Row[] = [];
  for (const kind of VALUE_KINDS.filter(({ name }) => KINDS.includes(name))) {
    run.talk(nameFor(run, subject, kind.name));
    const byCount: { count: number; rounds: Rounds }[] = [];
    for (const count of COUNTS) {
      const rounds = await alternate(contendersFor(run, modules, workers, kind, count), run.rounds);
      byCount.push({ count, rounds });
      rows.push(rowOf(MEASURES, rounds, HERE, `${kind.name}, ${count.toLocaleString('en-US')}`));
    }
    breakEvens.push(breakEvenRow(kind, byCount));
  }
  const inForce = modules.request.HOP_ABOVE_BYTES;
  return [
    {
      title: nameFor(run, subject, 'One answer, made here or handed over'),
      note: 'front CPU: of the thread that serves. A hop spares it the making and costs it the handing over.',
      columns: MEASURES,
      rows,
    },
    {
      title: nameFor(run, subject, 'Break-even'),
      note: `Values from which a hop saves front CPU, and the text they take. In force: HOP_ABOVE_BYTES = ${inForce.toLocaleString('en-US')}.`,
      columns: [{ title: 'values' }, { title: 'text bytes' }],
      rows: breakEvens,
    },
  ];
}

function contendersFor(
  run: BenchRun,
  { make, keystream }: Modules,
  workers: Workers,
  kind: ValueKind,
  count: number,
): Contender[] {
  const stream = new keystream.SeededKeystream(() =>
    Promise.reject(new Error('this thread expands for itself')),
  );
  stream.reseed(randomBytes(32));
  const order = {
    values: valueRequest(kind, count),
    template: { before: utf8Bytes(`{"count":${count},"values":`), after: utf8Bytes('}') },
    form: 'json' as const,
    octets: undefined,
  };
  const bytes = new Uint8Array(make.answerBytesMax(order, jsonBytesMax(order.values)));
  const room = { bytes, start: 0, end: bytes.length, delivered: new Uint8Array(32) };
  const making = { ...order, ...room } as Making;
  let memory: Uint8Array<ArrayBuffer> = new Uint8Array(bytes.length);
  const handOver = async () => {
    const draw = { from: 'one-time-key', key: stream.oneTimeKey() } as const;
    memory = (await workers.make({ ...order, draw, memory })).bytes;
  };
  const timeMs = TIME_MS * run.seconds;
  return [
    { name: HERE, measure: () => perAnswer(timeMs, async () => make.makeFrom(stream.reader, making)) },
    { name: THERE, measure: () => perAnswer(timeMs, handOver) },
  ];
}

/** Makes one answer after the other for a while; returns the wall time and this thread's CPU time of one, in µs. */
async function perAnswer(timeMs: number, make: () => Promise<unknown>) {
  const before = cpuTime(process.pid);
  const startedMs = performance.now();
  let made = 0;
  for (; made < 3 || performance.now() - startedMs < timeMs; made++) await make();
  const wallUs = ((performance.now() - startedMs) * 1e3) / made;
  const after = cpuTime(process.pid);
  const frontUs =
    before === undefined || after === undefined ? undefined : (after.mainNs - before.mainNs) / 1e3 / made;
  return { wallUs, frontUs };
}

function breakEvenRow(kind: ValueKind, byCount: readonly { count: number; rounds: Rounds }[]): Row {
  const ratios = byCount.map(({ count, rounds }) => ({ count, ratio: rounds.ratio(THERE, HERE, 'frontUs') }));
  const count = breakEven(ratios);
  if (typeof count === 'string') return { label: kind.name, cells: [count, undefined] };
  const bytes = jsonBytesMax(valueRequest(kind, count));
  return { label: kind.name, cells: [summarize([count]), summarize([bytes])] };
}

/**
 * Returns where the ratio falls below 1, by a straight line between the logarithms; a text when it does so outside the
 * range.
 */
function breakEven(ratios: readonly { count: number; ratio: Summary | undefined }[]): number | string {
  const after = ratios.findIndex(({ ratio }) => ratio !== undefined && ratio.median < 1);
  if (after < 0) return `above ${COUNTS[COUNTS.length - 1].toLocaleString('en-US')}`;
  if (after === 0) return `below ${COUNTS[0].toLocaleString('en-US')}`;
  const [low, high] = [ratios[after - 1], ratios[after]];
  const [lowLog, highLog] = [Math.log(low.ratio!.median), Math.log(high.ratio!.median)];
  const share = lowLog / (lowLog - highLog);
  return Math.round(low.count * (high.count / low.count) ** share);
}
