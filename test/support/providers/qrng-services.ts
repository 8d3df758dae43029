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

/** The QRNG of LfD Regensburg: no key, and errors with status 200. */
export function lfdServer(): QrngServer {
  return new QrngServer('lfd', ({ method, path, query }, draw) => {
    if (method !== 'GET' || path !== '/qrng_api/qrng') return { status: 404, body: 'not found' };
    const length = within(query.get('length'), 1, 65_536);
    if (length === undefined) return { body: { error: 'invalid length' } };
    if (query.get('format') !== 'HEX') return { body: { error: 'invalid format' } };
    return { body: { qrn: Buffer.from(draw(length)).toString('hex'), length } };
  });
}

export const OUTSHIFT_KEY = 'outshift-Key-77aa01c3e5';

interface Order {
  readonly encoding?: unknown;
  readonly format?: unknown;
  readonly bits_per_block?: unknown;
  readonly number_of_blocks?: unknown;
}

/** Outshift by Cisco: blocks of 8 bits in every form at once, each number as text. */
export function outshiftServer(): QrngServer {
  return new QrngServer('outshift', ({ method, path, headers, body }, draw) => {
    if (method !== 'POST' || path !== '/api/v1/random_numbers')
      return { status: 404, body: { message: 'not found' } };
    if (headers['x-id-api-key'] !== OUTSHIFT_KEY)
      return { status: 401, body: { message: 'invalid API key' } };
    if (headers['content-type'] !== 'application/json') return { status: 415, body: { message: 'not JSON' } };
    const order: Order = JSON.parse(body);
    const blocks = order.number_of_blocks;
    const isKnown = order.encoding === 'raw' && order.format === 'all' && order.bits_per_block === 8;
    if (!isKnown || typeof blocks !== 'number' || blocks < 1 || blocks > 1000) {
      return { status: 400, body: { message: 'invalid request' } };
    }
    const numbers = Array.from({ length: blocks }, () => {
      const [byte] = draw(1);
      return {
        decimal: String(byte),
        binary: byte.toString(2).padStart(8, '0'),
        hexadecimal: byte.toString(16),
        octal: byte.toString(8),
      };
    });
    return { body: { encoding: 'raw', random_numbers: numbers } };
  });
}

export const QUANDELA_TOKEN = 'quandela-Token-e0d5511f';
/** The device's jobs are smaller than a call: its reply has several. */
const JOB_BYTES = 600;

/** Quandela Entropy: every job in a reply has its own certificate. */
export function quandelaServer(): QrngServer {
  let jobs = 0;
  return new QrngServer('quandela', ({ method, path, query, headers }, draw) => {
    if (method !== 'GET' || path !== '/qt/qrng/bytes') return refused(404, 'Not Found');
    if (headers.authorization !== `Bearer ${QUANDELA_TOKEN}`)
      return refused(401, 'Invalid or expired job token');
    const count = within(query.get('count'), 1, 1_048_576);
    if (count === undefined) return refused(400, 'Bad Request');
    const list = [];
    for (let left = count; left > 0; left -= JOB_BYTES) {
      jobs++;
      list.push({
        id: `00000000-0000-4000-8000-${String(jobs).padStart(12, '0')}`,
        bytes: Buffer.from(draw(Math.min(left, JOB_BYTES))).toString('base64'),
        chsh: 2.5 + (jobs % 8) / 64,
        min_entropy: 0.25 + (jobs % 8) / 64,
      });
    }
    return { body: { jobs: list } };
  });
}

function refused(status: number, error: string) {
  return { status, body: { detail: {}, error } };
}

export const QRYPT_KEY = 'qrypt.Token-5be0.9c41';

/** Qrypt Entropy as a Service: blocks of 1 KiB in base64. */
export function qryptServer(): QrngServer {
  return new QrngServer('qrypt', ({ method, path, query, headers }, draw) => {
    if (method !== 'GET' || path !== '/api/v1/quantum-entropy') return { status: 404, body: '' };
    if (headers.authorization !== `Bearer ${QRYPT_KEY}`) return { status: 401, body: '' };
    const size = within(query.get('size') ?? '1', 1, 512);
    if (size === undefined) return { status: 400, body: '' };
    const random = Array.from({ length: size }, () => Buffer.from(draw(1024)).toString('base64'));
    return { body: { random, size } };
  });
}
