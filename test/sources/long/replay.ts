import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { TestServer, temporaryFolder } from '../../support/server.ts';
import { assertStreamNamed, LOT_BYTES, recordedStream, sha256Hex } from '../certified-read.ts';

describe('the service with recorded bits', () => {
  it('certifies the portion of the file, whatever it was recorded from', async (t) => {
    const path = join(temporaryFolder(t), 'bits.bin');
    const bytes = recordedStream('recorded');
    writeFileSync(path, bytes);
    const service = TestServer.spawnFor(t, {
      QRN_BACKEND: 'replay',
      QRN_SOURCE_REPLAY_PATH: path,
      QRN_SOURCE_REPLAY_MIN_ENTROPY: '0.9',
      QRN_SOURCE_REPLAY_RECORDED_FROM: 'a processor',
      QRN_SOURCE_REPLAY_LOT_BITS: String(8 * LOT_BYTES),
    });
    await service.ready();
    await assertStreamNamed(service, bytes, (lot) => ({
      source: 'replay',
      origin: 'replay',
      quantumBackend: 'replay',
      provider: 'replay',
      device: 'bits.bin',
      calibration: {
        declared_by: 'operator',
        recorded_from: 'a processor',
        format: 'packed',
        head_sha256: sha256Hex(bytes.subarray(0, 1024)),
        from_byte: lot * LOT_BYTES,
      },
    }));
  });
});
