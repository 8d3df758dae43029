import { NO_STORE } from '../answer/fields.ts';
import { atMostEvery, type Clock } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';
import { compressed } from './compression.ts';
import { clientError, errorReply } from './error-reply.ts';
import type { Exchange } from './exchange.ts';
import type { FrontOptions } from './front.ts';
import type { Field } from './head.ts';
import type { OpenApiFacts } from './openapi/document.ts';
import type { PageAssets } from './pages/assets.ts';
import { docsRoutes } from './pages/docs-pages.ts';
import { landingMain } from './pages/landing-page.ts';
import { type Markup, type Page, pageReply } from './pages/layout.ts';
import { type StatusFacts, statusMain } from './pages/status-page.ts';
import { type Reply, replyOf } from './reply.ts';
import type { PlainRoute } from './route-table.ts';

/**
 * Returns the text of the metrics. All clients share one text for a second; with `isFresh` it is made now. Only clients on this
 * machine may ask for that, because it keeps the main thread busy.
 */
export type MetricsText = (isFresh: boolean) => Promise<string>;

export interface InfoRouteSources {
  readonly clock: Clock;
  readonly status: () => Promise<StatusFacts>;
  /** Returns true if the front page can throw a die (demo-routes.ts). */
  readonly hasDemo: () => boolean;
  /** Returns the facts of the service. It is a function, because the base URL is known only once the service listens. */
  readonly facts: () => OpenApiFacts;
  /** Undefined when metrics are served on another port or not at all. */
  readonly metrics: MetricsText | undefined;
  /** True to send metrics to anybody; otherwise only to clients on this machine. */
  readonly areMetricsPublic: boolean;
}

/** Header fields of the public pages. */
const PUBLIC_FIELDS: readonly Field[] = [
  ['Referrer-Policy', 'no-referrer'],
  ['X-Content-Type-Options', 'nosniff'],
];

type PublicPage = Pick<Page, 'title' | 'main' | 'place'>;

/** Returns the routes that inform about the service without a key: its state, its documentation, its metrics. */
export function infoRoutes(sources: InfoRouteSources, assets: PageAssets): PlainRoute[] {
  const { metrics, clock, areMetricsPublic } = sources;
  const publicPage = (page: PublicPage): Reply =>
    pageReply({ ...page, status: 200, cacheControl: 'no-cache', fields: PUBLIC_FIELDS }, assets);
  const facts = atMostEvery(FRESH_MS, clock, () => sources.status());
  const live = (path: string, page: Omit<PublicPage, 'main'>, main: (facts: StatusFacts) => Markup) => {
    const handler = atMostEvery(FRESH_MS, clock, async () =>
      publicPage({ ...page, main: main(await facts()) }),
    );
    return { path, handler };
  };
  const routes: PlainRoute[] = [
    live('/', { title: 'Quantum Random Number Service', place: null }, (now) =>
      landingMain(now, sources.facts().baseUrl, sources.hasDemo()),
    ),
    live('/status', { title: 'Status', place: 'status' }, statusMain),
    ...docsRoutes(sources.facts, publicPage),
  ];
  if (metrics === undefined) return routes;
  const handler = (exchange: Exchange) => {
    if (areMetricsPublic || exchange.isFromThisMachine) return metricsReply(metrics, exchange);
    throw new ApiError('not_found', { message: METRICS_ARE_LOCAL });
  };
  return [...routes, { path: '/metrics', handler }];
}

async function metricsReply(metrics: MetricsText, exchange: Exchange): Promise<Reply> {
  const text = await metrics(exchange.head.asksForFresh && exchange.isFromThisMachine);
  return replyOf(200, 'text/plain; version=0.0.4; charset=utf-8', text, [NO_STORE]);
}

/** How long a page that shows the current state is reused. */
const FRESH_MS = 1_000;

const METRICS_ARE_LOCAL =
  'The service sends metrics only to clients on its own machine. To allow others, set QRN_METRICS_PORT to a separate port or to public.';

/** Returns the handler of a port that serves only /metrics, for networks where API clients must not see the metrics. */
export function metricsAlone(metrics: MetricsText): FrontOptions['handle'] {
  const answer = async (exchange: Exchange) => {
    if (exchange.path !== '/metrics') throw new ApiError('not_found');
    if (exchange.method !== 'GET' && exchange.method !== 'HEAD')
      throw new ApiError('method_not_allowed', { field: ['Allow', 'GET, HEAD'] });
    const { head, body } = compressed(await metricsReply(metrics, exchange), exchange.head.acceptEncoding);
    exchange.send(head, body);
  };
  const fail = (exchange: Exchange, error: unknown) => {
    const { head, body } = errorReply(clientError(error), exchange);
    exchange.send(head, body);
  };
  const take = (exchange: Exchange) => answer(exchange).catch((error: unknown) => fail(exchange, error));
  return (exchange, refused, isLate) => {
    if (refused === undefined) setImmediate(take, exchange);
    else if (isLate) fail(exchange, refused);
    else setImmediate(fail, exchange, refused);
  };
}
