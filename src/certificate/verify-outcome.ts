import { hexToBytes } from '@noble/hashes/utils.js';
import { type BeaconChain, BeaconError, LEAGUE_OF_ENTROPY } from '../beacon/drand.ts';
import { roundOf } from '../beacon/round.ts';
import { drawKey, drawnValues, drawStream } from './draw-values.ts';
import { canonical, member, show, text, timeOf, timeText } from './members.ts';
import { loggedLeaf } from './signed-checkpoint.ts';
import { digestText, failed, holds, type Verdict } from './verdict.ts';
import type { DrawCheckName } from './verify.ts';

/**
 * How a committed draw ended: that the outcome follows from what was committed to, the caller's nonce and the beacon's
 * round, and that the log holds it (verify-draw.ts). Runs in browsers.
 */
export interface OutcomeInput {
  /** The document of the draw. */
  readonly draw: unknown;
  readonly keys: unknown;
  /** `sha256:` and the hash of the statement. */
  readonly digest: string;
  /** Undefined without a beacon; a text says why it is not known. */
  readonly round: RoundDue | string | undefined;
}

/** A beacon's round with its chain, and when it is due (Unix ms). */
export interface RoundDue {
  readonly chain: BeaconChain;
  readonly round: number;
  readonly atMs: number;
}

/** How a draw may end, and the reasons that each end has. */
const REASONS: Readonly<Record<string, readonly unknown[]>> = {
  revealed: [null],
  cancelled: ['cancelled'],
  failed: ['beacon_missing', 'beacon_wrong', 'nonce_missing', 'secret_lost'],
};

export async function outcomeVerdicts(input: OutcomeInput): Promise<[DrawCheckName, Verdict][]> {
  const { draw } = input;
  if (member(draw, 'state') === 'committed') return [['end', notEnded(draw)]];
  const [secret, nonce, beacon] = [secretOf(draw), nonceOf(draw), randomnessOf(input)];
  return [
    ['secret', secret.verdict],
    ['nonce', nonce.verdict],
    ['beacon', beacon.verdict],
    ['values', valuesVerdict(input, secret.bytes, nonce.bytes, beacon.bytes)],
    ['end', await endVerdict(input)],
  ];
}

/** One of the inputs of the values: what was found, and its bytes where they are known. */
interface Part {
  readonly verdict: Verdict;
  readonly bytes?: Uint8Array;
}

const EMPTY = new Uint8Array(0);

function notEnded(draw: unknown): Verdict {
  const dueAt = text(member(draw, 'statement', 'due_at'));
  if (['outcome', 'answer', 'end'].some((name) => (member(draw, name) ?? null) !== null))
    return failed('The draw is said to be committed only, and yet it has an outcome, an answer or an end.');
  return holds(`The draw has not ended. It is due at ${dueAt}; from then on the log must show how it ended.`);
}

function secretOf(draw: unknown): Part {
  const told = member(draw, 'outcome', 'secret');
  const opened = text(member(draw, 'answer', 'data', 'bytes'));
  if (told === null && member(draw, 'outcome', 'reason') === 'secret_lost')
    return { verdict: holds('The service says that it lost the committed bytes. The draw has no values.') };
  if (member(draw, 'answer', 'data', 'encoding') !== 'hex' || opened === undefined || told !== opened)
    return { verdict: failed('The outcome opens other bytes than those of the commitment.') };
  if (!/^[0-9a-f]{64}$/.test(opened)) return { verdict: failed('The opened bytes are not 32 bytes in hex.') };
  return { verdict: holds('The opened bytes are those that were committed to.'), bytes: hexToBytes(opened) };
}

function nonceOf(draw: unknown): Part {
  const [fixed, fixedHash] = ['nonce', 'nonce_sha256'].map((name) => member(draw, 'statement', name));
  const told = member(draw, 'outcome', 'nonce') ?? null;
  if (fixed === undefined && fixedHash === undefined)
    return told === null
      ? { verdict: holds('The caller gave no nonce.'), bytes: EMPTY }
      : { verdict: failed('The statement has no nonce, the outcome has one.') };
  if (told === null)
    return isRevealed(draw)
      ? { verdict: failed('The outcome does not have the nonce of the caller.') }
      : { verdict: holds('The caller did not open the nonce.') };
  if (typeof told !== 'string' || !/^(?:[0-9a-f]{2}){1,64}$/.test(told))
    return { verdict: failed('The nonce of the outcome is not 1 to 64 bytes in hex.') };
  const bytes = hexToBytes(told);
  const isFixed = fixed === undefined ? fixedHash === digestText(bytes) : fixed === told;
  return isFixed
    ? { verdict: holds('The nonce is the one that the caller fixed.'), bytes }
    : { verdict: failed('The nonce is not the one that the caller fixed.') };
}

