// Installs what the lock file names when node_modules does not match it; otherwise costs a few milliseconds.
// Plain JavaScript on purpose: it runs on whatever Node the machine has, before the locked Node 22 is there.
// `npm install`, not `npm ci`, which would remove what is there first: tools are added to an installation without them.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
// Only tests, benchmarks and builds need the development tools.
const needsTools = !['prestart', 'preqrn'].includes(process.env.npm_lifecycle_event ?? '');

/** What npm wrote down of its last install holds each package that is needed, in its locked version. */
function isInstalled() {
  const installedPath = `${root}node_modules/.package-lock.json`;
  if (!existsSync(installedPath)) return false;
  const packagesOf = (path) => JSON.parse(readFileSync(path, 'utf8')).packages;
  const installed = packagesOf(installedPath);
  return Object.entries(packagesOf(`${root}package-lock.json`))
    .filter(([path, { dev, link }]) => path.startsWith('node_modules/') && !link && (needsTools || !dev))
    .every(([path, { version, optional, devOptional }]) => {
      // what is for another platform is not there
      return (installed[path]?.version ?? (optional || devOptional ? version : undefined)) === version;
    });
}

if (!isInstalled()) {
  process.stderr.write(`installing the locked packages${needsTools ? ' with the tools' : ''} (once) ...\n`);
  // The native code that the service loads comes built for each platform of the locked Node, so no package's script is run
  // for it; the PostgreSQL of the tests needs its own.
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
