import { listAt, member, text, timeOf, timeText } from './members.ts';
import {
  type Cosigned,
  type LoggedAt,
  type LoggedLeaf,
  loggedLeaf,
  readCosignatures,
  readProof,
} from './signed-checkpoint.ts';
import { about, found, refuse } from './verdict.ts';

/** The witnesses that a verifier asks for. Checks their cosignatures and times. Runs in browsers. */
export interface WitnessPolicy {
  /** Verifier keys of the witnesses, as they print them (c2sp.org/tlog-cosignature, Ed25519). */
  readonly keys: readonly string[];
  /** How many of the witnesses must have cosigned. */
  readonly quorum: number;
}

/** How far the clocks of a witness and of the service may differ. */
export const WITNESS_CLOCK_MS = 60_000;

/**
 * Parses a policy as people write it: keys with commas or white space between them, and a quorum. An empty quorum means
 * all of the witnesses. Returns a string that says what is wrong if the policy cannot be used.
 */
export function readWitnessPolicy(keysText: string, quorumText: string): WitnessPolicy | string {
  const keys = keysText.split(/[\s,]+/).filter((each) => each !== '');
  if (keys.length === 0) return 'name at least one witness';
  if (quorumText === '') return { keys, quorum: keys.length };
  const quorum = /^[1-9]\d{0,3}$/.test(quorumText) ? Number(quorumText) : 0;
  return quorum >= 1 && quorum <= keys.length
    ? { keys, quorum }
    : `the quorum must be a number from 1 to ${keys.length}, not ${JSON.stringify(quorumText)}`;
}

/** The event before which the log must have held a leaf. */
interface Deadline {
  /** The event in words, for the message of a refusal. */
  readonly event: string;
  /** The latest allowed time of the log's signature, Unix ms. */
  readonly latestMs: number;
  /** How much later than `latestMs` a cosignature may be, since clocks differ. */
  readonly clocksMs: number;
}

/**
 * Returns where and when the log held the leaf. Refuses it unless the log, by its own word and that of enough of the
 * witnesses asked for, held it before the event.
 */
export function heldBefore(
  what: string,
  [leaf, proof]: readonly [leaf: string, proof: unknown],
  { keys, witnesses }: { readonly keys: unknown; readonly witnesses?: WitnessPolicy },
  { event, latestMs, clocksMs }: Deadline,
): LoggedLeaf {
  const logged = about(`${what[0].toUpperCase()}${what.slice(1)}`, () => loggedLeaf(leaf, proof, keys));
  if (!(logged.atS * 1_000 <= latestMs))
    refuse(`The log held ${what} only by ${timeText(logged.atS)}, which is not before ${event}.`);
  if (witnesses === undefined) return logged;
  const seen = readCosignatures(witnesses.keys, logged.at);
  const before = seen.filter(({ atS }) => atS * 1_000 <= latestMs + clocksMs).length;
  if (before < witnesses.quorum)
    refuse(`${before} witnesses saw ${what} before ${event}, but ${witnesses.quorum} are required.`);
  return logged;
}

/**
 * Checks that enough witnesses have cosigned the tree, none of them before the certificate was issued. Returns a
 * sentence that says between which times the certificate was logged.
 */
export function witnessVerdict(
  document: unknown,
  certificate: unknown,
  logged: LoggedAt,
  policy: WitnessPolicy,
): string {
  const { keys, quorum } = policy;
  if (!(Number.isSafeInteger(quorum) && quorum >= 1 && quorum <= keys.length))
    refuse(
      `The quorum is ${quorum}, but must be a whole number from 1 to the ${keys.length} witnesses named.`,
    );
  const seen = readCosignatures(keys, logged);
  const issuedMs = timeOf(member(certificate, 'issued_at'));
  const early = seen.find(({ atS }) => atS * 1000 < issuedMs - WITNESS_CLOCK_MS);
  if (early !== undefined)
    refuse(
      `The witness ${early.name} saw the tree at ${timeText(early.atS)}, before the certificate was issued.`,
    );
  const told = namesAndTimes(seen);
  if (seen.length < quorum) {
    const who = told === '' ? '' : `: ${told}`;
    refuse(`${seen.length} witnesses saw the tree, but ${quorum} are required${who}.`);
  }
  const byS = seen.map(({ atS }) => atS).sort((a, b) => a - b)[quorum - 1];
  const before = seenWithout(document, logged, policy);
  const since =
    before === undefined
      ? `${text(member(certificate, 'issued_at'))}, according to the log alone,`
      : `${timeText(before.atS)}, when witnesses had seen the log with ${before.size} leaves and without the certificate,`;
  return `Seen by ${told}. So the certificate was logged between ${since} and ${timeText(byS)}.`;
}

/**
 * Returns the latest witnessed checkpoint that does not cover the certificate's leaf yet; undefined if there is none.
 * The document has such checkpoints in the proofs of its lots. At `atS` the certificate was not in the log yet. It is
 * the earliest time of the cosignatures, so it holds if one witness of the quorum is honest.
 */
function seenWithout(
  document: unknown,
  { proof, checkpoint }: LoggedAt,
  { keys, quorum }: WitnessPolicy,
): { readonly atS: number; readonly size: number } | undefined {
  let latest: { atS: number; size: number } | undefined;
  for (const lot of listAt(document, 'lots')) {
    const logged = found(() => readProof(member(lot, 'proof'))).known;
    if (logged === undefined) continue;
    const { origin, size } = logged.checkpoint;
    if (origin !== checkpoint.origin || size > proof.index) continue;
    const seen = found(() => readCosignatures(keys, logged)).known ?? [];
    if (seen.length < quorum) continue;
    const atS = Math.min(...seen.map((each) => each.atS));
    if (latest === undefined || atS > latest.atS) latest = { atS, size };
  }
  return latest;
}

function namesAndTimes(seen: readonly Cosigned[]): string {
  return seen.map(({ name, atS }) => `${name} at ${timeText(atS)}`).join(', ');
}
