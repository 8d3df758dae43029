import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fixedBytes } from '../../support/backends.ts';
import { TestServer, temporaryFolder } from '../../support/server.ts';
import { assertNamed, PLAIN_STREAM, sha256Hex } from '../certified-read.ts';

const LOT_BYTES = 32 * 1024;

describe('the service with recorded bits', () => {
  it('certifies the portion of the file, whatever it was recorded from', async (t) => {
    const path = join(temporaryFolder(t), 'bits.bin');
    const bytes = new Uint8Array(64 * LOT_BYTES);
    fixedBytes('recorded')(bytes);
    writeFileSync(path, bytes);
    const service = TestServer.spawnFor(t, {
      QRN_BACKEND: 'replay',
      QRN_SOURCE_REPLAY_PATH: path,
      QRN_SOURCE_REPLAY_MIN_ENTROPY: '0.9',
      QRN_SOURCE_REPLAY_RECORDED_FROM: 'a processor',
      QRN_SOURCE_REPLAY_LOT_BITS: String(8 * LOT_BYTES),
    });
    await service.ready();
    const lots = Array.from({ length: 64 }, (_, lot) => {
      return sha256Hex(bytes.subarray(lot * LOT_BYTES, (lot + 1) * LOT_BYTES));
    });
    await assertNamed(service, (rawSha256) => {
      if (!lots.includes(rawSha256)) return undefined;
      return {
        ...PLAIN_STREAM,
        source: 'replay',
        origin: 'replay',
        quantumBackend: 'replay',
        provider: 'replay',
        device: 'bits.bin',
        shots: 8 * LOT_BYTES,
        calibration: {
          declared_by: 'operator',
          recorded_from: 'a processor',
          format: 'packed',
          head_sha256: sha256Hex(bytes.subarray(0, 1024)),
          from_byte: lots.indexOf(rawSha256) * LOT_BYTES,
        },
        evidence: 'statistical',
      };
    });
  });
});
