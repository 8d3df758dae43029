// Installs what the lock file names when node_modules does not match it; otherwise costs a few milliseconds.
// Plain JavaScript on purpose: it runs on whatever Node the machine has, before the locked Node 22 is there.
// `npm install`, not `npm ci`: a lock file written where a registry lacks some platform's optional packages
// does not list those, and `npm ci` then refuses it.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const stampPath = `${root}node_modules/.qrn-installed`;
const locked = () =>
  createHash('sha256')
    .update(readFileSync(`${root}package-lock.json`))
    .update(readFileSync(`${root}package.json`))
    .digest('hex');

// `npm install --omit=dev` is a whole installation of the service and of its commands; only tests and builds need more.
const needsNoTools = ['prestart', 'preqrn'].includes(process.env.npm_lifecycle_event ?? '');
const current =
  (existsSync(stampPath) && readFileSync(stampPath, 'utf8') === locked()) ||
  (needsNoTools && hasLockedPackages());

/** What npm wrote down of its last install holds each package that the service needs, in its locked version. */
function hasLockedPackages() {
  const installedPath = `${root}node_modules/.package-lock.json`;
  if (!existsSync(installedPath)) return false;
  const packagesOf = (path) => JSON.parse(readFileSync(path, 'utf8')).packages;
  const installed = packagesOf(installedPath);
  return Object.entries(packagesOf(`${root}package-lock.json`))
    .filter(
      ([path, { dev, optional, devOptional, link }]) =>
        path.startsWith('node_modules/') && !(dev || optional || devOptional || link),
    )
    .every(([path, { version }]) => installed[path]?.version === version);
}

if (!current) {
  process.stderr.write('installing the locked packages (once) ...\n');
  const args = ['install', '--no-audit', '--no-fund', '--loglevel=error'];
  const ran = spawnSync('npm', args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (ran.error || ran.status !== 0) {
    process.stderr.write(`install failed${ran.error ? `: ${ran.error.message}` : ''}\n`);
    process.exit(1);
  }
  writeFileSync(stampPath, locked());
}
