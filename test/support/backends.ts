import { hash } from 'node:crypto';
import { BackendError, type RawRead, type StreamBackend, wholeShots } from '../../src/backend/backend.ts';
import { type ByteSource, Chance } from './chance.ts';
import { ASSESSED_LOT_BITS } from './server.ts';

/** An endless run of bytes that depends on the label alone. */
export function fixedBytes(label: string): ByteSource {
  const chance = new Chance(label);
  return (target) => void chance.fill(target);
}

/** A read of the given bits, as the test double `device` would deliver it. */
export function rawRead(
  bits: Uint8Array<ArrayBuffer>,
  width: number,
  shots: number,
  device = 'bits',
): RawRead {
  return {
    bits,
    width,
    shots,
    rawSha256: hash('sha256', bits, 'hex'),
    provenance: {
      provider: 'test',
      device,
      jobId: null,
      circuit: 'none',
      circuitVersion: 'none',
      circuitSha256: null,
      qubitsUsed: width,
      circuitDepth: 0,
      shots,
      startedAtMs: 1_700_000_000_000,
      finishedAtMs: 1_700_000_000_000,
      calibration: null,
    },
  };
}

type Fill = (shots: number) => Uint8Array<ArrayBuffer>;

function testBackend(device: string, width: number, fill: Fill): StreamBackend {
  return {
    kind: 'stream',
    name: `test-${device}`,
    origin: 'simulated',
    quantumBackend: `test-${device}`,
    deterministic: true,
    claimedMinEntropyPerBit: 1,
    lotRawBits: ASSESSED_LOT_BITS,
    async read(bits, signal) {
      signal.throwIfAborted();
      const shots = wholeShots(bits, width);
      return rawRead(fill(shots), width, shots, device);
    },
  };
}

function filledBits(source: ByteSource, bits: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(Math.ceil(bits / 8));
  source(bytes);
  if (bits % 8 !== 0) bytes[bytes.length - 1] &= 0xff00 >>> (bits % 8);
  return bytes;
}

function setBit(bits: Uint8Array, position: number, value: 0 | 1): void {
  const mask = 0x80 >>> (position & 7);
  if (value === 1) bits[position >>> 3] |= mask;
  else bits[position >>> 3] &= ~mask;
}

/** A sound source: every bit is a fair coin of the fixed byte source. */
export function soundBackend(label = 'sound', width = 16): StreamBackend {
  const source = fixedBytes(label);
  return testBackend('sound', width, (shots) => filledBits(source, shots * width));
}

/** One channel always reads 0; the others are fair. */
export function stuckBackend(channel = 0): StreamBackend {
  const source = fixedBytes('stuck');
  return testBackend('stuck', 16, (shots) => {
    const bits = filledBits(source, shots * 16);
    for (let shot = 0; shot < shots; shot++) setBit(bits, shot * 16 + channel, 0);
    return bits;
  });
}

/** Every bit is 1 with probability `ones256` / 256. */
export function biasedBackend(ones256: number): StreamBackend {
  const source = fixedBytes('biased');
  return testBackend('biased', 16, (shots) => {
    const levels = new Uint8Array(shots * 16);
    source(levels);
    const bits = new Uint8Array(Math.ceil(levels.length / 8));
    levels.forEach((level, position) => {
      setBit(bits, position, level < ones256 ? 1 : 0);
    });
    return bits;
  });
}

/** Sound bits, but every read of one size is the same. */
export function repeatingBackend(): StreamBackend {
  return testBackend('repeating', 16, (shots) => filledBits(fixedBytes('repeating'), shots * 16));
}

/**
 * Never answers; rejects with the signal's reason when it is told to stop, unless it is deaf to that as well.
 */
export function stallingBackend({ deaf = false } = {}): StreamBackend {
  return {
    ...soundBackend('stalling'),
    name: 'test-stalling',
    read: (_bits, signal) =>
      new Promise((_resolve, reject) => {
        if (deaf) return;
        if (signal.aborted) reject(signal.reason);
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      }),
  };
}

/** Fails with these errors, one a read, then is sound. */
export function failingBackend(...errors: readonly BackendError[]): StreamBackend {
  const sound = soundBackend('failing');
  let next = 0;
  return {
    ...sound,
    name: 'test-failing',
    async read(bits, signal) {
      const error = errors[next++];
      if (error !== undefined) throw error;
      return sound.read(bits, signal);
    },
  };
}

/** Fails every read the same way. */
export function deadBackend(error = new BackendError('permanent', 'the device is gone')): StreamBackend {
  return {
    ...soundBackend('dead'),
    name: 'test-dead',
    async read() {
      throw error;
    },
  };
}
