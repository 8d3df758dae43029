import { ORIGINS, type Origin } from '../../../../src/core/vocabulary.ts';
import type { LotRecord } from '../../../../src/ledger/records.ts';
import { type AnswerBody, bodyOf, type Sent } from '../sent.ts';
import type { Life } from '../wire.ts';
import { nameOf } from './books.ts';
import { hold } from './violation.ts';

/** Lots as they became durable, which of them may serve, and that answers say of their lots what is true. */
export class LotKeeper {
  readonly lots = new Map<string, LotRecord>();
  /** True time of withdrawal, by lot. */
  readonly withdrawn = new Map<string, number>();
  readonly #spoilt = new Set<string>();
  /** Raw results that a lot was accepted for. */
  readonly #accepted = new Map<string, string>();
  /** True time at which a front was told of a withdrawal, by front and lot. */
  readonly #told = new Map<string, number>();

  /** Answers of more than one lot, and of lots of more than one origin. */
  readonly mixed = { lots: 0, origins: 0 };

  get acceptedCount(): number {
    return this.#accepted.size;
  }

  spoilt(rawSha256: string): void {
    this.#spoilt.add(rawSha256);
  }

  stored(lot: LotRecord): void {
    if (this.lots.has(lot.id)) return;
    this.lots.set(lot.id, lot);
    if (!lot.accepted) return;
    const { rawSha256 } = lot;
    const earlier = this.#accepted.get(rawSha256);
    hold(earlier === undefined, 'lots', `${lot.id} is accepted with the raw bits of ${earlier}`);
    hold(!this.#spoilt.has(rawSha256), 'lots', `${lot.id} is accepted and is no noise`);
    this.#accepted.set(rawSha256, lot.id);
  }

  told(life: Life, front: number, lotIds: Iterable<string>, nowMs: number): void {
    for (const id of lotIds) this.#told.set(`${life.number} ${front} ${id}`, nowMs);
  }

  /** An answer became durable. */
  persisted(sent: Sent): void {
    if (sent.persisted === undefined) return;
    const { source } = sent.persisted;
    const name = nameOf(sent);
    hold(source.lotIds.length > 0, 'lots', `${name} is of no lot`);
    for (const id of source.lotIds) {
      const lot = this.lots.get(id);
      hold(lot?.accepted === true, 'lots', `${name} is of ${id}, which is not an accepted lot on disk`);
      const isSystem = lot.origin === 'system';
      hold(
        isSystem === (sent.mode === 'csprng'),
        'mode',
        `${name} (${sent.mode}) is of a lot of ${lot.origin}`,
      );
      const toldAtMs = this.#told.get(`${sent.life.number} ${sent.front} ${id}`);
      const isLate = toldAtMs !== undefined && sent.sentAtMs > toldAtMs;
      hold(!isLate, 'withdrawn lots', `${name} is of ${id}, which its front knew to be withdrawn`);
    }
  }

  replied(sent: Sent): void {
    const { persisted, reply } = sent;
    if (persisted === undefined || reply === undefined) return;
    const name = nameOf(sent);
    const lots = persisted.source.lotIds.map((id) => this.lots.get(id)!);
    if (lots.length > 1) this.mixed.lots++;
    if (new Set(lots.map((lot) => lot.origin)).size > 1) this.mixed.origins++;
    const { headers } = reply;
    const body = bodyOf(reply) as AnswerBody | undefined;
    const told = body?.metadata;
    const backend = sent.mode === 'csprng' ? 'none' : lots[0].quantumBackend;
    for (const [invariant, truth, ...said] of [
      ['origin', weakest(lots), headers['x-entropy-origin'], told?.entropy_origin],
      ['mode', sent.mode, headers['x-entropy-mode'], body?.data.metadata.entropy_mode],
      ['origin', lots.every(isVerified), headers['x-nist-verified'], told?.nist_verified],
      ['origin', backend, headers['x-quantum-backend']],
    ] as const)
      for (const each of said.filter((one, i) => i === 0 || one !== undefined))
        hold(String(each) === String(truth), invariant, `${name} says ${each} and not ${truth}`);
  }
}

/** The one that says least of a quantum origin. */
export function weakest(lots: readonly LotRecord[]): Origin {
  return lots.map(({ origin }) => origin).reduce((a, b) => (ORIGINS.indexOf(a) > ORIGINS.indexOf(b) ? a : b));
}

/** The last test on what answers are drawn from. */
function isVerified({ assessments }: LotRecord): boolean {
  return assessments.filter(({ of }) => of !== 'raw').at(-1)?.sp80022.verified === true;
}
