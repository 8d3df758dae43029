import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { StreamBackend } from '../../src/backend/backend.ts';
import { simulatorWith } from '../../src/backend/simulator/simulator.ts';
import { certifiedLot } from '../../src/certificate/lot-leaf.ts';
import { fromBase64 } from '../../src/crypto/base64.ts';
import { newRecipientKey, open, recipientOf, seal } from '../../src/crypto/sealed-box.ts';
import { assessorInPlace } from '../../src/pool/intake/assess-lot.ts';
import { HealthMonitor } from '../../src/pool/intake/health.ts';
import { makeLot } from '../../src/pool/intake/lots.ts';
import { decodeRawShots, encodeRawShots, RawShotStore } from '../../src/pool/intake/raw-shots.ts';
import { recomputeLot, replayedFigures } from '../../src/pool/intake/recompute-lot.ts';
import { ShortLots } from '../../src/pool/intake/short-lots.ts';
import { fixedBytes } from '../support/backends.ts';
import { openTestLedger, temporaryFolder } from '../support/ledger-folder.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { addReleased } from '../support/released-lots.ts';
import { runQrnHere } from '../support/run-command.ts';
import { runQrn } from '../support/server.ts';

const NEVER = new AbortController().signal;
const BITS = 1_000_000;
/** Bits of a lot, where no figure needs a million bits. */
const SHORT_BITS = 200_000;
const SIMULATOR = {
  qubits: 4,
  readout_e01: 0.01,
  readout_e10: 0,
  bias: 0,
  faults: [],
  lot_bits: BITS,
} as const;

const made = new Map<number, ReturnType<typeof makeLotOf>>();

/** A lot of so many bits, which nothing below changes. Each is made once: its statistical tests take most of the time. */
function lotOf(bits = BITS): ReturnType<typeof makeLotOf> {
  const lot = made.get(bits) ?? makeLotOf(bits);
  made.set(bits, lot);
  return lot;
}

/** A lot of a device, made as the service makes it, and its raw shots as they are kept. */
async function makeLotOf(bits: number) {
  const clock = new ManualClock();
  const simulator = simulatorWith('sim', SIMULATOR, clock, fixedBytes('superposition'));
  const backend: StreamBackend = { ...simulator, origin: 'quantum-processor' };
  const read = await backend.read(bits, NEVER);
  const { claimedMinEntropyPerBit } = backend;
  const health = new HealthMonitor({ width: read.width, minEntropyPerBit: claimedMinEntropyPerBit }).check(
    read,
  );
  const lot = await makeLot(backend, read, health, assessorInPlace, clock, new ShortLots());
  return { lot, shots: { read, claimedMinEntropyPerBit }, clock };
}

