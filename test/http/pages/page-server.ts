import type { CertificateService } from '../../../src/certificate/archive.ts';
import type { CertificateDocument } from '../../../src/certificate/document.ts';
import { certificatePdf } from '../../../src/certificate/pdf.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { ApiError } from '../../../src/core/errors.ts';
import { Fair } from '../../../src/fair/fair.ts';
import { errorReply } from '../../../src/http/error-reply.ts';
import type { Exchange } from '../../../src/http/exchange.ts';
import { statusOf } from '../../../src/http/head.ts';
import { logRoutes } from '../../../src/http/log-routes.ts';
import { loadPageAssets } from '../../../src/http/pages/assets.ts';
import { verifyRoutes } from '../../../src/http/pages/verify-routes.ts';
import type { Reply } from '../../../src/http/reply.ts';
import { RouteTable } from '../../../src/http/route-table.ts';
import { served } from '../../support/served.ts';

/**
 * The public routes over a certificate service of the test's own making, on a small server: what pages need that no
 * real service would do on demand (a withdrawn lot, a certificate that is not logged yet, a forged one).
 */

/** The reply of the routes, as the router would choose among them. */
export async function replyOf(
  certificates: CertificateService,
  target: string,
  accept = 'text/html',
): Promise<Reply & { status: number; fields: Map<string, string>; text: string }> {
  const routes = routesOf(certificates);
  const { head, body } = await answer(routes, target, accept);
  const text = Buffer.from(body).toString('utf8');
  return { head, body, status: statusOf(head), fields: fieldsOf(head), text };
}

export function startPageServer(certificates: () => CertificateService): Promise<string> {
  return served(async (request, response) => {
    const reply = await answer(routesOf(certificates()), request.url ?? '/', request.headers.accept ?? '');
    response.writeHead(statusOf(reply.head), Object.fromEntries(fieldsOf(reply.head)));
    response.end(request.method === 'HEAD' ? undefined : reply.body);
  });
}

const assets = loadPageAssets();
const fair = new Fair(systemClock);
const certificatePdfBytes = async (document: CertificateDocument) =>
  new Uint8Array(await certificatePdf(document));
const known = new WeakMap<CertificateService, RouteTable>();

function routesOf(certificates: CertificateService): RouteTable {
  let routes = known.get(certificates);
  if (routes === undefined) {
    const all = [...logRoutes(certificates), ...verifyRoutes(certificates, certificatePdfBytes, assets)];
    routes = new RouteTable([], all, false);
    known.set(certificates, routes);
  }
  return routes;
}

async function answer(routes: RouteTable, target: string, accept: string): Promise<Reply> {
  const [path, query = ''] = target.split('?');
  const handler = routes.of(path)?.handler;
  try {
    if (handler === undefined) throw new ApiError('not_found');
    return await handler({ method: 'GET', path, query, accept, fair } as unknown as Exchange);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return errorReply(error, { requestId: new Uint8Array(16), accept });
  }
}

function fieldsOf(head: Uint8Array): Map<string, string> {
  const [, ...lines] = Buffer.from(head).toString('latin1').split('\r\n');
  return new Map(
    lines.map((line) => {
      const colon = line.indexOf(': ');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 2)];
    }),
  );
}
