import { BeaconError, chainOf, dueMs, INFO_MEMBERS } from '../beacon/drand.ts';
import { numberIn } from '../core/json.ts';
import { type DrawStatement, drawCommitText, hashOf } from './draw.ts';
import { OVERDUE_MS, readStatement, statementVerdict } from './draw-statement.ts';
import { listAt, member, show, text, timeOf, timeText } from './members.ts';
import { type Shape, shapeOf, unknownMembersIn } from './not-covered.ts';
import { loggedLeaf } from './signed-checkpoint.ts';
import { about, found, refuse } from './verdict.ts';
import { type AddCheck, type Check, check, type Verification, verifyAnswer } from './verify.ts';
import { issuedText } from './verify-lots.ts';
import { checkOutcome, type RoundDue } from './verify-outcome.ts';
import { heldBefore, type WitnessPolicy } from './verify-witnesses.ts';

/**
 * Verifies a committed draw from its document and the keys of the log alone (docs/draws.md): the draw must have been
 * fixed before anybody could know its outcome, and the outcome must follow from what was fixed. Runs in browsers.
 */
export interface DrawVerificationInput {
  /** The reply of GET /v1/draws/<id>, parsed. */
  readonly draw: unknown;
  /** /.well-known/qrn-keys.json, parsed. All trust rests on these keys, so get them from elsewhere than the draw. */
  readonly keys: unknown;
  /** The witnesses that must have cosigned the log before the beacon's round. Without it the verifier asks for none. */
  readonly witnesses?: WitnessPolicy;
  /** The present time, Unix ms. It decides whether a draw without an end is overdue. */
  readonly nowMs: number;
}

/**
 * How a draw stands. `revealed`: it ended as its statement promised. `pending`: it is not due yet. `overdue`: it is due
 * and has no end. `cancelled` and `failed`: it ended without a result, which the operator or the holder of the draw
 * could have chosen.
 */
export type DrawStanding = 'revealed' | 'pending' | 'overdue' | 'cancelled' | 'failed';

/** `ok` says that the document agrees with the log, not that the draw has a result: see `standing`. */
export interface DrawVerification extends Verification {
  readonly standing: DrawStanding;
  /** What the standing means for the reader, in a sentence; undefined for a draw that was revealed. */
  readonly advice: string | undefined;
}

const SECRET_BYTES = 32;

/** Runs all checks. Never throws: input that cannot be read fails a check. */
export function verifyDraw(given: DrawVerificationInput): DrawVerification {
  const { draw, keys, witnesses, nowMs } = given;
  const statement = found(() => readStatement(draw));
  const digest = statement.known === undefined ? '' : hashOf(statement.known);
  const answer = member(draw, 'answer') ?? undefined;
  const certificate = member(draw, 'certificate');
  const round = found(() => roundDue(draw));
  const policy = witnesses === undefined ? {} : { witnesses };
  const response = answer === undefined ? {} : { response: answer };
  const ofCertificate = verifyAnswer({ certificate, keys, requireFixed: true, ...policy, ...response });
  const checks: Check[] = [];
  const add: AddCheck = (name, holds) => checks.push(check(name, holds));
  add('statement', () => statementVerdict(draw, statement(), digest));
  checks.push(...ofCertificate.checks);
  add('commitment', () => commitmentVerdict(draw, statement(), digest));
  add('logged', () => loggedVerdict(given, statement(), round()));
  checkOutcome({ draw, keys, digest, round }, add);
  const uncovered = [...unknownMembersIn(draw, DOCUMENT), ...unusedIn(draw), ...ofCertificate.notCovered];
  const standing = standingOf(draw, nowMs);
  return {
    ok: checks.every(({ ok }) => ok),
    checks,
    notCovered: uncovered,
    standing,
    advice: adviceOn(standing, draw, round.known),
  };
}

function standingOf(draw: unknown, nowMs: number): DrawStanding {
  const state = member(draw, 'state');
  if (state === 'revealed' || state === 'cancelled') return state;
  if (state !== 'committed') return 'failed';
  const [dueMs, givesUpMs] = ['due_at', 'gives_up_at'].map((name) => timeOf(member(draw, 'statement', name)));
  return nowMs <= (Number.isNaN(givesUpMs) ? dueMs : givesUpMs) + OVERDUE_MS ? 'pending' : 'overdue';
}

function adviceOn(standing: DrawStanding, draw: unknown, round: RoundDue | undefined): string | undefined {
  const reason = member(draw, 'outcome', 'reason');
  switch (standing) {
    case 'revealed':
      return undefined;
    case 'pending':
      return `It is due at ${text(member(draw, 'statement', 'due_at'))} and has no values before then.`;
    case 'overdue':
      return 'It should have ended. Fetch it again. If it still has no end, the service is holding its result back.';
    case 'cancelled':
      return 'It has no result. Its holder cancelled it before it was due.';
    case 'failed':
      if (reason === 'beacon_missing' && round !== undefined)
        return `It has no result. Check whether the beacon published round ${round.round} of chain ${round.chain.hash}: if it did, the service did not use it.`;
      if (reason === 'nonce_missing') return 'It has no result. Whoever held the nonce did not reveal it.';
      return `It has no result (${show(reason)}). The service could have chosen that this draw fails.`;
  }
}

const LEAF = shapeOf('leaf', 'proof');
const RUN = shapeOf('first', 'hashes', 'path');
const DOCUMENT: Shape = {
  ...shapeOf('type', 'version', 'id', 'state', 'statement', 'statement_sha256', 'chances'),
  ...shapeOf('committed_at', 'certificate_id', 'outcome'),
  answer: null, // verifyAnswer lists what of the answer no check covers
  certificate: {
    ...shapeOf('certificate', 'revocation'),
    lots: { ...LEAF, runs: RUN },
  },
  commit: LEAF,
  chain: shapeOf(...INFO_MEMBERS),
  end: LEAF,
};

