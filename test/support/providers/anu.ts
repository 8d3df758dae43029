import type { Clock } from '../../../src/core/clock.ts';
import { QrngServer, within } from './qrng-server.ts';

export const ANU_KEY = 'anu-Key-4f9d2c7be1';

/** ANU Quantum Numbers on the free plan: an API gateway that lets one request a second through. */
export function anuServer(clock: Clock): QrngServer {
  let allowedAtMs = 0;
  return new QrngServer('anu', ({ method, path, query, headers }, draw) => {
    if (method !== 'GET' || path !== '/')
      return { status: 403, body: { message: 'Missing Authentication Token' } };
    if (headers['x-api-key'] !== ANU_KEY) return { status: 403, body: { message: 'Forbidden' } };
    if (clock.monotonicMs() < allowedAtMs) return { status: 429, body: { message: 'Too Many Requests' } };
    allowedAtMs = clock.monotonicMs() + 1_000;
    const length = within(query.get('length'), 1, 1024);
    const size = within(query.get('size') ?? '1', 1, 10);
    if (length === undefined || size === undefined || query.get('type') !== 'hex16') {
      return { status: 400, body: { success: false } };
    }
    const data = Array.from({ length }, () => Buffer.from(draw(2 * size)).toString('hex'));
    return { body: { success: true, type: 'hex16', length: String(length), data } };
  });
}
