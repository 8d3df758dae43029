import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { makeFifo } from '../../support/providers/device-fifo.ts';
import { TestServer, temporaryFolder } from '../../support/server.ts';
import { assertStreamNamed, LOT_BYTES, recordedStream } from '../certified-read.ts';

describe('the service with a device', { skip: process.platform === 'win32' }, () => {
  it('reads what a child writes into a FIFO, and certifies what the operator declared', async (t) => {
    const folder = temporaryFolder(t);
    const [recording, sources] = ['recording', 'sources.json'].map((name) => join(folder, name));
    const fifo = makeFifo(t);
    const bytes = recordedStream('fifo');
    writeFileSync(recording, bytes);
    const declared = {
      type: 'device',
      path: fifo,
      maker: 'ID Quantique',
      model: 'Quantis-PCIe-4M',
      serial_number: '1203054A410',
      min_entropy: 0.9,
      origin: 'qrng-device',
      lot_bits: 8 * LOT_BYTES,
    };
    writeFileSync(sources, JSON.stringify({ vault: declared }));
    const writer = spawn('sh', ['-c', 'exec cat "$0" > "$1"', recording, fifo], { stdio: 'ignore' });
    t.after(() => writer.kill('SIGKILL'));
    const service = TestServer.spawnFor(t, { QRN_BACKEND: 'vault', QRN_SOURCES: sources });
    await service.ready();
    await assertStreamNamed(service, bytes, () => ({
      source: 'vault',
      origin: 'qrng-device',
      quantumBackend: 'Quantis-PCIe-4M',
      provider: 'ID Quantique',
      device: 'Quantis-PCIe-4M',
      calibration: {
        declared_by: 'operator',
        path: fifo,
        serial_number: '1203054A410',
        discarded_bytes: 0,
      },
    }));
  });
});
