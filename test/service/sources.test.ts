import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { Backend, StreamBackend } from '../../src/backend/backend.ts';
import { ConfigError } from '../../src/config/parsers.ts';
import { loadConfig } from '../../src/config/sources.ts';
import { dayOf, systemClock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import { startService } from '../../src/service/service.ts';
import { deadBackend, soundBackend, stallingBackend } from '../support/backends.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { freshMetrics } from '../support/prometheus.ts';
import { ANU_KEY, anuServer } from '../support/providers/qrng-services.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { until } from '../support/server.ts';
import { LocalService } from '../support/service.ts';

/** Lots that are soon tested: what sources do together is the same for lots of every length. */
const LOT_RAW_BITS = 2 ** 18;
const named = (name: string, backend: StreamBackend): StreamBackend => ({
  ...backend,
  name,
  lotRawBits: LOT_RAW_BITS,
});

/** A source that dies when the test says so. */
function mortal(name: string) {
  const sound = named(name, soundBackend(name, 1));
  const dead = deadBackend();
  const life = { isOver: false };
  const backend: StreamBackend = {
    ...sound,
    read: (bits, signal) => (life.isOver ? dead : sound).read(bits, signal),
  };
  return { backend, life };
}

describe('several sources', () => {
  it('serve while one of them does, and the second stands by once the pool is full', async (t) => {
    const backends: Backend[] = [
      named('first', deadBackend()),
      named('second', soundBackend('second', 1)),
      named('third', soundBackend('third', 1)),
    ];
    // a start with options that contradict each other leaves the ledger in order for the next
    const dataDir = scratchFolder();
    const contradicting = {
      QRN_DATA_DIR: dataDir,
      QRN_PORT: '0',
      QRN_LOG_LEVEL: 'silent',
      QRN_SOURCE_SIMULATOR_QUBITS: '3',
      QRN_SOURCE_SIMULATOR_FAULTS: 'dead-qubit:3',
    };
    await assert.rejects(
      startService(loadConfig(contradicting), silentLog),
      (error: unknown) =>
        error instanceof ConfigError &&
        /^source simulator \(simulator\): faults of qubits 0 to 2/.test(error.message),
    );
    const { service, ask, checks, states } = await LocalService.startFor(t, {}, { backends }, dataDir);
    await service.ready;
    await until('the third stands by', async () => {
      return isDeepStrictEqual(await states(), ['closed', 'ok', 'standby']);
    });
    const pure = await ask('/bytes?entropy_mode=pure');
    assert.equal(pure.status, 200);
    assert.equal((await ask('/integers')).status, 200);
    const health = await checks();
    assert.equal(health['source:state'][0].output, 'the device is gone');
    const shares = health['source:state'].map(
      ({ details }) => (details as { share_of_lots: number }).share_of_lots,
    );
    assert.equal(shares[0], 0);
    const text = await freshMetrics(new URL(service.baseUrl).origin);
    assert.match(text, /^qrn_source_state\{source="first",origin="simulated",state="closed"\} 1$/m);
    assert.match(text, /^qrn_lots_total\{source="second",verdict="accepted"\} [1-9]/m);
  });

  it('close pure mode together, with the last of them', async (t) => {
    const [first, second] = [mortal('first'), mortal('second')];
    const backends = [first.backend, second.backend];
    const { service, ask, states } = await LocalService.startFor(
      t,
      { QRN_RESERVOIR_BYTES: '4194304' },
      { backends },
    );
    await service.ready;
    first.life.isOver = true;
    await until('the first closes', async () => (await states())[0] === 'closed');
    assert.equal((await ask('/bytes?entropy_mode=pure')).status, 200);
    second.life.isOver = true;
    await until('the second closes', async () => (await states())[1] === 'closed');
    assert.equal((await ask('/bytes?entropy_mode=pure')).status, 503);
    assert.equal((await ask('/integers')).status, 200, 'its seed came from a lot that passed');
  });

  it('that are the same provider under two names give none of its bits twice', async (t) => {
    const backends = [named('first', soundBackend('twin', 1)), named('second', soundBackend('twin', 1))];
    const settings = { QRN_SOURCE_POLICY: 'share', QRN_RESERVOIR_BYTES: '262144' };
    const { service } = await LocalService.startFor(t, settings, { backends });
    await service.ready;
    const ofBoth = async () => (await service.ledger.lots(64)).filter(({ source }) => source !== 'system');
    await until(
      'each gave a lot',
      async () => new Set((await ofBoth()).map(({ source }) => source)).size === 2,
    );
    const accepted = (await ofBoth()).filter(({ accepted }) => accepted).map(({ rawSha256 }) => rawSha256);
    assert.equal(new Set(accepted).size, accepted.length);
  });

  it('by shares: a source that hangs does not prevent another from filling', async (t) => {
    const backends = [named('first', stallingBackend()), named('second', soundBackend('second', 1))];
    const { service, states } = await LocalService.startFor(t, { QRN_SOURCE_POLICY: 'share' }, { backends });
    await service.ready;
    await until('one serves', async () => isDeepStrictEqual(await states(), ['starting', 'ok']));
  });
});

describe('a configured source', () => {
  it('sets what answers and certificates state of it, and its calls are counted', async (t) => {
    // each look at the provider's clock is a second later: its rate is no concern of this test
    const clock = new (class extends ManualClock {
      override monotonicMs(): number {
        this.advance(1_000);
        return super.monotonicMs();
      }
    })();
    const provider = await anuServer(clock).start(t);
    const { service, ask, checks } = await LocalService.startFor(t, {
      QRN_BACKEND: 'anu',
      QRN_SOURCE_ANU_API_KEY: ANU_KEY,
      QRN_SOURCE_ANU_BASE_URL: provider.url,
      QRN_SOURCE_ANU_INTERVAL_MS: '0',
      QRN_SOURCE_ANU_CALLS_PER_DAY: '10',
    });
    await service.ready;
    assert.equal(provider.requests.length, 10);
    const { headers, body } = await ask('/bytes?entropy_mode=pure');
    assert.equal(headers.get('x-entropy-origin'), 'qrng-device');
    assert.equal(headers.get('x-quantum-backend'), 'anu-quantum-numbers');
    assert.equal((body as { metadata: { entropy_origin: string } }).metadata.entropy_origin, 'qrng-device');
    assert.equal((await service.ledger.spent('anu', dayOf(systemClock.wallMs()))).calls, 10);
    const [spend] = (await checks())['source:spend'];
    assert.deepEqual(
      [spend.status, (spend.details as { qrn_source_calls_today: number }).qrn_source_calls_today],
      ['warn', 10],
    );
    const [lot] = await service.ledger.lots(2).then((lots) => lots.filter(({ source }) => source === 'anu'));
    assert.equal(lot.origin, 'qrng-device');
  });

  it('that costs money is refused until a budget is named', async () => {
    const dataDir = scratchFolder();
    const paid = {
      QRN_DATA_DIR: dataDir,
      QRN_PORT: '0',
      QRN_LOG_LEVEL: 'silent',
      QRN_BACKEND: 'anu',
      QRN_SOURCE_ANU_API_KEY: ANU_KEY,
      QRN_SOURCE_ANU_PRICE_PER_CALL: '0.01',
    };
    await assert.rejects(startService(loadConfig(paid), silentLog), {
      name: 'ConfigError',
      message:
        'source anu costs about 0.1 AUD a lot: say by QRN_SOURCE_ANU_BUDGET_PER_DAY what a day may cost, or none for no bound',
    });
  });
});
