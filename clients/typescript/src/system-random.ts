/**
 * The system's random generator. It makes the jitter of retries and Idempotency-Keys, never a value: those come only
 * from the service.
 */
type SystemRandom = Pick<typeof globalThis.crypto, 'getRandomValues'>;

const WORDS = 2 ** 32;

/** Returns a uniform number in [0, 1). */
export async function randomFraction(): Promise<number> {
  const word = (await systemRandom()).getRandomValues(new Uint32Array(1))[0] as number;
  return word / WORDS;
}

/** Returns 32 random hex digits. Does not use crypto.randomUUID, which pages loaded over plain http do not have. */
export async function randomKey(): Promise<string> {
  const bytes = (await systemRandom()).getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

async function systemRandom(): Promise<SystemRandom> {
  const known = (globalThis as { crypto?: SystemRandom }).crypto;
  if (known !== undefined) return known;
  // Node 18 has no global `crypto`. The module's name is in a variable so that bundlers for browsers do not look for
  // it.
  const moduleName: string = 'node:crypto';
  const { webcrypto } = (await import(/* webpackIgnore: true */ /* @vite-ignore */ moduleName)) as {
    webcrypto: SystemRandom;
  };
  return webcrypto;
}
