import { randomBytes } from 'node:crypto';
import { utf8Bytes } from '../src/core/bytes.ts';
import { jsonBytesMax, octetBytes, octetTypeOf, type ValueRequest } from '../src/values/value-request.ts';
import { residentMemory } from '../test/support/process-usage.ts';
import { type Ask, latenciesOf, loadOn } from './support/measured.ts';
import { modulesOf } from './support/modules.ts';
import { nameFor } from './support/revisions.ts';
import { alternate, Rounds } from './support/rounds.ts';
import { type Service, startService } from './support/server.ts';
import type { BenchRun, Report, Row, Subject, Suite, Table } from './support/suite.ts';
import { of, rowOf, rowsOf } from './support/tables.ts';
import { batchBody, VALUE_KINDS } from './support/value-kinds.ts';

/** Offered load, as a share of what is answered when there is always something to do. */
const OFFERED = [0.5, 1, 2, 4];
const LARGE: Ask = { method: 'POST', path: '/v1/batch', body: batchBody(VALUE_KINDS[6], 100_000) };
const LARGE_CONNECTIONS = 256;
const SMALL: Ask = { method: 'GET', path: '/v1/integers?count=10' };
const SMALL_PER_S = 500;
const SMALL_CONNECTIONS = 32;
const CAPACITY_CONNECTIONS = 4;
/** How long an overload lasts, times --seconds. */
const LOAD_MS = 3_000;
const RECOVERY_MAX_MS = 10_000;
/** Small requests in a row whose median must be as before the overload, and how far it may be from it. */
const RECOVERED_REQUESTS = 20;
const RECOVERED_RATIO = 2;

/** What more than it can do does to the service. */
export const overload: Suite = {
  name: 'overload',
  summary: `what answers cost; ${OFFERED.join(', ')} times the batches that the workers can make, and the time to recover`,
  byDefault: false,
  async run(run): Promise<Report> {
    const tables: Table[] = [];
    for (const subject of run.subjects) {
      tables.push(await costs(run, subject));
      tables.push(await overloaded(run, subject));
    }
    return { tables };
  },
};

const integers = (count: number, more: Partial<ValueRequest & { kind: 'integers' }> = {}): ValueRequest => ({
  kind: 'integers',
  count,
  min: 0,
  max: 999_999,
  unique: false,
  sort: 'none',
  ...more,
});

/** By the kinds that admission tells apart; units as it counts them. */
const KINDS: readonly { name: string; values: ValueRequest; units: number }[] = [
  { name: 'integers', values: integers(100_000), units: 100_000 },
  { name: 'integers, 53 bits', values: integers(100_000, { max: 2 ** 53 - 1 }), units: 100_000 },
  { name: 'integers, sorted', values: integers(10_000, { sort: 'ascending' }), units: 10_000 },
  {
    name: 'integers, 53 bits, sorted',
    values: integers(10_000, { max: 2 ** 53 - 1, sort: 'ascending' }),
    units: 10_000,
  },
  { name: 'integers, unique', values: integers(10_000, { unique: true }), units: 10_000 },
  {
    name: 'integers, unique, sorted',
    values: integers(10_000, { unique: true, sort: 'ascending' }),
    units: 10_000,
  },
  { name: 'decimals', values: { kind: 'floats', count: 100_000, precision: 15 }, units: 100_000 },
  { name: 'floats', values: { kind: 'floats', count: 100_000, precision: null }, units: 100_000 },
  {
    name: 'bytes',
    values: { kind: 'bytes', count: 100_000, length: 16, encoding: 'hex', single: false },
    units: 1_800_000,
  },
  { name: 'uuid', values: { kind: 'uuid', count: 100_000 }, units: 100_000 },
  { name: 'bitstring', values: { kind: 'bitstring', length: 100_000 }, units: 100_000 },
  {
    name: 'shuffle',
    values: { kind: 'shuffle', items: Array.from({ length: 10_000 }, (_, i) => `item${i}`) },
    units: 10_000,
  },
];

const FORMS = ['json', 'octet-stream', 'msgpack'] as const;
const COST_COLUMNS = ['text', 'octets', 'text and MessagePack'].map((what, i) =>
  of(`${what} ns`, 'ns', { name: FORMS[i], spread: true }),
);

