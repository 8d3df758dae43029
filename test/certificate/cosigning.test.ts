import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { describe, it, type TestContext } from 'node:test';
import { Cosigning } from '../../src/certificate/cosigning.ts';
import { keysDocument } from '../../src/certificate/keys-document.ts';
import { verifyAnswer } from '../../src/certificate/verify.ts';
import { parseLogs, Witness } from '../../src/certificate/witness.ts';
import { witnesses as witnessesOf } from '../../src/config/parsers.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { Log } from '../../src/core/log.ts';
import { formatNote, parseCheckpoint, parseNote, parseProof } from '../../src/crypto/note.ts';
import { fetchWhole } from '../support/http.ts';
import { temporaryFolder } from '../support/ledger-folder.ts';
import { runQrnHere } from '../support/run-command.ts';
import { served } from '../support/served.ts';
import { TestServer } from '../support/server.ts';
import { answerEntry, sampleLot, segmentRecord, TIME_MS } from './fixtures.ts';
import { LogWorld } from './log-world.ts';
import { cosignature, witness } from './signatures.ts';

const LOT = sampleLot('a');

/** Returns a witness that answers a checkpoint by `answer`. */
function answering(answer: (body: string) => { status?: number; contentType?: string; body: string }) {
  return async (request: IncomingMessage, response: ServerResponse) => {
    const { status = 200, contentType = 'text/plain', body } = answer(await textOf(request));
    response.writeHead(status, { 'content-type': contentType }).end(body);
  };
}

/** A witness of the world's log behind HTTP. `directory` is its state. */
async function witnessOf(t: TestContext, w: LogWorld, seed: number, directory = temporaryFolder(t)) {
  const logs = parseLogs(w.keys.published.map((each) => each.verifier_key).join('\n'));
  const made = new Witness({ ...witness(seed), logs, directory, clock: w.clock });
  const url = await served(answering((body) => made.addCheckpoint(body)));
  return { key: made.verifierKey, address: `${made.verifierKey}@${url}` };
}

/** Key and address of a witness that answers as the listener does. */
async function liarOf(seed: number, listener: RequestListener) {
  const { verifier: key } = liar(seed);
  return { key, address: `${key}@${await served(listener)}` };
}

function liar(seed: number) {
  return witness(seed, `liar.example/w${seed}`);
}

async function scene() {
  const w = new LogWorld();
  w.lots.set(LOT.id, LOT);
  // the lot and the statement behind it are the first two leaves
  w.clock.wall = TIME_MS - 2_000;
  const log = await w.open();
  await log.seal();
  w.clock.wall = TIME_MS + 2_000;
  let sequence = 0;
  const grow = async (count: number) => {
    sequence++;
    const entries = Array.from({ length: count }, (_, i) =>
      answerEntry(100 * sequence + i, { mode: 'csprng' }),
    );
    w.commit(segmentRecord(sequence, [{ mode: 'csprng', lotIds: [LOT.id], drawn: [] }], entries));
    await log.seal();
    return sequence;
  };
  const service = w.service(log);
  const verified = async (segment: number, keys: readonly string[], quorum: number) => {
    const certificate = await service.find(w.ids.textOf(segment, 0));
    const { ok, checks } = await verifyAnswer({
      certificate,
      keys: keysDocument(w.keys),
      witnesses: { keys, quorum },
    });
    const check = checks.find(({ name }) => name === 'witnesses');
    assert.equal(
      ok,
      checks.every((each) => each.ok),
    );
    assert.deepEqual(
      checks.filter((each) => !each.ok && each.name !== 'witnesses'),
      [],
    );
    return { ok, why: check?.why ?? '' };
  };
  const warned: string[] = [];
  const note = (facts: object, message: string) => warned.push(`${JSON.stringify(facts)} ${message}`);
  const report = { warn: note, error: note } as unknown as Log;
  const cosigning = (quorum: number, ...witnesses: readonly { address: string }[]) =>
    cosigningWithin(60_000, quorum, ...witnesses);
  const cosigningWithin = (
    answerDeadlineMs: number,
    quorum: number,
    ...witnesses: readonly { address: string }[]
  ) =>
    new Cosigning({
      log,
      witnesses: witnesses.flatMap(({ address }) => witnessesOf(address)),
      quorum,
      clock: w.clock,
      report,
      answerDeadlineMs,
    });
  return { w, log, grow, verified, cosigning, cosigningWithin, warned };
}