/** Returns the members that this draw does not use and no check covers: the chain, without a beacon. */
function unusedIn(draw: unknown): string[] {
  const isUnused =
    (member(draw, 'chain') ?? null) !== null && member(draw, 'statement', 'beacon') === undefined;
  return isUnused ? ['chain'] : [];
}

/** Returns the round that the draw waits for; undefined without a beacon. */
function roundDue(draw: unknown): RoundDue | undefined {
  const beacon = member(draw, 'statement', 'beacon');
  if (beacon === undefined) return undefined;
  const round = member(beacon, 'round');
  if (typeof round !== 'number' || !Number.isSafeInteger(round) || round < 1)
    refuse(`The statement names round ${show(round)} of the beacon, which is not a positive whole number.`);
  try {
    const chain = chainOf(member(draw, 'chain'), text(member(beacon, 'chain')) ?? '');
    return { chain, round, atMs: dueMs(chain, round) };
  } catch (error) {
    if (!(error instanceof BeaconError)) throw error;
    refuse(`The beacon's chain is not the one that the statement names: ${error.message}.`);
  }
}

/** Checks that the certificate commits to 32 bytes of logged lots and to this statement. */
function commitmentVerdict(draw: unknown, statement: DrawStatement, digest: string): string {
  const document = member(draw, 'certificate', 'certificate');
  if (document === undefined) refuse('The certificate cannot be read yet: fetch the draw again in a moment.');
  const label = member(document, 'label');
  const certified = member(label, 'user_data_sha256');
  if (certified !== digest)
    refuse(`The certificate is bound to ${show(certified)}, not to the hash of this statement.`);
  if (member(document, 'entropy_mode') !== 'pure')
    refuse('The certificate is not of pure mode, so no lot fixes the committed bytes.');
  const drawn = listAt(document, 'provenance', 'drawn');
  if (
    drawn.reduce((sum: number, each) => sum + (numberIn(member(each, 'bytes')) ?? Number.NaN), 0) !==
    SECRET_BYTES
  )
    refuse(`The certificate does not commit to ${SECRET_BYTES} bytes of its lots.`);
  if (member(draw, 'certificate_id') !== member(document, 'id'))
    refuse('certificate_id of the document is not the id of the certificate in it.');
  if (member(draw, 'committed_at') !== member(document, 'issued_at'))
    refuse('committed_at of the document is not the time at which the certificate was issued.');
  if (!(timeOf(statement.due_at) >= timeOf(member(document, 'issued_at'))))
    refuse('The draw was due before it was committed.');
  if (member(label, 'public') !== statement.public)
    refuse('The statement and the certificate differ in whether the draw is public.');
  const told = member(label, 'purpose') ?? member(draw, 'answer', 'label', 'purpose');
  if (told === undefined ? member(label, 'purpose_commitment') === undefined : told !== statement.purpose)
    refuse(
      `The certificate has the purpose ${show(told)}, but the statement has ${show(statement.purpose)}.`,
    );
  const serial = `${show(member(label, 'serial'))} of series ${show(member(label, 'series'))}`;
  return `The certificate is bound to this statement and fixes ${SECRET_BYTES} bytes of logged lots. It is number ${serial}: the answers of one account for one purpose.`;
}

/** An operator who backdates the log can try statements against a round that is already public. */
const OWN_CLOCK =
  "That the commitment came before the round rests on the log's own clock: to check it, name witnesses (--witness), or compare commit.leaf with a copy that was published beforehand.";

/** Checks that the log held the commitment and the certificate before the beacon's round was due. */
function loggedVerdict(
  given: DrawVerificationInput,
  statement: DrawStatement,
  round: RoundDue | undefined,
): string {
  const { draw, keys, witnesses } = given;
  const [leaf, proof] = ['leaf', 'proof'].map((name) => member(draw, 'commit', name));
  const certificate = member(draw, 'certificate', 'certificate');
  const delivered = text(member(certificate, 'hashes', 'delivered')) ?? '';
  if (typeof leaf !== 'string' || !delivered.isWellFormed() || leaf !== drawCommitText(statement, delivered))
    refuse(
      'The leaf in the log does not commit to this statement and to the bytes that the certificate fixes.',
    );
  if (round === undefined) {
    const { atS } = about('The commitment', () => loggedLeaf(leaf, proof, keys));
    return `The log held the commitment by ${timeText(atS)}. The draw waits for no beacon.`;
  }
  const [name, dueAt] = [`round ${round.round}`, timeText(round.atMs / 1_000)];
  if (timeOf(statement.due_at) < round.atMs)
    refuse(`The draw was due before ${name} of its beacon, which was due at ${dueAt}.`);
  const deadline = { event: `${name} was due, at ${dueAt}`, latestMs: round.atMs - 1, clocksMs: 0 };
  const ofCertificate = [issuedText(certificate) ?? '', member(certificate, 'proof')] as const;
  const atS = Math.max(
    heldBefore('the commitment', [leaf, proof], given, deadline).atS,
    heldBefore('the certificate', ofCertificate, given, deadline).atS,
  );
  const seenBy = witnesses === undefined ? 'The log' : `The log and at least ${witnesses.quorum} witnesses`;
  const byOwnWord = witnesses === undefined ? ` ${OWN_CLOCK}` : '';
  return `${seenBy} held the commitment by ${timeText(atS)}, before ${name} of the beacon was due, at ${dueAt}.${byOwnWord}`;
}
