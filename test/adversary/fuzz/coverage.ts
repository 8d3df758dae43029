// `node test/adversary/fuzz/coverage.ts [--seconds N] [--seed N] [--input FILE] [TARGET]`: every reader of what others wrote, or one,
// tried with inputs that grow by what they reach. A finding is written to a file, and `--input FILE TARGET` reads it again.
import { randomInt } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { NOT_GIVEN, readOptions, say } from '../program.ts';
import { CURRENT_HEAD_BYTES, type Finding, type GuidedOrder, type GuidedOutcome } from './guided.ts';
import { INPUT_BYTES_MAX } from './mutate.ts';
import { FUZZ_TARGETS } from './targets/table.ts';

/** An input that is read for so long never ends. */
const STALLED_MS = 10_000;
/** No reader of 16 KiB needs more. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 512 };

const { seconds, seed: given, input, operands } = readOptions({ seconds: 60, seed: -1, input: NOT_GIVEN });
const chosen = FUZZ_TARGETS.filter(({ name }) => operands.length === 0 || operands.includes(name));
if (chosen.length === 0)
  throw new Error(`no such target; there are ${FUZZ_TARGETS.map(({ name }) => name).join(', ')}`);

if (input !== undefined) {
  const [target] = chosen;
  say(`${target.name}: ${await target.read(new Uint8Array(readFileSync(input)))}`);
} else {
  const folder = mkdtempSync(join(tmpdir(), 'qrn-findings-'));
  for (const { name } of chosen) {
    const seed = given < 0 ? randomInt(2 ** 31) : given;
    report(name, seed, folder, await tried({ target: name, seed, seconds }));
  }
}

type Tried = Pick<GuidedOutcome, 'executions' | 'finding'> & Partial<GuidedOutcome>;

/** Runs one target in a thread, and gives up on an input that never ends or that takes all memory. */
function tried(order: Omit<GuidedOrder, 'current'>): Promise<Tried> {
  const current = new SharedArrayBuffer(CURRENT_HEAD_BYTES + INPUT_BYTES_MAX);
  const head = new Int32Array(current, 0, 2);
  const worker = new Worker(new URL('./guided-worker.ts', import.meta.url), {
    workerData: { ...order, current } satisfies GuidedOrder,
    resourceLimits: RESOURCE_LIMITS,
  });
  return new Promise((resolve) => {
    const findingOf = (why: string): Finding => {
      return { why, input: new Uint8Array(current, CURRENT_HEAD_BYTES, head[1]).slice() };
    };
    const end = (outcome: Tried) => {
      clearInterval(watcher);
      resolve(outcome);
      void worker.terminate();
    };
    let begun = -1;
    const watcher = setInterval(() => {
      const now = Atomics.load(head, 0);
      if (now === begun) end({ executions: now, finding: findingOf(`still reading after ${STALLED_MS} ms`) });
      begun = now;
    }, STALLED_MS);
    worker.once('message', end);
    worker.once('error', (error) =>
      end({ executions: head[0], finding: findingOf(error.stack ?? error.message) }),
    );
  });
}

function report(name: string, seed: number, folder: string, outcome: Tried): void {
  const { executions, finding, characters = 0, corpus = [], outcomes = new Map() } = outcome;
  say(
    `${name}: ${executions} executions with seed ${seed}, ${characters} characters of source, ${corpus.length} inputs kept, ${outcomes.size} kinds of outcome`,
  );
  if (finding === undefined) return;
  process.exitCode = 1;
  const file = join(folder, name);
  writeFileSync(file, finding.input);
  say(`  FINDING: ${finding.why}\n  replay: node test/adversary/fuzz/coverage.ts --input ${file} ${name}`);
}
