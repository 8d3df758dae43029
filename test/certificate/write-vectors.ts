// `node test/certificate/write-vectors.ts FOLDER` writes each case of test/vectors/certificate as a file of its own that
// holds all of it; without a FOLDER, what the verifiers say now of changed documents (said.ts) in the place of what they are to say.
import { writeFileSync } from 'node:fs';
import { SAID, saidFile } from './said.ts';
import { writeWholeVectors } from './vectors.ts';

const [, , folder] = process.argv;
if (folder !== undefined) writeWholeVectors(folder);
else for (const [name, say] of Object.entries(SAID)) writeFileSync(saidFile(name), await say());
