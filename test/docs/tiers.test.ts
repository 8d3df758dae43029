import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { tierDocs } from '../support/tier-docs.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

describe('the tables of tiers', () => {
  it('are those of the service in docs/tiers.md (node scripts/tier-docs.ts writes it)', () => {
    assert.equal(read('docs/tiers.md'), tierDocs());
  });
});
