import { createHash } from 'node:crypto';
import { assert } from '../../core/assert.ts';
import { concatBytes, wipe } from '../../core/bytes.ts';
import { systemWait } from '../../core/clock.ts';
import type { HttpReply } from '../../core/http-request.ts';
import { sha256Hex } from '../../crypto/digest.ts';
import {
  BackendError,
  MAX_READ_BITS,
  plainRead,
  type RawRead,
  type Spend,
  type StreamBackend,
} from '../backend.ts';
import type { Secret, SourceParts } from '../definition.ts';
import { jsonOf, kindOf, Provider } from '../provider.ts';
import { keptEntries } from '../seen.ts';
import { decodeReply } from './decoder.ts';
import { bytesPerCall, type Draw, type QrngService } from './presets.ts';

/** How often a call is tried if its error may pass. The pauses double. */
const CALL_TRIES = 4;
const CALL_RETRY_FIRST_MS = 1_000;
/** If a service asks for a longer pause, the read fails and the next one goes on with what has come so far. */
const RETRY_AFTER_MAX_MS = 10_000;
/** Time for the pauses of failed calls within one read. */
const RETRY_ALLOWANCE_MS = 30_000;
/** The pause after a spent quota. */
const QUOTA_PAUSE_MS = 3_600_000;
/** The fewest bytes of a call. Two responses of this length are never equal by chance. */
export const CALL_BYTES_MIN = 32;
/**
 * Room in a reply for each byte: `{"decimal":"173","binary":"10101101","hexadecimal":"ad","octal":"255"},` has 72
 * characters.
 */
const REPLY_BYTES_PER_BYTE = 128;
const REPLY_BYTES_BESIDE = 64 * 1024;

/** The result of one good call. */
interface Taken {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly draws: readonly Draw[];
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
}

/**
 * Returns a backend that calls a QRNG service over HTTP, as the description says. A read makes as many calls as it
 * needs. If one fails for good, the next read begins with what came before, which was paid for. `key` is undefined for
 * a service without keys.
 */
