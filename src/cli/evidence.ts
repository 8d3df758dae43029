import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import canonicalize from 'canonicalize';
import { checkIdentity, readAnchor } from '../certificate/incarnation.ts';
import { certifiedLot } from '../certificate/lot-leaf.ts';
import { loadSettings } from '../config/config.ts';
import { messageOf } from '../core/assert.ts';
import { concatBytes, utf8Bytes, wipe } from '../core/bytes.ts';
import { fromBase64, toBase64 } from '../crypto/base64.ts';
import { newRecipientKey, open, recipientOf } from '../crypto/sealed-box.ts';
import type { LotRecord } from '../ledger/records.ts';
import { takeFolder } from '../ledger/server-socket.ts';
import { decodeRawShots, rawShotsPath, sealedRawShots } from '../pool/intake/raw-shots.ts';
import { type ReplayedFigure, recomputeLot, replayedFigures } from '../pool/intake/recompute-lot.ts';
import { action, type CommandContext, CommandError, group } from './command.ts';
import { readInputFile, readJson } from './documents.ts';
import { requireFolderLedger, withLedger } from './ledger-access.ts';

const FORMAT = 'qrn raw shots 1';

const keygen = action({
  path: 'evidence keygen',
  summary:
    'Creates the private key that decrypts kept raw shots. Run it on a machine other than the server. Prints the public key for QRN_RAW_RECIPIENT.',
  operands: [{ name: 'FILE', meaning: 'new file for the private key' }],
  run: async ({ operands: [path] }, context) => {
    const key = newRecipientKey();
    writeNew(path, `${toBase64(key)}\n`, 0o600);
    context.out(`${toBase64(recipientOf(key))}\n`);
    wipe(key);
  },
});

const publish = action({
  path: 'evidence publish',
  summary:
    'Writes the raw shots of a lot to a file for publication, so that anyone can recompute the figures of its certificates\n' +
    '(evidence replay). Raw shots reveal every value that pure mode delivered from the lot. Therefore the service must be stopped,\n' +
    'the lot must be used up, and the clients must have been told.',
  operands: [{ name: 'LOT_ID', meaning: 'identifier of the lot: lot_ and 26 characters; see lots list' }],
  options: {
    key: { value: 'FILE', required: true, meaning: 'file with the private key from evidence keygen' },
    out: { value: 'FILE', required: true, meaning: 'new file for the raw shots' },
    revealPureValues: {
      meaning: 'required: confirms that the values delivered in pure mode from this lot may become public',
    },
  },
  run: async ({ key: keyPath, out, revealPureValues, operands: [lotId] }, context) => {
    if (revealPureValues === undefined) {
      throw new CommandError(
        'raw shots reveal every value that pure mode delivered from the lot: add --reveal-pure-values if they may become public',
      );
    }
    const record = await spentLot(lotId, context);
    const folder = join(loadSettings(context.environment).dataDir, 'raw');
    const box = sealedRawShots(folder, lotId);
    if (box === undefined)
      throw new CommandError(
        `there are no raw shots at ${rawShotsPath(folder, lotId)}; the service keeps raw shots only if QRN_RAW_RECIPIENT is set`,
      );
    const key = readKey(keyPath);
    const shots = open(key, box);
    wipe(key);
    if (shots === undefined) throw new CommandError('the key does not decrypt the raw shots of this lot');
    const head = utf8Bytes(`${FORMAT}\n${JSON.stringify(record)}\n`);
    writeNew(out, concatBytes(head, shots));
    context.talk(
      `The raw shots of ${lotId} are written. qrn evidence replay ${out} recomputes its figures.\n`,
    );
  },
});

function writeNew(path: string, content: string | Uint8Array, mode = 0o666): void {
  try {
    writeFileSync(path, content, { mode, flag: 'wx' });
  } catch (error) {
    throw new CommandError(`${path} was not written: ${messageOf(error)}`);
  }
}

/**
 * Returns the record of a lot from which nothing can be delivered any more. Throws a CommandError for any other lot.
 */
