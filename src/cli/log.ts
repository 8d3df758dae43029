import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { LOG_COMMANDS } from '../../clients/typescript/program/log.ts';
import { logOf, newestStateOf, readAnchor } from '../certificate/incarnation.ts';
import { openCertificates } from '../certificate/open.ts';
import { readCheckpoint } from '../certificate/signed-checkpoint.ts';
import { loadSettings } from '../config/config.ts';
import { messageOf } from '../core/assert.ts';
import { toBase64 } from '../crypto/base64.ts';
import { type PublishedKey, rotateLogKeys } from '../crypto/key-files.ts';
import { plainSignatures } from '../crypto/note.ts';
import { action, type CommandContext, CommandError, group } from './command.ts';
import { requireOwnFolder } from './data-folder.ts';
import { asServer, withLedger, withLedgerIfAny } from './ledger-access.ts';

const show = action({
  path: 'log show',
  summary: 'Shows the state of the transparency log: its size, its root hash and the keys that signed it.',
  options: { json: { meaning: 'print one JSON object: origin, size, root, signed_by, checkpoint' } },
  run: async (_input, context) => {
    const stored = await withLedger(context, newestStateOf);
    if (stored === undefined)
      throw new CommandError('there is no log yet; the service creates it when it starts');
    const { note, checkpoint } = readCheckpoint(stored.checkpoint);
    const shown = {
      origin: checkpoint.origin,
      size: checkpoint.size,
      root: toBase64(checkpoint.root),
      signed_by: plainSignatures(note).map(({ keyId }) => keyId),
    };
    return { data: { ...shown, checkpoint: stored.checkpoint }, shown: [shown] };
  },
});

const rotateKey = action({
  path: 'log rotate-key',
  summary:
    'Creates a new key for the log and destroys the private key of the old one. The old public key stays published, so that its\n' +
    'signatures can still be verified. A running service signs with the old key until you restart it. Both keys sign the first\n' +
    'checkpoint after the restart. If several nodes share the log, run the command on one node, copy its folder keys to the others,\n' +
    'and restart all nodes one after another. A node without the new key cannot sign after another node has signed with it.',
  options: { json: { meaning: 'print one JSON object: key_id, verifier_key, created_at, replaces' } },
  irreversible: async (_input, context) =>
    `This creates a new key for the log and destroys the old private key in ${keysFolder(context)}.`,
  run: async (_input, context) => {
    const config = loadSettings(context.environment);
    const keysPath = keysFolder(context);
    await withLedgerIfAny(context, async () => {}); // refuses the folder of a newer version
    await sealRest(context);
    const { directory, origin } = logOf(keysPath, config.logName, readAnchor(keysPath)?.incarnation ?? 0);
    const { published } = rotateLogKeys(directory, origin, context.clock);
    const [old, current] = published.slice(-2) as [PublishedKey, PublishedKey];
    context.talk(
      config.ledger === ''
        ? 'Restart the service. Until then it signs with the old key.\n'
        : `Copy ${keysPath} to every other node, then restart all nodes one after another. A node without the new key cannot sign and does not start.\n`,
    );
    return {
      data: {
        key_id: current.key_id,
        verifier_key: current.verifier_key,
        created_at: current.created_at,
        replaces: old.key_id,
      },
    };
  },
});

export const log = group(
  'qrn log',
  'Shows the transparency log, rotates its key, and watches a log from outside.',
  [show, rotateKey, ...LOG_COMMANDS],
);

/**
 * Logs what a killed service has not logged yet, so that the current key signs it: verifiers refuse a certificate that
 * is older than the key that signed it. A running service does the same when it stops. Where the key is lost or the
 * ledger is damaged, this fails, and the new key signs these certificates, which verifiers then refuse.
 */
async function sealRest(context: CommandContext): Promise<void> {
  try {
    await asServer(context, async (folders) => {
      // a quorum that no witness can reach, because only the service may release lots
      const { log: opened } = await openCertificates({ ...folders, witnesses: { witnesses: [], quorum: 1 } });
      await opened?.sealAll();
    });
  } catch (error) {
    const why = messageOf(error);
    context.talk(`Certificates that are not logged yet will be logged by the service with its key: ${why}\n`);
  }
}

/**
 * Returns the folder of the log's keys. Throws a CommandError when it is missing or another user owns the data folder.
 */
function keysFolder(context: CommandContext): string {
  const { dataDir } = loadSettings(context.environment);
  const path = join(dataDir, 'keys');
  if (!existsSync(path))
    throw new CommandError(
      `there are no keys in ${path}: set QRN_DATA_DIR to the data folder of the service, which creates them when it starts`,
    );
  requireOwnFolder(context);
  return path;
}
