import type { CertificateService } from '../certificate/archive.ts';
import { ApiError } from '../core/errors.ts';
import { LOT_ID } from '../core/ids.ts';
import { publicReply, type Reply } from './reply.ts';
import type { PlainRoute } from './route-table.ts';

/**
 * Returns the routes of the transparency log, which need no key: its keys, its newest checkpoint, its tiles
 * (c2sp.org/tlog-tiles), consistency proofs between any two sizes, and the texts of its public leaves: lots, withdrawals
 * and statements. The log has only the hashes of certificates, so nobody can read a certificate from it.
 */
export function logRoutes(certificates: CertificateService): PlainRoute[] {
  const keys = async () => json(await certificates.keys(), 'max-age=300');
  const checkpoint = async () =>
    publicReply('text/plain; charset=utf-8', await certificates.checkpoint(), 'no-cache');
  return [
    { path: '/.well-known/qrn-keys.json', handler: keys },
    { path: '/log/checkpoint', handler: checkpoint },
    { path: '/log/consistency', handler: ({ query }) => consistency(certificates, query) },
    { path: '/log/leaves', handler: ({ query }) => publicLeaves(certificates, query) },
    { path: '/log/tile/', handler: ({ path }) => tile(certificates, path) },
    { path: LOT_PREFIX, handler: ({ path }) => lot(certificates, path) },
  ];
}

/** `/log/tile/<L>/<N>`. N is written in groups of three digits, and all groups except the last begin with `x`: `x001/x234/067`. */
const TILE_PATH = /^\/log\/tile\/(\d{1,2})\/((?:x\d{3}\/)*\d{3})(?:\.p\/(\d{1,3}))?$/;
const HASH_BYTES = 32;

async function tile(certificates: CertificateService, path: string): Promise<Reply> {
  // the path of a partial tile states its width, that of a full one does not
  const [, level, index, width = 256] = TILE_PATH.exec(path) ?? [];
  if (level === undefined) throw new ApiError('not_found');
  const bytes = await certificates.tile(Number(level), Number(index.replaceAll(/[x/]/g, '')));
  const length = Number(width) * HASH_BYTES;
  if (bytes === undefined || length === 0 || bytes.length < length) throw new ApiError('not_found');
  const cut = new Uint8Array(bytes.subarray(0, length));
  return publicReply('application/octet-stream', cut, 'max-age=31536000, immutable');
}

/** Public leaves in one reply. A lot's leaf has half a KiB, so a reply has about 32 KiB. */
const LEAVES_PER_REPLY = 64;

async function publicLeaves(certificates: CertificateService, query: string): Promise<Reply> {
  const from = new URLSearchParams(query).get('from') ?? '0';
  if (!/^\d{1,15}$/.test(from))
    throw new ApiError('not_found', {
      message: 'from must be the index of a leaf, an integer of at least 0.',
    });
  const leaves = await certificates.publicLeaves(Number(from), LEAVES_PER_REPLY);
  return json({ leaves }, 'no-cache');
}

const LOT_PREFIX = '/log/lots/';

async function lot(certificates: CertificateService, path: string): Promise<Reply> {
  const id = path.slice(LOT_PREFIX.length);
  const found = LOT_ID.test(id) ? await certificates.publicLot(id) : undefined;
  if (found === undefined)
    throw new ApiError('not_found', { message: 'The log contains no lot with this identifier.' });
  return json(found, 'no-cache');
}

async function consistency(certificates: CertificateService, query: string): Promise<Reply> {
  const parameters = new URLSearchParams(query);
  const [from, to] = ['from', 'to'].map((name) => {
    const size = parameters.get(name) ?? '';
    return /^\d{1,15}$/.test(size) ? Number(size) : 0;
  });
  const proof = await certificates.consistencyProof(from, to);
  if (proof === undefined)
    throw new ApiError('not_found', {
      message: 'from and to must be sizes of the log with 1 <= from <= to.',
    });
  const hashes = proof.map((hash) => Buffer.from(hash).toString('base64'));
  return json({ from, to, hashes }, 'max-age=3600');
}

function json(value: object, cacheControl: string): Reply {
  return publicReply('application/json', JSON.stringify(value), cacheControl);
}