async function spentLot(lotId: string, context: CommandContext): Promise<LotRecord> {
  const { dataDir } = loadSettings(context.environment);
  requireFolderLedger(
    context,
    'qrn evidence publish',
    'another node may still have bytes or a seed of the lot',
  );
  // A stopped service holds nothing: the blocks it had claimed are burned, and its seeds are gone.
  const owner = await takeFolder(join(dataDir, 'ledger'), true).catch((error: unknown) => {
    throw new CommandError(
      `${messageOf(error)}: a running service may still have bytes or a seed of the lot`,
    );
  });
  try {
    const { lot, left, identity } = await withLedger(context, async (ledger) => ({
      lot: await ledger.lot(lotId),
      left: await ledger.unclaimedBlocks(lotId),
      identity: await checkIdentity(ledger, join(dataDir, 'ledger'), readAnchor(join(dataDir, 'keys'))),
    }));
    // the original may still deliver blocks that are withdrawn or burned in this copy
    if (identity.kind === 'moved' || identity.kind === 'behind') {
      throw new CommandError(
        `this data folder is not the one that signed last (${identity.reason}), and a service on the original may ` +
          'still deliver bytes of the lot: publish from the original, or see qrn ledger moved and qrn ledger restore',
      );
    }
    if (lot === undefined) throw new CommandError(`there is no lot ${lotId}`);
    if (left > 0) {
      throw new CommandError(
        `${left} blocks of ${lotId} are not delivered yet: publish the lot after they are, or withdraw it with qrn lots revoke`,
      );
    }
    return lot;
  } finally {
    await owner.release();
  }
}

const replay = action({
  path: 'evidence replay',
  summary:
    'Recomputes every figure of a lot from its published raw shots: health tests, SP 800-22, SP 800-90B, evidence, extraction,\n' +
    'conditioned bytes. Exits with status 1 if a figure differs. Needs neither a ledger nor a network.',
  operands: [{ name: 'FILE', meaning: 'file that evidence publish wrote' }],
  options: {
    certificate: {
      value: 'C.json',
      meaning:
        'certificate that names the lot; its statements about the lot are compared too. Verify it with qrn verify',
    },
    json: { meaning: 'print one JSON object' },
  },
  run: async ({ certificate, operands: [path] }, context) => {
    const { record, shots } = parsePublished(new Uint8Array(readInputFile(path)));
    const made = await recomputeLot(record, shots, context.clock);
    const figures = replayedFigures(record, made, shots.read);
    if (certificate !== undefined)
      figures.push(certifiedFigure(certificate, { ...made, finishedAtMs: record.finishedAtMs }));
    const isSame = figures.every(({ isEqual, notShown }) => isEqual || notShown !== undefined);
    if (certificate === undefined)
      context.talk(
        'The figures were compared with the record in the file. Use --certificate to compare them with a certificate.\n',
      );
    context.talk(
      isSame ? 'All figures that raw shots show are equal to the recorded ones.\n' : 'Some figures differ.\n',
    );
    const shown = figures.map((each) => ({ figure: each.name, result: resultOf(each) }));
    return { data: { lot_id: record.id, is_same: isSame, figures }, shown: [shown], status: isSame ? 0 : 1 };
  },
});

function resultOf({ isEqual, notShown, recorded, recomputed }: ReplayedFigure): string {
  if (notShown !== undefined) return `not shown: ${notShown}`;
  if (isEqual) return 'the same';
  return `DIFFERS: recorded ${JSON.stringify(recorded)}, computed ${JSON.stringify(recomputed)}`;
}

/** Compares what the certificate in the file says of the lot with what the raw shots give. */
function certifiedFigure(path: string, made: LotRecord): ReplayedFigure {
  const document = readJson(path) as { lots?: { leaf?: { lot_id?: unknown } }[] };
  const recorded = document.lots?.find(({ leaf }) => leaf?.lot_id === made.id)?.leaf;
  if (recorded === undefined) throw new CommandError(`the certificate does not name the lot ${made.id}`);
  const recomputed = certifiedLot(made).leaf;
  return {
    name: 'the lot in the certificate',
    recorded,
    recomputed,
    isEqual: canonicalize(recorded) === canonicalize(recomputed),
  };
}

function parsePublished(bytes: Uint8Array) {
  const lines = [bytes.indexOf(0x0a)];
  lines.push(bytes.indexOf(0x0a, lines[0] + 1));
  const textOf = (from: number, to: number) => Buffer.from(bytes.subarray(from, to)).toString('utf8');
  try {
    if (textOf(0, lines[0]) !== FORMAT) throw new RangeError(`the first line is not ${FORMAT}`);
    const record = JSON.parse(textOf(lines[0] + 1, lines[1])) as LotRecord;
    return { record, shots: decodeRawShots(bytes.subarray(lines[1] + 1)) };
  } catch (error) {
    throw new CommandError(`the file was not written by evidence publish: ${messageOf(error)}`);
  }
}

function readKey(path: string): Uint8Array<ArrayBuffer> {
  const key = fromBase64(readInputFile(path).toString('utf8').trimEnd());
  if (key?.length !== 32)
    throw new CommandError(`${path} does not contain a private key from evidence keygen`);
  return key;
}

export const evidence = group(
  'qrn evidence',
  'Publishes the raw shots of used-up lots, and recomputes their figures.',
  [keygen, publish, replay],
);
