import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../core/clock.ts';
import { openLogKeys, openSecretFile, publishedKeys } from '../crypto/key-files.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { BLOCK_KINDS } from '../ledger/records.ts';
import { type CertificateService, certificateService } from './archive.ts';
import { CertificateIds } from './ids.ts';
import {
  type Anchor,
  checkIdentity,
  firstIncarnation,
  folderIdentity,
  type Incarnation,
  incarnationText,
  logOf,
  logStoreOf,
  noteSigningStart,
  type Predecessor,
  readAnchor,
  readIncarnations,
  writeAnchor,
  writeIncarnations,
} from './incarnation.ts';
import { keysDocument } from './keys-document.ts';
import { CertificateLog } from './log.ts';
import { CertificateLogError, readVouchers, storedStateOf } from './log-state.ts';
import { findUnseenLots, type UnseenLots } from './unseen-lots.ts';
import type { Witnesses } from './witnessed.ts';

/**
 * Opens the certificates and the log of a ledger, after checking that the ledger is the one that the log's keys signed
 * for last.
 */
export interface CertificateFolders {
  readonly ledger: Ledger;
  /** Folder of the ledger or, if several nodes share it, of this node's blocks and of its anchor. */
  readonly ledgerPath: string;
  /** Folder of the log's keys. */
  readonly keysPath: string;
  /** Name of the first incarnation's log. */
  readonly logName: string;
  readonly clock: Clock;
  /** If set, the log releases a lot only when enough of these witnesses have cosigned its leaf. */
  readonly witnesses?: Witnesses;
}

export interface OpenCertificates {
  readonly certificates: CertificateService;
  /** The log, open for sealing; undefined while `held` says why nothing may be signed. */
  readonly log: CertificateLog | undefined;
  /** Lots that nobody may draw from until the witnesses have cosigned their leaves; undefined without witnesses. */
  readonly unseen: UnseenLots | undefined;
  /** Why nothing may be signed or delivered, and what the operator must do; null if all is well. */
  readonly held: string | null;
}

/**
 * Opens the log for sealing. If the ledger is a copy or an earlier state, opens it for reading alone, and `held` says
 * why. Throws CertificateLogError if there is no log to read or a key is missing.
 */
export async function openCertificates(folders: CertificateFolders): Promise<OpenCertificates> {
  const { ledger, ledgerPath, keysPath, logName, clock, witnesses } = folders;
  const { isShared, anchorPath, anchor } = await anchorOf(folders);
  const identity = await checkIdentity(ledger, ledgerPath, anchor, isShared);
  const isHeld = identity.kind === 'moved' || identity.kind === 'behind';
  const told = isShared ? sharedHeldText : heldText;
  const held = isHeld ? told(ledgerPath, identity.reason, identity.kind) : null;
  const incarnations = (await readIncarnations(ledger)) ?? [firstIncarnation(logName, clock.wallMs())];
  const { number, origin } = incarnations[incarnations.length - 1];
  const { directory } = logOf(keysPath, logName, number);
  const store = logStoreOf(ledger, number);
  const isSigned = (await storedStateOf(store)) !== undefined;
  if (held !== null && (!isSigned || !existsSync(join(directory, 'log-1.json'))))
    throw new CertificateLogError(held);
  if (isSigned && !existsSync(join(directory, 'log-1.json'))) {
    const reason = `the keys of its log, ${origin}, are not in ${directory}`;
    throw new CertificateLogError(heldText(ledgerPath, reason, 'behind'));
  }
  const keys = openLogKeys(directory, origin, clock);
  const idsPath = join(keysPath, 'certificate-ids');
  if (isSigned && !existsSync(idsPath))
    throw new CertificateLogError(
      `${idsPath} is missing: put it back from a copy of the keys folder. If there is no copy, run ` +
        `qrn ledger restore ${ledgerPath}: it begins a new log, and earlier certificates can no longer be found by their ids`,
    );
  const ids = new CertificateIds(openSecretFile(idsPath), incarnations);
  if (!isHeld) await noteSigningStart(ledger);
  const log = await CertificateLog.open({
    store,
    earlier: incarnations.slice(0, -1).map((each) => logStoreOf(ledger, each.number)),
    ids,
    keys,
    clock,
    isWitnessed: witnesses !== undefined,
    ...(isHeld ? { readOnly: true } : { anchored: anchorIn(anchorPath, folders, number) }),
  });
  if (identity.kind === 'new') await writeIncarnations(ledger, incarnations);
  const document = keysDocument(keys, incarnations, await readVouchers(store, keys));
  const certificates = certificateService({ ledger, ids, log, keys: document, held });
  const unseen =
    witnesses === undefined || isHeld ? undefined : await findUnseenLots(ledger, store, witnesses);
  return { certificates, log: isHeld ? undefined : log, unseen, held };
}

function heldText(path: string, reason: string, kind: 'moved' | 'behind'): string {
  const moved =
    kind === 'moved' ? ' If the original is gone for good and this is it, run qrn ledger moved.' : '';
  return (
    `The ledger in ${path} is not in the state that the log signed last: ${reason}. The service signs nothing and delivers ` +
    `no entropy until you say what happened. Stop the service.${moved} ` +
    `${kind === 'moved' ? 'Otherwise' : 'Then'} run qrn ledger restore ${path}; see docs/operations.md.`
  );
}

