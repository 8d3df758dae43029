import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  readFileSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { StreamBackend } from '../../src/backend/backend.ts';
import { OptionError, type SourceMemory } from '../../src/backend/definition.ts';
import { replayBackend } from '../../src/backend/replay/replay.ts';
import { bytesOf } from '../support/chance.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { MemoryNotes, type optionValues, sourceOf } from '../support/source-parts.ts';
import { failsWith, type StreamSubject, streamBackendContract } from './backend-contract.ts';
import { makeFifo } from './providers/device-fifo.ts';

const NEVER = new AbortController().signal;
const WALL_MS = 1_800_000_000_000;
const randomBytes = bytesOf('replay');

type Texts = Parameters<typeof optionValues<(typeof replayBackend)['options']>>[1];

function replay(texts: Texts, memory: SourceMemory = new MemoryNotes(), name = 'tape'): StreamBackend {
  const parts = { name, clock: new ManualClock(WALL_MS), memory };
  return sourceOf('stream', replayBackend, { min_entropy: '1', ...texts }, parts);
}

function fileOf(content: Uint8Array | string): string {
  const path = join(scratchFolder(), 'bits');
  writeFileSync(path, content);
  return path;
}

/** The bits of the next `bytes` bytes. */
async function next(source: StreamBackend, bytes: number): Promise<Buffer> {
  return Buffer.from((await source.read(8 * bytes, NEVER)).bits);
}

/** Notes whose next writing is not done before the test says so. */
class SlowNotes extends MemoryNotes {
  calls = 0;
  /** Byte offsets that were noted, in order, from the start of the file. */
  readonly offsets = [0];
  #reached: (() => void) | undefined;

  /** Resolves when the next writing has begun; that then takes as long as the turn of a loop. */
  slowDown(): Promise<void> {
    return new Promise((resolve) => {
      this.#reached = resolve;
    });
  }

  override recallAll(key: string): Promise<readonly string[]> {
    this.calls++;
    return super.recallAll(key);
  }

  override async keep(key: string, value: string): Promise<void> {
    const reached = this.#reached;
    this.#reached = undefined;
    reached?.();
    if (reached !== undefined) await new Promise((resume) => setImmediate(resume));
    if (key.startsWith('offset')) this.offsets.push(Number(value));
    return super.keep(key, value);
  }
}

interface ReplaySubject extends StreamSubject {
  readonly path: string;
}

streamBackendContract<ReplaySubject>('replay', async () => {
  const path = fileOf(randomBytes(50_000));
  const notes = new SlowNotes();
  const lastTaken = () => readFileSync(path).subarray(...(notes.offsets.slice(-2) as [number, number]));
  return {
    path,
    backend: replay({ path }, notes),
    bits: 80_001,
    secrets: [],
    sent: () => ({ verbatim: [lastTaken()], bits: lastTaken() }),
    calls: () => notes.calls,
    stall: () => notes.slowDown(),
  };
}, [
  [
    'the file is gone',
    'permanent',
    ({ path }) => unlinkSync(path),
    { message: /bits does not exist/, lasting: 'it does not come back' },
  ],
  [
    'the file is used up',
    'permanent',
    ({ path }) => truncateSync(path, 9_999),
    { message: /bits: the file is used up: 79992 of 80008 bits are left/, lasting: 'it is used up' },
  ],
]);

