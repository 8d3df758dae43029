import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import {
  lfdServer,
  OUTSHIFT_KEY,
  outshiftServer,
  QRYPT_KEY,
  QUANDELA_TOKEN,
  qryptServer,
  quandelaServer,
} from '../../support/providers/qrng-services.ts';
import { temporaryFolder } from '../../support/server.ts';
import { assertCertifiesCalls } from '../qrng-http-source.ts';

describe('the service with a QRNG over HTTP', () => {
  it('Outshift: the lot of a day', async (t) => {
    await assertCertifiesCalls(t, {
      preset: 'outshift',
      server: outshiftServer(),
      environment: { QRN_SOURCE_OUTSHIFT_API_KEY: OUTSHIFT_KEY },
      secrets: [OUTSHIFT_KEY],
      quantumBackend: 'outshift-qrng',
      provider: 'Outshift by Cisco',
      device: 'Outshift QRNG',
      calls: 12,
      callBytes: 1000,
    });
  });

  it('Qrypt: 4 Mbit in one call, which cost money', async (t) => {
    await assertCertifiesCalls(t, {
      preset: 'qrypt',
      server: qryptServer(),
      environment: {
        QRN_SOURCE_QRYPT_API_KEY: QRYPT_KEY,
        QRN_SOURCE_QRYPT_PRICE_PER_CALL: '0.05',
        QRN_SOURCE_QRYPT_BUDGET_PER_DAY: 'none',
        QRN_RESERVOIR_BYTES: '1048576', // more than the lot: another one is wanted
      },
      secrets: [QRYPT_KEY],
      quantumBackend: 'qrypt-quantum-entropy',
      provider: 'Qrypt',
      device: 'Quantum Entropy service',
      calls: 1,
      callBytes: 512 * 1024,
    });
  });

  it('LfD: no key, and its own pace', async (t) => {
    await assertCertifiesCalls(t, {
      preset: 'lfd',
      server: lfdServer(),
      environment: {},
      secrets: [],
      quantumBackend: 'lfd-qrng',
      provider: 'LfD Regensburg',
      device: 'ID Quantique QRNG PCIe',
      calls: 8,
      callBytes: 4096,
    });
  });

  it('Quandela: the token in a file, the CHSH value of each draw in the digest', async (t) => {
    const path = join(temporaryFolder(t), 'token');
    writeFileSync(path, `${QUANDELA_TOKEN}\n`, { mode: 0o600 });
    await assertCertifiesCalls(t, {
      preset: 'quandela',
      server: quandelaServer(),
      environment: { QRN_SOURCE_QUANDELA_API_KEY_FILE: path },
      secrets: [QUANDELA_TOKEN],
      quantumBackend: 'quandela-entropy',
      provider: 'Quandela',
      device: 'Quandela Entropy',
      calls: 32,
      callBytes: 1024,
      calibrationOf(replies) {
        const draws = replies.flatMap((reply) => JSON.parse(reply.toString('utf8')).jobs as Draw[]);
        return {
          draws: draws.map(({ id }) => id).join(' '),
          chsh: draws.map(({ chsh }) => chsh),
          min_entropy: draws.map(({ min_entropy }) => min_entropy),
        };
      },
    });
  });
});

interface Draw {
  readonly id: string;
  readonly chsh: number;
  readonly min_entropy: number;
}
