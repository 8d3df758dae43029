import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What record-secrets.ts records. */
const SECRET_KINDS = [
  'quantum seed',
  'claimed pure block',
  'system entropy of a seed',
  /** The next key has taken its place. */
  'used state of a generator',
  'used one-time key',
  'certificate-id key',
  'block or answer key',
  /** Nobody's secrets, planted where a leak would be. */
  'canary in memory',
  'canary on the heap',
  'canary in the log',
  'canary in the data folder',
] as const;
export type SecretKind = (typeof SECRET_KINDS)[number];

export interface SecretRecord {
  readonly kind: SecretKind;
  readonly bytes: Buffer;
}

/** kind, length, bytes with every bit turned over. */
export function encodeSecretRecord(kind: SecretKind, secret: Uint8Array): Buffer {
  const record = Buffer.alloc(2 + secret.length);
  record[0] = SECRET_KINDS.indexOf(kind);
  record[1] = secret.length;
  for (let i = 0; i < secret.length; i++) record[2 + i] = ~secret[i];
  return record;
}

/** The records of all processes and threads, each secret once. */
export function readSecrets(directory: string): SecretRecord[] {
  const known = new Map<string, SecretRecord>();
  for (const name of readdirSync(directory).filter((each) => each.startsWith('secrets-'))) {
    for (const record of recordsIn(readFileSync(join(directory, name)))) {
      known.set(`${record.kind} ${record.bytes.toString('hex')}`, record);
    }
  }
  return [...known.values()];
}

function* recordsIn(content: Buffer): Generator<SecretRecord> {
  for (let at = 0; at + 2 <= content.length; ) {
    const end = at + 2 + content[at + 1];
    if (end > content.length) return; // half of the last record of a killed process
    yield {
      kind: SECRET_KINDS[content[at]],
      bytes: Buffer.from(content.subarray(at + 2, end).map((byte) => ~byte)),
    };
    at = end;
  }
}

/** record-secrets.ts makes this file when all heap snapshots are there. */
export const SNAPSHOTS_DONE = 'snapshots-done';

/** Paths of heap snapshots by thread. */
export async function snapshotsIn(directory: string): Promise<ReadonlyMap<string, string>> {
  for (let tries = 0; !existsSync(join(directory, SNAPSHOTS_DONE)); tries++) {
    if (tries === 600) throw new Error('no heap snapshots within a minute');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return new Map(
    readdirSync(directory)
      .filter((name) => name.endsWith('.heapsnapshot'))
      .map((name) => [name.split('.')[0], join(directory, name)]),
  );
}
