// Installs the packages of the lock file when node_modules does not match it; otherwise it takes a few milliseconds.
// It is plain JavaScript because it runs on any Node of the machine, before the locked Node 22 is there.
// It calls `npm install`, not `npm ci`, because `npm ci` would remove an installation before adding the tools to it.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
// Only tests, benchmarks and builds need the development tools.
const needsTools = !['prestart', 'preqrn'].includes(process.env.npm_lifecycle_event ?? '');

/** Tells whether npm's record of its last install contains each needed package in its locked version. */
function isInstalled() {
  const installedPath = `${root}node_modules/.package-lock.json`;
  if (!existsSync(installedPath)) return false;
  const packagesOf = (path) => JSON.parse(readFileSync(path, 'utf8')).packages;
  const installed = packagesOf(installedPath);
  return Object.entries(packagesOf(`${root}package-lock.json`))
    .filter(([path, { dev, link }]) => path.startsWith('node_modules/') && !link && (needsTools || !dev))
    .every(([path, { version, optional, devOptional }]) => {
      // Packages for other platforms are not installed.
      return (installed[path]?.version ?? (optional || devOptional ? version : undefined)) === version;
    });
}

if (!isInstalled()) {
  process.stderr.write(`installing the locked packages${needsTools ? ' with the tools' : ''} (once) ...\n`);
  // The native code that the service loads is prebuilt for each platform of the locked Node, so it needs no package's
  // script; the PostgreSQL of the tests does.
  const fewer = needsTools ? [] : ['--omit=dev', '--ignore-scripts'];
  const args = ['install', ...fewer, '--no-audit', '--no-fund', '--loglevel=error'];
  const ran = spawnSync('npm', args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (ran.error || ran.status !== 0) {
    process.stderr.write(`install failed${ran.error ? `: ${ran.error.message}` : ''}\n`);
    process.exit(1);
  }
}