function sizeOf(proof: string | undefined): number | undefined {
  return parseCheckpoint(parseNote(parseProof(proof ?? '')?.note ?? '')?.text ?? '')?.size;
}

describe('cosigned checkpoints', () => {
  it('prove who saw the tree and by when, with one of three witnesses unreachable', async (t) => {
    const { w, grow, verified, cosigning, warned } = await scene();
    const [one, two] = [await witnessOf(t, w, 11), await witnessOf(t, w, 12)];
    const gone = { address: two.address.replace(/@.*/, '@http://127.0.0.1:9') };
    const away = await witnessOf(t, w, 13);
    const cosigned = cosigning(2, one, two, {
      address: away.address.replace(/@.*/, gone.address.slice(gone.address.indexOf('@'))),
    });
    const segment = await grow(3);
    assert.match(
      (await verified(segment, [one.key, two.key], 1)).why,
      /^0 witnesses saw .*, but 1 are required/,
    );
    w.clock.advance(5_000);
    await cosigned.round();
    const keys = [one.key, two.key, away.key];
    const { ok, why } = await verified(segment, keys, 2);
    assert.ok(ok, why);
    assert.match(
      why,
      /w11 at 2026-11-21T08:30:07.000Z, .*w12 at .* So the certificate was logged between .*, and 2026-11-21T08:30:07.000Z\.$/,
    );
    assert.match((await verified(segment, keys, 3)).why, /^2 witnesses saw .*, but 3 are required/);
    assert.match(
      (await verified(segment, [one.key, one.key], 2)).why,
      /^1 witnesses saw .*, but 2 are required/,
    );
    assert.equal(warned.length, 1, 'the one that is away is named once');
    await grow(2);
    await cosigned.round();
    assert.equal(warned.length, 1);
  });

  it('serve later proofs, from the first one that covers the certificate on', async (t) => {
    const { w, log, grow, cosigning } = await scene();
    const cosigned = cosigning(1, await witnessOf(t, w, 11));
    const first = await grow(3);
    const second = await grow(4);
    assert.deepEqual([sizeOf(await log.proofOf(first, 0)), sizeOf(await log.proofOf(second, 0))], [5, 9]);
    await cosigned.round();
    const third = await grow(5);
    await cosigned.round();
    const fourth = await grow(1);
    const sizes = await Promise.all(
      [first, second, third, fourth].map(async (each) => sizeOf(await log.proofOf(each, 0))),
    );
    assert.deepEqual(sizes, [9, 9, 14, 15]);
  });

  it('state when the tree was first seen, also after the service has asked again', async (t) => {
    const { w, grow, verified, cosigning, warned } = await scene();
    const [one, two] = [await witnessOf(t, w, 11), await witnessOf(t, w, 12)];
    const segment = await grow(3);
    await cosigning(1, one).round();
    w.clock.advance(3_600_000);
    // a restart: nothing is known of what was cosigned
    await cosigning(1, one, two).round();
    assert.deepEqual(warned, [], 'a witness that has seen more than it is asked about says how much');
    const { why } = await verified(segment, [one.key, two.key], 2);
    assert.match(
      why,
      /w11 at 2026-11-21T08:30:02.000Z, \S+w12 at 2026-11-21T09:30:02.000Z. So the certificate was logged between/,
    );
  });

  it('are refused by a witness that has seen a longer log, and the service reports it', async (t) => {
    const one = await scene();
    const witness = await witnessOf(t, one.w, 11);
    await one.grow(5);
    await one.cosigning(1, witness).round();
    const back = await scene();
    const segment = await back.grow(3);
    await back.cosigning(1, witness).round();
    assert.match(
      back.warned.join(),
      /has cosigned 7 leaves of this log, but the log has 5: the ledger is in an earlier state/,
    );
    assert.equal((await back.verified(segment, [witness.key], 1)).ok, false);
  });

  it('do not delay the log: it grows and proves while a witness does not answer', async (t) => {
    const { w, log, grow, cosigning, warned } = await scene();
    const one = await witnessOf(t, w, 11);
    let asked = () => {};
    const wasAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const waiting: ServerResponse[] = [];
    const silent = await liarOf(21, (_, response) => {
      waiting.push(response);
      asked();
    });
    const cosigned = cosigning(1, one, silent);
    await grow(3);
    let isOver = false;
    const round = cosigned.round().then(() => {
      isOver = true;
    });
    await wasAsked;
    const segment = await grow(4);
    assert.equal(sizeOf(await log.proofOf(segment, 0)), 9);
    assert.equal(isOver, false, 'the witness still has not answered');
    for (const response of waiting) response.destroy();
    await round;
    assert.equal(warned.length, 1);
    const [kept, failing] = cosigned.states();
    assert.deepEqual([kept.size, kept.failure], [5, null]);
    assert.equal(kept.cosignedAtS, Math.floor(w.clock.wallMs() / 1_000));
    assert.deepEqual([failing.name, failing.size], ['liar.example/w21', null]);
    assert.notEqual(failing.failure, null);
  });

  it('are ignored when they come too late', async () => {
    const { grow, verified, cosigningWithin, warned } = await scene();
    const silent = await liarOf(21, () => {});
    const segment = await grow(3);
    await cosigningWithin(20, 1, silent).round();
    assert.match(warned.join(), /liar\.example\/w21.*timeout/);
    assert.equal((await verified(segment, [silent.key], 1)).ok, false);
  });

  it('are abandoned silently when the service stops', async () => {
    const { grow, cosigning, warned } = await scene();
    const asked = Promise.withResolvers<void>();
    const silent = await liarOf(21, () => asked.resolve());
    await grow(3);
    const stopping = new AbortController();
    const running = cosigning(1, silent).run(stopping.signal);
    await asked.promise;
    stopping.abort();
    await running;
    assert.deepEqual(warned, []);
  });

  it('must be of this checkpoint, once each, and lines of other keys are left out', async (t) => {
    const { w, log, grow, verified, cosigning, warned } = await scene();
    const one = await witnessOf(t, w, 11);
    const other = await scene();
    await other.grow(2);
    const line = (seed: number, checkpoint: string, aheadS = 0, more = '') => {
      const { text } = parseNote(checkpoint)!;
      const longer = text + more;
      const signatures = [cosignature(liar(seed), longer, Math.floor(w.clock.wallMs() / 1_000) + aheadS)];
      return formatNote({ text: longer, signatures }).slice(text.length + 1);
    };
    const lying = (seed: number, lines: (checkpoint: string) => string) =>
      liarOf(
        seed,
        answering((body) => ({ body: lines(body.slice(body.indexOf('\n\n') + 2)) })),
      );
    const foreign = await lying(22, () => line(22, other.log.checkpoint));
    const malformed = await lying(23, (checkpoint) => `${line(23, checkpoint)}— x\n`);
    const doubled = await lying(24, (checkpoint) => line(99, checkpoint) + line(24, checkpoint).repeat(2));
    const longer = await lying(25, (checkpoint) => line(25, checkpoint, 0, '\nof more than it says\n'));
    const ahead = await lying(26, (checkpoint) => line(26, checkpoint, 600));
    const tooFar = await lying(27, (checkpoint) => line(27, checkpoint, 601));
    const segment = await grow(3);
    const witnesses = [one, foreign, malformed, doubled, longer, ahead, tooFar];
    await cosigning(3, ...witnesses).round();
    assert.deepEqual(warned.map((each) => /w2\d/.exec(each)?.[0]).sort(), ['w22', 'w23', 'w25', 'w27']);
    const keys = witnesses.map(({ key }) => key);
    const { ok, why } = await verified(segment, keys, 3);
    assert.ok(ok, why);
    assert.match((await verified(segment, keys, 4)).why, /^3 witnesses saw the tree, but 4 are required/);
    assert.equal((await log.proofOf(segment, 0))?.match(/liar\.example\/w24 /g)?.length, 1);
    assert.ok(!(await log.proofOf(segment, 0))?.includes('w99'));
  });

  it('are requested ever less often from a failing witness, with one warning', async () => {
    const { grow, cosigning, warned } = await scene();
    let asked = 0;
    const failing = await liarOf(21, (_, response) => {
      asked++;
      response.writeHead(500).end('no');
    });
    await grow(1);
    const cosigned = cosigning(1, failing);
    const rounds: number[] = [];
    for (let round = 1; round <= 12; round++) {
      const before = asked;
      await cosigned.round();
      if (asked > before) rounds.push(round);
    }
    assert.deepEqual(rounds, [1, 3, 6, 11]);
    assert.equal(warned.length, 1);
  });

  it('are ignored when a witness lies', async (t) => {
    const { w, grow, verified, cosigning, warned } = await scene();
    const other = await witnessOf(t, w, 20);
    const segment = await grow(3);
    const liars = await Promise.all([
      liarOf(21, (_, response) => response.end('— x y\n')),
      liarOf(22, (_, response) => response.end('')),
      liarOf(23, (_, response) => response.end('x'.repeat(1_000_000))),
      liarOf(24, (_, response) => response.writeHead(409).end('many\n')),
      liarOf(25, (_, response) => response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end()),
      liarOf(26, (_, response) => response.writeHead(500).end('no')),
      liarOf(27, (request) => request.socket.destroy()),
      liarOf(28, (_, response) => response.writeHead(409).end('0\n')),
    ]);
    await cosigning(1, ...liars).round();
    assert.equal(warned.length, liars.length, warned.join('\n'));
    assert.match(warned.join('\n'), /it answered 500: no"/);
    const { ok } = await verified(segment, [...liars.map(({ key }) => key), other.key], 1);
    assert.equal(ok, false);
  });
});

describe('a service with a witness', () => {
  it('is ready when a witness that learnt its public keys has cosigned its first lot', async (t) => {
    const signer = witness(31);
    const { verifier } = signer;
    const directory = temporaryFolder(t);
    let witnessing: Witness | undefined;
    const unknown = { status: 404, contentType: 'text/plain', body: '' };
    const url = await served(answering((body) => witnessing?.addCheckpoint(body) ?? unknown));
    const server = TestServer.spawnFor(t, { QRN_WITNESSES: `${verifier}@${url}` });
    await server.listening();
    // the witness does not know the log yet: what it needs is public before there is any entropy
    const { keys } = (await server.keys()) as { keys: [{ verifier_key: string }] };
    const checkpoint = await (await fetchWhole(`${server.origin}/log/checkpoint`)).text();
    assert.equal(checkpoint.split('\n')[0], keys[0].verifier_key.split('+')[0]);
    const heldLots = async () => (await server.checks())['pool:held_lots']?.[0];
    await server.until('a lot is held back', async () => (await heldLots()) !== undefined);
    await server.until('the witness was asked', () => server.output().includes('a witness does not cosign'));
    assert.equal((await server.get('/integers?entropy_mode=pure')).status, 503);
    assert.equal((await server.get('/integers')).status, 503);
    assert.equal((await fetchWhole(`${server.origin}/readyz`)).status, 503);
    const logs = parseLogs(keys[0].verifier_key);
    witnessing = new Witness({ ...signer, logs, directory, clock: systemClock });
    await server.ready();
    assert.equal(await heldLots(), undefined);
    const answer = await (await server.get('/integers')).text();
    const file = join(server.dataDir, 'answer.json');
    writeFileSync(file, answer);
    const verify = ['verify', file, '--url', server.baseUrl, '--witness', verifier, '--quorum', '1'];
    let verified = await runQrnHere(server.dataDir, verify);
    await server.until('the answer is witnessed', async () => {
      if (verified.code !== 0) verified = await runQrnHere(server.dataDir, verify);
      return verified.code === 0;
    });
    assert.match(verified.stdout, /^ok +witnesses +Seen by witness\.example\/w31 at /m);
    await server.kill('SIGTERM');
  });
});
