import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';

/** The types that openapi-typescript makes of a document, as the text of a module. */
export async function generatedTypes(document: object): Promise<string> {
  return astToString(await openapiTS(JSON.stringify(document)));
}

/** What a strict compiler says of a program of these types and of a module that uses them as `./api.ts`. */
export function complaintsOf(types: string, program: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'qrn-generated-'));
  try {
    const files = { 'api.ts': types, 'program.ts': program };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const compiled = ts.createProgram([join(folder, 'program.ts')], {
      strict: true,
      noEmit: true,
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      allowImportingTsExtensions: true,
      types: [],
      lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'],
    });
    return ts
      .getPreEmitDiagnostics(compiled)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
