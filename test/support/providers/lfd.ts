import { QrngServer, within } from './qrng-server.ts';

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
