import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { cpuTime, cpuTimeEver, residentMemory } from '../test/support/process-usage.ts';
import type { TestServer } from '../test/support/server.ts';
import { endWithUs } from './support/children.ts';
import { comparison, nameFor } from './support/revisions.ts';
import { type Contender, Rounds, type Sample } from './support/rounds.ts';
import { dataFolder } from './support/server.ts';
import type { BenchRun, Report, Subject, Suite } from './support/suite.ts';
import { of, rowsOf } from './support/tables.ts';

/** Time after the service is ready during which its CPU still counts. */
const SETTLED_MS = 5_000;
/**
 * The settings of `npm start`, with a reservoir that the first lot fills, so that the start is measured and not the
 * filling.
 */
const SETTINGS = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '1048576',
  QRN_RESERVOIR_BYTES: '65536',
  QRN_SOURCE_SIMULATOR_LOT_BITS: undefined,
  QRN_LOG_LEVEL: 'error',
};
const STARTS = ['empty folder', 'restart'] as const;

/** Measures what a start of the service costs until it can serve every mode, and in the seconds after. */
export const start: Suite = {
  name: 'start',
  summary: `time and CPU until a start is ready, and CPU until ${SETTLED_MS / 1_000} s later: on an empty folder and as a restart`,
  byDefault: true,
  async run(run): Promise<Report> {
    const contenders = run.subjects.map((subject) => new Starts(run, subject));
    const rounds = new Rounds();
    for (const each of contenders) await each.measure(); // strips and compiles the sources, which happens once
    for (let round = 0; round < run.rounds; round++) {
      for (const each of round % 2 === 0 ? contenders : contenders.toReversed()) {
        for (const [name, sample] of await each.measure()) rounds.add(name, sample);
      }
    }
    const columns = [
      of('ready after ms', 'readyMs', { spread: true }),
      of('CPU ms to ready', 'cpuMs', { spread: true }),
      of('main thread ms', 'mainMs'),
      of(`CPU ms ${SETTLED_MS / 1_000} s later`, 'settledMs', { spread: true }),
      of('private MiB', 'privateMib'),
      ...comparison(run, 'CPU to ready', 'cpuMs'),
    ];
    return {
      tables: [
        {
          title: 'A start of the service',
          note: 'From the spawn of the process. A restart finds blocks of earlier lots; an empty folder waits for the tests of its first lot. The reservoir is the least that can be set, so a restart soon reads another lot.',
          columns,
          rows: rowsOf(columns, rounds),
        },
      ],
    };
  },
};

/** Starts one subject on an empty folder, and then restarts it. */
class Starts {
  readonly #run: BenchRun;
  readonly #subject: Subject;

  constructor(run: BenchRun, subject: Subject) {
    this.#run = run;
    this.#subject = subject;
  }

  async measure(): Promise<[Contender['name'], Sample][]> {
    const folder = dataFolder();
    const measured: [string, Sample][] = [];
    for (const what of STARTS) {
      const name = nameFor(this.#run, this.#subject, what);
      this.#run.talk(name);
      measured.push([name, await this.#start(join(folder, 'data'))]);
    }
    rmSync(folder, { recursive: true, force: true });
    return measured;
  }

  async #start(dataDir: string): Promise<Sample> {
    const module = new URL('test/support/server.ts', this.#subject.root).href;
    const support = (await import(module)) as { readonly TestServer: typeof TestServer };
    const startedMs = performance.now();
    const server = support.TestServer.spawn(SETTINGS, dataDir);
    endWithUs(server.process);
    const pid = server.process.pid!;
    // Measured when the line arrives, because `ready()` polls for it.
    const line = Promise.withResolvers<Sample>();
    server.process.stdout!.on('data', (chunk: Buffer) => {
      if (!/^ready /m.test(chunk.toString('utf8'))) return;
      const cpu = cpuTime(pid);
      const readyMs = performance.now() - startedMs;
      line.resolve({ readyMs, cpuMs: cpuTimeEver(pid), mainMs: cpu && cpu.mainNs / 1e6 });
    });
    server.ended.then((how) => line.reject(new Error(`it ended with ${how}: ${server.output()}`)));
    const ready = await line.promise;
    await new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
    const settledMs = cpuTimeEver(pid);
    const privateMib = residentMemory(pid)?.privateMib;
    await server.kill('SIGTERM');
    return { ...ready, settledMs, privateMib };
  }
}
