import { setTimeout as sleep } from 'node:timers/promises';
import { type Ask, loaded } from './support/measured.ts';
import { alternate, type Contender } from './support/rounds.ts';
import { type Service, startService } from './support/server.ts';
import type { Report, Suite } from './support/suite.ts';
import { of, ratio, rowsOf } from './support/tables.ts';

const SMALL: Ask = { method: 'GET', path: '/v1/integers?count=10' };
const PER_S = 500;
const CONNECTIONS = 64;
/** Of one contender in one round, times --seconds: a lot takes a good second. */
const TIME_MS = 4_000;
const WITHOUT = 'no assessment';

/** Whether assessing a lot delays requests. They are due at a fixed rate, so a stall is seen by each that falls into it. */
export const assessmentInterference: Suite = {
  name: 'assessment-interference',
  summary: 'small requests while a lot is assessed beside them',
  byDefault: false,
  async run(run): Promise<Report> {
    const hook = new URL('support/endless-assessment.ts', import.meta.url).href;
    const service = await startService(run.subjects[0], { NODE_OPTIONS: `--import ${hook}` });
    const loop = { kind: 'open', ratePerS: PER_S, durationMs: TIME_MS * run.seconds } as const;
    const alone = loaded(WITHOUT, service, SMALL, CONNECTIONS, loop);
    const beside: Contender = {
      name: 'running assessment',
      async measure(phase) {
        toggleAssessments(service);
        const sample = await alone.measure(phase);
        return { ...sample, lots: await endAssessments(service) };
      },
    };
    const columns = [
      of('p50 µs', 'p50Us'),
      of('p90 µs', 'p90Us'),
      of('p99 µs', 'p99Us', { spread: true }),
      of('p99.9 µs', 'p999Us'),
      ratio('p99 x without', 'p99Us', WITHOUT),
      of('failed %', 'failedPercent'),
      of('lots assessed', 'lots'),
    ];
    try {
      const rows = rowsOf(columns, await alternate([alone, beside], run.rounds));
      return {
        tables: [
          { title: `GET ${SMALL.path} at ${PER_S}/s beside the assessment of lots`, note: '', columns, rows },
        ],
      };
    } finally {
      await service.stop();
    }
  },
};

/** Turns the assessments on or off. Gives what the service had written before. */
function toggleAssessments({ server }: Service): string {
  const before = server.output();
  server.process.kill('SIGUSR2');
  return before;
}

/** Ends the assessments, and gives how many lots were assessed. */
async function endAssessments(service: Service): Promise<number> {
  const before = toggleAssessments(service);
  for (;;) {
    const told = /^assessed (\d+) lots$/m.exec(service.server.output().slice(before.length));
    if (told !== null) return Number(told[1]);
    await sleep(20);
  }
}
