// A process of test/service/exit.test.ts: ends itself with 7 while the ledger's thread is inside a long write transaction.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLedgerThread } from '../../src/service/ledger-thread.ts';
import { account, filledSegment } from '../support/ledger-records.ts';

/** Count of segments for a transaction that is longer than the waits around it. */
const SEGMENTS = 1_000;
/** Share of the commit's time in the thread: it is inside the transaction from less than 0.3 to more than 0.8. */
const INSIDE_AT = 0.5;
const folder = mkdtempSync(join(tmpdir(), 'qrn-exit-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const thread = await startLedgerThread(
  {
    path: join(folder, 'ledger'),
    cluster: null,
    durability: 'commit',
    scrubBytesPerS: 0,
    logLevel: 'silent',
    logColour: false,
    keysPath: join(folder, 'keys'),
    logName: 'test.example/log',
    witnesses: [],
    witnessQuorum: 0,
    fronts: 1,
  },
  () => {},
);
await thread.ledger.createAccount(account(1));
const segmentsFrom = (first: number) =>
  Array.from({ length: SEGMENTS }, (_, i) => filledSegment(first + i, 8));
const first = thread.ledger.commit(segmentsFrom(1), []);
const begunMs = performance.now();
await first;
const tookMs = performance.now() - begunMs;
thread.ledger.commit(segmentsFrom(1 + SEGMENTS), []).catch(() => {});
setTimeout(() => process.exit(7), INSIDE_AT * tookMs);
