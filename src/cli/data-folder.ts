import { readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { loadSettings, localOrigin } from '../config/config.ts';
import { messageOf } from '../core/assert.ts';
import { makeFolder } from '../core/files.ts';
import { type CommandContext, CommandError, type LocalService } from './command.ts';

/** Root's user id. A folder that a platform mounts may belong to root and be shared by its group. */
const ROOT = 0;

/**
 * Throws a CommandError when the data folder belongs to another user than the effective user of this process: a service
 * that runs as another user cannot use files that root has made. A folder of root without a ledger is not refused; its
 * permissions decide. A missing folder is not checked, and none on Windows, which has no user ids.
 */
export function requireOwnFolder({ environment }: CommandContext): void {
  const { dataDir } = loadSettings(environment);
  const user = process.geteuid?.();
  if (user === undefined) return;
  const ledger = ownerOf(join(dataDir, 'ledger'));
  const owner = ledger ?? ownerOf(dataDir);
  if (owner === undefined || owner === user || (ledger === undefined && owner === ROOT)) return;
  const name = nameOf(owner);
  throw new CommandError(
    `the data folder ${dataDir} belongs to user ${name ?? owner} (id ${owner}), but this command runs as user id ${user}: ` +
      `run it as the owner, e.g. with sudo -u ${name ?? `'#${owner}'`} qrn ...`,
  );
}

/** Makes the folder that the setting or option names, if it is missing. */
export function requireFolder(path: string, setting: string): void {
  try {
    makeFolder(resolve(path));
  } catch (error) {
    throw new CommandError(`${messageOf(error)}; set ${setting} to a folder that can be created`);
  }
}

function ownerOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.uid;
}

/** Returns the user's name from /etc/passwd; undefined when it is not there. */
function nameOf(user: number): string | undefined {
  let list: string;
  try {
    list = readFileSync('/etc/passwd', 'utf8');
  } catch {
    return undefined; // the id alone is enough for sudo
  }
  const lines = list.split('\n').map((line) => line.split(':'));
  return lines.find((fields) => fields[2] === String(user))?.[0];
}

/** Returns the service on this machine that these settings describe. */
export function localService(environment: Readonly<Record<string, string | undefined>>): LocalService {
  const settings = loadSettings(environment);
  const { baseUrl, verifyUrlBase, dataDir } = settings;
  return {
    apiUrl: baseUrl ?? `${localOrigin(settings, settings.port)}/v1`,
    isNamed: baseUrl !== null || verifyUrlBase !== null,
    verifyUrlBase,
    demoKey: () => {
      try {
        return readFileSync(join(dataDir, 'demo-key'), 'utf8').trim();
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
    },
  };
}
