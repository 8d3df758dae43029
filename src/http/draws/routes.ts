import type { CertificateService } from '../../certificate/archive.ts';
import { ApiError } from '../../core/errors.ts';
import { DRAW_ID, SERIES_ID } from '../../core/ids.ts';
import { textLike, wholeFrom } from '../../core/schema.ts';
import { LABEL_PARAMETERS } from '../endpoint.ts';
import type { Exchange } from '../exchange.ts';
import type { Field } from '../head.ts';
import { parameter, parseQuery } from '../params.ts';
import { publicReply, type Reply } from '../reply.ts';
import { isJson } from '../representation.ts';
import type { PlainRoute } from '../route-table.ts';
import { createDraw, type DrawSources } from './create.ts';
import { readNonce } from './request.ts';

export const DRAWS_PATH = '/v1/draws';

/** The parameters of GET /v1/draws. */
export const DRAWS_PARAMETERS = [
  { ...LABEL_PARAMETERS[0], required: true, description: 'The purpose of the answers.' },
  parameter(
    'series',
    textLike(SERIES_ID),
    'The series of the answers to list. Each account that used the purpose has one series. Without it, the first series is listed.',
  ),
  parameter('from', wholeFrom(1, Number.MAX_SAFE_INTEGER), 'The serial number of the first answer to list.', {
    default: 1,
    error: 'invalid_count',
  }),
] as const;

export interface DrawRouteSources extends DrawSources {
  readonly certificates: Pick<CertificateService, 'draws' | 'draw'>;
  readonly strictParameters: boolean;
}

const SCOPE = 'entropy:batch';

/**
 * Returns the routes at and below `/v1/draws`. Anybody may list what was drawn for a public purpose, and read a draw by its id. A
 * key is needed to commit to a draw, to reveal its nonce and to cancel it.
 */
export function drawRoutes(sources: DrawRouteSources): PlainRoute[] {
  const { committedDraws } = sources;
  const create = async (exchange: Exchange) => {
    if (!isJson(exchange.contentType)) throw new ApiError('unsupported_media_type');
    const { id, isNew } = await createDraw(sources, exchange);
    return documentOf(sources, id, isNew ? 201 : 200);
  };
  const cancel = async ({ path, account }: Exchange) => {
    const id = idIn(path);
    await committedDraws.cancelDraw(id, account!.record.number);
    return documentOf(sources, id);
  };
  const reveal = async ({ path, account, contentType, body }: Exchange) => {
    const id = idIn(path, REVEAL);
    if (!isJson(contentType)) throw new ApiError('unsupported_media_type');
    await committedDraws.openNonce(id, account!.record.number, readNonce(body));
    return documentOf(sources, id);
  };
  const ofOne = { path: `${DRAWS_PATH}/`, scope: SCOPE } as const;
  return [
    { path: DRAWS_PATH, handler: ({ query }) => listed(sources, query) },
    { path: DRAWS_PATH, methods: ['POST'], scope: SCOPE, isUnlimited: true, handler: create },
    { path: ofOne.path, handler: ({ path }) => documentOf(sources, idIn(path)) },
    { ...ofOne, methods: ['DELETE'], handler: cancel },
    { ...ofOne, methods: ['POST'], handler: reveal },
  ];
}

const REVEAL = '/reveal';

function idIn(path: string, behind = ''): string {
  const rest = path.slice(`${DRAWS_PATH}/`.length);
  if (!rest.endsWith(behind)) throw new ApiError('not_found');
  const id = rest.slice(0, rest.length - behind.length);
  if (DRAW_ID.test(id)) return id;
  throw new ApiError(id.includes('/') ? 'not_found' : 'invalid_draw_id');
}

async function documentOf({ certificates }: DrawRouteSources, id: string, status = 200): Promise<Reply> {
  const document = await certificates.draw(id);
  if (document === undefined) throw new ApiError('draw_not_found');
  const fields: Field[] = status === 201 ? [['Location', `${DRAWS_PATH}/${id}`]] : [];
  return publicReply('application/json', JSON.stringify(document), 'no-cache', { status, fields });
}

/**
 * Lists what was drawn for a public purpose. It lists every serial of a series, so that everybody can see whether the account
 * drew answers that it did not publish.
 */
async function listed({ certificates, strictParameters }: DrawRouteSources, query: string): Promise<Reply> {
  const { purpose, series, from } = parseQuery(DRAWS_PARAMETERS, query, strictParameters);
  const draws = await certificates.draws(purpose, series, from);
  return publicReply('application/json', JSON.stringify(draws), 'no-cache');
}
