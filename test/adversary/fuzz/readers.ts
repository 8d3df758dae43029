// `node test/adversary/fuzz/readers.ts [--seconds N] [--seed N] [--input FILE] [TARGET]`: every reader of what others wrote, or one,
// tried with inputs that are changed again and again. A finding is written to a file, and `--input FILE TARGET` reads it again.
import { randomInt } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { NOT_GIVEN, readOptions, say } from '../program.ts';
import { INPUT_BYTES_MAX } from './mutate.ts';
import { type Finding, fuzzReader, type Readings } from './reading.ts';
import { corpusOf, FUZZ_TARGETS } from './targets/table.ts';

/** Time limit for at most 16 KiB: an attacker could send a slower input repeatedly. */
const SLOW_MS = 1_000;
/** Time after which an input counts as never ending. */
const STALLED_MS = 10_000;
/** Memory limit: no reader of 16 KiB needs more. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 512 };
const CURRENT_HEAD_BYTES = 8;

/** The order for a thread that tries one target. A separate thread can be ended when an input never ends. */
interface Order {
  readonly target: string;
  readonly seed: number;
  readonly seconds: number;
  /** Int32: the count of inputs begun, and the length of the present one, whose bytes follow. */
  readonly current: SharedArrayBuffer;
}

if (isMainThread) await tryAll();
else parentPort!.postMessage(await readOn(workerData as Order));

async function tryAll(): Promise<void> {
  const asked = readOptions({ seconds: 60, seed: -1, input: NOT_GIVEN });
  const { seconds, seed: given, input, operands } = asked;
  const chosen = FUZZ_TARGETS.filter(({ name }) => operands.length === 0 || operands.includes(name));
  if (chosen.length === 0)
    throw new Error(`no such target; there are ${FUZZ_TARGETS.map(({ name }) => name).join(', ')}`);
  if (input !== undefined) {
    say(`${chosen[0].name}: ${await chosen[0].read(new Uint8Array(readFileSync(input)))}`);
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'qrn-findings-'));
  for (const { name } of chosen) {
    const seed = given < 0 ? randomInt(2 ** 31) : given;
    const { executions, outcomes, finding } = await tried({ target: name, seed, seconds });
    say(`${name}: ${executions} executions with seed ${seed}, ${outcomes.size} kinds of outcome`);
    if (finding === undefined) continue;
    process.exitCode = 1;
    const file = join(folder, name);
    writeFileSync(file, finding.input);
    say(`  FINDING: ${finding.why}\n  replay: node test/adversary/fuzz/readers.ts --input ${file} ${name}`);
  }
}

/** Runs one target in a thread, and gives up on an input that never ends or takes all memory. */
function tried(order: Omit<Order, 'current'>): Promise<Readings> {
  const current = new SharedArrayBuffer(CURRENT_HEAD_BYTES + INPUT_BYTES_MAX);
  const head = new Int32Array(current, 0, 2);
  const worker = new Worker(fileURLToPath(import.meta.url), {
    workerData: { ...order, current } satisfies Order,
    resourceLimits: RESOURCE_LIMITS,
  });
  return new Promise((resolve) => {
    const end = (readings: Readings) => {
      clearInterval(watcher);
      resolve(readings);
      void worker.terminate();
    };
    const fail = (why: string) => {
      const finding: Finding = { why, input: new Uint8Array(current, CURRENT_HEAD_BYTES, head[1]).slice() };
      end({ executions: head[0], outcomes: new Map(), finding });
    };
    let begun = -1;
    const watcher = setInterval(() => {
      const now = Atomics.load(head, 0);
      if (now === begun) fail(`still reading after ${STALLED_MS} ms`);
      begun = now;
    }, STALLED_MS);
    worker.once('message', end);
    worker.once('error', (error) => fail(error.stack ?? error.message));
  });
}

function readOn({ target: name, seed, seconds, current }: Order): Promise<Readings> {
  const words = new Int32Array(current, 0, 2);
  const bytes = new Uint8Array(current, CURRENT_HEAD_BYTES);
  const target = FUZZ_TARGETS.find((each) => each.name === name)!;
  const endMs = performance.now() + seconds * 1_000;
  return fuzzReader(target, {
    ...{ seed, seeds: corpusOf(target), slowMs: SLOW_MS },
    before: (input) => {
      bytes.set(input);
      Atomics.store(words, 1, input.length);
      Atomics.add(words, 0, 1);
    },
    isDone: () => performance.now() > endMs,
  });
}
