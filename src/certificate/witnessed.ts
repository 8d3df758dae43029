import { assert } from '../core/assert.ts';
import { formatNote, readTimestamped, type VerifierKey } from '../crypto/note.ts';
import type { LogStore } from '../ledger/ledger.ts';
import { firstIndexWhere, jsonRecord, paddedNumber, readJson } from './log-records.ts';
import { noteOf } from './log-state.ts';

/**
 * A checkpoint that enough witnesses have cosigned. The store has them in ascending order of size, under these keys:
 *   witnessed/count    how many there are
 *   witnessed/<n>      the n-th of them, from 0
 */
export interface Witnessed {
  /** Leaves that the checkpoint covers. */
  readonly size: number;
  /** The signed note with its cosignatures. */
  readonly note: string;
}

/** A witness as the operator configured it. */
export interface AskedWitness {
  readonly key: VerifierKey;
  /** The URL before `/add-checkpoint`. */
  readonly url: string;
}

/** The witnesses that must cosign a checkpoint before certificates are proven by it, and anything drawn from its lots. */
export interface Witnesses {
  readonly witnesses: readonly AskedWitness[];
  /** How many of them must have cosigned. */
  readonly quorum: number;
}

/** What the service knows of a witness since its start. */
export interface WitnessState {
  readonly name: string;
  /** Leaves of the checkpoint that it cosigned last; null before the first cosignature. */
  readonly size: number | null;
  /** When it cosigned last, by its own clock, in seconds since 1970; null before the first cosignature. */
  readonly cosignedAtS: number | null;
  /** Why it did not cosign when it was asked last; null if it did. */
  readonly failure: string | null;
}

const COUNT_KEY = 'witnessed/count';

/**
 * Stores a cosigned checkpoint. If the last one has the same size, adds the new cosignatures to it and keeps the old
 * ones, which say when the tree was first seen. Sizes must not descend.
 */
export async function putWitnessed(store: LogStore, { size, note }: Witnessed): Promise<void> {
  const count = await countOf(store);
  const last = count === 0 ? undefined : await readWitnessed(store, count - 1);
  assert(last === undefined || last.size <= size, 'witnessed sizes ascend');
  const isSame = last?.size === size;
  const n = isSame ? count - 1 : count;
  const stored: Witnessed = { size, note: isSame ? withThoseOf(last.note, note) : note };
  await store.putLog([jsonRecord(keyOf(n), stored), jsonRecord(COUNT_KEY, n + 1)]);
}

/** Returns the first note with the other keys' signatures of the second; the second if the texts differ. */
function withThoseOf(first: string, second: string): string {
  const [{ text, signatures }, later] = [noteOf(first), noteOf(second)];
  if (text !== later.text) return second;
  const added = later.signatures.filter(
    ({ name, keyId }) => !signatures.some((each) => each.name === name && each.keyId === keyId),
  );
  return formatNote({ text, signatures: [...signatures, ...added] });
}

/** Returns the smallest witnessed checkpoint of at least `size` leaves; undefined if there is none. */
export async function firstWitnessed(store: LogStore, size: number): Promise<Witnessed | undefined> {
  const count = await countOf(store);
  const n = await firstIndexWhere(count, async (each) => (await readWitnessed(store, each)).size >= size);
  return n === count ? undefined : await readWitnessed(store, n);
}

/** Returns the largest witnessed checkpoint that the log says it had signed by a time; undefined if none. */
export async function witnessedBy(store: LogStore, atMs: number): Promise<Witnessed | undefined> {
  const isLater = async (n: number) => signedAtMs((await readWitnessed(store, n)).note) > atMs;
  const n = await firstIndexWhere(await countOf(store), isLater);
  return n === 0 ? undefined : await readWitnessed(store, n - 1);
}

/** Returns when the log, by its own word, signed a checkpoint last, Unix ms. */
function signedAtMs(note: string): number {
  const { text, signatures } = noteOf(note);
  const origin = text.slice(0, text.indexOf('\n'));
  const times = signatures
    .filter(({ name }) => name === origin)
    .map(({ signature }) => readTimestamped(signature)?.atS)
    .filter((atS) => atS !== undefined);
  return Math.max(...times) * 1_000;
}

async function readWitnessed(store: LogStore, n: number): Promise<Witnessed> {
  const witnessed = await readJson<Witnessed>(store, keyOf(n));
  assert(witnessed !== undefined, `the witnessed checkpoint ${n} is stored`);
  return witnessed;
}

async function countOf(store: LogStore): Promise<number> {
  return (await readJson<number>(store, COUNT_KEY)) ?? 0;
}

function keyOf(n: number): string {
  return `witnessed/${paddedNumber(n)}`;
}
