import { hash, randomFill } from 'node:crypto';
import { promisify } from 'node:util';
import type { Clock } from '../core/clock.ts';
import { type RawRead, type StreamBackend, wholeShots } from './backend.ts';
import { defineBackend } from './definition.ts';

const randomFillAsync = promisify<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>(randomFill);

export const systemBackend = defineBackend({
  type: 'system',
  summary: "the operating system's generator; no quantum origin, and every answer says so",
  options: {},
  create: (name, _options, { clock }) => ({ ...createSystemSource(clock), name }),
});

/**
 * The operating system's CSPRNG as an entropy source: what `csprng` answers come from. It has no circuit and
 * no quantum origin, and says so. An aborted signal rejects with its reason.
 */
export function createSystemSource(clock: Clock): StreamBackend {
  return {
    kind: 'stream',
    name: 'system',
    origin: 'system',
    quantumBackend: 'none',
    deterministic: false,
    // Output of an approved DRBG at full strength; nothing assesses the sources beneath it from here.
    claimedMinEntropyPerBit: 1,
    async read(bits, signal): Promise<RawRead> {
      signal.throwIfAborted();
      const startedAtMs = clock.wallMs();
      const shots = wholeShots(bits, 1);
      // On libuv's thread pool: a large read does not hold the event loop up.
      const random = await randomFillAsync(new Uint8Array(shots / 8));
      signal.throwIfAborted();
      return {
        bits: random,
        width: 1,
        shots,
        rawSha256: hash('sha256', random, 'hex'),
        provenance: {
          provider: 'local',
          device: 'csprng',
          jobId: null,
          circuit: 'none',
          circuitVersion: 'none',
          circuitSha256: null,
          qubitsUsed: 0,
          circuitDepth: 0,
          shots,
          startedAtMs,
          finishedAtMs: clock.wallMs(),
          calibration: null,
        },
      };
    },
  };
}
