import assert from 'node:assert/strict';
import type { Backend, RawRead, StreamBackend } from '../../../src/backend/backend.ts';
import { assessLot, assessorInPlace } from '../../../src/pool/intake/assess-lot.ts';
import { HealthMonitor } from '../../../src/pool/intake/health.ts';
import { type Lot, makeLot } from '../../../src/pool/intake/lots.ts';
import { ShortLots } from '../../../src/pool/intake/short-lots.ts';
import { ScriptedAssessor, settle } from '../../pool/fixtures.ts';
import { idleCollector } from '../../pool/intake/collecting.ts';
import { fixedBytes, rawRead, soundBackend } from '../../support/backends.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { type Model, modelBackend } from './models.ts';

/** Returns fair coins; `bits` is a multiple of 8 and of `width`. */
export function soundRead(label: string, bits: number, width: number): RawRead {
  const raw = new Uint8Array(bits / 8);
  fixedBytes(label)(raw);
  return rawRead(raw, width, bits / width);
}

/** Runs the whole chain from a read to a lot, with the tests replaced, for a source that may make every claim. */
export async function lotOf(read: RawRead): Promise<Lot> {
  const backend: StreamBackend = { ...soundBackend(), origin: 'quantum-processor' };
  const { width } = read;
  const health = new HealthMonitor({ width, minEntropyPerBit: backend.claimedMinEntropyPerBit }).check(read);
  return makeLot(backend, read, health, assessorInPlace, new ManualClock(), new ShortLots());
}

/**
 * Makes the first lot of a source that claims full entropy, if the health tests accept it. SP 800-22 accepts everything, as it does
 * conditioned bits, and SP 800-90B is real.
 */
export async function firstLot(model: Model, bits: number) {
  const backend = modelBackend(model);
  const read = await backend.read(bits, new AbortController().signal);
  const health = new HealthMonitor({ width: model.width, minEntropyPerBit: 1 }).check(read);
  const assessor = new ScriptedAssessor();
  assessor.assessLot = async (bits, width, shots) => assessLot(bits, width, shots);
  const { record, blocks } = await makeLot(
    backend,
    read,
    health,
    assessor,
    new ManualClock(),
    new ShortLots(),
  );
  return { health, record, blocks };
}

/** Raw bits of a lot: 204 conditioned blocks of 32 bytes at a claim of 1, of which 64 are seeds. */
export const LOT_RAW_BITS = 64 * 1024;
const PURE_BYTES_OF_LOT = (204 - 64) * 32;

/** Returns a collector in virtual time that wants `goodLots` good lots. */
export function collecting(backend: Backend, goodLots = 20, lotRawBits = LOT_RAW_BITS) {
  const world = idleCollector(backend, { pureBytesHigh: goodLots * PURE_BYTES_OF_LOT, lotRawBits });
  world.assessor.estimate = 1; // so that every lot gives the same count of bytes, even by the pooled estimate of short lots
  return { ...world, goodLots };
}

/** Lets it collect until it has enough, is closed, or ten minutes are over. */
export async function collected(world: ReturnType<typeof collecting>) {
  const { collector, time, ledger, goodLots } = world;
  collector.start();
  const isDone = async () =>
    collector.closed || (await ledger.blockLevels()).pure.bytes >= goodLots * PURE_BYTES_OF_LOT;
  for (let minute = 0; minute < 10 && !(await isDone()); minute++) {
    await atRest(world);
    await time.pass(60_000);
  }
  await collector.stop();
  return collector.status();
}

/** Lets it do everything that needs no passing of time. */
export async function atRest({ collector }: ReturnType<typeof collecting>): Promise<void> {
  const seen = () => JSON.stringify([collector.status().reads, collector.status().lotsAccepted]);
  for (let turns = 0, before = ''; before !== seen(); turns++) {
    assert.ok(turns < 1_000, 'a source is not read without an end');
    before = seen();
    await settle();
  }
}

/**
 * Count of reads in ten minutes of a source that fails each time: after 0, 1, 3, 7, 15, 31 and 63 s, and then every
 * minute.
 */
export const FAILED_READS = 15;

/** Returns a source whose reads are sound ones changed by `change`; reads count from 1. */
export function changedBackend(
  change: (read: RawRead, count: number) => RawRead | Promise<RawRead>,
  whole: StreamBackend = soundBackend(),
): StreamBackend {
  let count = 0;
  return {
    ...whole,
    name: 'test-liar',
    read: async (bits, signal) => change(await whole.read(bits, signal), ++count),
  };
}

/** Returns the read with one channel stuck over `shots` shots, which is an intermittent or a permanent failure. */
export function withRun(read: RawRead, shots: number): RawRead {
  const bits = read.bits.slice();
  for (let at = 0; at < shots * read.width; at += read.width) bits[at >> 3] |= 0x80 >> (at & 7);
  return { ...read, bits };
}