describe('a lot that is recomputed from its raw shots', () => {
  for (const bits of [SHORT_BITS, BITS]) {
    it(`has every figure that was recorded: ${bits} bits`, async () => {
      const { lot, shots, clock } = await lotOf(bits);
      assert.equal(lot.record.accepted, true, lot.record.rejection);
      const kept = decodeRawShots(encodeRawShots(shots));
      const made = await recomputeLot(lot.record, kept, clock);
      for (const { name, isEqual, notShown } of replayedFigures(lot.record, made, kept.read)) {
        assert.ok(isEqual && (notShown === undefined) === (bits === BITS || !/min-entropy/.test(name)), name);
      }
      assert.equal(made.processedSha256, lot.record.processedSha256);
      assert.deepEqual(certifiedLot(made).leaf, certifiedLot(lot.record).leaf);
    });
  }

  it('differs when a bit or a recorded figure was changed', async () => {
    const { lot, shots, clock } = await lotOf(SHORT_BITS);
    const differing = async (record = lot.record, changed = encodeRawShots(shots)) => {
      const kept = decodeRawShots(changed);
      const made = await recomputeLot(record, kept, clock);
      const figures = replayedFigures(record, made, kept.read);
      return figures
        .filter(({ isEqual, notShown }) => !isEqual && notShown === undefined)
        .map(({ name }) => name);
    };
    const bit = encodeRawShots(shots);
    bit[bit.indexOf(0x0a) + 5000] ^= 1;
    assert.ok((await differing(lot.record, bit)).includes('processed'));
    const better = { ...lot.record, minEntropyPerBit: 0.99 };
    assert.deepEqual(await differing(better), ['min-entropy per bit (SP 800-90B)']);
    const [first, ...rest] = lot.record.assessments;
    const passed = { ...first, sp80022: { ...first.sp80022, passed: first.sp80022.passed + 1 } };
    assert.deepEqual(await differing({ ...lot.record, assessments: [passed, ...rest] }), [
      'SP 800-22 of raw bits',
    ]);
  });

  it('says that the pooled estimate of a short lot cannot be recomputed', async () => {
    const { lot, shots, clock } = await lotOf(60_000);
    const made = await recomputeLot(lot.record, shots, clock);
    const figures = replayedFigures(lot.record, made, shots.read);
    assert.match(figures.find(({ name }) => name.startsWith('min-entropy'))?.notShown ?? '', /short lot/);
    assert.ok(figures.every(({ isEqual }) => isEqual));
    const forged = { ...lot.record, minEntropyPerBit: 0.95 };
    const again = replayedFigures(forged, await recomputeLot(forged, shots, clock), shots.read);
    const differing = again.filter(({ isEqual, notShown }) => !isEqual && notShown === undefined);
    assert.deepEqual(
      differing.map(({ name }) => name),
      ['min-entropy per bit (SP 800-90B)'],
      'above the estimate of its own bits',
    );
  });

  it('is recomputed even if it has fewer shots than the startup tests need', async () => {
    const { lot, shots, clock } = await lotOf(40_000);
    const { bits } = shots.read;
    const read = { ...shots.read, bits: bits.slice(0, 500), shots: 1000 };
    const passed = {
      ...lot.record,
      rawBits: 4000,
      shots: 1000,
      health: { ...lot.record.health, samples: 4000 },
    };
    const made = await recomputeLot(passed, { ...shots, read }, clock);
    assert.deepEqual(made.health, passed.health);
    assert.doesNotMatch(made.rejection, /startup/);
  });

  it('differs when the limits of its blocks were changed although no figure shows it', async () => {
    const { lot, shots, clock } = await lotOf(SHORT_BITS);
    const { commitment } = lot.record;
    assert.ok(commitment !== undefined);
    const other = { ...lot.record, commitment: { ...commitment, seedHashes: commitment.blockRoots } };
    const figures = replayedFigures(other, await recomputeLot(other, shots, clock), shots.read);
    assert.deepEqual(
      figures.filter(({ isEqual, notShown }) => !isEqual && notShown === undefined).map(({ name }) => name),
      ['what the blocks are held to'],
    );
  });
});

describe('stored raw shots', () => {
  it('are sealed for a key that the service does not have, within their bound, and the oldest are dropped first', (t) => {
    const folder = temporaryFolder(t);
    const key = newRecipientKey();
    const size = 10_000;
    const read = { bits: new Uint8Array(size).fill(0xa5), width: 1, shots: 8 * size };
    const store = new RawShotStore(folder, recipientOf(key), 3.5 * size);
    for (const id of ['lot_1', 'lot_2', 'lot_3', 'lot_4'])
      store.keep(id, { read, claimedMinEntropyPerBit: 1 });
    assert.deepEqual(readdirSync(folder).sort(), ['lot_2.sealed', 'lot_3.sealed', 'lot_4.sealed']);
    const file = readFileSync(join(folder, 'lot_3.sealed'));
    assert.equal(statSync(join(folder, 'lot_3.sealed')).mode & 0o077, 0);
    assert.ok(!file.includes(Buffer.alloc(16, 0xa5)), 'nothing of the bits can be read');
    assert.deepEqual(decodeRawShots(open(key, file)!).read.bits, read.bits);
    assert.equal(open(newRecipientKey(), file), undefined);
    store.keep('lot_5', {
      read: { ...read, bits: new Uint8Array(5 * size), shots: 40 * size },
      claimedMinEntropyPerBit: 1,
    });
    assert.equal(readdirSync(folder).length, 3, 'one that is larger than the bound is not kept');
  });

  it('open only for their recipient, and not when a byte was changed', () => {
    const key = newRecipientKey();
    const box = seal(recipientOf(key), Uint8Array.of(1, 2, 3));
    assert.deepEqual(open(key, box), Uint8Array.of(1, 2, 3));
    assert.notDeepEqual(seal(recipientOf(key), Uint8Array.of(1, 2, 3)), box);
    for (let at = 0; at < box.length; at++) {
      const changed = new Uint8Array(box);
      changed[at] ^= 1;
      assert.equal(open(key, changed), undefined, `byte ${at}`);
    }
    assert.equal(open(key, box.subarray(0, 40)), undefined);
  });

  it('are refused when they are incomplete', () => {
    const read = { bits: new Uint8Array(8), width: 1, shots: 64 };
    const whole = encodeRawShots({ read, claimedMinEntropyPerBit: 1 });
    for (const bytes of [whole.subarray(0, -1), whole.subarray(1), new Uint8Array(0), new Uint8Array(40)]) {
      assert.throws(() => decodeRawShots(bytes), RangeError);
    }
  });
});