function randomnessOf({ draw, round }: OutcomeInput): Part {
  const told = member(draw, 'outcome', 'beacon') ?? null;
  if (typeof round === 'string') return { verdict: failed(round) };
  if (round === undefined)
    return told === null
      ? { verdict: holds(withoutBeacon(draw)), bytes: EMPTY }
      : { verdict: failed('The statement has no beacon, the outcome has one.') };
  if (told === null)
    return isRevealed(draw)
      ? { verdict: failed('The outcome does not have the round of the beacon.') }
      : { verdict: holds(`The outcome has no round: ${show(member(draw, 'outcome', 'reason'))}.`) };
  const { chain, atMs } = round;
  if (member(told, 'chain') !== chain.hash) return { verdict: failed('The round is of another chain.') };
  try {
    const { randomness } = roundOf(chain, round.round, told);
    const when = timeText(atMs / 1_000);
    const said = `Round ${round.round} of ${chain.hash}, due at ${when}, is signed by the beacon.`;
    return { verdict: holds(`${said} ${whoSigns(chain.hash)}`), bytes: hexToBytes(randomness) };
  } catch (error) {
    if (!(error instanceof BeaconError)) throw error;
    return { verdict: failed(`The round of the beacon: ${error.message}.`) };
  }
}

function withoutBeacon(draw: unknown): string {
  return member(draw, 'statement', 'nonce_sha256') === undefined
    ? 'The draw waits for no beacon: the service could know its outcome when it committed.'
    : 'The draw waits for no beacon: service and holder of the nonce together could choose the outcome.';
}

function whoSigns(chainHash: string): string {
  return !Object.hasOwn(LEAGUE_OF_ENTROPY, chainHash)
    ? 'This chain is not one of the League of Entropy: whoever runs it knows its rounds beforehand and can choose them.'
    : `It is the chain ${LEAGUE_OF_ENTROPY[chainHash]} of the League of Entropy.`;
}

function valuesVerdict(
  { draw, digest }: OutcomeInput,
  secret: Uint8Array | undefined,
  nonce: Uint8Array | undefined,
  randomness: Uint8Array | undefined,
): Verdict {
  const told = member(draw, 'outcome', 'values') ?? null;
  if (secret === undefined || nonce === undefined || randomness === undefined) {
    if (isRevealed(draw)) return failed('The values cannot be computed again: see the checks above.');
    return told === null
      ? holds('The draw has no values.')
      : failed('The outcome has values that nobody can compute again.');
  }
  const reason = member(draw, 'outcome', 'reason');
  if (told === null)
    return isRevealed(draw)
      ? failed('The outcome has no values.')
      : holds(`The draw has no values: ${show(reason)}.`);
  const statementDigest = hexToBytes(digest.slice('sha256:'.length));
  const key = drawKey({ secret, nonce, randomness, statementDigest });
  const values = drawnValues(member(draw, 'statement', 'request'), drawStream(key));
  if (typeof values === 'string') return failed(`The request of the statement: ${values}.`);
  if (canonical(values) !== canonical(told))
    return failed('Other values follow from the committed bytes, the nonce and the round.');
  const what = `${values.length} value${values.length === 1 ? '' : 's'}`;
  if (isRevealed(draw)) return holds(`The ${what} follow from the committed bytes, the nonce and the round.`);
  return holds(`The ${what} would have been these, and do not count: ${show(reason)}.`);
}

/** The log holds how the draw ended. */
async function endVerdict({ draw, keys, digest, round }: OutcomeInput): Promise<Verdict> {
  const [outcome, state] = [member(draw, 'outcome'), member(draw, 'state')];
  const outcomeText = canonical(outcome) ?? '';
  if (member(outcome, 'type') !== 'draw_outcome' || member(outcome, 'version') !== 1)
    return failed('The outcome is not of version 1.');
  if (!Object.hasOwn(REASONS, String(state)) || member(outcome, 'state') !== state)
    return failed(`The draw is ${show(state)}, its outcome ${show(member(outcome, 'state'))}.`);
  if (member(outcome, 'statement_sha256') !== digest) return failed('The outcome is of another statement.');
  const [reason, endedAt] = [member(outcome, 'reason'), member(outcome, 'ended_at')];
  if (!REASONS[String(state)].includes(reason))
    return failed(`A draw that is ${state} does not have the reason ${show(reason)}.`);
  const [dueMs, givesUpMs] = ['due_at', 'gives_up_at'].map((name) => timeOf(member(draw, 'statement', name)));
  const endedMs = timeOf(endedAt);
  if (state === 'revealed' && !(endedMs >= dueMs)) return failed('The draw was revealed before it was due.');
  if (state === 'cancelled' && !(endedMs < dueMs)) return failed('The draw was cancelled after it was due.');
  if (state === 'failed' && reason !== 'secret_lost' && !(endedMs >= givesUpMs))
    return failed('The draw was given up before the time that its statement says.');
  const expected = {
    ended_at: endedAt,
    outcome_sha256: digestText(outcomeText),
    state,
    statement_sha256: digest,
    type: 'draw_end',
    version: 1,
  };
  const leaf = member(draw, 'end', 'leaf');
  if (typeof leaf !== 'string' || leaf !== canonical(expected))
    return failed('The leaf in the log is of another end than the outcome.');
  const logged = await loggedLeaf(leaf, member(draw, 'end', 'proof'), keys);
  if (typeof logged === 'string') return failed(`The end: ${logged}`);
  // whoever cancels with the round and the secret at hand chooses
  if (state === 'cancelled' && typeof round === 'object' && logged.atS * 1_000 >= round.atMs)
    return failed(
      `The log held the cancellation by ${timeText(logged.atS)}, which is not before round ${round.round} was due, at ${timeText(round.atMs / 1_000)}.`,
    );
  return holds(`The draw ended as ${state}; the log held that by ${timeText(logged.atS)}.`);
}

function isRevealed(draw: unknown): boolean {
  return member(draw, 'state') === 'revealed';
}
