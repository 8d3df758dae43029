// Writes docs/errors.md, docs/tiers.md and the tables of docs/cluster.md and docs/sources.md from the tables of the
// service: `node scripts/write-docs.ts`. With `--check` it writes nothing, and exits with 1 when a page is out of date.
import { readFileSync, writeFileSync } from 'node:fs';
import { errorDocs } from './docs/errors.ts';
import { withSizing } from './docs/sizing.ts';
import { withSourceTables } from './docs/sources.ts';
import { tierDocs } from './docs/tiers.ts';

const isCheck = process.argv.includes('--check');
const PAGES: Readonly<Record<string, (page: string) => string>> = {
  'docs/errors.md': errorDocs,
  'docs/tiers.md': tierDocs,
  'docs/cluster.md': withSizing,
  'docs/sources.md': withSourceTables,
};
for (const [path, made] of Object.entries(PAGES)) {
  const url = new URL(`../${path}`, import.meta.url);
  const page = readFileSync(url, 'utf8');
  const current = made(page);
  if (page === current) continue;
  if (!isCheck) writeFileSync(url, current);
  else {
    process.stdout.write(`${path} is not what the service says: run node scripts/write-docs.ts\n`);
    process.exitCode = 1;
  }
}