/** The checkpoint of an empty log, as a service on another folder signed it. */
const signedNothing = `qrn.localhost/log\n0\n${createHash('sha256').digest('base64')}\n\n— qrn.localhost/log ${Buffer.alloc(68).toString('base64')}\n`;

/** A data folder with one lot whose raw shots are kept, and the key that opens them. */
async function folderOf(t: TestContext) {
  const dataDir = temporaryFolder(t);
  const keyFile = join(dataDir, 'raw.key');
  const { stdout: recipient } = await runQrnHere(dataDir, ['evidence', 'keygen', keyFile]);
  const { lot, shots } = await lotOf(SHORT_BITS);
  const { id } = lot.record;
  new RawShotStore(join(dataDir, 'raw'), fromBase64(recipient.trim())!, 1e9).keep(id, shots);
  const ledger = await openTestLedger(join(dataDir, 'ledger'));
  await addReleased(ledger, lot.record, lot.blocks);
  return { dataDir, ledger, lot, id, keyFile, out: join(dataDir, 'published') };
}

it('qrn evidence publishes a lot only when it is used up and the operator agrees, and replays it anywhere', async (t) => {
  const { dataDir, ledger, lot, id, keyFile, out } = await folderOf(t);
  const publish = (...more: string[]) =>
    runQrn(dataDir, ['evidence', 'publish', id, '--key', keyFile, '--out', out, ...more]);
  assert.match(
    (await publish('--reveal-pure-values')).stderr,
    /stop it first: a running service may still have bytes/,
  );
  await ledger.claimBlocks('pure', 1e6);
  await ledger.claimBlocks('seed', 1);
  assert.ok((await ledger.unclaimedBlocks(id)) > 0);
  await ledger.close();
  assert.match((await publish()).stderr, /add --reveal-pure-values/);
  assert.match((await publish('--reveal-pure-values')).stderr, /\d+ blocks of lot_\w+ are not delivered yet/);
  const again = await openTestLedger(join(dataDir, 'ledger'));
  await again.claimBlocks('seed', 1e6);
  await again.close();
  const folder = { inode: '1', birthNs: '1', machine: 'another' };
  const anchor = { version: 1, incarnation: 0, folder, checkpoint: signedNothing };
  mkdirSync(join(dataDir, 'keys'));
  writeFileSync(join(dataDir, 'keys', 'anchor.json'), JSON.stringify(anchor));
  const copied = await publish('--reveal-pure-values');
  assert.match(copied.stderr, /is not the one that signed last .*publish from the original/);
  rmSync(join(dataDir, 'keys'), { recursive: true });
  const published = await publish('--reveal-pure-values');
  assert.equal(published.code, 0, published.stderr);

  const elsewhere = temporaryFolder(t);
  const certificate = join(elsewhere, 'c.json');
  writeFileSync(certificate, JSON.stringify({ lots: [{ leaf: certifiedLot(lot.record).leaf }] }));
  const replayed = await runQrnHere(elsewhere, [
    'evidence',
    'replay',
    out,
    '--certificate',
    certificate,
    '--json',
  ]);
  assert.equal(replayed.code, 0, replayed.stderr);
  const { is_same, figures } = JSON.parse(replayed.stdout);
  assert.equal(is_same, true);
  assert.ok(figures.some(({ name }: { name: string }) => name === 'the lot in the certificate'));

  const { leaf } = certifiedLot({ ...lot.record, minEntropyPerBit: 0.999 });
  writeFileSync(certificate, JSON.stringify({ lots: [{ leaf }] }));
  const forged = await runQrnHere(elsewhere, ['evidence', 'replay', out, '--certificate', certificate]);
  assert.equal(forged.code, 1);
  assert.match(forged.stdout, /the lot in the certificate +DIFFERS/);
});
