import { hexToBytes } from '@noble/hashes/utils.js';
import { type BeaconChain, BeaconError, LEAGUE_OF_ENTROPY } from '../beacon/drand.ts';
import { roundOf } from '../beacon/round.ts';
import { object, oneOfWords, orNull, sha256, text as textForm, time } from '../core/schema.ts';
import { drawEndText, ENDS } from './draw.ts';
import type { DrawOutcome } from './draw-document.ts';
import { drawnValues } from './draw-kinds.ts';
import { drawKey, drawStream } from './draw-stream.ts';
import { checkForm } from './form.ts';
import { canonical, member, show, text, timeOf, timeText } from './members.ts';
import { loggedLeaf } from './signed-checkpoint.ts';
import { about, digestText, type Found, found, refuse } from './verdict.ts';
import type { AddCheck } from './verify.ts';

/**
 * Checks how a committed draw ended (verify-draw.ts): the outcome must follow from the committed bytes, the caller's
 * nonce and the beacon's round, and the log must hold it. Runs in browsers.
 */
export interface OutcomeInput {
  /** The reply of GET /v1/draws/<id>, parsed. */
  readonly draw: unknown;
  readonly keys: unknown;
  /** `sha256:` and the hash of the statement. */
  readonly digest: string;
  /** The round that the draw waits for; undefined for a draw without a beacon. */
  readonly round: Found<RoundDue | undefined>;
}

/** A round of a beacon. */
export interface RoundDue {
  readonly chain: BeaconChain;
  readonly round: number;
  /** When the beacon publishes the round, Unix ms. */
  readonly atMs: number;
}

/** The form of an outcome. The other checks examine the members without a schema. */
const OUTCOME = object({
  type: { type: 'string', const: 'draw_outcome' },
  version: { type: 'integer', const: 1 },
  statement_sha256: sha256,
  state: oneOfWords(Object.keys(ENDS)),
  reason: orNull(textForm),
  secret: {},
  nonce: {},
  beacon: {},
  values: {},
  ended_at: time,
});

/** Adds the checks of the outcome. */
export function checkOutcome(input: OutcomeInput, add: AddCheck): void {
  const { draw } = input;
  if (member(draw, 'state') === 'committed') {
    add('end', () => notEnded(draw));
    return;
  }
  const parts: (Uint8Array | undefined)[] = [];
  for (const [name, read] of PARTS) {
    const part = found(() => read(input));
    add(name, () => part().holds);
    parts.push(part.known?.bytes);
  }
  add('values', () => valuesVerdict(input, parts));
  add('end', () => endVerdict(input));
}

/** One of the three inputs that the values follow from. */
interface Part {
  /** What the check found, in a sentence. */
  readonly holds: string;
  /** Undefined if the outcome does not hold the input. */
  readonly bytes?: Uint8Array;
}

const EMPTY = new Uint8Array(0);
const PARTS = [
  ['secret', secretOf],
  ['nonce', nonceOf],
  ['beacon', randomnessOf],
] as const;

function notEnded(draw: unknown): string {
  const dueAt = text(member(draw, 'statement', 'due_at'));
  if (['outcome', 'answer', 'end'].some((name) => (member(draw, name) ?? null) !== null))
    refuse('The state of the draw is "committed", but the draw has an outcome, an answer or an end.');
  return `The draw has not ended. It is due at ${dueAt}. After that time, the log must show how it ended.`;
}

function secretOf({ draw }: OutcomeInput): Part {
  const told = member(draw, 'outcome', 'secret');
  const opened = text(member(draw, 'answer', 'data', 'bytes'));
  if (told === null && member(draw, 'outcome', 'reason') === 'secret_lost')
    return { holds: 'The service says that it lost the committed bytes, so the draw has no values.' };
  if (member(draw, 'answer', 'data', 'encoding') !== 'hex' || opened === undefined || told !== opened)
    refuse('The outcome reveals bytes that are not those of the answer that it committed to.');
  if (!/^[0-9a-f]{64}$/.test(opened)) refuse('The revealed bytes are not 32 bytes in hex.');
  return {
    holds: 'The revealed bytes are those of the answer that the draw committed to.',
    bytes: hexToBytes(opened),
  };
}

function nonceOf({ draw }: OutcomeInput): Part {
  const [fixed, fixedHash] = ['nonce', 'nonce_sha256'].map((name) => member(draw, 'statement', name));
  const told = member(draw, 'outcome', 'nonce') ?? null;
  if (fixed === undefined && fixedHash === undefined) {
    if (told !== null) refuse('The statement has no nonce, but the outcome has one.');
    return { holds: 'The caller gave no nonce.', bytes: EMPTY };
  }
  if (told === null) {
    if (isRevealed(draw)) refuse('The outcome lacks the nonce of the caller.');
    return { holds: 'The caller did not reveal the nonce.' };
  }
  if (typeof told !== 'string' || !/^(?:[0-9a-f]{2}){1,64}$/.test(told))
    refuse('The nonce in the outcome is not 1 to 64 bytes in hex.');
  const bytes = hexToBytes(told);
  if (fixed === undefined ? fixedHash !== digestText(bytes) : fixed !== told)
    refuse('The nonce in the outcome is not the one that the statement fixed.');
  return { holds: 'The nonce is the one that the statement fixed.', bytes };
}

