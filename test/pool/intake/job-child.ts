import { writeSync } from 'node:fs';
import type { JobBackend, JobReference, JobState, RawRead } from '../../../src/backend/backend.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import { Collector } from '../../../src/pool/intake/collector.ts';
import { fetchWhole } from '../../support/http.ts';
import { openTestLedger } from '../../support/ledger-folder.ts';
import { ScriptedAssessor } from '../fixtures.ts';

/**
 * A process that a test may kill: job-child.ts PATH PORT BITS collects one lot of so many raw bits from the provider of jobs
 * on the port into the ledger of the folder, and says `settled` when it has one and no job is open.
 */
const [path, port, lotRawBits] = process.argv.slice(2);

async function ask<T>(call: string, ...args: unknown[]): Promise<T> {
  const response = await fetchWhole(`http://127.0.0.1:${port}/${call}`, {
    method: 'POST',
    body: JSON.stringify(args),
  });
  return (await response.json()) as T;
}

const backend: JobBackend = {
  kind: 'job',
  name: 'test-jobs',
  origin: 'simulated',
  quantumBackend: 'test-jobs',
  deterministic: true,
  claimedMinEntropyPerBit: 1,
  submit: (bits, idempotencyKey) => ask<JobReference>('submit', bits, idempotencyKey),
  poll: (job) => ask<JobState>('poll', job),
  fetch: async (job) => {
    const read = await ask<RawRead & { readonly bits: string }>('fetch', job);
    return { ...read, bits: new Uint8Array(Buffer.from(read.bits, 'base64')) };
  },
  cancel: (job) => ask('cancel', job),
  forget: (job) => ask('forget', job),
};

const ledger = await openTestLedger(path, { clock: systemClock });
const collector = new Collector({
  backend,
  store: ledger,
  assessor: new ScriptedAssessor(),
  clock: systemClock,
  log: silentLog,
  pureBytesHigh: 1,
  lotRawBits: Number(lotRawBits),
  onLot: async () => {},
  // No test waits for a queue or an idle second; a deadline of a call is never met here.
  wait: (ms, signal) =>
    new Promise((resolve) => setTimeout(resolve, ms < 10_000 ? 5 : ms).unref() && void signal),
});
collector.start();
setInterval(async () => {
  const isSettled = (await ledger.lots(1)).length > 0 && (await ledger.openJobs(backend.name)).length === 0;
  if (isSettled) writeSync(1, 'settled\n');
}, 20);
