import { countsThese, withdrawalsIn } from './finding.ts';
import { canonical, member, parsedObject, show, text, timeText } from './members.ts';
import { loggedLeaf } from './signed-checkpoint.ts';
import { about, refuse } from './verdict.ts';

/**
 * Verifies the reply of `/log/lots/<id>`: the lot's leaf is in the log, and the reply holds every withdrawal that the
 * statement counts. If the lot is not among them, it had not been withdrawn when the log had as many leaves as the
 * index of the statement's leaf. Runs in browsers.
 */
export interface LotVerification {
  /** Index of the lot's leaf. */
  readonly leaf: number;
  /** Index of the statement's leaf, if the statement shows that the lot had not been withdrawn before it. */
  readonly notWithdrawnBefore?: number;
  /** Time by which the log had signed a tree with the statement, in seconds since 1970. */
  readonly signedByS?: number;
  /** The reason of the withdrawal, if the lot was withdrawn and the log holds the withdrawal. */
  readonly withdrawn?: string;
}

/** Verifies the reply for one lot. Refuses a reply that does not hold. */
export function verifyPublicLot(lotId: string, document: unknown, keys: unknown): LotVerification {
  const lot = placed('leaf of the lot', document, keys);
  if (member(lot.told, 'type') !== 'lot' || member(lot.told, 'lot_id') !== lotId)
    refuse(`The leaf in the reply is not that of lot ${lotId}.`);
  const leaf = lot.at.proof.index;

  const withdrawal = member(document, 'withdrawal') ?? null;
  let withdrawn: string | undefined;
  if (withdrawal !== null) {
    const { told } = placed('withdrawal', withdrawal, keys);
    if (member(told, 'type') !== 'revocation' || member(told, 'lot_id') !== lotId)
      refuse(`The withdrawal in the reply is not of lot ${lotId}.`);
    withdrawn = text(member(told, 'reason')) ?? '';
  }

  const statement = placed('statement', member(document, 'statement'), keys);
  const notWithdrawnBefore = statement.at.proof.index;
  if (statement.at.checkpoint.origin === lot.at.checkpoint.origin && notWithdrawnBefore < leaf)
    refuse('The statement is older than the lot.');
  if (withdrawalsTold(statement.told, member(document, 'withdrawals')).includes(lotId)) {
    if (withdrawn === undefined)
      refuse('The statement counts a withdrawal of the lot, but the reply does not show it.');
    return { leaf, withdrawn };
  }
  const { atS: signedByS } = statement;
  return { leaf, notWithdrawnBefore, signedByS, ...(withdrawn === undefined ? {} : { withdrawn }) };
}

/** Returns the withdrawn lots. Refuses leaves that are not exactly the withdrawals that the statement counts. */
function withdrawalsTold(statement: unknown, leaves: unknown): (string | undefined)[] {
  const counted = withdrawalsIn(statement);
  if (counted === undefined) refuse('The statement in the reply does not count the withdrawals.');
  if (!Array.isArray(leaves) || leaves.length !== counted.count)
    refuse(
      `The statement counts ${counted.count} withdrawals, but the reply lists ${Array.isArray(leaves) ? leaves.length : 'none'}.`,
    );
  const told = leaves.map(parsedObject);
  if (!told.every((each) => member(each, 'type') === 'revocation'))
    refuse('The reply lists a leaf as a withdrawal that is none.');
  if (!countsThese(counted, leaves))
    refuse('The withdrawals in the reply are not those that the statement counts.');
  return told.map((each) => text(member(each, 'lot_id')));
}

/** Returns the leaf and its place. Refuses a proof that does not hold, or that no known key signed. */
function placed(what: string, source: unknown, keys: unknown) {
  const leaf = text(member(source, 'leaf'));
  const told = parsedObject(leaf);
  if (leaf === undefined || canonical(told) !== leaf)
    refuse(`The ${what} in the reply is ${show(leaf)}, not canonical JSON.`);
  const logged = about(`The ${what}`, () => loggedLeaf(leaf, member(source, 'proof'), keys));
  return { told, ...logged };
}

/** Returns what the verification showed, in a sentence. */
export function lotVerdict(
  lotId: string,
  { leaf, notWithdrawnBefore, signedByS, withdrawn }: LotVerification,
): string {
  const by = signedByS === undefined ? '' : `, which it signed by ${timeText(signedByS)}`;
  const placedAt = `Lot ${lotId} is leaf ${leaf} of the log.`;
  const until =
    notWithdrawnBefore === undefined
      ? ''
      : ` It had not been withdrawn when the log had ${notWithdrawnBefore} leaves${by}.`;
  const now = withdrawn === undefined ? '' : ` It has been withdrawn: ${withdrawn}`;
  return placedAt + until + now;
}
