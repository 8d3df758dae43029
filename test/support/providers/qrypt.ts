import { QrngServer, within } from './qrng-server.ts';

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
