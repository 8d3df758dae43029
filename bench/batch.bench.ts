import { hash } from 'node:crypto';
import { keystream } from './support/keystream.ts';
import type { ClosedLoop } from './support/load.ts';
import { type Ask, loaded } from './support/measured.ts';
import { JSON_TWIN, startBare } from './support/peers.ts';
import { comparison, nameFor } from './support/revisions.ts';
import { alternate, type Contender } from './support/rounds.ts';
import { type Server, type Service, startService, withServers } from './support/server.ts';
import type { BenchRun, Report, Row, Suite, Table } from './support/suite.ts';
import { type Measure, of, ratio, rowOf } from './support/tables.ts';
import { task } from './support/timing.ts';
import { type BatchKind, batchBody, LIST_KINDS, TWO_KINDS, VALUE_KINDS } from './support/value-kinds.ts';

const PATH = '/v1/batch';
const COUNT = 100_000;
/** Enough connections that the service never idles while an answer waits for the disk. */
const CONNECTIONS = 4;
/** Small batches share commits, so it takes more connections. */
const PURE_CONNECTIONS = 16;
/** Time of one contender in one round, in which a twin makes a few answers. */
const TIME_MS = 600;
const SERVICE = 'service';
const STATIC = 'the same answer stored';
const TWIN = JSON_TWIN.name;
const SUM = 'draw, hash and send';
const CHUNK_BYTES = 65_536;

/**
 * Pure bytes that one round draws. They do not last: a round is as many small batches as draw this much, and the
 * reservoir is so large that it is still half full at the end, because below that the service makes lots meanwhile.
 */
const PURE_BYTES_A_ROUND = 64 * 1024;
const PURE_COUNT = 200;

interface Case {
  readonly kind: BatchKind;
  readonly mode: 'quantum-seeded' | 'pure';
  readonly count: number;
  readonly connections: number;
}

const SEEDED_CASES = [...VALUE_KINDS, ...LIST_KINDS].map((kind: BatchKind): Case => {
  const count = COUNT / (kind.each ?? 1);
  return { kind, mode: 'quantum-seeded', count, connections: CONNECTIONS };
});
const PURE_CASES = TWO_KINDS.map(
  (kind): Case => ({ kind, mode: 'pure', count: PURE_COUNT, connections: PURE_CONNECTIONS }),
);

/** Measures large answers end to end. */
export const batch: Suite = {
  name: 'batch',
  summary: `POST ${PATH}: ns per number end to end by kind, beside the same bytes stored and JSON.stringify`,
  byDefault: true,
  run: (run): Promise<Report> =>
    withServers(async (keep) => {
      const field = await startField(run, keep);
      const tableOf = async (cases: readonly Case[]): Promise<Table> => {
        const [{ mode, count, connections }] = cases; // the first kind has one number in each of its values
        const values = `${count.toLocaleString('en-US')} numbers, strings or picks`;
        const columns = measures(run, count);
        const rows: Row[] = [];
        for (const each of cases) {
          run.talk(`${each.kind.name}, ${mode}, ${values}`);
          rows.push(...(await raceOn(run, field, each, columns)));
        }
        const title = `POST ${PATH}, ${mode}, ${values}, ${connections} connections, durability fsync`;
        return { title, note: NOTE, columns, rows };
      };
      return { tables: [await tableOf(SEEDED_CASES), await tableOf(PURE_CASES)] };
    }),
};

/** The servers that take part. */
interface Field {
  readonly services: readonly { readonly name: string; readonly server: Service }[];
  /** Sends the first service's answer to each case from memory, at /`fileName(case)`. */
  readonly bare: Server;
  readonly twin: Server;
  /** Entropy that one answer to a case consumes, in bytes, by file name. */
  readonly drawnBytes: ReadonlyMap<string, number>;
}

async function startField(run: BenchRun, keep: <S extends Server>(server: S) => S): Promise<Field> {
  const services: { name: string; server: Service }[] = [];
  const reservoirBytes = 2 * PURE_BYTES_A_ROUND * PURE_CASES.length * (run.rounds + 2);
  for (const subject of run.subjects) {
    const name = nameFor(run, subject, SERVICE);
    run.talk(`starting ${name} and filling its reservoir with ${reservoirBytes} bytes`);
    const server = await startService(subject, { QRN_RESERVOIR_BYTES: String(reservoirBytes) });
    services.push({ name, server: keep(server) });
  }
  const [{ server: first }] = services;
  const answers: { name: string; response: Response }[] = [];
  for (const each of [...SEEDED_CASES, ...PURE_CASES]) {
    answers.push({ name: fileName(each), response: await first.server.batch(bodyOf(each), first.headers) });
  }
  const drawnBytes = await drawnByName(answers);
  const bare = keep(await startBare(answers));
  const twin = keep(await JSON_TWIN.start());
  return { services, bare, twin, drawnBytes };
}

