import { BeaconError, chainOf, dueMs, INFO_MEMBERS } from '../beacon/drand.ts';
import { isObject } from '../core/json.ts';
import { OVERDUE_MS, statementVerdict } from './draw-statement.ts';
import { canonical, listAt, member, parsedObject, show, text, timeOf, timeText } from './members.ts';
import { type Shape, shapeOf, strangersIn } from './not-covered.ts';
import { loggedLeaf, readCosignatures } from './signed-checkpoint.ts';
import { about, digestText, found, refuse } from './verdict.ts';
import { type Check, check, type DrawCheckName, type Verification, verifyAnswer } from './verify.ts';
import { issuedText } from './verify-lots.ts';
import { checkOutcome, type RoundDue } from './verify-outcome.ts';
import type { WitnessPolicy } from './verify-witnesses.ts';

/**
 * Verifies a committed draw from its document and the keys of the log alone (docs/draws.md): that it was fixed before
 * anybody could know its outcome, and that the outcome follows from what was fixed. Runs in browsers.
 */
export interface DrawVerificationInput {
  /** What GET /v1/draws/<id> answered, parsed. */
  readonly draw: unknown;
  /** /.well-known/qrn-keys.json, parsed: the anchor of trust, best had from elsewhere. */
  readonly keys: unknown;
  /** Who else must have seen the log before the beacon's round; without it nobody else is asked for. */
  readonly witnesses?: WitnessPolicy;
  /** Unix ms: a draw without an end is overdue from some time on. */
  readonly nowMs: number;
}

/**
 * How a draw stands: `revealed`, as its statement promised; `pending` until it is due; `overdue` without an end after that;
 * `cancelled` or `failed`, which are ends that whoever runs the service or the draw could choose. Only the first is a result.
 */
export type DrawStanding = 'revealed' | 'pending' | 'overdue' | 'cancelled' | 'failed';

export interface DrawVerification extends Verification {
  /** What `ok` speaks of: the document is what was logged. */
  readonly standing: DrawStanding;
  /** What the standing means for its reader, in a sentence; undefined for a draw that was revealed. */
  readonly advice: string | undefined;
}

const SECRET_BYTES = 32;

/** Never throws for what it is given: what cannot be read is a check that failed. */
export async function verifyDraw(given: DrawVerificationInput): Promise<DrawVerification> {
  const { draw, keys, witnesses, nowMs } = given;
  const statement = member(draw, 'statement');
  const statementText = isObject(statement) ? canonical(statement) : undefined;
  const digest = statementText === undefined ? '' : digestText(statementText);
  const answer = member(draw, 'answer') ?? undefined;
  const certificate = member(draw, 'certificate');
  const round = await found(() => roundDue(draw, statement));
  const policy = witnesses === undefined ? {} : { witnesses };
  const response = answer === undefined ? {} : { response: answer };
  const ofCertificate = await verifyAnswer({ certificate, keys, requireFixed: true, ...policy, ...response });
  const checks: Check[] = [];
  const add = async (name: DrawCheckName, holds: () => string | Promise<string>) => {
    checks.push(await check(name, holds));
  };
  await add('statement', () => statementVerdict(draw, statement, digest));
  checks.push(...ofCertificate.checks);
  await add('commitment', () => commitmentVerdict(draw, statement, digest));
  await add('logged', () => loggedVerdict(given, digest, round()));
  await checkOutcome({ draw, keys, digest, round }, add);
  const uncovered = [...strangersIn(draw, DOCUMENT), ...unusedIn(draw), ...ofCertificate.notCovered];
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
      return `It is due at ${show(member(draw, 'statement', 'due_at'))}, and has no values before that.`;
    case 'overdue':
      return 'It should have ended. Fetch it again; where it still has no end, the service held its result back.';
    case 'cancelled':
      return 'It has no result. Its holder cancelled it before it was due.';
    case 'failed':
      if (reason === 'beacon_missing' && round !== undefined)
        return `It has no result. Look whether the beacon published round ${round.round} of chain ${round.chain.hash}: if it did, the service left it out.`;
      if (reason === 'nonce_missing') return 'It has no result. Whoever held the nonce did not open it.';
      return `It has no result (${show(reason)}). The service could have chosen that this draw fails.`;
  }
}

const LEAF = shapeOf('leaf', 'proof');
const RUN = shapeOf('first', 'hashes', 'path');
const DOCUMENT: Shape = {
  ...shapeOf('type', 'version', 'id', 'state', 'statement', 'statement_sha256', 'chances'),
  ...shapeOf('committed_at', 'certificate_id', 'outcome'),
  answer: null, // verifyAnswer says what nobody looked at
  certificate: {
    ...shapeOf('certificate', 'revocation'),
    lots: { ...LEAF, runs: RUN },
  },
  commit: LEAF,
  chain: shapeOf(...INFO_MEMBERS),
  end: LEAF,
};

/** Members that this draw has no use for. */
function unusedIn(draw: unknown): string[] {
  const isUnused =
    (member(draw, 'chain') ?? null) !== null && member(draw, 'statement', 'beacon') === undefined;
  return isUnused ? ['chain'] : [];
}

/** Undefined without a beacon. */
function roundDue(draw: unknown, statement: unknown): RoundDue | undefined {
  const beacon = member(statement, 'beacon');
  if (beacon === undefined) return undefined;
  const round = member(beacon, 'round');
  if (typeof round !== 'number' || !Number.isSafeInteger(round) || round < 1)
    refuse(`The statement names round ${show(round)} of a beacon.`);
  try {
    const chain = chainOf(member(draw, 'chain'), text(member(beacon, 'chain')) ?? '');
    return { chain, round, atMs: dueMs(chain, round) };
  } catch (error) {
    if (!(error instanceof BeaconError)) throw error;
    refuse(`The beacon's chain is not the one of the statement: ${error.message}.`);
  }
}

