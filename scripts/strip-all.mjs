// Strips the types of every source in advance, for a service that may not write to its own software.
import { globSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { SOURCE_FOLDERS, stripped } from './stripped.mjs';

for (const root of SOURCE_FOLDERS.map((folder) => fileURLToPath(folder)))
  for (const path of globSync('**/*.ts', { cwd: root })) stripped(pathToFileURL(root + path).href);
