/**
 * Leaves of one template, four at a time; each answer has one. The members in which they differ are printed over the
 * template's text in four lanes, which are then hashed in place. Work that such leaves share is done once for a template:
 * the hash states after the blocks before the first differing member, and the schedules of the blocks without one.
 */
import { base32, hex } from './hex';
import { BLOCK, begin, compress, finish, HASH, padded, rounds, SCHEDULE, STATE, schedule } from './sha256';

/** Room for entries of segments (src/ledger/segment.ts), for the certificate ids that are printed, and for hashes. */
const ENTRIES: usize = 1024;
export const entriesMax: i32 = i32(ENTRIES);
export const entriesAt: usize = memory.data(1024 * 80, 16);
export const idsAt: usize = memory.data(1024 * 16, 16);
export const hashesAt: usize = memory.data(1024 * 32, 16);

const TEXT: usize = 4096;
/** Size of the text of each lane. */
export const textBytes: i32 = i32(TEXT);
export const textsAt: usize = memory.data(4 * 4096, 16);
/** For each block of the text, 1 if leaves differ in it, else 0. */
export const variesAt: usize = memory.data(64, 16);

const SCHEDULES: usize = memory.data(64 * 1024, 16);
const BEGUN: usize = memory.data(128, 16);
let first: usize = 0;
let end: usize = 0;

/** Adopts the template in the first lane, `bytes` bytes: 0x00 and the text of a leaf. The caller has written `variesAt`. */
export function take(bytes: i32): void {
  memory.fill(textsAt + usize(bytes), 0, TEXT - usize(bytes));
  end = padded(textsAt, bytes);
  for (let lane: usize = 1; lane < 4; lane++) memory.copy(textsAt + lane * TEXT, textsAt, end);
  begin();
  first = 0;
  for (; first < end && !varies(first); first += BLOCK) compress(textsAt + first, 0);
  memory.copy(BEGUN, STATE, 128);
  for (let at = first; at < end; at += BLOCK) if (!varies(at)) schedule(textsAt + at, 0, scheduleOf(at));
}

/**
 * Prints the id, the request id and the hash of the delivered bytes of an entry into the text of a lane, at the given
 * offsets.
 */
export function print(lane: i32, index: i32, id: i32, requestId: i32, delivered: i32): void {
  const entry = entriesAt + usize(index) * 80;
  const text = textsAt + usize(lane) * TEXT;
  base32(idsAt + usize(index) * 16, text + usize(id));
  base32(entry, text + usize(requestId));
  hex(v128.load(entry, 16), text + usize(delivered));
  hex(v128.load(entry, 32), text + usize(delivered) + 32);
}

/** Hashes the texts of the lanes; the hashes go to the entries with these indices. */
export function hash(a: i32, b: i32, c: i32, d: i32): void {
  memory.copy(STATE, BEGUN, 128);
  for (let at = first; at < end; at += BLOCK) {
    if (varies(at)) schedule(textsAt + at, TEXT, scheduleOf(at));
    rounds(scheduleOf(at));
  }
  finish(hashOf(a), hashOf(b), hashOf(c), hashOf(d));
}

@inline
function varies(at: usize): bool {
  return load<u8>(variesAt + at / BLOCK) != 0;
}

@inline
function scheduleOf(at: usize): usize {
  return SCHEDULES + (at / BLOCK) * SCHEDULE;
}

@inline
function hashOf(index: i32): usize {
  return hashesAt + usize(index) * HASH;
}
