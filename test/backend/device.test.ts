import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  createWriteStream,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { OptionError } from '../../src/backend/definition.ts';
import { type DevicePlaces, localDevice, localDeviceBackend } from '../../src/backend/local-device/device.ts';
import { DeviceReader, startReaderProcess } from '../../src/backend/local-device/reader.ts';
import { bytesOf } from '../support/chance.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { until } from '../support/server.ts';
import { MemoryNotes, optionValues, sourceOf } from '../support/source-parts.ts';
import { failsWith } from './backend-contract.ts';
import { DECLARED, makeFifo } from './providers/device-fifo.ts';
import { NO_LINE, SerialLine } from './providers/device-line.ts';

const NEVER = new AbortController().signal;
const randomBytes = bytesOf('device');
const NO_DEVICES = existsSync('/dev/urandom') ? false : 'needs /dev/urandom';

type Texts = Parameters<typeof optionValues<(typeof localDeviceBackend)['options']>>[1];

function device(texts: Texts, places: DevicePlaces = {}, name = 'device'): ReturnType<typeof localDevice> {
  const values = optionValues(localDeviceBackend, { ...DECLARED, ...texts });
  const parts = { clock: new ManualClock(1_800_000_000_000), memory: new MemoryNotes() };
  return localDevice(name, values, parts, places);
}

suite('a character device', { skip: NO_DEVICES }, () => {
  test('gives whole bytes, at least as many bits as requested, with what the operator declared', async () => {
    const source = device({ path: '/dev/urandom', serial_number: 'A-17', lot_bits: '65536' });
    assert.deepEqual(
      [source.origin, source.quantumBackend, source.claimedMinEntropyPerBit, source.lotRawBits],
      ['system', 'none', 0.9, 65_536],
    );
    const read = await source.read(100_001, NEVER);
    assert.deepEqual([read.width, read.shots, read.bits.length], [1, 100_008, 12_501]);
    assert.equal(read.rawSha256, hash('sha256', read.bits, 'hex'));
    assert.deepEqual(read.provenance, {
      provider: 'Maker',
      device: 'Model 1',
      jobId: null,
      circuit: 'none',
      circuitVersion: 'none',
      circuitSha256: null,
      qubitsUsed: 0,
      circuitDepth: 0,
      shots: 100_008,
      startedAtMs: 1_800_000_000_000,
      finishedAtMs: 1_800_000_000_000,
      calibration: {
        declared_by: 'operator',
        path: '/dev/urandom',
        serial_number: 'A-17',
        discarded_bytes: 0,
      },
    });
    // All 256 byte values occur: one is missing with probability below 256 e^-48. A part left at zero would show too.
    assert.equal(new Set(read.bits).size, 256);
    assert.ok(read.bits.subarray(-64).some((byte) => byte !== 0));
  });

  test('is quantum only by declaration', () => {
    const source = device({ path: '/dev/urandom', origin: 'qrng-device' });
    assert.deepEqual([source.origin, source.quantumBackend], ['qrng-device', 'Model 1']);
  });

  test('a device whose file ends counts as unplugged', async () => {
    const source = device({ path: '/dev/null' });
    await assert.rejects(source.read(8, NEVER), failsWith('retryable', /\/dev\/null ended after 0 bytes/));
  });

  test('describes itself without a read', async () => {
    assert.deepEqual(await device({ path: '/dev/zero' }).describe(), {
      path: '/dev/zero',
      kind: 'character device',
      declared_maker: 'Maker',
      declared_model: 'Model 1',
      declared_serial_number: null,
      baud: null,
    });
  });

  test('rejects a speed for a device that is not a serial line', async () => {
    const source = device({ path: '/dev/zero', serial: '115200' });
    await assert.rejects(source.read(8, NEVER), failsWith('permanent', /\/dev\/zero: stty: .*ioctl/i));
  });

  test("is read by a process that has none of the service's secrets", {
    skip: process.platform !== 'linux',
  }, async () => {
    process.env['QRN_SOURCE_TEST_KEY'] = 'secret-of-the-service';
    let environment = 'unread';
    const reader = new DeviceReader(() => {
      const child = startReaderProcess();
      assert.ok('pid' in child);
      child.on('message', () => {
        environment = readFileSync(`/proc/${child.pid}/environ`, 'latin1');
      });
      return child;
    });
    await device({ path: '/dev/zero' }, { reader }).read(8, NEVER);
    assert.doesNotMatch(environment, /secret-of-the-service|unread/);
  });
});

