// Builds lib/, the content of `npm pack`: the sources without their types, because Node strips none below node_modules.
// The tree below lib/ is that of the repository, so that relative paths between files stay valid. `npm pack` runs this
// before and removes lib/ after.
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const target = join(root, 'lib');
const SOURCES = ['src/**/*.ts', 'clients/typescript/{program,src}/**/*.ts'];
/** Files that the sources read at run time: styles, icons, WebAssembly, digests, scripts of pages, the version. */
const FILES = ['src/**/*.{css,svg,wasm,json,sql}', 'dist/**/*.*', 'package.json'];

rmSync(target, { recursive: true, force: true });
process.removeAllListeners('warning'); // no warning that stripping is experimental
for (const path of SOURCES.flatMap((pattern) => globSync(pattern, { cwd: root }))) {
  const text = stripTypeScriptTypes(readFileSync(join(root, path), 'utf8'));
  const script = join(target, path.replace(/\.ts$/, '.js'));
  mkdirSync(dirname(script), { recursive: true });
  writeFileSync(script, text.replaceAll(/(['"`])(\.{1,2}\/[^'"`\n]*)\.ts\1/g, '$1$2.js$1'));
}
/** The program that npx runs by the package's name: without a command it starts the service. */
const START = `#!/usr/bin/env node
if (process.argv.length === 2) process.argv.push('serve');
await import('./src/main.js');
`;
writeFileSync(join(target, 'start.js'), START);
for (const path of FILES.flatMap((pattern) => globSync(pattern, { cwd: root })))
  cpSync(join(root, path), join(target, path));
