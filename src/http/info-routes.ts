import { utf8Bytes } from '../core/bytes.ts';
import { atMostEvery, type Clock } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';
import { compressed } from './compression.ts';
import type { Reply } from './error-reply.ts';
import type { Exchange } from './exchange.ts';
import { type Field, headOf } from './head.ts';
import { type OpenApiDocument, type OpenApiFacts, openApiDocument } from './openapi/document.ts';
import type { PageAssets } from './pages/assets.ts';
import { docsMain, fairDrawsMain } from './pages/docs-page.ts';
import { FAIR_DRAWS_PATH, type Page, pageReply } from './pages/layout.ts';
import { eventOf } from './pages/status-live.ts';
import { type StatusFacts, statusMain } from './pages/status-page.ts';
import type { PlainRoute } from './route-table.ts';

/**
 * The text of the metrics: one that all share for a second, or one that is made now. Whoever may ask for the latter can keep
 * the main thread busy, so only clients on this machine may.
 */
export type MetricsText = (isFresh: boolean) => Promise<string>;

export interface InfoRouteSources {
  readonly clock: Clock;
  readonly status: () => Promise<StatusFacts>;
  /** The status page may draw answers to show (demo-routes.ts). */
  readonly hasDemo: () => boolean;
  /** Of the service; its base URL is known once it listens. */
  readonly facts: () => OpenApiFacts;
  /** Undefined when metrics are served elsewhere or not at all. */
  readonly metrics: MetricsText | undefined;
  /** Metrics are sent to anybody; else to clients on this machine alone. */
  readonly areMetricsPublic: boolean;
}

/** Pages that anybody may find and link to. */
const PUBLIC_FIELDS: readonly Field[] = [
  ['Referrer-Policy', 'no-referrer'],
  ['X-Content-Type-Options', 'nosniff'],
];

/** What tells about the service to anybody, without a key: its state, its documentation, its metrics. */
export function infoRoutes(sources: InfoRouteSources, assets: PageAssets): PlainRoute[] {
  const open = { methods: ['GET', 'HEAD'], scope: null, limited: false } as const;
  const { metrics, clock } = sources;
  const facts = atMostEvery(FRESH_MS, clock, () => sources.status());
  const status = atMostEvery(FRESH_MS, clock, async () =>
    pageReply(statusPage(await facts(), sources.hasDemo()), assets),
  );
  const event = atMostEvery(FRESH_MS, clock, async () => eventReply(await facts()));
  const { areMetricsPublic } = sources;
  const docs = once(() => pageReply(docsPage(sources.facts().baseUrl), assets));
  const fairDraws = pageReply(fairDrawsPage(), assets);
  const document = once(() => openApiReply(openApiDocument(sources.facts())));
  return [
    { ...open, path: '/', handler: status },
    { ...open, path: '/events', handler: event },
    { ...open, path: '/docs', handler: docs },
    { ...open, path: FAIR_DRAWS_PATH, handler: () => fairDraws },
    { ...open, path: '/openapi.json', handler: document },
    ...(metrics === undefined
      ? []
      : [
          {
            ...open,
            path: '/metrics',
            handler: (exchange: Exchange) => {
              if (areMetricsPublic || exchange.isFromThisMachine) return metricsOf(metrics, exchange);
              throw new ApiError('not_found', { message: METRICS_ARE_LOCAL });
            },
          },
        ]),
  ];
}

async function metricsOf(metrics: MetricsText, exchange: Exchange): Promise<Reply> {
  return metricsReply(await metrics(exchange.asksForFresh && exchange.isFromThisMachine));
}

/** How long a page that is made of what the service does now is sent again. */
const FRESH_MS = 1_000;

const METRICS_ARE_LOCAL =
  'Metrics are sent to this machine alone. Set QRN_METRICS_PORT to a port of their own, or to public.';

/**
 * One event, after which the reply ends: the browser asks for the next one by itself. However many look at the page,
 * none of them holds a connection or memory of ours between two events, and each event is made once for all.
 */
function eventReply(facts: StatusFacts): Reply {
  const head = headOf(200, [
    ['Content-Type', 'text/event-stream'],
    ['Cache-Control', 'no-store'],
    ['X-Content-Type-Options', 'nosniff'],
  ]);
  return { status: 200, head, body: utf8Bytes(eventOf(facts)) };
}

function statusPage(facts: StatusFacts, hasDemo: boolean): Page {
  return {
    status: 200,
    title: 'Quantum Random Number Service',
    main: statusMain(facts, hasDemo),
    cacheControl: 'no-cache',
    script: 'status-page.mjs',
    place: 'status',
    style: 'drawings.css',
    fields: PUBLIC_FIELDS,
  };
}

/**
 * Answers the requests of a port that serves /metrics alone, for networks where API clients must not see it.
 */
export function metricsHandler(metrics: MetricsText): (exchange: Exchange) => Promise<void> {
  return async (exchange) => {
    if (exchange.path !== '/metrics') throw new ApiError('not_found');
    if (exchange.method !== 'GET' && exchange.method !== 'HEAD') {
      throw new ApiError('method_not_allowed', { allow: 'GET, HEAD' });
    }
    const { head, body } = compressed(await metricsOf(metrics, exchange), exchange.acceptEncoding);
    exchange.send(head, body);
  };
}

function metricsReply(text: string): Reply {
  const head = headOf(200, [
    ['Content-Type', 'text/plain; version=0.0.4; charset=utf-8'],
    ['Cache-Control', 'no-store'],
  ]);
  return { status: 200, head, body: utf8Bytes(text) };
}

function docsPage(baseUrl: string): Page {
  return {
    status: 200,
    title: 'Documentation: Quantum Random Number Service',
    main: docsMain(baseUrl),
    cacheControl: 'no-cache',
    script: 'docs-page.mjs',
    place: 'docs',
    style: 'docs.css',
    fields: PUBLIC_FIELDS,
  };
}

function fairDrawsPage(): Page {
  return {
    status: 200,
    title: 'How a draw is fair: Quantum Random Number Service',
    main: fairDrawsMain(),
    cacheControl: 'no-cache',
    script: null,
    place: 'docs',
    style: 'docs.css',
    fields: PUBLIC_FIELDS,
  };
}

function openApiReply(document: OpenApiDocument): Reply {
  const head = headOf(200, [
    ['Content-Type', 'application/json'],
    ['Cache-Control', 'public, max-age=300'],
    ['Access-Control-Allow-Origin', '*'],
    ['X-Content-Type-Options', 'nosniff'],
  ]);
  return { status: 200, head, body: utf8Bytes(JSON.stringify(document)) };
}

/** Made when it is first asked for, and kept. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
