import { countsThese, withdrawalsIn } from './finding.ts';
import { canonical, member, parsedObject, show, text, timeText } from './members.ts';
import { holdsLeaf, readProof, readSignatures } from './signed-checkpoint.ts';

/**
 * Verifies what `/log/lots/<id>` answers: the lot's leaf is in the log, and of the
 * withdrawals that the newest statement counts all are told. So a lot that is not among them had not been withdrawn when
 * the log had as many leaves as the statement's index. Runs in browsers.
 */
export interface LotVerification {
  /** Why it does not hold; undefined when all of it does. */
  readonly failure: string | undefined;
  /** Index of the lot's leaf, when that holds. */
  readonly leaf?: number;
  /** Leaves that the log had when the lot was not withdrawn, as far as is proven. */
  readonly notWithdrawnBefore?: number;
  /** Seconds since 1970: the log signed by then that the statement was in it. */
  readonly signedByS?: number;
  /** The reason of the withdrawal, when there is one and it is in the log. */
  readonly withdrawn?: string;
}

interface Placed {
  readonly leaf: string;
  readonly told: unknown;
  readonly index: number;
  readonly origin: string;
  readonly signedByS: number | undefined;
}

export async function verifyPublicLot(
  lotId: string,
  document: unknown,
  keys: unknown,
): Promise<LotVerification> {
  const lot = await placed('leaf of the lot', document, keys);
  if (typeof lot === 'string') return { failure: lot };
  if (member(lot.told, 'type') !== 'lot' || member(lot.told, 'lot_id') !== lotId)
    return { failure: `What is told is not the leaf of lot ${lotId}.` };

  const withdrawal = member(document, 'withdrawal') ?? null;
  let withdrawn: string | undefined;
  if (withdrawal !== null) {
    const placedAt = await placed('withdrawal', withdrawal, keys);
    if (typeof placedAt === 'string') return { failure: placedAt };
    if (member(placedAt.told, 'type') !== 'revocation' || member(placedAt.told, 'lot_id') !== lotId)
      return { failure: `The given withdrawal is not one of lot ${lotId}.` };
    withdrawn = text(member(placedAt.told, 'reason')) ?? '';
  }

  const statement = await placed('statement', member(document, 'statement'), keys);
  if (typeof statement === 'string') return { failure: statement };
  if (statement.origin === lot.origin && statement.index < lot.index)
    return { failure: 'The statement is older than the lot.' };
  const told = withdrawalsTold(statement.leaf, member(document, 'withdrawals'));
  if (typeof told === 'string') return { failure: told };
  if (told.includes(lotId)) {
    return withdrawn === undefined
      ? { failure: 'The statement counts a withdrawal of the lot, and none is told.' }
      : { failure: undefined, leaf: lot.index, withdrawn };
  }
  return {
    failure: undefined,
    leaf: lot.index,
    notWithdrawnBefore: statement.index,
    ...(statement.signedByS === undefined ? {} : { signedByS: statement.signedByS }),
    ...(withdrawn === undefined ? {} : { withdrawn }),
  };
}

/** The lots of the withdrawals, when they are all that the statement counts; else why not. */
function withdrawalsTold(statement: string, leaves: unknown): (string | undefined)[] | string {
  const counted = withdrawalsIn(statement);
  if (counted === undefined) return 'The given statement is not about withdrawals.';
  if (!Array.isArray(leaves) || leaves.length !== counted.count)
    return `The statement counts ${counted.count} withdrawals, and ${Array.isArray(leaves) ? leaves.length : 'none'} are told.`;
  const told = leaves.map(parsedObject);
  if (!told.every((each) => member(each, 'type') === 'revocation'))
    return 'The given withdrawal is not a withdrawal record.';
  return countsThese(counted, leaves)
    ? told.map((each) => text(member(each, 'lot_id')))
    : 'The withdrawals that are told are not those that the statement counts.';
}

/** The leaf, when its proof holds and a known key signed the checkpoint; else why not. */
async function placed(what: string, source: unknown, keys: unknown): Promise<Placed | string> {
  const leaf = text(member(source, 'leaf'));
  const told = parsedObject(leaf);
  if (leaf === undefined || canonical(told) !== leaf) return `There is no ${what}: ${show(leaf)}.`;
  const at = readProof(member(source, 'proof'));
  if (typeof at === 'string') return `The ${what}: ${at}`;
  if (!holdsLeaf(at, leaf)) return `The ${what} is not in the tree that its proof names.`;
  const signed = await readSignatures(keys, at);
  if (typeof signed === 'string') return `The ${what}: ${signed}`;
  const times = signed.flatMap(({ atS }) => atS ?? []);
  const signedByS = times.length === 0 ? undefined : Math.min(...times);
  return { leaf, told, index: at.proof.index, origin: at.checkpoint.origin, signedByS };
}

/** What holds, in a sentence. */
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
  const now = withdrawn === undefined ? '' : ` It was withdrawn since: ${withdrawn}`;
  return placedAt + until + now;
}
