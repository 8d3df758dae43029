import { bareMediaType } from '../src/core/vocabulary.ts';
import { octetTypeOf } from '../src/values/value-request.ts';
import { scaled } from '../test/support/statistics.ts';
import { verdictOn } from './support/aims.ts';
import { loaded } from './support/measured.ts';
import { alternate, type Contender } from './support/rounds.ts';
import { type Service, startService } from './support/server.ts';
import type { Aim, BenchRun, Report, Row, Suite, Table } from './support/suite.ts';
import { batchBody, VALUE_KINDS, type ValueKind, valueRequest } from './support/value-kinds.ts';

const PATH = '/v1/batch';
/** The specification's limit for each mode, in ns a number. */
const TARGETS_NS = { 'quantum-seeded': 1_000, csprng: 1_000, pure: 10_000 } as const;
type Mode = keyof typeof TARGETS_NS;

/** The largest answers. Pure bytes do not last, so pure mode makes many small answers instead. */
const BULK = { count: 100_000, connections: 4 } as const;
const PURE = { count: 500, connections: 8 } as const;
const PURE_REQUESTS = 24;
const RESERVOIR_BYTES = 8 * 1024 * 1024;
/** Time of one kind in one round. */
const TIME_MS = 400;

interface Case {
  readonly name: string;
  readonly kind: ValueKind;
  readonly mode: Mode;
  readonly accept: string;
}

const FORMS = ['json', 'octets'] as const;

const CASES: readonly Case[] = VALUE_KINDS.flatMap((kind) => {
  const type = octetTypeOf(valueRequest(kind, 1))!;
  return (Object.keys(TARGETS_NS) as Mode[]).flatMap((mode) =>
    FORMS.map((form) => ({
      name: `${kind.name}, ${form}, ${mode}`,
      kind,
      mode,
      accept: form === 'json' ? 'application/json' : bareMediaType(type),
    })),
  );
});

/**
 * The specification's figures, end to end over HTTP with a durable certificate for each answer; fails when one is
 * missed.
 */
export const targets: Suite = {
  name: 'targets',
  summary: "the specification's 1 and 10 µs a number, in every kind, mode and form; fails when one is missed",
  byDefault: true,
  async run(run): Promise<Report> {
    const [subject] = run.subjects;
    run.talk(`starting the service and filling its reservoir with ${RESERVOIR_BYTES} bytes`);
    const service = await startService(subject, { QRN_RESERVOIR_BYTES: String(RESERVOIR_BYTES) });
    try {
      const rows: Row[] = [];
      const missed: string[] = [];
      for (const each of CASES) {
        run.talk(each.name);
        const rounds = await alternate([contender(run, service, each)], run.rounds);
        const { count } = each.mode === 'pure' ? PURE : BULK;
        const [ns, cpuNs] = ['us', 'cpuUs'].map((quantity) =>
          scaled(rounds.of(each.name, quantity), 1e3 / count),
        );
        const aim: Aim = { what: each.name, unit: 'ns a number', measured: ns, aim: TARGETS_NS[each.mode] };
        const verdict = verdictOn(aim);
        if (verdict === 'missed') missed.push(each.name);
        rows.push({ label: each.name, cells: [ns, cpuNs, scaled(ns, 1 / aim.aim), verdict] });
      }
      return { tables: [tableOf(rows)], missed };
    } finally {
      await service.stop();
    }
  },
};

function contender(run: BenchRun, service: Service, { name, kind, mode, accept }: Case): Contender {
  const { count, connections } = mode === 'pure' ? PURE : BULK;
  const limit = mode === 'pure' ? { requests: PURE_REQUESTS } : { durationMs: TIME_MS * run.seconds };
  const body = batchBody(kind, count, mode === 'quantum-seeded' ? undefined : mode);
  const server = { ...service, headers: { ...service.headers, accept } };
  return loaded(name, server, { method: 'POST', path: PATH, body }, connections, {
    kind: 'closed',
    ...limit,
  });
}

function tableOf(rows: readonly Row[]): Table {
  const note =
    `ns/number: wall time of one answer over its values, certificate durable (fsync); ${BULK.connections} connections of ` +
    `${BULK.count.toLocaleString('en-US')} values, of pure ${PURE.connections} of ${PURE.count}.\n` +
    `CPU: of all threads of the service. The targets are 1,000 ns (quantum-seeded, csprng) and 10,000 ns (pure).`;
  return {
    title: `POST ${PATH}: the specification's speed`,
    note,
    columns: [
      { title: 'ns/number', spread: true },
      { title: 'CPU ns/number' },
      { title: 'of the target' },
      { title: 'target' },
    ],
    rows,
  };
}
