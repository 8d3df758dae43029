// Writes docs/errors.md from the one error table. `node scripts/error-docs.ts` after changing src/core/errors.ts.
import { writeFileSync } from 'node:fs';
import { errorDocs } from '../test/support/error-docs.ts';

writeFileSync(new URL('../docs/errors.md', import.meta.url), errorDocs());
