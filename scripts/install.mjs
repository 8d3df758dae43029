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

const current = existsSync(stampPath) && readFileSync(stampPath, 'utf8') === locked();
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
