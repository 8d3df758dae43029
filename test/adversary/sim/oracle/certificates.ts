import { type CertificateService, certificateService } from '../../../../src/certificate/archive.ts';
import type { CertificateDocument } from '../../../../src/certificate/document.ts';
import type { CertificateIds } from '../../../../src/certificate/ids.ts';
import { keysDocument } from '../../../../src/certificate/keys-document.ts';
import { CertificateLog } from '../../../../src/certificate/log.ts';
import { verifyAnswer } from '../../../../src/certificate/verify.ts';
import type { LogKeys } from '../../../../src/crypto/key-files.ts';
import { type Hash, verifyConsistency } from '../../../../src/crypto/merkle.ts';
import { parseCheckpoint, parseNote } from '../../../../src/crypto/note.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';
import type { Chance } from '../../../support/chance.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { type AnswerBody, bodyOf, type Sent } from '../sent.ts';
import { nameOf } from './books.ts';
import { type LotKeeper, weakest } from './lots.ts';
import { hold } from './violation.ts';

/** Certificates that are looked at again, long after they were first read. */
const REREAD_PER_LOOK = 6;
/** A full verification takes 1 ms: not every answer is worth it. */
const VERIFIED_SHARE = 0.25;

/**
 * Checks that every acknowledged certificate can be read from the disk and is true, and that its proof is valid once
 * it is logged.
 */
export class CertificateKeeper {
  readonly #ids: CertificateIds;
  readonly #keys: LogKeys;
  readonly #lots: LotKeeper;
  readonly #random: Chance;
  /** Acknowledged and not seen in the log yet. */
  #unlogged: Sent[] = [];
  readonly #logged: Sent[] = [];
  #checkpoint: { readonly size: number; readonly root: Hash } | undefined;
  verified = 0;

  constructor(ids: CertificateIds, keys: LogKeys, lots: LotKeeper, random: Chance) {
    this.#ids = ids;
    this.#keys = keys;
    this.#lots = lots;
    this.#random = random;
  }

  get unlogged(): number {
    return this.#unlogged.length;
  }

  acknowledged(sent: Sent): void {
    const { persisted, reply } = sent;
    if (persisted === undefined || reply === undefined) return;
    const body = bodyOf(reply) as AnswerBody | undefined;
    const named = body?.metadata.certificate_id ?? reply.headers['x-certificate-id'];
    const id = this.#ids.textOf(persisted.segment, persisted.index);
    hold(named === id, 'certificates', `${nameOf(sent)} names ${named}, its entry is ${id}`);
    this.#unlogged.push(sent);
  }

  /** Looks at what is on disk now, through eyes of its own. */
  async look(ledger: Ledger): Promise<void> {
    if ((await ledger.getLog('state')) === undefined) return; // no process has opened the log yet
    const log = await CertificateLog.open({
      store: ledger,
      ids: this.#ids,
      keys: this.#keys,
      clock: new ManualClock(),
    });
    await this.#extend(log);
    const keys = keysDocument(this.#keys);
    const service = certificateService({ ledger, ids: this.#ids, log, keys });
    const waiting: Sent[] = [];
    for (const sent of this.#unlogged) {
      const isLogged = await this.#check(sent, service);
      (isLogged ? this.#logged : waiting).push(sent);
    }
    this.#unlogged = waiting;
    for (let i = 0; i < REREAD_PER_LOOK && this.#logged.length > 0; i++) {
      const isLogged = await this.#check(this.#random.pick(this.#logged), service);
      hold(isLogged, 'log', 'a certificate was logged and is not any more');
    }
  }

  /** The log only grows, and every size of it that was seen is part of what it is now. */
  async #extend(log: CertificateLog): Promise<void> {
    const note = parseNote(log.checkpoint);
    const now = note && parseCheckpoint(note.text);
    hold(now !== undefined, 'log', 'the checkpoint is not a signed note');
    const before = this.#checkpoint;
    this.#checkpoint = { size: now.size, root: now.root };
    if (before === undefined || before.size === 0) return;
    hold(now.size >= before.size, 'log', `the log had ${before.size} leaves and has ${now.size}`);
    const proof = await log.consistencyProof(before.size, now.size);
    const isExtension = verifyConsistency(before.size, before.root, now.size, now.root, proof);
    hold(isExtension, 'log', `the log of ${now.size} leaves is not the log of ${before.size} with more`);
  }

  /** True when it is logged. */
  async #check(sent: Sent, service: CertificateService): Promise<boolean> {
    const { persisted, reply } = sent;
    const name = nameOf(sent);
    if (persisted === undefined || reply === undefined) return true;
    const found = await service.find(this.#ids.textOf(persisted.segment, persisted.index));
    if (typeof found === 'string') {
      hold(false, 'certificates', `the certificate of ${name} is ${found}`);
      return false;
    }
    this.#compare(sent, found);
    const { proof } = found.certificate;
    if (proof === null) return false;
    const body = bodyOf(reply);
    const isJson = reply.headers['content-type']?.startsWith('application/json') === true;
    if (!isJson || !this.#random.chance(VERIFIED_SHARE)) return true;
    const { checks } = await verifyAnswer({
      response: body,
      certificate: found,
      keys: keysDocument(this.#keys),
    });
    this.verified++;
    const failed = checks.filter((check) => !check.ok && check.name !== 'status');
    hold(failed.length === 0, 'certificates', `${name}: ${failed.map(({ why }) => why).join(' ')}`);
    return true;
  }

  #compare(sent: Sent, { certificate, revocation }: CertificateDocument): void {
    const { source, entry } = sent.persisted!;
    const name = nameOf(sent);
    const lots = source.lotIds.map((id) => this.#lots.lots.get(id)!);
    const withdrawn = lots.filter(({ id }) => this.#lots.withdrawn.has(id));
    const status =
      withdrawn.length > 0 ? 'revoked' : lots.some(({ deterministic }) => deterministic) ? 'test' : 'valid';
    hold(
      certificate.status === status && (revocation === undefined) === (withdrawn.length === 0),
      'withdrawn lots',
      `the certificate of ${name} is ${certificate.status}, its lots make it ${status}`,
    );
    const { provenance, hashes } = certificate;
    hold(
      provenance.origin === weakest(lots),
      'origin',
      `the certificate of ${name} says ${provenance.origin}`,
    );
    hold(certificate.entropy_mode === sent.mode, 'mode', `the certificate of ${name} has another mode`);
    const delivered = `sha256:${Buffer.from(entry.delivered).toString('hex')}`;
    const isOwn =
      hashes.delivered === delivered && provenance.lots.map(({ id }) => id).join() === source.lotIds.join();
    hold(isOwn, 'certificates', `the certificate of ${name} is not of its entry`);
  }
}
