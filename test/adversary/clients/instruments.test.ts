import assert from 'node:assert/strict';
import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import { CertificateIds } from '../../../src/certificate/ids.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { base32Of } from '../../../src/core/ids.ts';
import { openSecretFile } from '../../../src/crypto/key-files.ts';
import { bytesOf, Chance } from '../../support/chance.ts';
import { openJournaledLedger, openTestLedger } from '../../support/ledger-folder.ts';
import * as records from '../../support/ledger-records.ts';
import { scratchFolder } from '../../support/scratch-folder.ts';
import { served } from '../../support/served.ts';
import { Acknowledged, type Answered, PureSeen } from './acknowledged.ts';
import { Clients } from './clients.ts';
import { checkLedger } from './ledger-check.ts';

/** A soak test that finds nothing proves something only if its instruments can find faults. */
describe('the check of the books', () => {
  let dataDir: string;
  let ids: CertificateIds;
  let accountId: string;
  const ENTRIES = 5;

  beforeEach(async () => {
    dataDir = scratchFolder();
    ids = new CertificateIds(openSecretFile(join(dataDir, 'keys', 'certificate-ids')));
    const ledger = await openTestLedger(join(dataDir, 'ledger'), { clock: systemClock });
    const account = await ledger.createAccount(records.account(1, { tier: 'enterprise' }));
    accountId = account.id;
    await ledger.addLot(records.lot(1), []);
    const nowMs = systemClock.wallMs();
    const asked = {
      accountNumber: account.number,
      endpoint: 'bytes',
      mode: 'pure',
      issuedAtMs: nowMs,
    } as const;
    const entries = Array.from({ length: ENTRIES }, (_, n) =>
      records.entry(n, { ...asked, requestId: requestIdOf(n), valueCount: 1, consumedBytes: 7, credits: 7 }),
    );
    const more = { committedAtMs: nowMs, sources: [records.source('pure', [1])] };
    await ledger.commit([records.segment(1, entries, more)], []);
    await ledger.close();
  });

  const requestIdOf = (n: number) => new Uint8Array(16).fill(n + 1);
  const told = (n: number, more: Partial<Answered> = {}): Answered => ({
    certificateId: ids.textOf(1, n),
    requestId: `req_${base32Of(requestIdOf(n))}`,
    mode: 'pure',
    values: 1,
    credits: 7,
    isNumbered: false,
    ...more,
  });
  const check = (answers: readonly Answered[], unknown: number) => {
    const acknowledged = new Acknowledged();
    for (const each of answers) acknowledged.add(each);
    return checkLedger(dataDir, [
      { accountId, clients: { acknowledged, unknown, violations: [] }, creditsMax: 1_000 },
    ]);
  };

  it('finds no fault when books and answers agree, in any order', async () => {
    const found = await check([told(3), told(0), told(4), told(1), told(2)], 0);
    assert.deepEqual(found.violations, []);
    assert.deepEqual([found.entries, found.unacknowledged, found.creditsBooked, found.lots], [5, 0, 35, 1]);
  });

  it('counts a kill between the journal and LMDB', async () => {
    const image = scratchFolder();
    const path = join(dataDir, 'ledger');
    const ledger = await openJournaledLedger(path);
    cpSync(dataDir, image, { recursive: true });
    await ledger.journal.commit(records.filledSegment(2, 5), []);
    for (const name of readdirSync(path).filter((file) => file.startsWith('journal-')))
      cpSync(join(path, name), join(image, 'ledger', name));
    await ledger.close();
    assert.equal((await checkLedger(image, [])).recovered, 1);
    assert.equal((await checkLedger(image, [])).recovered, 0, 'the first check has stored them');
  });

  it('allows as many unreceived answers as connections were lost', async () => {
    const some = [told(0), told(2), told(3)];
    assert.deepEqual((await check(some, 2)).violations, []);
    const [violation] = (await check(some, 1)).violations;
    assert.match(violation, /2 entries were acknowledged to nobody, and 1 connections were lost/);
  });

  it('finds certificates that are lost, given twice or made up', async () => {
    const all = [told(0), told(1), told(2), told(3), told(4)];
    for (const more of [told(5), told(2), { ...told(0), certificateId: ids.textOf(9, 0) }]) {
      const { violations } = await check([...all, more], 9);
      assert.ok(
        violations.some((each) => each.includes('lost or given twice')),
        violations.join(),
      );
    }
    const foreign = new CertificateIds(new Uint8Array(32)).textOf(1, 0);
    assert.ok((await check([told(0, { certificateId: foreign })], 9)).violations.length > 0);
  });

  it('finds answers that differ from their entry in the books', async () => {
    for (const wrong of [
      told(1, { credits: 6 }),
      told(1, { values: 2 }),
      told(1, { mode: 'csprng' }),
      told(1, { requestId: told(2).requestId }),
    ]) {
      const { violations } = await check([told(0), wrong], 9);
      assert.equal(violations.length, 1);
      assert.match(violations[0], /is not what its client was told/);
    }
    const { violations } = await check([told(0, { isNumbered: true })], 9);
    assert.match(violations.join(), /was asked for with a purpose, unlike its serial/);
  });
});

describe('a client under an Idempotency-Key', () => {
  /** Returns how a request ends that is refused with 503 and this message. */
  async function refusedWith(message: string) {
    const origin = await served((_request, response) => {
      const body = JSON.stringify({ error: { code: 'storage_unavailable', message } });
      response.writeHead(503, { 'retry-after': '1', 'content-length': body.length }).end(body);
    });
    const key = { text: 'key', id: 'id', isRevoking: false, revokedAtMs: undefined };
    const clients = new Clients([key], new Chance('refused'), () => Number(new URL(origin).port), {
      shares: { once: 1 },
    });
    let asks = 1;
    await clients.askWhile(1, () => asks-- > 0);
    assert.deepEqual(clients.violations, []);
    return [clients.unknown, clients.openRetries];
  }

  it('retries when the service does not know what became of the answer, but not when it was not made', async () => {
    assert.deepEqual(await refusedWith('The database does not answer. Repeat the request.'), [1, 1]);
    assert.deepEqual(await refusedWith('The ledger cannot store answers now.'), [0, 0]);
  });
});

it('the watch over pure bytes finds a block that is delivered twice, wherever it is', () => {
  const next = bytesOf('watched');
  const hex = (bytes: number) => next(bytes).toString('hex');
  const seen = new PureSeen({ isSampled: true });
  const block = hex(4_096);
  assert.equal(seen.add(block, 'first'), undefined);
  assert.equal(seen.add(block, 'first'), undefined, 'a retry of the same request is none');
  for (let i = 0; i < 200; i++) assert.equal(seen.add(hex(192), `other ${i}`), undefined);
  const again = hex(51) + block.slice(1_000, 1_400) + hex(5);
  assert.equal(seen.add(again, 'second'), 'pure bytes of first were delivered again to second');
  const all = new PureSeen({ isSampled: false });
  assert.equal(all.add(block.slice(0, 34), 'first'), undefined);
  assert.match(all.add(block.slice(2, 34), 'second') ?? '', /delivered again/);
});