function randomnessOf({ draw, round: due }: OutcomeInput): Part {
  const round = due();
  const told = member(draw, 'outcome', 'beacon') ?? null;
  if (round === undefined) {
    if (told !== null) refuse('The statement has no beacon, but the outcome has one.');
    return { holds: withoutBeacon(draw), bytes: EMPTY };
  }
  if (told === null) {
    if (isRevealed(draw)) refuse('The outcome lacks the round of the beacon.');
    return {
      holds: `The outcome has no round of the beacon. Its reason is ${show(member(draw, 'outcome', 'reason'))}.`,
    };
  }
  const { chain, atMs } = round;
  if (member(told, 'chain') !== chain.hash)
    refuse('The round in the outcome is of another chain than that of the statement.');
  try {
    const { randomness } = roundOf(chain, round.round, told);
    const when = timeText(atMs / 1_000);
    const said = `Round ${round.round} of ${chain.hash}, due at ${when}, is signed by the beacon.`;
    return { holds: `${said} ${whoSigns(chain.hash)}`, bytes: hexToBytes(randomness) };
  } catch (error) {
    if (!(error instanceof BeaconError)) throw error;
    refuse(`The round of the beacon is not valid: ${error.message}.`);
  }
}

function withoutBeacon(draw: unknown): string {
  return member(draw, 'statement', 'nonce_sha256') === undefined
    ? 'The draw waits for no beacon, so the service could know its outcome when it committed.'
    : 'The draw waits for no beacon, so the service and the holder of the nonce could choose the outcome together.';
}

function whoSigns(chainHash: string): string {
  return !Object.hasOwn(LEAGUE_OF_ENTROPY, chainHash)
    ? 'This chain is not one of the League of Entropy: whoever runs it may know its rounds beforehand and choose them.'
    : `It is the chain ${LEAGUE_OF_ENTROPY[chainHash]} of the League of Entropy.`;
}

function valuesVerdict(
  { draw, digest }: OutcomeInput,
  [secret, nonce, randomness]: readonly (Uint8Array | undefined)[],
): string {
  const told = member(draw, 'outcome', 'values') ?? null;
  if (secret === undefined || nonce === undefined || randomness === undefined) {
    if (isRevealed(draw)) refuse('The values cannot be computed again, because a check above failed.');
    if (told !== null) refuse('The outcome has values, but not everything that they follow from.');
    return 'The draw has no values.';
  }
  const reason = member(draw, 'outcome', 'reason');
  if (told === null) {
    if (isRevealed(draw)) refuse('The outcome has no values.');
    return `The draw has no values. Its reason is ${show(reason)}.`;
  }
  const statementDigest = hexToBytes(digest.slice('sha256:'.length));
  const key = drawKey({ secret, nonce, randomness, statementDigest });
  const values = drawnValues(member(draw, 'statement', 'request'), drawStream(key));
  const inputs = ['the committed bytes'];
  if (nonce.length > 0) inputs.push('the nonce');
  if (randomness.length > 0) inputs.push('the round of the beacon');
  const from = inputs.join(', ').replace(/, ([^,]*)$/, ' and $1');
  if (canonical(values) !== canonical(told)) refuse(`The values do not follow from ${from}.`);
  const what = values.length === 1 ? 'The one value' : `Each of the ${values.length} values`;
  if (isRevealed(draw)) return `${what} follows from ${from}.`;
  return `${what} follows from ${from}, but does not count. The reason is ${show(reason)}.`;
}

/** Checks that the end is one that the statement allows at that time, and that the log holds it. */
function endVerdict({ draw, keys, digest, round: due }: OutcomeInput): string {
  const told = member(draw, 'outcome');
  checkForm(OUTCOME, told, 'outcome');
  if (canonical(told) === undefined) refuse('The outcome has text that is not well-formed Unicode.');
  const outcome = told as DrawOutcome;
  const { state, reason } = outcome;
  if (member(draw, 'state') !== state)
    refuse(
      `The state of the draw is ${show(member(draw, 'state'))}, but that of its outcome is ${show(state)}.`,
    );
  if (outcome.statement_sha256 !== digest) refuse('The outcome is of another statement.');
  if (!ENDS[state].some((each) => each === reason))
    refuse(`A draw of the state ${show(state)} cannot have the reason ${show(reason)}.`);
  const [dueMs, givesUpMs] = ['due_at', 'gives_up_at'].map((name) => timeOf(member(draw, 'statement', name)));
  const endedMs = timeOf(outcome.ended_at);
  if (state === 'revealed' && !(endedMs >= dueMs)) refuse('The draw was revealed before it was due.');
  if (state === 'cancelled' && !(endedMs < dueMs)) refuse('The draw was cancelled after it was due.');
  if (state === 'failed' && reason !== 'secret_lost' && !(endedMs >= givesUpMs))
    refuse('The draw failed before the time until which its statement says that it is tried.');
  const leaf = drawEndText(outcome);
  if (member(draw, 'end', 'leaf') !== leaf) refuse('The leaf in the log does not record this outcome.');
  const { atS } = about('The end', () => loggedLeaf(leaf, member(draw, 'end', 'proof'), keys));
  const round = due.known;
  // The service knows the secret, so whoever cancels after the round is public may know the values: that is a choice.
  if (state === 'cancelled' && round !== undefined && atS * 1_000 >= round.atMs)
    refuse(
      `The log held the cancellation only by ${timeText(atS)}, which is not before round ${round.round} was due, at ${timeText(round.atMs / 1_000)}.`,
    );
  return `The draw ended as ${state}. The log held its end by ${timeText(atS)}.`;
}

function isRevealed(draw: unknown): boolean {
  return member(draw, 'state') === 'revealed';
}
