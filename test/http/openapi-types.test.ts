import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { openApiDocument } from '../../src/http/openapi/document.ts';
import { complaintsOf, generatedTypes } from '../generated-client/compile.ts';

const program = readFileSync(new URL('../generated-client/program.txt', import.meta.url), 'utf8');

describe('types generated from the OpenAPI document', () => {
  let types = '';
  before(async () => {
    types = await generatedTypes(openApiDocument({ baseUrl: 'https://qrn.example/v1', version: '1.2.3' }));
  });

  it('compile, with a client written against them', () => {
    assert.deepEqual(complaintsOf(types, program), []);
  });

  it('refuse a client that asks for what the document does not have', () => {
    const flawed = program.replace("sort: 'none'", "sort: 'sideways'");
    assert.notEqual(flawed, program);
    assert.match(complaintsOf(types, flawed).join(), /sideways/);
  });
});
