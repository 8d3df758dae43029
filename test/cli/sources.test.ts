import assert from 'node:assert/strict';
import { hash, randomFillSync } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { BACKENDS, SOURCE_PRESETS } from '../../src/backend/backends.ts';
import { sources } from '../../src/cli/sources.ts';
import { openTestLedger } from '../support/ledger-folder.ts';
import { NOON_MS } from '../support/ledger-records.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { IbmServer } from '../support/providers/ibm.ts';
import { ANU_KEY, anuServer } from '../support/providers/qrng-services.ts';
import { runCommand } from '../support/run-command.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const folder = scratchFolder();
const DAY = Math.floor(NOON_MS / 86_400_000);

let folders = 0;
/** Runs a command on a data folder that is not there, unless one is named. */
function qrn(
  args: readonly string[],
  environment: Record<string, string> = {},
  dataDir = join(folder, `none-${folders++}`),
) {
  return runCommand(sources, args, { QRN_DATA_DIR: dataDir, ...environment }, new ManualClock(NOON_MS));
}

async function withLedgerIn<T>(use: (ledger: Awaited<ReturnType<typeof openTestLedger>>) => Promise<T>) {
  const dataDir = join(folder, `data-${folders++}`);
  const ledger = await openTestLedger(join(dataDir, 'ledger'));
  await use(ledger);
  await ledger.close();
  return dataDir;
}

/** ANU's service on this machine. */
async function anu(t: TestContext) {
  const server = await anuServer(new ManualClock()).start(t);
  return { server, environment: { QRN_SOURCE_ANU_API_KEY: ANU_KEY, QRN_SOURCE_ANU_BASE_URL: server.url } };
}

describe('qrn sources list', () => {
  it('shows the sources in use, by priority, and all that are possible', async () => {
    const { status, out, talk } = await qrn(['list'], {
      QRN_BACKEND: 'anu,simulator',
      QRN_SOURCE_ANU_API_KEY: 'tell-nobody',
      QRN_SOURCE_ANU_CALLS_PER_DAY: '40',
    });
    assert.deepEqual([status, talk], [0, '']);
    assert.match(out, /^policy +priority$/m);
    assert.match(out, /^1 +anu +qrng-http +qrng-device +10 calls +- +40 calls$/m);
    assert.match(out, /^2 +simulator +simulator +simulated +nothing +- +no limit$/m);
    assert.match(out, /^anu +api_key +\[secret\] +environment$/m);
    assert.match(out, /^anu +preset +anu +name$/m);
    assert.doesNotMatch(out, /^anu +base_url/m, 'what is left out is not in force');
    for (const { type, summary } of BACKENDS) assert.ok(out.includes(summary), type);
    for (const name of SOURCE_PRESETS.keys()) assert.ok(out.includes(name), name);
    assert.ok(!out.includes('tell-nobody'));
  });

  it("prints the same as JSON, with the day's expense", async () => {
    const dataDir = await withLedgerIn(async (ledger) => {
      const limits = { amountPerDay: null, callsPerDay: null };
      const spend = { source: 'anu', amount: 0, currency: '', calls: 7 };
      await ledger.charge('a', { ...spend, day: DAY }, limits);
      await ledger.charge('b', { ...spend, day: DAY - 1 }, limits);
    });
    const environment = { QRN_BACKEND: 'anu', QRN_SOURCE_ANU_API_KEY: 'tell-nobody' };
    const { out } = await qrn(['list', '--json'], environment, dataDir);
    const listed = JSON.parse(out);
    assert.equal(listed.policy, 'priority');
    const [source] = listed.sources;
    assert.deepEqual(
      [source.name, source.type, source.priority, source.origin, source.problem],
      ['anu', 'qrng-http', 1, 'qrng-device', null],
    );
    assert.equal(source.spent_today.calls, 7);
    assert.deepEqual(source.options.api_key, {
      variable: 'QRN_SOURCE_ANU_API_KEY',
      value: '[secret]',
      from: 'environment',
    });
    assert.deepEqual(
      listed.kinds.map(({ type }: { type: string }) => type),
      BACKENDS.map(({ type }) => type),
    );
    assert.ok(!out.includes('tell-nobody'));
  });

  it('says why the service would refuse a source, and lists it all the same', async () => {
    const free = await qrn(['list', '--json'], { QRN_SOURCE_SIMULATOR_BUDGET_PER_DAY: '1' });
    assert.match(
      free.talk,
      /^source simulator costs nothing: budget_per_day and calls_per_day bound nothing\n$/,
    );
    const paid = {
      QRN_BACKEND: 'anu',
      QRN_SOURCE_ANU_API_KEY: 'k',
      QRN_SOURCE_ANU_PRICE_PER_CALL: '0.01',
    };
    assert.match(
      (await qrn(['list'], paid)).talk,
      /^source anu costs about 0\.1 AUD a lot: say by QRN_SOURCE_ANU_BUDGET_PER_DAY what a day may cost, or none/,
    );
    const tight = await qrn(['list'], { ...paid, QRN_SOURCE_ANU_BUDGET_PER_DAY: '0.09' });
    assert.match(tight.talk, /one lot of anu costs about 0\.1 AUD, more than the 0\.09 of a day/);
    const enough = await qrn(['list'], { ...paid, QRN_SOURCE_ANU_BUDGET_PER_DAY: '0.1' });
    assert.deepEqual([enough.status, enough.talk], [0, '']);
    const few = await qrn(['list'], {
      ...paid,
      QRN_SOURCE_ANU_BUDGET_PER_DAY: 'none',
      QRN_SOURCE_ANU_CALLS_PER_DAY: '9',
    });
    assert.match(few.talk, /^QRN_SOURCE_ANU_CALLS_PER_DAY: one lot of anu takes 10 calls, more than the 9/);
  });
});