/** The certificate commits to 32 bytes of logged lots, and to this statement. */
function commitmentVerdict(draw: unknown, statement: unknown, digest: string): string {
  const document = member(draw, 'certificate', 'certificate');
  if (document === undefined) refuse('The certificate cannot be read yet: fetch the draw again in a moment.');
  const label = member(document, 'label');
  const certified = member(label, 'user_data_sha256');
  if (certified !== digest) refuse(`The certificate is of ${show(certified)}, not of this statement.`);
  if (member(document, 'entropy_mode') !== 'pure')
    refuse('The committed bytes are not of pure mode: no lot fixes them.');
  const drawn = listAt(document, 'provenance', 'drawn');
  if (drawn.reduce((sum: number, each) => sum + Number(member(each, 'bytes')), 0) !== SECRET_BYTES)
    refuse(`The certificate does not commit to ${SECRET_BYTES} bytes of its lots.`);
  if (member(draw, 'certificate_id') !== member(document, 'id'))
    refuse('The document names another certificate.');
  if (member(draw, 'committed_at') !== member(document, 'issued_at'))
    refuse('The document tells another time of the commitment than the certificate.');
  const dueMs = timeOf(member(statement, 'due_at'));
  if (!(dueMs >= timeOf(member(document, 'issued_at')))) refuse('The draw was due before it was committed.');
  if (member(label, 'public') !== member(statement, 'public'))
    refuse('Statement and certificate differ in whether the draw is public.');
  const purpose = member(statement, 'purpose');
  const told = member(label, 'purpose') ?? member(draw, 'answer', 'label', 'purpose');
  if (told === undefined ? member(label, 'purpose_commitment') === undefined : told !== purpose)
    refuse(`The certificate is for ${show(told)}, the statement for ${show(purpose)}.`);
  const serial = `${show(member(label, 'serial'))} of ${show(member(label, 'series'))}`;
  return `Its certificate is of this statement, and fixes ${SECRET_BYTES} bytes of logged lots. It is answer ${serial}, its account and purpose.`;
}

/** An operator who dates its log back can try statements against a round that is public. */
const OWN_CLOCK =
  "The order of commitment and round rests on the log's own clock: name witnesses (--witness) to check it, or compare commit.leaf with the copy that was published beforehand.";

/** The log held commitment and certificate before the beacon's round was due. */
async function loggedVerdict(
  { draw, keys, witnesses }: DrawVerificationInput,
  digest: string,
  round: RoundDue | undefined,
): Promise<string> {
  const statement = member(draw, 'statement');
  const leaf = text(member(draw, 'commit', 'leaf'));
  const told = parsedObject(leaf);
  if (leaf === undefined || canonical(told) !== leaf || member(told, 'type') !== 'draw_commit')
    refuse('The leaf of the commitment is not of type draw_commit, or not canonical JSON.');
  if (member(told, 'version') !== 1 || member(told, 'statement_sha256') !== digest)
    refuse('The leaf in the log is of another statement.');
  for (const name of ['due_at', 'gives_up_at'])
    if (member(told, name) !== member(statement, name))
      refuse(`The leaf in the log says another ${name} than the statement.`);
  const certificate = member(draw, 'certificate', 'certificate');
  const proof = member(certificate, 'proof');
  const certified = issuedText(certificate) ?? '';
  const delivered = text(member(told, 'delivered'));
  if (delivered === undefined || delivered !== member(certificate, 'hashes', 'delivered'))
    refuse('The leaf in the log commits to other bytes than the certificate.');
  const held = (what: string, each: string, proof: unknown) =>
    about(`The ${what}`, () => loggedLeaf(each, proof, keys));
  const logged = await held('commitment', leaf, member(draw, 'commit', 'proof'));
  if (round === undefined)
    return `The log held the commitment by ${timeText(logged.atS)}. It waits for no beacon.`;
  if (timeOf(member(statement, 'due_at')) < round.atMs)
    refuse(`The draw was due before round ${round.round}, at ${timeText(round.atMs / 1_000)}.`);
  const certificateAt = await held('certificate', certified, proof);
  for (const [what, { at, atS }] of [
    ['commitment', logged],
    ['certificate', certificateAt],
  ] as const) {
    if (atS * 1_000 >= round.atMs)
      refuse(
        `The log held the ${what} by ${timeText(atS)}, which is not before round ${round.round} was due, at ${timeText(round.atMs / 1_000)}.`,
      );
    if (witnesses === undefined) continue;
    const seen = await readCosignatures(witnesses.keys, at);
    const before = seen.filter((each) => each.atS * 1_000 < round.atMs).length;
    if (before < witnesses.quorum)
      refuse(
        `${before} of the ${witnesses.quorum} witnesses that are asked for saw the ${what} before round ${round.round} was due.`,
      );
  }
  const seenBy = witnesses === undefined ? 'The log' : `${witnesses.quorum} witnesses or more, and the log,`;
  const byOwnWord = witnesses === undefined ? ` ${OWN_CLOCK}` : '';
  return `${seenBy} held it by ${timeText(Math.max(logged.atS, certificateAt.atS))}, before round ${round.round} of the beacon was due, at ${timeText(round.atMs / 1_000)}.${byOwnWord}`;
}
