// Strips the types of every source beforehand, for a service that may not write to its own software.
import { globSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { stripped } from './stripped.mjs';

const root = fileURLToPath(new URL('../src/', import.meta.url));
for (const path of globSync('**/*.ts', { cwd: root })) stripped(pathToFileURL(root + path).href);
