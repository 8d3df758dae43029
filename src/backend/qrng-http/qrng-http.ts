import { createHash } from 'node:crypto';
import { assert } from '../../core/assert.ts';
import { concatBytes, wipe } from '../../core/bytes.ts';
import type { Clock } from '../../core/clock.ts';
import { systemWait, type Wait } from '../../core/clock.ts';
import type { HttpReply } from '../../core/http-request.ts';
import { sha256Hex } from '../../crypto/digest.ts';
import {
  BackendError,
  MAX_READ_BITS,
  plainRead,
  type RawRead,
  type SourceFacts,
  type Spend,
  type StreamBackend,
} from '../backend.ts';
import type { Secret, SourceParts } from '../definition.ts';
import { jsonOf, kindOf, Provider } from '../provider.ts';
import { SeenBits } from '../seen.ts';
import { decodeReply } from './decoder.ts';
import { bytesPerCall, type Draw, type QrngService } from './presets.ts';

/** A call that fails and may be tried again is tried this often, the pauses doubling. */
const CALL_TRIES = 4;
const CALL_RETRY_FIRST_MS = 1_000;
/** A service that asks for more patience than this gets it between reads: what came until then is kept. */
const RETRY_AFTER_MAX_MS = 10_000;
/** Pauses of failed calls that a read may take before the pool gives it up. */
const RETRY_ALLOWANCE_MS = 30_000;
/** A spent quota that names no end is looked at again every hour. */
const QUOTA_PAUSE_MS = 3_600_000;
/** The fewest bytes of a call: by so many, two responses are never equal by chance. */
export const CALL_BYTES_MIN = 32;
/**
 * Text for one byte: `{"decimal":"173","binary":"10101101","hexadecimal":"ad","octal":"255"},` is 72
 * characters.
 */
const REPLY_BYTES_PER_BYTE = 128;
const REPLY_BYTES_BESIDE = 64 * 1024;

/** What one good call gave. */
interface Taken {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly draws: readonly Draw[];
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
}

/**
 * A QRNG service that is asked over HTTP, as its description says. A read is as many calls as it needs; when
 * one fails for good, what came before it was paid for, and begins the next read.
 */
export class QrngHttp implements StreamBackend {
  readonly kind = 'stream';
  readonly name: string;
  readonly origin: StreamBackend['origin'];
  readonly isDeclared: boolean;
  readonly quantumBackend: string;
  readonly deterministic = false;
  readonly claimedMinEntropyPerBit: number;
  readonly lotRawBits: number;
  readonly readTimeoutMs: number;
  readonly #service: QrngService;
  /** Absent for a service that takes none. */
  readonly #key: Secret | undefined;
  readonly #callTimeoutMs: number;
  readonly #clock: Clock;
  readonly #wait: Wait;
  readonly #provider: Provider;
  readonly #seen: SeenBits;
  /** What came for a read that failed. */
  #left: readonly Taken[] = [];
  /** On the monotonic clock. */
  #nextCallAtMs = 0;

  constructor(
    name: string,
    service: QrngService,
    key: Secret | undefined,
    callTimeoutMs: number,
    parts: SourceParts,
  ) {
    this.name = name;
    this.origin = service.origin;
    this.isDeclared = service.isDeclared ?? false;
    this.quantumBackend = service.quantumBackend;
    this.claimedMinEntropyPerBit = service.min_entropy;
    this.lotRawBits = service.calls * bytesPerCall(service) * 8;
    this.readTimeoutMs = service.calls * (service.interval_ms + callTimeoutMs) + RETRY_ALLOWANCE_MS;
    this.#service = service;
    this.#key = key;
    this.#callTimeoutMs = callTimeoutMs;
    this.#clock = parts.clock;
    this.#wait = parts.wait ?? systemWait;
    this.#provider = new Provider(service.url, parts.clock, () => (key === undefined ? [] : [key.reveal()]));
    this.#seen = new SeenBits(parts.memory, 'responses');
  }