describe('qrn sources test', () => {
  it('reads a little of a stream and shows the result', async () => {
    const { status, out, talk } = await qrn(['test', 'simulator', '--json']);
    assert.deepEqual([status, talk], [0, '']);
    const { source, origin, facts, estimate, read } = JSON.parse(out);
    assert.deepEqual([source, origin, estimate], ['simulator', 'simulated', null]);
    assert.equal(facts.qubits, 16);
    assert.deepEqual([read.bits, read.channels, read.shots], [4096, 16, 256]);
    assert.equal(read.ones_share.length, 16);
    // 256 fair shots: seven standard deviations
    for (const share of read.ones_share) assert.ok(Math.abs(share - 0.5) < 7 / 32, String(share));
    assert.match(read.raw_output, /^sha256:[0-9a-f]{64}$/);
    const text = await qrn(['test', 'simulator']);
    assert.match(text.out, /^origin +simulated$/m);
    assert.match(text.out, /^stuck_channels +none$/m);
  });

  it('records a million raw bits for a laboratory, in a new file', async () => {
    const path = join(folder, 'RAW');
    const { status, out } = await qrn(['test', 'simulator', '--raw-out', path, '--json']);
    assert.equal(status, 0);
    const { read } = JSON.parse(out);
    const raw = readFileSync(path);
    assert.deepEqual([read.bits, raw.length], [1_000_000, 125_000]);
    assert.equal(read.raw_output, `sha256:${hash('sha256', raw)}`);
    const again = await qrn(['test', 'simulator', '--raw-out', path]);
    assert.deepEqual([again.status, again.out], [1, '']);
    assert.match(again.talk, /--raw-out: the file cannot be created: EEXIST/);
    assert.deepEqual(readFileSync(path), raw);
    const failing = { QRN_SOURCE_SIMULATOR_FAULTS: 'fail:permanent' };
    const other = join(folder, 'other');
    assert.equal((await qrn(['test', 'simulator', '--raw-out', other], failing)).status, 1);
    assert.ok(!existsSync(other), 'nothing is left of a read that failed');
  });

  it('names stuck channels', async () => {
    const { out } = await qrn(['test', 'simulator'], { QRN_SOURCE_SIMULATOR_FAULTS: 'dead-qubit:3' });
    assert.match(out, /^stuck_channels +3$/m);
  });

  it('asks a service once, for a source that is not in use, and hides its key', async (t) => {
    const { server, environment } = await anu(t);
    const dataDir = join(folder, 'not-made');
    const { status, out, talk } = await qrn(['test', 'anu', '--json'], environment, dataDir);
    assert.deepEqual([status, talk], [0, '']);
    assert.equal(server.requests.length, 1);
    const { read, estimate } = JSON.parse(out);
    assert.equal(estimate.calls, 1);
    assert.ok(read.bits >= 4096);
    assert.equal(read.ones_share.length, 1);
    assert.ok(!out.includes(ANU_KEY));
    assert.ok(!existsSync(dataDir), 'nothing is kept');
  });

  it("charges the day's budget if there is a ledger, and respects it", async (t) => {
    const { server, environment } = await anu(t);
    const dataDir = await withLedgerIn(async () => {});
    const bounded = { ...environment, QRN_SOURCE_ANU_CALLS_PER_DAY: '1' };
    assert.equal((await qrn(['test', 'anu'], bounded, dataDir)).status, 0);
    const ledger = await openTestLedger(join(dataDir, 'ledger'));
    assert.equal((await ledger.spent('anu', DAY)).calls, 1);
    assert.deepEqual(await ledger.lots(1), []);
    await ledger.close();
    const { status, talk } = await qrn(['test', 'anu'], bounded, dataDir);
    assert.equal(status, 1);
    assert.match(
      talk,
      /^qrn sources test: the quota is used up: budget of anu: 1 of 1 calls are spent today/,
    );
    assert.equal(server.requests.length, 1);
  });

  it('reports the kind of failure, and no secret', async (t) => {
    const { environment } = await anu(t);
    const wrong = { ...environment, QRN_SOURCE_ANU_API_KEY: 'tell-nobody' };
    const { status, out, talk } = await qrn(['test', 'anu'], wrong);
    assert.equal(status, 1);
    assert.match(
      out,
      /^quantum_backend +anu-quantum-numbers$/m,
      'what it says of itself is shown all the same',
    );
    assert.match(talk, /^qrn sources test: the credentials are refused: .*403.*\n$/);
    assert.ok(!`${out}${talk}`.includes('tell-nobody'));
    const asJson = JSON.parse((await qrn(['test', 'anu', '--json'], wrong)).out);
    assert.equal(asJson.read, null);
    assert.match(asJson.failure, /^the credentials are refused: /);
    const none = await qrn(['test', 'anu']);
    assert.match(none.talk, /^qrn sources test: source anu \(qrng-http\): api_key must be set/);
    const nobody = await qrn(['test', 'nobody']);
    assert.match(
      nobody.talk,
      /^qrn sources test: nobody is not a known source\. The known sources are: simulator, /,
    );
    assert.deepEqual((await qrn(['test'])).status, 2);
  });

  it('asks for confirmation before it submits a job, shows its state, and has its results deleted', async (t) => {
    const server = await new IbmServer(new ManualClock()).start(t);
    server.hasNoQueue = true;
    const environment = {
      QRN_SOURCE_IBM_API_KEY: server.apiKey,
      QRN_SOURCE_IBM_CRN: server.crn,
      QRN_SOURCE_IBM_DEVICE: server.device.name,
      QRN_SOURCE_IBM_API_URL: `${server.url}/api/v1`,
      QRN_SOURCE_IBM_IAM_URL: server.url,
      QRN_SOURCE_IBM_PRIVATE: 'false',
    };
    const asked = await qrn(['test', 'ibm'], environment);
    assert.equal(asked.status, 1);
    assert.match(asked.out, /^estimate +4096 bits: about \d+(\.\d+)? USD, 1 call$/m);
    assert.match(asked.out, /^origin +quantum-processor$/m);
    assert.equal(asked.talk, 'qrn sources test: nothing was read; use --spend to submit a job\n');
    assert.equal(server.jobs.length, 0);

    const dataDir = await withLedgerIn(async () => {});
    const { status, out, talk } = await qrn(['test', 'ibm', '--spend', '--json'], environment, dataDir);
    assert.equal(status, 0, talk);
    const { read, estimate } = JSON.parse(out);
    const id = read.job_id;
    assert.equal(talk, `job ${id} is submitted; press Ctrl+C to cancel it\njob ${id} done\n`);
    const submissions = server.requests.filter(
      ({ method, path }) => method === 'POST' && path.endsWith('/jobs'),
    );
    assert.equal(submissions.length, 1);
    assert.ok(read.bits >= 4096);
    assert.equal(read.ones_share.length, read.channels);
    assert.deepEqual(server.jobs, [], 'the raw results are deleted');
    assert.ok(!`${out}${talk}`.includes(server.apiKey));
    const ledger = await openTestLedger(join(dataDir, 'ledger'));
    const spent = await ledger.spent('ibm', DAY);
    assert.deepEqual([spent.calls, spent.currency], [1, 'USD']);
    assert.ok(Math.abs(spent.amount - estimate.amount) < 1e-6);
    assert.deepEqual(await ledger.openJobs('ibm'), [], 'no job of the service');
    await ledger.close();
  });

  it('does not advance the position in a file that is read once', async () => {
    const path = join(folder, 'recorded');
    writeFileSync(path, randomFillSync(new Uint8Array(8192)));
    const environment = { QRN_SOURCE_REPLAY_PATH: path, QRN_SOURCE_REPLAY_MIN_ENTROPY: '0.9' };
    const hashes = new Set<string>();
    for (const dataDir of [undefined, await withLedgerIn(async () => {})]) {
      for (let again = 0; again < 2; again++) {
        const { out, talk } = await qrn(['test', 'replay', '--json'], environment, dataDir);
        assert.equal(talk, '');
        hashes.add(JSON.parse(out).read.raw_output);
      }
    }
    assert.equal(hashes.size, 1);
  });
});
