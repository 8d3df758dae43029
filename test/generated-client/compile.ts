import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';

/** The types that openapi-typescript makes of a document, as the text of a module. */
export async function generatedTypes(document: object): Promise<string> {
  return astToString(await openapiTS(JSON.stringify(document)));
}

/**
 * What a strict compiler says of each module that uses these types as `./api.ts`. It reads the types and its own library once for
 * all of them.
 */
export function complaintsOf(types: string, programs: readonly string[]): string[][] {
  const folder = mkdtempSync(join(tmpdir(), 'qrn-generated-'));
  try {
    writeFileSync(join(folder, 'api.ts'), types);
    const paths = programs.map((_, i) => join(folder, `program-${i}.ts`));
    for (const [i, text] of programs.entries()) writeFileSync(paths[i], text);
    const compiled = ts.createProgram(paths, {
      strict: true,
      noEmit: true,
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      allowImportingTsExtensions: true,
      types: [],
      lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'],
    });
    const complaints = ts.getPreEmitDiagnostics(compiled);
    return paths.map((path) =>
      complaints
        // what is wrong in the types, or in no file, is wrong for every program
        .filter(({ file }) => !paths.some((other) => other !== path && other === file?.fileName))
        .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' ')),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}
