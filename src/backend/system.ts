import { hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { wipe } from '../core/bytes.ts';
import type { Clock } from '../core/clock.ts';
import { fillSystemEntropy, SYSTEM_GENERATOR } from '../crypto/system-entropy.ts';
import { plainRead, type RawRead, type StreamBackend, wholeShots } from './backend.ts';
import { defineBackend } from './definition.ts';

export const systemBackend = defineBackend({
  type: 'system',
  summary:
    'the random number generator of the operating system; it is not quantum, and every answer states this',
  options: {},
  create: (name, _options, { clock }) => ({ ...createSystemSource(clock), name }),
});

/** Bytes read between two turns of the event loop. The kernel's generator takes 0.3 ms for them. */
const SLICE_BYTES = 65_536;

/** The `device` of a lot. */
const DEVICES = { kernel: '/dev/urandom', openssl: 'OpenSSL DRBG' } as const;

/** Draws `size` bytes of a stream. */
export type StreamDraw = (size: number) => Promise<Uint8Array>;

/**
 * Returns the operating system's generator as an entropy source or, with `draw`, the csprng mode's own stream, of which
 * a read is a sample. It has no circuit and claims no quantum origin. Reads reject with the reason of an aborted
 * signal.
 */
export function createSystemSource(clock: Clock, draw?: StreamDraw): StreamBackend {
  const generator = DEVICES[SYSTEM_GENERATOR];
  return {
    kind: 'stream',
    name: 'system',
    origin: 'system',
    quantumBackend: 'none',
    deterministic: false,
    // Output of an approved DRBG at full strength. Nothing here can assess the entropy sources below it.
    claimedMinEntropyPerBit: 1,
    async read(bits, signal): Promise<RawRead> {
      signal.throwIfAborted();
      const startedAtMs = clock.wallMs();
      const random = new Uint8Array(wholeShots(bits, 1) / 8);
      for (let at = 0; at < random.length; at += SLICE_BYTES) {
        await nextTurn();
        signal.throwIfAborted();
        const slice = random.subarray(at, at + SLICE_BYTES);
        if (draw === undefined) fillSystemEntropy(slice);
        else {
          const drawn = await draw(slice.length);
          slice.set(drawn);
          wipe(drawn);
        }
      }
      return plainRead({
        bits: random,
        rawSha256: hash('sha256', random, 'hex'),
        provider: 'local',
        device: draw === undefined ? generator : `${generator}, expanded by ChaCha20`,
        startedAtMs,
        finishedAtMs: clock.wallMs(),
        calibration: null,
      });
    },
  };
}