async function costs(run: BenchRun, subject: Subject): Promise<Table> {
  run.talk(nameFor(run, subject, 'what answers cost'));
  const { make, keystream } = await modulesOf(subject);
  const { reader } = new keystream.SystemStream();
  const order = {
    before: utf8Bytes('{"values":'),
    after: utf8Bytes('}'),
    salt: new Uint8Array(randomBytes(32)),
  };
  const delivered = new Uint8Array(32);
  const rows: Row[] = [];
  for (const { name, values, units } of KINDS) {
    const forms = FORMS.filter((form) => form !== 'octet-stream' || octetTypeOf(values) !== undefined);
    const contenders = forms.map((form) => ({
      name: form,
      async measure() {
        const octets = form === 'octet-stream' ? octetTypeOf(values) : undefined;
        const size = octets === undefined ? jsonBytesMax(values) : octetBytes(values);
        const bytes = new Uint8Array(make.answerBytesMax({ ...order, values, form, octets }, size));
        const room = { bytes, start: 0, end: bytes.length, octets };
        const making = { ...order, values, form, ...room, ...make.NOTHING_MADE, delivered };
        const startedMs = performance.now();
        make.makeFrom(reader, making);
        return { ns: ((performance.now() - startedMs) * 1e6) / units };
      },
    }));
    const rounds = await alternate(contenders, 5 * run.rounds);
    rows.push(rowOf(COST_COLUMNS, rounds, name));
  }
  return {
    title: nameFor(run, subject, 'Cost of an answer'),
    note: 'ns for each unit: values, bytes of values (2 more for each string), bits or items. Where the averages of answer/admission.ts start.',
    columns: COST_COLUMNS,
    rows,
  };
}

const OVERLOAD_COLUMNS = [
  of('offered/s', 'offeredPerS'),
  of('answered/s', 'answersPerS'),
  of('shed %', 'shedPercent'),
  of('shed p50 µs', 'shedP50Us'),
  of('shed p99 µs', 'shedP99Us'),
  of('small p50 µs', 'p50Us'),
  of('small p99 µs', 'p99Us'),
  of('small failed %', 'failedPercent'),
  of('recovered after ms', 'recoveryMs'),
  of('peak MiB', 'peakMib'),
];

async function overloaded(run: BenchRun, subject: Subject): Promise<Table> {
  run.talk(`starting ${nameFor(run, subject, 'service')}`);
  const service = await startService(subject);
  const durationMs = LOAD_MS * run.seconds;
  const rounds = new Rounds();
  try {
    const warm = { kind: 'closed', durationMs } as const;
    await Promise.all([loadOn(service, LARGE, CAPACITY_CONNECTIONS, warm), loadOn(service, SMALL, 4, warm)]);
    const { answersPerS: capacity } = await loadOn(service, LARGE, CAPACITY_CONNECTIONS, warm);
    run.talk(`${capacity.toFixed(0)} batches/s when there is always one to make`);
    const calmUs = await smallMedianUs(service);
    for (const factor of OFFERED) {
      const loop = { kind: 'open', ratePerS: factor * capacity, durationMs } as const;
      const [large, small] = await Promise.all([
        loadOn(service, LARGE, LARGE_CONNECTIONS, loop),
        loadOn(service, SMALL, SMALL_CONNECTIONS, { kind: 'open', ratePerS: SMALL_PER_S, durationMs }),
      ]);
      const recoveryMs = await recovered(service, RECOVERED_RATIO * calmUs);
      rounds.add(nameFor(run, subject, `${factor} x`), {
        offeredPerS: loop.ratePerS,
        answersPerS: large.answersPerS,
        shedPercent: latenciesOf(large).failedPercent,
        shedP50Us: large.refusal.quantile(0.5),
        shedP99Us: large.refusal.quantile(0.99),
        ...latenciesOf(small),
        recoveryMs,
        peakMib: residentMemory(service.pid)?.peakMib,
      });
    }
  } finally {
    await service.stop();
  }
  return {
    title: nameFor(run, subject, 'Batches of 100,000 UUIDs beside small requests'),
    note: `${SMALL_PER_S} small requests/s throughout. Recovered: a batch is answered, and the median of ${RECOVERED_REQUESTS} small requests in a row is below ${RECOVERED_RATIO} times that before.`,
    columns: OVERLOAD_COLUMNS,
    rows: rowsOf(OVERLOAD_COLUMNS, rounds),
  };
}

/** From the end of the load on; the service answers what it let in meanwhile. */
async function recovered(service: Service, belowUs: number): Promise<number | undefined> {
  const startedMs = performance.now();
  while (performance.now() - startedMs < RECOVERY_MAX_MS) {
    const { failures } = await loadOn(service, LARGE, 1, { kind: 'closed', requests: 1 });
    if (failures === 0 && (await smallMedianUs(service)) < belowUs) return performance.now() - startedMs;
  }
  return undefined;
}

async function smallMedianUs(service: Service): Promise<number> {
  const { latency } = await loadOn(service, SMALL, 1, { kind: 'closed', requests: RECOVERED_REQUESTS });
  return latency.quantile(0.5);
}