export function qrngHttp(
  name: string,
  service: QrngService,
  key: Secret | undefined,
  callTimeoutMs: number,
  { clock, memory, wait = systemWait }: SourceParts,
) {
  const { calls, interval_ms: intervalMs, min_entropy: claim, path, provider: maker, device } = service;
  const provider = new Provider(service.url, clock, () => (key === undefined ? [] : [key.reveal()]));
  const seen = keptEntries(memory, 'responses');
  /** The good calls of a read that failed. */
  let left: readonly Taken[] = [];
  /** When the next call may be made, on the monotonic clock. */
  let nextCallAtMs = 0;

  /** Makes one good call, at the service's pace. Tries again after errors that may pass. */
  const take = async (items: number, signal: AbortSignal): Promise<Taken> => {
    for (let tries = 1, pauseMs = CALL_RETRY_FIRST_MS; ; tries++, pauseMs *= 2) {
      const earlyMs = nextCallAtMs - clock.monotonicMs();
      if (earlyMs > 0) await wait(earlyMs, signal);
      try {
        return await call(items, signal);
      } catch (error) {
        const again = error instanceof BackendError && error.kind === 'retryable' && tries < CALL_TRIES;
        if (!again || (error.retryAfterMs ?? 0) > RETRY_AFTER_MAX_MS) throw error;
        await wait(Math.max(pauseMs, error.retryAfterMs ?? 0), signal);
      }
    }
  };

  const call = async (items: number, signal: AbortSignal): Promise<Taken> => {
    const startedAtMs = clock.wallMs();
    const reply = await send(items, signal);
    const finishedAtMs = clock.wallMs();
    const json = jsonOf(reply);
    assertGiven(reply, json);
    const bytes = decoded(reply, json, items);
    const draws = service.draws?.(json) ?? [];
    for (const draw of draws) assertCertified(draw);
    if (!seen.isNew(sha256Hex(bytes))) throw provider.error('retryable', 'bits that it delivered before');
    return { body: reply.body, bytes, draws, startedAtMs, finishedAtMs };
  };

  const send = async (items: number, signal: AbortSignal): Promise<HttpReply> => {
    const bytes = items * service.item_bytes;
    const filled = (template: string) =>
      template.replaceAll('{items}', String(items)).replaceAll('{bytes}', String(bytes));
    try {
      return await provider.call({
        method: service.method,
        url: filled(service.url),
        headers: headersOf(service, key),
        ...(service.body === '' ? {} : { body: filled(service.body) }),
        replyBytesMax: REPLY_BYTES_BESIDE + REPLY_BYTES_PER_BYTE * bytes,
        timeoutMs: callTimeoutMs,
        signal,
      });
    } finally {
      nextCallAtMs = clock.monotonicMs() + intervalMs;
    }
  };

  /** Throws the error that the reply means, if the service did not give bits. */
  const assertGiven = (reply: HttpReply, json: unknown): void => {
    const own = service.refusal?.(reply.status, json);
    if (own !== undefined || reply.status < 200 || reply.status > 299) {
      const kind = own?.kind ?? kindOf(reply.status);
      const pause = kind === 'quota' ? { retryAfterMs: QUOTA_PAUSE_MS } : {};
      throw provider.refusal(reply, '', { ...own, kind, ...pause });
    }
    if (json === undefined && path !== '') throw provider.error('retryable', 'a reply that is not JSON');
  };

  const decoded = (reply: HttpReply, json: unknown, items: number): Uint8Array<ArrayBuffer> => {
    try {
      return decodeReply(reply, json, service, items);
    } catch (error) {
      if (error instanceof BackendError) throw provider.error(error.kind, error.message);
      throw error;
    }
  };

  /** Refuses a draw that its maker certifies for less than the claim, which must hold for every bit. */
  const assertCertified = ({ chsh, minEntropy }: Draw): void => {
    if (chsh === null || minEntropy === null)
      throw provider.error('permanent', 'a draw without its certificate');
    if (minEntropy >= claim) return;
    throw provider.error('retryable', `a draw certified for ${minEntropy} bit per bit, below ${claim}`);
  };

  const joined = (taken: readonly Taken[]): RawRead => {
    const bits = concatBytes(...taken.map(({ bytes }) => bytes));
    const digest = createHash('sha256');
    for (const { body } of taken) digest.update(body);
    const rawSha256 = digest.digest('hex');
    for (const { body, bytes } of taken) wipe(body, bytes);
    const draws = taken.flatMap((each) => each.draws);
    return plainRead({
      bits,
      rawSha256,
      provider: maker,
      device,
      jobId: draws.length === 1 ? draws[0].id : null,
      startedAtMs: taken[0].startedAtMs,
      finishedAtMs: taken[taken.length - 1].finishedAtMs,
      calibration: draws.length === 0 ? null : certificatesOf(draws),
    });
  };

  return {
    kind: 'stream',
    name,
    origin: service.origin,
    isDeclared: service.isDeclared ?? false,
    quantumBackend: service.quantumBackend,
    deterministic: false,
    claimedMinEntropyPerBit: claim,
    lotRawBits: calls * bytesPerCall(service) * 8,
    readTimeoutMs: calls * (intervalMs + callTimeoutMs) + RETRY_ALLOWANCE_MS,

    estimate(bits: number): Spend {
      const asked = Math.ceil(bits / 8 / bytesPerCall(service));
      return { amount: asked * service.price_per_call, currency: service.currency, calls: asked };
    },

    /** Resolves to the configuration, since these services say nothing of themselves without a draw. */
    async describe() {
      return {
        provider: maker,
        device,
        host: provider.host,
        bytes_per_call: bytesPerCall(service),
        calls_per_lot: calls,
        interval_ms: intervalMs,
        claimed_min_entropy: claim,
        bytes_left_of_a_failed_read: bytesOf(left),
      };
    },

    async read(bits, signal) {
      assert(Number.isSafeInteger(bits) && bits >= 1 && bits <= MAX_READ_BITS, `a read of ${bits} bits`);
      signal.throwIfAborted();
      const taken = [...left];
      left = [];
      try {
        await seen.load();
        while (8 * bytesOf(taken) < bits) {
          taken.push(await take(itemsFor(service, bits - 8 * bytesOf(taken)), signal));
        }
        await seen.keep();
      } catch (error) {
        left = [...taken, ...left];
        throw error;
      }
      return joined(taken);
    },
  } satisfies StreamBackend;
}

/** Returns how many items to ask for: no more than are missing, if the service lets the caller choose. */
function itemsFor(
  { url, body, item_bytes: itemBytes, items_per_call: itemsPerCall }: QrngService,
  missingBits: number,
): number {
  if (!/\{(items|bytes)\}/.test(url + body)) return itemsPerCall;
  const missing = Math.max(CALL_BYTES_MIN, missingBits / 8);
  return Math.min(itemsPerCall, Math.ceil(missing / itemBytes));
}

function headersOf({ path, body, auth_header: auth }: QrngService, key: Secret | undefined) {
  const colon = auth.indexOf(':');
  const value = auth.slice(colon + 1).trim();
  return {
    accept: path === '' ? '*/*' : 'application/json',
    'cache-control': 'no-store', // a cache would answer with bits that were given before
    ...(body === '' ? {} : { 'content-type': 'application/json' }),
    ...(key === undefined ? {} : { [auth.slice(0, colon)]: value.replaceAll('{key}', () => key.reveal()) }),
  };
}

function bytesOf(taken: readonly Taken[]): number {
  return taken.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

/** Returns what the service certifies of each draw, in their order. */
function certificatesOf(draws: readonly Draw[]): Record<string, string | readonly number[]> {
  return {
    draws: draws.map(({ id }) => id).join(' '),
    chsh: draws.flatMap(({ chsh }) => chsh ?? []),
    min_entropy: draws.flatMap(({ minEntropy }) => minEntropy ?? []),
  };
}
