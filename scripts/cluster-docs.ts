// Writes the tables of docs/cluster.md from the model in test/support/cluster-sizing.ts. Run `node scripts/cluster-docs.ts` after
// changing it.
import { readFileSync, writeFileSync } from 'node:fs';
import { withSizing } from '../test/support/cluster-sizing.ts';

const page = new URL('../docs/cluster.md', import.meta.url);
writeFileSync(page, withSizing(readFileSync(page, 'utf8')));
