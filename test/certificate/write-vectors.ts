// `node test/certificate/write-vectors.ts FOLDER` writes each case of test/vectors/certificate as a file of its own that
// holds all of it.
import { writeWholeVectors } from './vectors.ts';

writeWholeVectors(process.argv[2]);