  estimate(bits: number): Spend {
    const calls = Math.ceil(bits / 8 / bytesPerCall(this.#service));
    return { amount: calls * this.#service.price_per_call, currency: this.#service.currency, calls };
  }

  /** What is configured: these services tell nothing of themselves without a draw. */
  async describe(): Promise<SourceFacts> {
    return {
      provider: this.#service.provider,
      device: this.#service.device,
      host: this.#provider.host,
      bytes_per_call: bytesPerCall(this.#service),
      calls_per_lot: this.#service.calls,
      interval_ms: this.#service.interval_ms,
      claimed_min_entropy: this.#service.min_entropy,
      bytes_left_of_a_failed_read: bytesOf(this.#left),
    };
  }

  async read(bits: number, signal: AbortSignal): Promise<RawRead> {
    assert(Number.isSafeInteger(bits) && bits >= 1 && bits <= MAX_READ_BITS, `a read of ${bits} bits`);
    signal.throwIfAborted();
    const taken = [...this.#left];
    this.#left = [];
    try {
      await this.#seen.load();
      while (8 * bytesOf(taken) < bits) {
        const items = this.#itemsFor(bits - 8 * bytesOf(taken));
        taken.push(await this.#take(items, signal));
      }
      await this.#seen.keep();
    } catch (error) {
      this.#left = [...taken, ...this.#left];
      throw error;
    }
    return this.#joined(taken);
  }

  /** A call asks for no more than is missing, where the service lets it choose. */
  #itemsFor(missingBits: number): number {
    const { url, body, item_bytes: itemBytes, items_per_call: itemsPerCall } = this.#service;
    if (!/\{(items|bytes)\}/.test(url + body)) return itemsPerCall;
    const missing = Math.max(CALL_BYTES_MIN, missingBits / 8);
    return Math.min(itemsPerCall, Math.ceil(missing / itemBytes));
  }

  /** One good call, after as many failed ones as may be. */
  async #take(items: number, signal: AbortSignal): Promise<Taken> {
    for (let tries = 1, pauseMs = CALL_RETRY_FIRST_MS; ; tries++, pauseMs *= 2) {
      await this.#turn(signal);
      try {
        return await this.#call(items, signal);
      } catch (error) {
        const again = error instanceof BackendError && error.kind === 'retryable' && tries < CALL_TRIES;
        if (!again || (error.retryAfterMs ?? 0) > RETRY_AFTER_MAX_MS) throw error;
        await this.#wait(Math.max(pauseMs, error.retryAfterMs ?? 0), signal);
      }
    }
  }

  /** Keeps the service's pace. */
  async #turn(signal: AbortSignal): Promise<void> {
    const earlyMs = this.#nextCallAtMs - this.#clock.monotonicMs();
    if (earlyMs > 0) await this.#wait(earlyMs, signal);
  }

  async #call(items: number, signal: AbortSignal): Promise<Taken> {
    const startedAtMs = this.#clock.wallMs();
    const reply = await this.#send(items, signal);
    const finishedAtMs = this.#clock.wallMs();
    const json = jsonOf(reply);
    this.#assertGiven(reply, json);
    const bytes = this.#decoded(reply, json, items);
    const draws = this.#service.draws?.(json) ?? [];
    this.#assertCertified(draws);
    if (this.#seen.add(sha256Hex(bytes)) !== undefined)
      throw this.#provider.error('retryable', 'bits that it delivered before');
    return { body: reply.body, bytes, draws, startedAtMs, finishedAtMs };
  }

  async #send(items: number, signal: AbortSignal): Promise<HttpReply> {
    const filled = (template: string) =>
      template
        .replaceAll('{items}', String(items))
        .replaceAll('{bytes}', String(items * this.#service.item_bytes));
    try {
      return await this.#provider.call({
        method: this.#service.method,
        url: filled(this.#service.url),
        headers: this.#headers(),
        ...(this.#service.body === '' ? {} : { body: filled(this.#service.body) }),
        replyBytesMax: REPLY_BYTES_BESIDE + REPLY_BYTES_PER_BYTE * items * this.#service.item_bytes,
        timeoutMs: this.#callTimeoutMs,
        signal,
      });
    } finally {
      this.#nextCallAtMs = this.#clock.monotonicMs() + this.#service.interval_ms;
    }
  }

  #headers(): Record<string, string> {
    const headers: Record<string, string> = {
      accept: this.#service.path === '' ? '*/*' : 'application/json',
      'cache-control': 'no-store', // a cache on the way must not answer: its bits were given before
    };
    if (this.#service.body !== '') headers['content-type'] = 'application/json';
    const key = this.#key;
    if (key !== undefined) {
      const colon = this.#service.auth_header.indexOf(':');
      const value = this.#service.auth_header.slice(colon + 1).trim();
      headers[this.#service.auth_header.slice(0, colon)] = value.replaceAll('{key}', () => key.reveal());
    }
    return headers;
  }

  /** Throws what the service said instead of giving bits. */
  #assertGiven(reply: HttpReply, json: unknown): void {
    const own = this.#service.refusal?.(reply.status, json);
    if (own !== undefined || reply.status < 200 || reply.status > 299) {
      const kind = own?.kind ?? kindOf(reply.status);
      const pause = kind === 'quota' ? { retryAfterMs: QUOTA_PAUSE_MS } : {};
      throw this.#provider.refusal(reply, '', { ...own, kind, ...pause });
    }
    if (json === undefined && this.#service.path !== '')
      throw this.#provider.error('retryable', 'a reply that is not JSON');
  }

  #decoded(reply: HttpReply, json: unknown, items: number): Uint8Array<ArrayBuffer> {
    try {
      return decodeReply(reply, json, this.#service, items);
    } catch (error) {
      if (error instanceof BackendError) throw this.#provider.error(error.kind, error.message);
      throw error;
    }
  }

  /** The claim holds for every bit that goes on, so a draw that its maker certifies for less does not. */
  #assertCertified(draws: readonly Draw[]): void {
    const claimed = this.claimedMinEntropyPerBit;
    for (const { chsh, minEntropy } of draws) {
      if (chsh === null || minEntropy === null)
        throw this.#provider.error('permanent', 'a draw without its certificate');
      if (minEntropy >= claimed) continue;
      const why = `a draw certified for ${minEntropy} bit per bit, below ${claimed}`;
      throw this.#provider.error('retryable', why);
    }
  }

  #joined(taken: readonly Taken[]): RawRead {
    const bits = concatBytes(...taken.map(({ bytes }) => bytes));
    const digest = createHash('sha256');
    for (const { body } of taken) digest.update(body);
    const rawSha256 = digest.digest('hex');
    for (const { body, bytes } of taken) wipe(body, bytes);
    const { provider, device } = this.#service;
    const draws = taken.flatMap((each) => each.draws);
    return plainRead({
      bits,
      rawSha256,
      provider,
      device,
      jobId: draws.length === 1 ? draws[0].id : null,
      startedAtMs: taken[0].startedAtMs,
      finishedAtMs: taken[taken.length - 1].finishedAtMs,
      calibration: draws.length === 0 ? null : certificatesOf(draws),
    });
  }
}

function bytesOf(taken: readonly Taken[]): number {
  return taken.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

/** What the service certifies of each draw, in their order. */
function certificatesOf(draws: readonly Draw[]): Record<string, string | readonly number[]> {
  return {
    draws: draws.map(({ id }) => id).join(' '),
    chsh: draws.flatMap(({ chsh }) => chsh ?? []),
    min_entropy: draws.flatMap(({ minEntropy }) => minEntropy ?? []),
  };
}