async function raceOn(
  run: BenchRun,
  { services, bare, twin, drawnBytes }: Field,
  each: Case,
  columns: readonly Measure[],
): Promise<Row[]> {
  const ask: Ask = { method: 'POST', path: PATH, body: bodyOf(each) };
  const loop = loopFor(run, each, drawnBytes.get(fileName(each))!);
  const stored = loaded(STATIC, bare, { ...ask, path: `/${fileName(each)}` }, each.connections, loop);
  const drawn = drawnBytes.get(fileName(each))!;
  const contenders = [
    stored,
    sumOf(run, stored, drawn),
    ...(isMadeByTwin(each) ? [loaded(TWIN, twin, ask, each.connections, loop)] : []),
    ...services.map(({ name, server }) => loaded(name, server, ask, each.connections, loop)),
  ];
  const rounds = await alternate(contenders, run.rounds);
  return services.map(({ name }) =>
    rowOf(columns, rounds, name, each.kind.name + name.slice(SERVICE.length)),
  );
}

/**
 * Measures the unavoidable work on one core: in this process two keystreams of the length that the answer draws and
 * SHA-256 of its body, and the CPU of sending the body from memory.
 */
function sumOf(run: BenchRun, stored: Contender, drawn: number): Contender {
  const next = [keystream(1), keystream(2)];
  return {
    name: SUM,
    async measure(phase) {
      const { cpuUs, bodyKb } = await stored.measure(phase);
      if (cpuUs === undefined || bodyKb === undefined) return {};
      const body = Buffer.alloc(bodyKb * 1e3);
      const { measure } = task(() => {
        for (let at = 0; at < drawn; at += CHUNK_BYTES)
          for (const stream of next) stream(Math.min(CHUNK_BYTES, drawn - at));
        hash('sha256', body, 'buffer');
      });
      return { us: cpuUs + (await measure(100 * run.seconds)) / 1e3 };
    },
  };
}

function isMadeByTwin({ kind }: Case): boolean {
  return VALUE_KINDS.some(({ name }) => name === kind.name);
}

const NOTE =
  'ns/number: time of one answer over its values. x stored: time against bare uWS sending the same bytes from memory.\n' +
  `x sum: time against ${SUM} of the same bytes on one core.\n` +
  `x faster: time of ${TWIN} (system entropy, no certificate) against the service.`;

function fileName({ kind, mode, count }: Case): string {
  return `${kind.name}-${mode}-${count}`.replaceAll(/[^a-z0-9]+/g, '-');
}

function bodyOf({ kind, mode, count }: Case): string {
  return batchBody(kind, count, mode === 'pure' ? 'pure' : undefined);
}

async function drawnByName(
  answers: readonly { name: string; response: Response }[],
): Promise<Map<string, number>> {
  const drawn = new Map<string, number>();
  for (const { name, response } of answers) {
    const { metadata } = (await response.clone().json()) as { metadata: { entropy_consumed_bytes: number } };
    drawn.set(name, metadata.entropy_consumed_bytes);
  }
  return drawn;
}

function loopFor(run: BenchRun, { mode, connections }: Case, bytesAnAnswer: number): ClosedLoop {
  const requests = Math.max(connections, Math.floor(PURE_BYTES_A_ROUND / bytesAnAnswer));
  return { kind: 'closed', ...(mode === 'pure' ? { requests } : { durationMs: TIME_MS * run.seconds }) };
}

/** The columns for answers of `count` values. */
function measures(run: BenchRun, count: number): readonly Measure[] {
  return [
    of('body kB', 'bodyKb'),
    of('stored µs', 'us', { name: STATIC }),
    of('service µs', 'us'),
    ratio('x stored', 'us', STATIC),
    ratio('x sum', 'us', SUM),
    of('ns/number', 'us', { factor: 1e3 / count }),
    of('twin µs', 'us', { name: TWIN }),
    { title: 'x faster', spread: true, cell: (rounds, name) => rounds.ratio(TWIN, name, 'us') },
    of('p99 µs', 'p99Us'),
    of('CPU µs', 'cpuUs'),
    of('main thread', 'frontUs'),
    of('peak MiB', 'peakMib'),
    ...comparison(run, 'time', 'us'),
  ];
}