suite('a replayed file', () => {
  test('describes itself', async () => {
    const content = randomBytes(4096);
    const path = fileOf(content);
    const source = replay({ path, min_entropy: '0.5', recorded_from: 'ibm_fez, June', lot_bits: '8192' });
    assert.deepEqual(
      [source.origin, source.quantumBackend, source.deterministic, source.claimedMinEntropyPerBit],
      ['replay', 'replay', false, 0.5],
    );
    assert.equal(source.lotRawBits, 8192);
    await source.read(8192, NEVER);
    const { provenance } = await source.read(8192, NEVER);
    const headSha256 = hash('sha256', content.subarray(0, 1024), 'hex');
    assert.deepEqual(provenance, {
      provider: 'replay',
      device: 'bits',
      jobId: null,
      circuit: 'none',
      circuitVersion: 'none',
      circuitSha256: null,
      qubitsUsed: 0,
      circuitDepth: 0,
      shots: 8192,
      startedAtMs: WALL_MS,
      finishedAtMs: WALL_MS,
      calibration: {
        declared_by: 'operator',
        recorded_from: 'ibm_fez, June',
        format: 'packed',
        head_sha256: headSha256,
        from_byte: 1024,
      },
    });
    assert.deepEqual(await source.describe?.(NEVER), {
      path,
      format: 'packed',
      width: 1,
      recorded_from: 'ibm_fez, June',
      size: 4096,
      head_sha256: headSha256,
      used_bytes: 2048,
    });
  });

  test('gives each byte once, in order, whatever the sizes and restarts', async () => {
    const content = randomBytes(6000);
    const path = fileOf(content);
    const reads = fc.array(fc.record({ bytes: fc.integer({ min: 1, max: 700 }), restart: fc.boolean() }), {
      maxLength: 8,
    });
    await fc.assert(
      fc.asyncProperty(reads, async (asked) => {
        const memory = new MemoryNotes();
        let source = replay({ path }, memory);
        const parts: Buffer[] = [];
        for (const { bytes, restart } of asked) {
          if (restart) source = replay({ path }, memory);
          parts.push(await next(source, bytes));
        }
        const got = Buffer.concat(parts);
        assert.deepEqual(got, content.subarray(0, got.length));
      }),
      { numRuns: 30 },
    );
  });

  test('serves concurrent reads one after the other', async () => {
    const content = randomBytes(3000);
    const source = replay({ path: fileOf(content) });
    const parts = await Promise.all([next(source, 1000), next(source, 1000), next(source, 1000)]);
    assert.deepEqual(Buffer.concat(parts), content);
    await assert.rejects(next(source, 1), failsWith('permanent', /used up: 0 of 8 bits/));
  });

  test('is read to its end, and smaller reads get what is left over', async () => {
    const content = randomBytes(1500);
    const source = replay({ path: fileOf(content) });
    await next(source, 1000);
    await assert.rejects(next(source, 501), failsWith('permanent', /used up: 4000 of 4008 bits/));
    assert.deepEqual(await next(source, 500), content.subarray(1000));
  });

  test('holds whole shots that end with a byte', async () => {
    const content = randomBytes(2000);
    const source = replay({ path: fileOf(content), width: '5' });
    const first = await source.read(41, NEVER);
    assert.deepEqual([first.width, first.shots, first.bits.length], [5, 16, 10]);
    const second = await source.read(40, NEVER);
    assert.deepEqual([second.shots, second.provenance.shots], [8, 8]);
    assert.deepEqual(Buffer.from(second.bits), content.subarray(10, 15));
  });
});

suite('bits that were replayed', () => {
  test('are recorded before they are returned', async () => {
    const content = randomBytes(4000);
    const path = fileOf(content);
    const memory = new MemoryNotes();
    const failing = replay(
      { path },
      {
        recall: (key) => memory.recall(key),
        recallAll: (key) => memory.recallAll(key),
        keep: () => Promise.reject(new Error('the disk is full')),
      },
    );
    await assert.rejects(next(failing, 1000), /^Error: the disk is full$/);
    assert.deepEqual(await next(replay({ path }, memory), 1000), content.subarray(0, 1000));
  });

  test('stay used in a copy, under another name, and when the file grows or is cut', async () => {
    const content = randomBytes(5000);
    const path = fileOf(content);
    const memory = new MemoryNotes();
    await next(replay({ path }, memory), 1000);
    const copy = join(scratchFolder(), 'copy');
    copyFileSync(path, copy);
    assert.deepEqual(await next(replay({ path: copy }, memory), 1000), content.subarray(1000, 2000));
    appendFileSync(path, randomBytes(100));
    assert.deepEqual(await next(replay({ path }, memory), 1000), content.subarray(2000, 3000));
    truncateSync(path, 2500);
    await assert.rejects(next(replay({ path }, memory), 1000), failsWith('permanent', /used up: 0 of/));
    writeFileSync(path, content);
    assert.deepEqual(await next(replay({ path }, memory), 1000), content.subarray(3000, 4000));
  });

  test('do not block another file in its place; the first one continues when it comes back', async () => {
    const [first, second] = [randomBytes(4000), randomBytes(4000)];
    const path = fileOf(first);
    const source = replay({ path });
    await next(source, 1000);
    writeFileSync(path, second);
    assert.deepEqual(await next(source, 1000), second.subarray(0, 1000));
    writeFileSync(path, first);
    assert.deepEqual(await next(source, 1000), first.subarray(1000, 2000));
  });

  test('are returned once, whatever the sources are called', async () => {
    const content = randomBytes(4000);
    const path = fileOf(content);
    const notes = new MemoryNotes();
    const renamed = new MemoryNotes(notes);
    assert.deepEqual(await next(replay({ path }, notes), 1000), content.subarray(0, 1000));
    const other = replay({ path }, renamed, 'other');
    const both = await Promise.all([next(other, 1000), next(other, 1000)]);
    assert.deepEqual(Buffer.concat(both), content.subarray(1000, 3000));
    const back = replay({ path }, new MemoryNotes(renamed, notes));
    assert.deepEqual(await next(back, 1000), content.subarray(3000));
  });
});

