import { createHmac, timingSafeEqual } from 'node:crypto';
import canonicalize from 'canonicalize';
import { deriveKey } from '../../crypto/digest.ts';
import { drawSystemInteger } from '../../crypto/system-entropy.ts';
import { RpcError } from './errors.ts';

/** Returns a time in the format of random.org: `2026-11-22 17:00:00Z`. */
export function rpcTime(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)}Z`;
}

/** Number of serial numbers for each millisecond. */
const SERIALS_PER_MS = 4_096;

/**
 * Returns a new serial number, which contains the time. Two answers of an account in the same millisecond get the same number with
 * probability 1 / 4,096; the second is then refused.
 */
export function newSerial(nowMs: number): number {
  return Math.floor(nowMs) * SERIALS_PER_MS + drawSystemInteger(SERIALS_PER_MS);
}

/** A ticket that the service has issued. It is good for one answer, which gets its serial number. */
export interface Ticket {
  readonly ticketId: string;
  readonly accountNumber: number;
  readonly serialNumber: number;
  readonly showResult: boolean;
  readonly createdAtMs: number;
}

const TICKET = /^(([0-9a-f]{14})([0-9a-f]{8})([01]))([0-9a-f]{32})$/;

/**
 * Signs random objects and issues tickets, and recognizes its own, by an HMAC under a secret of the node. The signature covers the
 * canonical JSON (RFC 8785) of the random object. A ticket contains the HMAC of its facts. So the service need not store
 * either.
 */
export class RpcSigner {
  readonly #key: Uint8Array;

  /** Does not keep `nodeSecret`: the caller may wipe it. */
  constructor(nodeSecret: Uint8Array) {
    this.#key = deriveKey('jsonRpc', [nodeSecret]);
  }

  /** Returns the signature: 64 bytes in base64. */
  sign(random: object): string {
    return this.#seal('random', canonicalText(random, 'random')).toString('base64');
  }

  isAuthentic(random: object, signature: string): boolean {
    return isSame(this.sign(random), signature);
  }

  newTicket(accountNumber: number, nowMs: number, showResult: boolean): Ticket {
    const serial = newSerial(nowMs).toString(16).padStart(14, '0');
    const account = accountNumber.toString(16).padStart(8, '0');
    const facts = `${serial}${account}${showResult ? 1 : 0}`;
    return this.openTicket(facts + this.#ticketSeal(facts));
  }

  /** Reads a ticket. Throws `ticketUnknown` for one that this service did not issue. */
  openTicket(ticketId: string): Ticket {
    const [, facts = '', serial, account, shows, seal = ''] = TICKET.exec(ticketId) ?? [];
    if (!isSame(this.#ticketSeal(facts), seal))
      throw new RpcError('ticketUnknown', 'The ticket does not exist.');
    const serialNumber = Number.parseInt(serial, 16);
    return {
      ticketId,
      accountNumber: Number.parseInt(account, 16),
      serialNumber,
      showResult: shows === '1',
      createdAtMs: Math.floor(serialNumber / SERIALS_PER_MS),
    };
  }

  /** Returns the HMAC of a ticket's facts, 128 bits in hex. */
  #ticketSeal(facts: string): string {
    return this.#seal('ticket', facts).toString('hex').slice(0, 32);
  }

  #seal(what: 'random' | 'ticket', text: string): Buffer {
    return createHmac('sha512', this.#key).update(`${what} ${text}`).digest();
  }
}

function isSame(...texts: readonly [own: string, given: string]): boolean {
  const [own, given] = texts.map((each) => Buffer.from(each));
  return own.length === given.length && timingSafeEqual(own, given);
}

/** Returns the canonical JSON of the value of a parameter. Throws `invalidParams`, with its name, if it has no canonical form. */
export function canonicalText(value: unknown, name: string): string {
  try {
    return canonicalize(value) ?? '';
  } catch {
    throw new RpcError(
      'invalidParams',
      `Invalid params: ${name} has a lone surrogate, or a number beyond the range of a double.`,
      [name],
    );
  }
}
