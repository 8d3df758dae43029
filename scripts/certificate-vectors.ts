// Writes test/vectors/certificate/*.json: `node scripts/certificate-vectors.ts` after a change of the certificate's form,
// which takes a new version and new vectors beside the old ones.
import { writeFileSync } from 'node:fs';
import { verificationCases } from '../test/certificate/example.ts';

for (const { name, ...members } of await verificationCases()) {
  const path = new URL(`../test/vectors/certificate/${name}.json`, import.meta.url);
  writeFileSync(path, `${JSON.stringify(members, null, 2)}\n`);
}
