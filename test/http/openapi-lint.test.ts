import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { openApiDocument } from '../../src/http/openapi/document.ts';

const source = JSON.stringify(openApiDocument({ baseUrl: 'https://qrn.example/api/v1', version: '1.2.3' }));

/** Redocly's recommended rules: what a public API's document is expected to be. */
async function problemsOf(text: string): Promise<string[]> {
  const config = await createConfig({
    extends: ['recommended'],
    rules: {
      'operation-4xx-response': 'off', // the document itself, pages and /readyz have no client error of their own
    },
  });
  const problems = await lintFromString({ source: text, config });
  return problems.map(({ ruleId, severity, message, location }) => {
    return `${severity} ${ruleId}: ${message} at ${location[0]?.pointer ?? '?'}`;
  });
}

describe('the OpenAPI document', () => {
  it('passes Redocly’s recommended rules', async () => {
    assert.deepEqual(await problemsOf(source), []);
  });

  it('would fail with a parameter that its path does not have', async () => {
    const flawed = source.replace('"/livez":', '"/livez/{id}":');
    const problems = await problemsOf(flawed);
    assert.ok(problems.some((each) => each.includes('path-parameters-defined')));
  });
});
