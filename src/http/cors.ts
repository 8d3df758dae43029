import type { Field } from './head.ts';

/**
 * Cross-origin requests (the Fetch standard, https://fetch.spec.whatwg.org/#http-cors-protocol) from the
 * origins that the operator names. Keys travel in headers that a page must set itself and never in cookies,
 * so credentials in the sense of Fetch are never allowed. A browser that is refused gets its answer without
 * these fields and hides it from the page.
 */
export interface CorsPolicy {
  /** The fields of every answer to a request from `origin`; empty when it is not allowed. */
  fields(origin: string): readonly Field[];
  /** The fields of the answer to a preflight from `origin` for a resource with these methods. */
  preflight(origin: string, methods: readonly string[]): readonly Field[];
}

/** What a page may send beside the fields that need no permission. */
const REQUEST_FIELDS = ['Authorization', 'Content-Type', 'Idempotency-Key', 'X-API-Key', 'traceparent'];

/** What a page may read of an answer beside the fields that need no permission. */
const EXPOSED_FIELDS = [
  'Allow',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'WWW-Authenticate',
  'X-Certificate-ID',
  'X-Certificate-Salt',
  'X-Entropy-Consumed-Bytes',
  'X-Entropy-Mode',
  'X-Entropy-Origin',
  'X-Ignored-Parameters',
  'X-Lang-Circuit',
  'X-Lang-Version',
  'X-NIST-Verified',
  'X-Processing-Time-Ms',
  'X-Quantum-Backend',
  'X-Quantum-Credits-Remaining',
  'X-Quantum-Credits-Used',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-ID',
  'X-Timestamp',
  'traceparent',
] as const;

/** Seconds for which a browser keeps what a preflight said; none keeps it longer than two hours. */
const PREFLIGHT_MAX_AGE_S = 7_200;

const NOTHING: readonly Field[] = [];

/** `origins` as configured: none turns cross-origin answers off, `*` stands for all. */
export function corsPolicy(origins: readonly string[]): CorsPolicy {
  const all = origins.includes('*');
  const known = new Map(origins.map((origin) => [origin, fieldsFor(origin)]));
  const everyone = all ? fieldsFor('*') : undefined;
  const fields = (origin: string) => (origin === '' ? NOTHING : (everyone ?? known.get(origin) ?? NOTHING));
  return {
    fields,
    preflight(origin, methods) {
      const allowed = fields(origin);
      if (allowed.length === 0) return allowed;
      return [
        ...allowed,
        ['Access-Control-Allow-Methods', methods.join(', ')],
        ['Access-Control-Allow-Headers', REQUEST_FIELDS.join(', ')],
        ['Access-Control-Max-Age', String(PREFLIGHT_MAX_AGE_S)],
      ];
    },
  };
}

function fieldsFor(origin: string): readonly Field[] {
  const fields: Field[] = [
    ['Access-Control-Allow-Origin', origin],
    ['Access-Control-Expose-Headers', EXPOSED_FIELDS.join(', ')],
  ];
  // the answer differs by origin (Fetch §3.3.5, "CORS protocol and HTTP caches")
  if (origin !== '*') fields.push(['Vary', 'Origin']);
  return fields;
}
