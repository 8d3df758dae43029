import type { Field } from './head.ts';
import { metricsReply } from './metrics.ts';
import { loadPageAssets } from './pages/assets.ts';
import { pageReply } from './pages/layout.ts';
import { type StatusFacts, statusMain } from './pages/status-page.ts';
import type { PlainRoute } from './router.ts';

export interface InfoRouteSources {
  readonly status: () => Promise<StatusFacts>;
  /** Undefined when metrics are served elsewhere or not at all. */
  readonly metrics: (() => Promise<string>) | undefined;
}

/** Pages that anybody may find and link to. */
const PUBLIC_FIELDS: readonly Field[] = [
  ['Referrer-Policy', 'no-referrer'],
  ['X-Content-Type-Options', 'nosniff'],
];

/** What tells about the service to anybody, without a key: its state. */
export function infoRoutes(sources: InfoRouteSources): PlainRoute[] {
  const open = { methods: ['GET', 'HEAD'], scope: null, limited: false } as const;
  const assets = loadPageAssets();
  const { metrics } = sources;
  return [
    {
      ...open,
      path: '/',
      handler: async () =>
        pageReply(
          {
            status: 200,
            title: 'Quantum Random Number Service',
            main: statusMain(await sources.status()),
            cacheControl: 'no-cache',
            script: null,
            style: 'docs.css',
            fields: PUBLIC_FIELDS,
          },
          assets,
        ),
    },
    ...(metrics === undefined
      ? []
      : [{ ...open, path: '/metrics', handler: async () => metricsReply(await metrics()) }]),
  ];
}
