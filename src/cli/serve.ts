import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { createAccount, createKey } from '../account/administration.ts';
import { parseKey } from '../account/api-keys.ts';
import { DEMO_ACCOUNT_NAME, DEMO_KEY_LIFE_MS } from '../account/directory.ts';
import { TIER_ALLOWANCES } from '../account/tiers.ts';
import type { Config } from '../config/config.ts';
import { loadConfig } from '../config/sources.ts';
import { messageOf } from '../core/assert.ts';
import { type Clock, GuardedClock } from '../core/clock.ts';
import { createLog, type Log } from '../core/log.ts';
import type { Directory } from '../ledger/ledger.ts';
import { freeBytesOf } from '../ledger/lmdb/data-file.ts';
import { awayFailure } from '../ledger/postgres/failure.ts';
import { type Service, startService } from '../service/service.ts';
import { action, CommandError, stopped } from './command.ts';
import { requireFolder, requireOwnFolder } from './data-folder.ts';

/** The service exits this long after SIGTERM even if it has not finished stopping. */
const STOP_DEADLINE_MS = 4_500;
const DEMO_KEY_FILE = 'demo-key';
const DEMO_TIER = 'pro';

export const serve = action({
  path: 'serve',
  summary: 'Starts the service and runs until SIGTERM or SIGINT.',
  options: { noDemo: { meaning: 'do not create a demo account, and end the key of an existing one' } },
  async run({ noDemo }, context) {
    const config = loadConfig(context.environment, availableParallelism());
    requireOwnFolder(context);
    requireRoom(config);
    const log = createLog(config);
    for (const { name, warnings } of config.sources) {
      for (const warning of warnings) log.warn({ source: name }, warning);
    }
    const stopping = stopped(context.interruption());
    const { service, key } = await startWithDemo(config, log, context.clock, !noDemo).catch(
      (error: unknown) => {
        throw config.ledger === '' ? error : awayFailure(error, config.ledger);
      },
    );
    context.out(`listening on ${service.baseUrl}, gathering entropy\n\n`);
    const started = await Promise.race([
      service.ready.then(() => true),
      stopping.then(() => false),
      service.failed,
    ]).catch((error: unknown) => fatal(error, log));
    if (started) {
      if (key !== undefined) context.out(introduction(key, service.baseUrl));
      context.out(`ready ${service.baseUrl}\n`);
    }
    await Promise.race([stopping, service.failed]).catch((error: unknown) => fatal(error, log));
    log.info({}, 'stopping');
    const deadline = setTimeout(() => {
      log.error(
        { deadlineMs: STOP_DEADLINE_MS },
        'the service did not stop in time and exits; what was acknowledged is stored, and the next start audits the ledger',
      );
      process.exit(1);
    }, STOP_DEADLINE_MS);
    await service.stop();
    clearTimeout(deadline);
    log.info({}, 'stopped');
  },
});

/**
 * With less room LMDB cannot make a ledger: on a full disk it ends the process or reports an I/O error that names no
 * file.
 */
const ROOM_MIN_BYTES = 1024 * 1024;

function requireRoom({ dataDir, ledger }: Config): void {
  const path = join(dataDir, 'ledger');
  if (existsSync(join(path, 'data.mdb'))) return; // an existing ledger can be read, and the service itself reports that the disk is full
  requireFolder(ledger === '' ? path : dataDir, 'QRN_DATA_DIR');
  if (freeBytesOf(dataDir) >= ROOM_MIN_BYTES) return;
  throw new CommandError(
    `the disk of the data folder ${dataDir} is full: free some space, or set QRN_DATA_DIR to a folder on another disk`,
  );
}

/**
 * Starts the service and renews or makes the demo key. Returns the key when it is new. Stops the service when that
 * fails.
 */
async function startWithDemo(
  config: Config,
  log: Log,
  clock: Clock,
  isWanted: boolean,
): Promise<{ service: Service; key: string | undefined }> {
  const service = await startService(config, log, { clock: new GuardedClock(clock) });
  try {
    await renewDemoKey(service.ledger, config.dataDir, clock, isWanted);
    const key = isWanted ? await demoKey(service.ledger, config.dataDir, clock) : undefined;
    return { service, key };
  } catch (error) {
    await service.stop();
    throw error;
  }
}

/**
 * Ends the process at once. Everything that was acknowledged is durable, and the next start audits the ledger; going on
 * could only add damage.
 */
function fatal(error: unknown, log: Log): never {
  log.error(
    { reason: messageOf(error) },
    'the ledger failed: the service exits at once, and the next start audits the ledger',
  );
  process.exit(1);
}

/** Returns the text that shows a new demo key: its limits, a curl line that works when pasted, and where to read on. */
function introduction(key: string, baseUrl: string): string {
  const { requestsPerMinute, requestsPerMonth, creditsPerMonth } = TIER_ALLOWANCES[DEMO_TIER];
  const [minute, month, credits] = [requestsPerMinute, requestsPerMonth, creditsPerMonth].map((each) =>
    each.toLocaleString('en'),
  );
  const { origin } = new URL(baseUrl);
  return (
    `demo key ${key}\n` +
    `tier ${DEMO_TIER}: ${minute} requests per minute, ${month} requests and ${credits} bytes of pure mode per month; valid for one day\n\n` +
    `  curl -H 'Authorization: Bearer ${key}' '${baseUrl}/integers?count=10&min=1&max=6'\n\n` +
    `Documentation:  ${origin}/docs\n` +
    `Start page:     ${origin}/\n` +
    `More accounts:  qrn accounts create (in this folder: npm run -s qrn -- accounts create --help)\n\n`
  );
}

/** Makes the demo account and the file of its key, and returns the key. Does nothing when there are accounts. */
async function demoKey(directory: Directory, dataDir: string, clock: Clock): Promise<string | undefined> {
  if ((await directory.accounts()).length > 0) return undefined;
  const account = await createAccount(directory, clock, { name: DEMO_ACCOUNT_NAME, tier: DEMO_TIER });
  const expiresAtMs = clock.wallMs() + DEMO_KEY_LIFE_MS;
  const key = await createKey(directory, clock, { accountId: account.id, expiresAtMs });
  const path = join(dataDir, DEMO_KEY_FILE);
  writeFileSync(path, `${key.text}\n`, { mode: 0o600 });
  chmodSync(path, 0o600); // for a file that existed with other permissions
  return key.text;
}

/** Extends the demo key by a day, or ends it when the demo is not wanted. A revoked key stays revoked. */
async function renewDemoKey(
  directory: Directory,
  dataDir: string,
  clock: Clock,
  isWanted: boolean,
): Promise<void> {
  const path = join(dataDir, DEMO_KEY_FILE);
  if (!existsSync(path)) return;
  const keyId = parseKey(readFileSync(path, 'utf8').trim())?.keyId;
  const key = (await directory.keys()).find((each) => each.keyId === keyId);
  if (key === undefined || key.revokedAtMs !== null) return;
  await directory.putKey({ ...key, expiresAtMs: clock.wallMs() + (isWanted ? DEMO_KEY_LIFE_MS : 0) });
}
