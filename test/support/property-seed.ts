// Preloaded by test/run.ts: all properties of all files have one seed. It is fixed, so that a property finds in a file that
// runs alone what it finds in the whole run; the night run gives another one (QRN_TEST_SEED).
import fc from 'fast-check';

const FIXED_SEED = 20_261_126;

/** The seed of this run, for tests that make up their own inputs too. */
export const TEST_SEED = Number(process.env['QRN_TEST_SEED'] ?? FIXED_SEED);

fc.configureGlobal({ seed: TEST_SEED });
