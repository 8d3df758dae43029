import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { openApiDocument } from '../../src/http/openapi/document.ts';
import { complaintsOf, generatedTypes } from '../generated-client/compile.ts';

const program = readFileSync(new URL('../generated-client/program.txt', import.meta.url), 'utf8');

describe('types generated from the OpenAPI document', () => {
  let sound: readonly string[];
  let wrong: readonly string[];
  before(async () => {
    const flawed = program.replace("sort: 'none'", "sort: 'sideways'");
    assert.notEqual(flawed, program);
    const document = openApiDocument({ baseUrl: 'https://qrn.example/v1', version: '1.2.3' });
    [sound, wrong] = complaintsOf(await generatedTypes(document), [program, flawed]);
  });

  it('compile, with a client written against them', () => {
    assert.deepEqual(sound, []);
  });

  it('refuse a client that asks for what the document does not have', () => {
    assert.match(wrong.join(), /sideways/);
  });
});