suite('a file of characters', () => {
  const textOf = (bytes: Uint8Array) => [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');

  test('gives the same bits as the packed file, with white space anywhere, and the hash of its text', async () => {
    const content = randomBytes(2000);
    const path = join(scratchFolder(), 'bits');
    const space = fc.constantFrom('\n', ' ', '\r\n', '\t', ' \n'.repeat(40_000));
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 64 }), space, async (every, gap) => {
        const digits = textOf(content);
        const spaced = digits.slice(0, 400).replaceAll(new RegExp(`.{${every}}`, 'g'), `$&${gap}`);
        const text = spaced + digits.slice(400);
        writeFileSync(path, text);
        const memory = new MemoryNotes();
        const first = await replay({ path, format: 'ascii' }, memory).read(8 * 300, NEVER);
        const second = await replay({ path, format: 'ascii' }, memory).read(8 * 1700, NEVER);
        assert.deepEqual(Buffer.concat([first.bits, second.bits]), content);
        const split = spaced.length + 8 * 300 - 400;
        assert.equal(first.rawSha256, hash('sha256', text.slice(0, split), 'hex'));
        assert.equal(second.rawSha256, hash('sha256', text.slice(split), 'hex'));
      }),
      { numRuns: 20 },
    );
  });

  test('ends when its digits do', async () => {
    const path = fileOf(`${textOf(randomBytes(200))}\n\n`);
    const source = replay({ path, format: 'ascii' });
    await next(source, 199);
    await assert.rejects(next(source, 2), failsWith('permanent', /used up: 8 of 16 bits/));
  });

  test('with any other character is rejected, and none of it is used', async () => {
    const path = fileOf(`${textOf(randomBytes(200))}2`);
    const source = replay({ path, format: 'ascii' });
    await assert.rejects(
      next(source, 201),
      failsWith('permanent', /byte 1600 is neither 0, 1 nor white space/),
    );
    await next(source, 200);
  });

  test('is not mistaken for packed bits', async () => {
    const path = fileOf(textOf(randomBytes(200)));
    await assert.rejects(
      next(replay({ path }), 100),
      failsWith('permanent', /contains text, not packed bits.*ascii/),
    );
  });
});

suite('what cannot be replayed', () => {
  test('rejects a device or a FIFO, which a source of type device reads', async () => {
    const words = failsWith('permanent', /not a regular file.*device/);
    await assert.rejects(next(replay({ path: makeFifo() }), 1), words);
    await assert.rejects(next(replay({ path: '/dev/null' }), 1), words);
  });

  test('rejects a file that is too short to be identified', async () => {
    const path = fileOf(randomBytes(1023));
    await assert.rejects(
      next(replay({ path }), 1),
      failsWith('permanent', /has 1023 bytes; it must have at least 1024/),
    );
  });

  test('rejects a file without permission to read it', async () => {
    const path = fileOf(randomBytes(2000));
    chmodSync(path, 0);
    const isRoot = process.geteuid?.() === 0;
    if (isRoot) chmodSync(join(path, '..'), 0o755);
    if (isRoot) process.seteuid?.(65_534); // root may read everything
    try {
      await assert.rejects(next(replay({ path }), 1), failsWith('auth', /permission denied/));
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
  });

  test('rejects options outside their bounds', () => {
    const { options } = replayBackend;
    assert.throws(() => options.format.parse('hex'), OptionError);
    assert.throws(() => options.width.parse('0'), OptionError);
    assert.throws(() => options.lot_bits.parse('1000'), OptionError);
    assert.throws(() => options.recorded_from.parse('a\nb'), OptionError);
    assert.equal('fallback' in options.min_entropy, false);
  });
});
