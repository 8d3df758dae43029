// Writes docs/tiers.md from the tables of tiers, prices and limits. Run `node scripts/tier-docs.ts` after changing them.
import { writeFileSync } from 'node:fs';
import { tierDocs } from '../test/support/tier-docs.ts';

writeFileSync(new URL('../docs/tiers.md', import.meta.url), tierDocs());