suite('what is no device', () => {
  test('rejects a regular file and names the type replay', async () => {
    const path = join(scratchFolder(), 'bits');
    writeFileSync(path, randomBytes(100));
    await assert.rejects(device({ path }).read(8, NEVER), failsWith('permanent', /regular file.*replay/));
  });

  test('rejects a folder', async () => {
    const path = scratchFolder();
    await assert.rejects(
      device({ path }).read(8, NEVER),
      failsWith('permanent', /neither a character device/),
    );
  });

  test('retries a path that does not exist: the device may be plugged in later', async () => {
    const path = join(scratchFolder(), 'absent');
    await assert.rejects(device({ path }).read(8, NEVER), failsWith('retryable', /does not exist/));
    await assert.rejects(device({ path }).describe(), failsWith('retryable', /does not exist/));
  });

  test('fails for good without permission to read: only the operator can mend that', async () => {
    const path = makeFifo();
    chmodSync(path, 0);
    const isRoot = process.geteuid?.() === 0;
    if (isRoot) chmodSync(join(path, '..'), 0o755);
    if (isRoot) process.seteuid?.(65_534); // root may read everything
    try {
      await assert.rejects(
        device({ path }).read(8, NEVER),
        failsWith('auth', /permission denied \(EACCES\)/),
      );
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
  });
});

suite('a FIFO', () => {
  test('may be fed by one writer after the other, and keeps what was written between reads', async () => {
    const path = makeFifo();
    const source = device({ path, stall_ms: '5000' });
    const bytes = randomBytes(30_000);
    const first = source.read(8 * 20_000, NEVER);
    for (const from of [0, 10_000, 20_000]) {
      const writer = createWriteStream(path);
      writer.end(bytes.subarray(from, from + 10_000));
      await once(writer, 'close');
    }
    assert.deepEqual(Buffer.from((await first).bits), bytes.subarray(0, 20_000));
    // The writers are gone, and so is the process that read: 10,000 bytes wait in the FIFO.
    assert.deepEqual(Buffer.from((await source.read(8 * 10_000, NEVER)).bits), bytes.subarray(20_000));
  });

  test('drops the bytes to discard each time that it is opened', async (t) => {
    const path = makeFifo();
    const source = device({ path, discard: '5000', stall_ms: '5000' });
    const bytes = randomBytes(12_000);
    const reading = source.read(8 * 1000, NEVER);
    const writer = createWriteStream(path);
    t.after(() => writer.destroy());
    writer.write(bytes);
    const first = await reading;
    const second = await source.read(8 * 1000, NEVER);
    assert.deepEqual(Buffer.from(first.bits), bytes.subarray(5000, 6000));
    assert.deepEqual(Buffer.from(second.bits), bytes.subarray(11_000, 12_000));
    assert.equal(first.provenance.calibration?.['discarded_bytes'], 5000);
  });

  test('has one reader at a time, by whatever name', async () => {
    const path = makeFifo();
    const link = join(scratchFolder(), 'link');
    symlinkSync(path, link);
    const reading = device({ path, stall_ms: '5000' }, {}, 'first').read(8, NEVER);
    const writer = createWriteStream(path); // opens when the first source has it
    await once(writer, 'open');
    await assert.rejects(
      device({ path: link }, {}, 'second').read(8, NEVER),
      failsWith('retryable', /already used by the source first/),
    );
    writer.end(Uint8Array.of(1, 2));
    assert.deepEqual([...(await reading).bits], [1]);
    assert.deepEqual([...(await device({ path: link }, {}, 'second').read(8, NEVER)).bits], [2]);
  });
});

suite('a serial line', { skip: NO_LINE }, () => {
  const everyByte = Uint8Array.from({ length: 8192 }, (_, at) => (at * 167) & 0xff);

  test('is put into raw mode: no byte is swallowed or changed after the warm-up', async (t) => {
    const line = await SerialLine.open(t);
    const reading = device({ path: line.path, serial: '115200' }).read(8 * everyByte.length, NEVER);
    await line.becomesRaw();
    line.send(randomBytes(4096));
    line.send(everyByte);
    const read = await reading;
    assert.deepEqual(read.bits, everyByte);
    const { baud, discarded_bytes } = read.provenance.calibration ?? {};
    assert.deepEqual([baud, discarded_bytes], [115_200, 4096]);
  });

  test('rejects a serial line without a speed', async (t) => {
    const line = await SerialLine.open(t);
    await assert.rejects(
      device({ path: line.path }).read(8, NEVER),
      failsWith('permanent', /serial line: set the option serial/),
    );
  });

  test('is given up when it is silent, and read when it sends again', async (t) => {
    const line = await SerialLine.open(t);
    const source = device({ path: line.path, serial: '9600', discard: '0', stall_ms: '1000' });
    const words = /nothing came for 1000 ms, after 0 of 4 bytes/;
    await assert.rejects(source.read(32, NEVER), failsWith('retryable', words));
    line.send(Uint8Array.of(3, 4, 13, 17)); // interrupt, end, return and flow control, were the line not raw
    assert.deepEqual([...(await source.read(32, NEVER)).bits], [3, 4, 13, 17]);
  });

  test('is released at once when the signal is aborted, even if the read blocks in the driver', async (t) => {
    const line = await SerialLine.open(t);
    const source = device({ path: line.path, serial: '9600' });
    const stop = new AbortController();
    const reading = source.read(32, stop.signal);
    await line.becomesRaw();
    stop.abort(new Error('stopped'));
    await assert.rejects(reading, /^Error: stopped$/);
  });

  test('names a device that is unplugged in the middle of a read', async (t) => {
    const line = await SerialLine.open(t);
    const reading = device({ path: line.path, serial: '9600', discard: '0' }).read(800, NEVER);
    const rejected = assert.rejects(reading, failsWith('retryable', /unplugged/));
    await line.becomesRaw();
    line.send(randomBytes(10));
    await line.unplug();
    await rejected;
  });

  test('is released when the service is killed', async (t) => {
    const line = await SerialLine.open(t);
    const module = new URL('../../src/backend/local-device/reader.ts', import.meta.url);
    const order = { path: line.path, identity: '', isFifo: false, baud: null, discardBytes: 0, bytes: 1 };
    const service = spawn(process.execPath, [
      '--input-type=module',
      '--eval',
      `import { stat } from 'node:fs/promises';
       import { identityOf } from ${JSON.stringify(new URL('reader-protocol.ts', module).href)};
       import { DeviceReader, startReaderProcess } from ${JSON.stringify(module.href)};
       const reader = new DeviceReader(() => {
         const child = startReaderProcess();
         process.stdout.write(child.pid + '\\n');
         return child;
       });
       const order = ${JSON.stringify({ ...order, baud: 9600 })};
       order.identity = identityOf(await stat(order.path, { bigint: true }));
       await reader.read(order, 600_000, new AbortController().signal);`,
    ]);
    t.after(() => service.kill('SIGKILL'));
    const [pid] = await once(service.stdout, 'data');
    await line.becomesRaw();
    service.kill('SIGKILL');
    await until('the reader ends', () => !isAlive(Number(pid)));
  });
});

/** A process that nobody has waited for yet is over all the same: state Z of proc_pid_stat(5). */
function isAlive(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch (error) {
    assert.ok(error instanceof Error && 'code' in error, String(error));
    assert.ok(error.code === 'ENOENT' || error.code === 'ESRCH', String(error));
    return false;
  }
}

suite("the kernel's hardware generator", { skip: NO_DEVICES }, () => {
  /** /dev/urandom stands for /dev/hwrng. */
  function place(current: string): NonNullable<DevicePlaces['hwRandom']> {
    const attributes = join(scratchFolder(), 'hw_random');
    mkdirSync(attributes);
    writeFileSync(join(attributes, 'rng_current'), `${current}\n`);
    writeFileSync(join(attributes, 'rng_available'), `${current} tpm-rng-0 none\n`);
    writeFileSync(join(attributes, 'rng_quality'), '1024\n');
    return { node: '/dev/urandom', attributes };
  }

  test('is named in the provenance', async () => {
    const source = device({ path: '/dev/urandom' }, { hwRandom: place('quantis') });
    const { provenance } = await source.read(8, NEVER);
    assert.deepEqual(provenance.calibration, {
      declared_by: 'operator',
      path: '/dev/urandom',
      rng_current: 'quantis',
      rng_available: 'quantis tpm-rng-0 none',
      rng_quality: 1024,
      discarded_bytes: 0,
    });
    assert.equal((await source.describe())['rng_current'], 'quantis');
  });

  test('names no hardware generator when another device is read', async () => {
    const { provenance } = await device({ path: '/dev/zero' }, { hwRandom: place('none') }).read(8, NEVER);
    assert.equal(provenance.calibration?.['rng_current'], undefined);
  });

  test('reports nothing about what it does not know', async () => {
    const hwRandom = { node: '/dev/urandom', attributes: scratchFolder() };
    const source = device({ path: '/dev/urandom' }, { hwRandom });
    const { provenance } = await source.read(8, NEVER);
    assert.deepEqual(Object.keys(provenance.calibration ?? {}), ['declared_by', 'path', 'discarded_bytes']);
    const { rng_current, rng_available, rng_quality } = await source.describe();
    assert.deepEqual([rng_current, rng_available, rng_quality], [null, null, null]);
  });

  test('fails when no hardware generator is plugged in', async () => {
    const source = device({ path: '/dev/urandom' }, { hwRandom: place('none') });
    await assert.rejects(source.read(8, NEVER), failsWith('retryable', /no generator is plugged in/));
  });

  for (const current of ['tpm-rng-0', 'virtio_rng.0']) {
    test(`${current} is not quantum, whatever was declared`, async () => {
      const hwRandom = place(current);
      const source = device({ path: '/dev/urandom', origin: 'qrng-device' }, { hwRandom });
      await assert.rejects(source.read(8, NEVER), failsWith('permanent', /not a quantum device/));
      await device({ path: '/dev/urandom' }, { hwRandom }).read(8, NEVER);
    });
  }

  test('discards a read during which the hardware generator changed', async () => {
    const hwRandom = place('quantis');
    const reader = new DeviceReader(() => {
      writeFileSync(join(hwRandom.attributes, 'rng_current'), 'tpm-rng-0\n');
      return startReaderProcess();
    });
    await assert.rejects(
      device({ path: '/dev/urandom' }, { hwRandom, reader }).read(8, NEVER),
      failsWith('retryable', /changed from quantis to tpm-rng-0/),
    );
  });
});

suite('the options of a device', () => {
  const { options } = localDeviceBackend;

  test('must include origin and min-entropy, which nobody else knows', () => {
    for (const name of ['path', 'maker', 'model', 'min_entropy'] as const) {
      assert.equal('fallback' in options[name], false, name);
    }
  });

  test('cannot contain characters that could break out of a header', () => {
    for (const text of ['', 'a\r\nb', 'é', ' a', 'a ', 'a  b', 'x'.repeat(81)]) {
      assert.throws(() => options.model.parse(text), OptionError, JSON.stringify(text));
    }
    assert.equal(options.model.parse('Quantis PCIe (4M)'), 'Quantis PCIe (4M)');
    assert.equal(options.serial_number.parse(''), null);
    assert.throws(() => options.serial_number.parse('\n'), OptionError);
  });

  test('cannot be outside their bounds', () => {
    for (const text of ['0', '0.0001', '1.1', '-1', 'x']) {
      assert.throws(() => options.min_entropy.parse(text), OptionError, text);
    }
    assert.throws(() => options.origin.parse('quantum-processor'), OptionError);
    assert.throws(() => options.serial.parse('fast'), OptionError);
    assert.deepEqual([options.serial.parse(''), options.serial.parse('9600')], [null, 9600]);
    assert.deepEqual([options.discard.parse(''), options.discard.parse('0')], [null, 0]);
  });

  test('open no device when a source is created', () => {
    const texts = { ...DECLARED, path: '/nowhere/at/all' };
    const source = sourceOf('stream', localDeviceBackend, texts, { name: 'd' });
    assert.deepEqual([source.name, source.deterministic], ['d', false]);
    assert.equal(source.estimate, undefined);
  });
});
