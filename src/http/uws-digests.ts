import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/**
 * The file with the SHA-256 of each reviewed binary of uWebSockets.js. The lock file pins the package when it is installed;
 * `checkUwsBinary` covers the time after that. It finds a binary that was exchanged or damaged on disk, and a package that
 * was replaced without a review. SECURITY.md says what it does not cover. `node scripts/uws-digests.ts` writes the table
 * when the package changes on purpose.
 */
export const UWS_DIGESTS = new URL('uws-digests.json', import.meta.url);

/** The folders in which the repack and the official package keep their binaries. */
const FOLDERS = ['dist/bin', '.'];

/** Returns the folder of the installed package. Throws when it is not installed. */
export function uwsFolder(): string {
  const { resolve } = createRequire(import.meta.url);
  const found = (resolve.paths('uWebSockets.js') ?? [])
    .map((folder) => join(folder, 'uWebSockets.js'))
    .find((folder) => existsSync(join(folder, 'package.json')));
  if (found !== undefined) return found;
  throw new Error('the package uWebSockets.js is not installed: run npm install, or set QRN_FRONT=node');
}

/** Returns the path of a binary of the package, e.g. of `uws_linux_x64_127.node`; undefined when the package does not have it. */
export function uwsBinary(folder: string, name: string): string | undefined {
  return FOLDERS.map((each) => join(folder, each, name)).find((path) => existsSync(path));
}

export function sha256File(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

/**
 * Throws unless the binary that this process would load has the SHA-256 that `digests` records for its name.
 */
export function checkUwsBinary(folder: string, digests: Readonly<Record<string, string>>): void {
  const name = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
  const advice = 'Set QRN_FRONT=node to serve without uWebSockets.js.';
  const path = uwsBinary(folder, name);
  if (path === undefined)
    throw new Error(`uWebSockets.js has no binary ${name} for this platform. ${advice}`);
  const expected = digests[name];
  if (expected === undefined)
    throw new Error(`src/http/uws-digests.json has no entry for ${name}. ${advice}`);
  const found = sha256File(path);
  if (found === expected) return;
  throw new Error(
    `${path} is not the reviewed binary: its SHA-256 is ${found}, and src/http/uws-digests.json records ${expected}. ` +
      `Reinstall the package, or record a new binary with scripts/uws-digests.ts. ${advice}`,
  );
}
