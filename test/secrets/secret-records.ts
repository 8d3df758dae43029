import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../support/server.ts';

/** The kinds of secrets that record-secrets.ts records. A canary is not a secret, but planted where a leak would be. */
export type SecretKind =
  | 'quantum seed'
  | 'claimed pure block'
  | 'system entropy of a seed'
  /** The next key has taken its place. */
  | 'used state of a generator'
  | 'used one-time key'
  | 'certificate-id key'
  | 'block or answer key'
  | `canary ${'in memory' | 'on the heap' | 'in the log' | 'in the data folder'}`;

interface SecretRecord {
  readonly kind: SecretKind;
  readonly bytes: Buffer;
}

/** The records of all processes and threads, each secret once: a line has its kind and its bytes in hex, every bit turned over. */
export function readSecrets(directory: string): SecretRecord[] {
  const names = readdirSync(directory).filter((each) => each.startsWith('secrets-'));
  // behind the last end of a line is what a killed process has not written in full
  const lines = names.flatMap((name) => readFileSync(join(directory, name), 'utf8').split('\n').slice(0, -1));
  return [...new Set(lines)].map((line) => {
    const [kind, hex] = line.split('\t');
    return { kind: kind as SecretKind, bytes: Buffer.from(Buffer.from(hex, 'hex').map((byte) => ~byte)) };
  });
}

/** record-secrets.ts makes this file when all heap snapshots are there. */
const SNAPSHOTS_DONE = 'snapshots-done';

/** Paths of heap snapshots by thread. */
export async function snapshotsIn(directory: string): Promise<ReadonlyMap<string, string>> {
  await until('heap snapshots', () => existsSync(join(directory, SNAPSHOTS_DONE)));
  return new Map(
    readdirSync(directory)
      .filter((name) => name.endsWith('.heapsnapshot'))
      .map((name) => [name.split('.')[0], join(directory, name)]),
  );
}