function sharedHeldText(path: string, reason: string, kind: 'moved' | 'behind'): string {
  const begin = kind === 'moved' ? `The folder of this node, ${path},` : 'The ledger in PostgreSQL';
  const act =
    kind === 'moved'
      ? 'If the original is gone for good and this is it, run qrn ledger moved. Otherwise delete the folder: the node then begins without blocks.'
      : 'See docs/cluster.md for the restore of an earlier database.';
  return (
    `${begin} is not in the state that this node signed last: ${reason}. This node signs nothing and delivers no entropy ` +
    `until you say what happened. Stop this node. ${act}`
  );
}

/** Nodes that share a ledger have the same keys, and each has an anchor of its own. */
async function anchorOf({ ledger, ledgerPath, keysPath }: CertificateFolders) {
  const isShared = await ledger.isShared();
  const anchorPath = isShared ? ledgerPath : keysPath;
  return { isShared, anchorPath, anchor: readAnchor(anchorPath) };
}

function anchorIn(anchorPath: string, { ledger, ledgerPath }: CertificateFolders, incarnation: number) {
  const folder = folderIdentity(ledgerPath);
  return (checkpoint: string) =>
    writeAnchor(anchorPath, {
      version: 1,
      incarnation,
      folder,
      ledger: ledger.identity,
      checkpoint,
    } satisfies Anchor);
}

/** The result of `qrn ledger restore`. */
export interface BegunIncarnation {
  readonly incarnation: Incarnation;
  /** How many blocks were erased, because another copy of the ledger may have delivered them. */
  readonly blocksBurned: number;
}

/**
 * Begins a new incarnation of the ledger in its present state. Erases the unclaimed blocks, gives new certificate ids a
 * new incarnation number, and begins a new log with a key of its own, whose first leaf names the last known checkpoint
 * of the old log. The service must be stopped. After a crash, call it again.
 */
export async function beginIncarnation(folders: CertificateFolders): Promise<BegunIncarnation> {
  const { ledger, keysPath, logName, clock } = folders;
  const { isShared, anchorPath, anchor } = await anchorOf(folders);
  const earlier = (await readIncarnations(ledger)) ?? [firstIncarnation(logName, clock.wallMs())];
  const last = earlier[earlier.length - 1];
  const predecessor = await predecessorOf(folders, last, anchor);
  // Nodes that share a database keep their blocks in their own folders, so restoring the database restored no block.
  const blocksBurned = isShared ? 0 : await burnBlocks(ledger);
  let number = Math.max(last.number, anchor?.incarnation ?? 0) + 1;
  // An earlier call may have crashed after its key had signed, so the number and key of that call are not used again.
  while (existsSync(logOf(keysPath, logName, number).directory)) number++;
  const { origin, directory } = logOf(keysPath, logName, number);
  const { from: firstSegment } = await ledger.leaseSequences();
  const begunAt = new Date(clock.wallMs()).toISOString();
  const incarnation: Incarnation = { number, origin, firstSegment, begunAt, predecessor };
  const incarnations = [...earlier, incarnation];
  const log = await CertificateLog.open({
    store: logStoreOf(ledger, number),
    earlier: [],
    ids: new CertificateIds(openSecretFile(join(keysPath, 'certificate-ids')), incarnations),
    keys: openLogKeys(directory, origin, clock),
    clock,
    firstLeafText: incarnationText(incarnation),
  });
  await writeIncarnations(ledger, incarnations);
  await noteSigningStart(ledger);
  anchorIn(anchorPath, folders, number)(log.checkpoint);
  return { incarnation, blocksBurned };
}

/** Returns the log that signed last, with its newest checkpoint: the anchor's or, without an anchor, the ledger's. */
async function predecessorOf(
  { ledger, keysPath, logName }: CertificateFolders,
  last: Incarnation,
  anchor: Anchor | undefined,
): Promise<Predecessor> {
  const stored = await storedStateOf(logStoreOf(ledger, last.number));
  const checkpoint = anchor?.checkpoint ?? stored?.checkpoint;
  if (checkpoint === undefined)
    throw new CertificateLogError(
      'the log has signed nothing for this ledger yet: start the service, which begins the log',
    );
  const { origin, directory } = logOf(keysPath, logName, anchor?.incarnation ?? last.number);
  return { origin, checkpoint, keys: publishedKeys(directory, origin) };
}

async function burnBlocks(ledger: Ledger): Promise<number> {
  let burned = 0;
  // Release the pending lots first: another copy of the ledger may have released and delivered them.
  for (let lots = await ledger.pendingLots(64); lots.length > 0; lots = await ledger.pendingLots(64))
    await ledger.putLog([], undefined, { lotIds: lots.map(({ id }) => id), atMs: 0 });
  for (const kind of BLOCK_KINDS) {
    for (;;) {
      const blocks = await ledger.claimBlocks(kind, 64);
      if (blocks.length === 0) break;
      for (const { bytes } of blocks) bytes.fill(0);
      burned += blocks.length;
    }
  }
  return burned;
}

/**
 * Takes the operator's word that the folder is the original in a new place. Throws CertificateLogError unless the
 * ledger holds everything that was signed: one that is behind must be restored.
 */
export async function acceptMove(folders: CertificateFolders): Promise<void> {
  const { ledger, ledgerPath } = folders;
  const { isShared, anchorPath, anchor } = await anchorOf(folders);
  const identity = await checkIdentity(ledger, ledgerPath, anchor, isShared);
  if (identity.kind === 'behind')
    throw new CertificateLogError(
      `${ledgerPath} was not only moved: ${identity.reason}. It must be restored: see docs/operations.md`,
    );
  if (anchor === undefined) return;
  await noteSigningStart(ledger);
  anchorIn(anchorPath, folders, anchor.incarnation)(anchor.checkpoint);
}
