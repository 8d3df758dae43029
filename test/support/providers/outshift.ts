import { QrngServer } from './qrng-server.ts';

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
