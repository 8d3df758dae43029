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
    'Makes the key that opens kept raw shots, for a machine that is not the server. Prints what QRN_RAW_RECIPIENT takes.',
  operands: [{ name: 'FILE', meaning: 'where the private key goes; it must not exist' }],
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
    'Writes the raw shots of a lot to a file that may be published, so that anybody can compute the figures of its\n' +
    'certificates again (evidence replay). Raw shots give every value that pure mode delivered from the lot: the service must\n' +
    'be stopped, nothing of the lot may be left to deliver, and the clients must know.',
  operands: [{ name: 'LOT_ID', meaning: 'lot_ and 26 characters; see lots list' }],
  options: {
    key: { value: 'FILE', required: true, meaning: 'the private key that evidence keygen made' },
    out: { value: 'FILE', required: true, meaning: 'where the published file goes; it must not exist' },
    revealPureValues: {
      meaning: 'required: says that the values delivered in pure mode from this lot may become known to all',
    },
  },
  run: async ({ key: keyPath, out, revealPureValues, operands: [lotId] }, context) => {
    if (revealPureValues === undefined) {
      throw new CommandError(
        'raw shots give every value that pure mode delivered from the lot: add --reveal-pure-values if all may know them',
      );
    }
    const record = await spentLot(lotId, context);
    const folder = join(loadSettings(context.environment).dataDir, 'raw');
    const box = sealedRawShots(folder, lotId);
    if (box === undefined)
      throw new CommandError(`no raw shots are kept at ${rawShotsPath(folder, lotId)} (QRN_RAW_RECIPIENT)`);
    const key = readKey(keyPath);
    const shots = open(key, box);
    wipe(key);
    if (shots === undefined) throw new CommandError('the key does not open the raw shots of this lot');
    const head = utf8Bytes(`${FORMAT}\n${JSON.stringify(record)}\n`);
    writeNew(out, concatBytes(head, shots));
    context.talk(`published ${lotId}: qrn evidence replay ${out} computes its figures again\n`);
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
  requireFolderLedger(context, 'qrn evidence publish', 'another node may hold bytes or a seed of the lot');
  // A stopped service holds nothing: the blocks it had claimed are burned, and its seeds are gone.
  const owner = await takeFolder(join(dataDir, 'ledger'), true).catch((error: unknown) => {
    throw new CommandError(`${messageOf(error)}: a running service may hold bytes or a seed of the lot`);
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
        `this data folder is not the one that was signed for last (${identity.reason}), and a service on the original may ` +
          'still deliver bytes of the lot: publish from the original, or see qrn ledger moved and qrn ledger restore',
      );
    }
    if (lot === undefined) throw new CommandError(`there is no lot ${lotId}`);
    if (left > 0) {
      throw new CommandError(
        `${left} blocks of ${lotId} are not delivered yet: publish it when they are, or withdraw it with qrn lots revoke`,
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
    'Computes every figure of a lot again from its published raw shots: health tests, SP 800-22, SP 800-90B, evidence,\n' +
    'extraction, conditioned bytes. Exit status 1 when one differs. Needs no ledger and no network.',
  operands: [{ name: 'FILE', meaning: 'as evidence publish wrote it' }],
  options: {
    certificate: {
      value: 'C.json',
      meaning:
        'a certificate that names the lot: what it says of the lot is compared too. Check it with qrn verify',
    },
    json: { meaning: 'one JSON object' },
  },
  run: async ({ certificate, operands: [path] }, context) => {
    const { record, shots } = parsePublished(new Uint8Array(readInputFile(path)));
    const made = await recomputeLot(record, shots, context.clock);
    const figures = replayedFigures(record, made, shots.read);
    if (certificate !== undefined)
      figures.push(certifiedFigure(certificate, { ...made, finishedAtMs: record.finishedAtMs }));
    const isSame = figures.every(({ isEqual, notShown }) => isEqual || notShown !== undefined);
    if (certificate === undefined)
      context.talk('compared with the record in the file; --certificate compares with what was certified\n');
    context.talk(isSame ? 'every figure that raw shots show is as it was recorded\n' : 'figures differ\n');
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
    if (textOf(0, lines[0]) !== FORMAT) throw new RangeError(`its first line is not ${FORMAT}`);
    const record = JSON.parse(textOf(lines[0] + 1, lines[1])) as LotRecord;
    return { record, shots: decodeRawShots(bytes.subarray(lines[1] + 1)) };
  } catch (error) {
    throw new CommandError(`this file was not made by evidence publish: ${messageOf(error)}`);
  }
}

function readKey(path: string): Uint8Array<ArrayBuffer> {
  const key = fromBase64(readInputFile(path).toString('utf8').trimEnd());
  if (key?.length !== 32) throw new CommandError(`${path} does not hold a key of evidence keygen`);
  return key;
}

export const evidence = group(
  'qrn evidence',
  'Publishes the raw shots of spent lots and computes their figures again.',
  [keygen, publish, replay],
);
