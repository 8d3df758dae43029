import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { concatBytes, utf8Bytes } from '../../core/bytes.ts';
import type { Clock } from '../../core/clock.ts';
import { fromBase64 } from '../../crypto/base64.ts';
import { sha256Hex } from '../../crypto/digest.ts';
import { openLogKeys, openSecretFile, publishedKeys } from '../../crypto/key-files.ts';
import { LedgerError } from '../ledger.ts';
import type { Database } from './connection.ts';

/** The secrets that must be the same on every node, and what would go wrong if they differed. */
const SECRETS = {
  'certificate-ids': 'nodes would give certificates ids that the others cannot read',
  'stored-answers': 'nodes could not open the answers that the others keep for an Idempotency-Key',
} as const;
/** The public half of the log's first key. The log itself vouches for later keys. */
const LOG_KEY = 'log-1.json';

type Fingerprints = Readonly<Record<string, string>>;

const READ = { name: 'secrets_read', text: 'SELECT fingerprints FROM qrn.meta' };
const CLAIM = {
  name: 'secrets_claim',
  text: "UPDATE qrn.meta SET fingerprints = $1 WHERE fingerprints = '{}'",
};

export interface SharedSecretsOptions {
  readonly database: Database;
  /** The folder of the node's secrets. */
  readonly keysPath: string;
  readonly logName: string;
  readonly clock: Clock;
}

/**
 * Makes sure that this node has the same secrets as all other nodes, by fingerprints in PostgreSQL. The first node makes the
 * secrets and writes the fingerprints. Throws `unusable` on a node that lacks a secret or has a different one.
 */
export async function agreeOnSecrets(options: SharedSecretsOptions): Promise<void> {
  const { database, keysPath, logName, clock } = options;
  let known = await fingerprintsIn(database);
  if (known === undefined) {
    for (const name of Object.keys(SECRETS)) openSecretFile(join(keysPath, name));
    if (publishedKeys(keysPath, logName).length === 0) openLogKeys(keysPath, logName, clock);
    await database.run(CLAIM, [JSON.stringify(fingerprintsOf(keysPath, logName))]);
    known = await fingerprintsIn(database); // another node may have been faster
  }
  const missing = [...Object.keys(SECRETS), LOG_KEY].find((name) => !existsSync(join(keysPath, name)));
  if (missing !== undefined) throw refusal(keysPath, `${missing} is missing from ${keysPath}`);
  const own = fingerprintsOf(keysPath, logName);
  for (const [name, fingerprint] of Object.entries(own)) {
    if (known?.[name] === fingerprint) continue;
    const why = SECRETS[name as keyof typeof SECRETS] ?? 'nodes would sign two logs';
    throw refusal(keysPath, `${join(keysPath, name)} is not the one that the other nodes have: ${why}`);
  }
}

async function fingerprintsIn(database: Database): Promise<Fingerprints | undefined> {
  const [{ fingerprints }] = await database.run<{ fingerprints: Fingerprints }>(READ);
  return Object.keys(fingerprints).length === 0 ? undefined : fingerprints;
}

function fingerprintsOf(keysPath: string, logName: string): Fingerprints {
  const of = (name: string, bytes: Uint8Array) => sha256Hex(concatBytes(utf8Bytes(`qrn ${name}\n`), bytes));
  const secrets = Object.keys(SECRETS).map((name) => [name, of(name, openSecretFile(join(keysPath, name)))]);
  const [first] = publishedKeys(keysPath, logName);
  const logKey = fromBase64(first.public_key) ?? new Uint8Array(0);
  return Object.fromEntries([...secrets, [LOG_KEY, of(LOG_KEY, logKey)]]);
}

function refusal(keysPath: string, what: string): LedgerError {
  return new LedgerError(
    'unusable',
    `${what}. All nodes share one set of secrets: stop this node and replace ${keysPath} with a copy of the folder keys ` +
      'of a node that serves',
  );
}
