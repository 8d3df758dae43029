// Writes test/vectors/certificate/*.json: `node test/certificate/write-vectors.ts` after a change of the certificate's form,
// which takes a new version and new vectors beside the old ones. Files that are written by hand, as changes of another case,
// stay as they are. `node test/certificate/write-vectors.ts FOLDER` writes the cases that are there into another folder, each
// as a file of its own that holds all of it.
import { writeFileSync } from 'node:fs';
import { verificationCases } from './example.ts';
import { VECTORS, type VerificationCase, vectorFile, writeWholeVectors } from './vectors.ts';

const [, , folder] = process.argv;
if (folder !== undefined) writeWholeVectors(folder);
else {
  const earlier = new Map<string, VerificationCase>();
  for (const [name, each] of await verificationCases()) {
    const content = JSON.stringify(vectorFile(each, earlier), null, 2);
    writeFileSync(new URL(`${name}.json`, VECTORS), `${content}\n`);
    earlier.set(name, each);
  }
}
