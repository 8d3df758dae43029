import type { Account } from '../account/directory.ts';
import { ENDPOINT_LABELS } from '../core/metrics.ts';
import type { Scope } from '../core/vocabulary.ts';
import type { DrawingEndpointDefinition } from './endpoint.ts';
import type { Exchange } from './exchange.ts';
import { ParsedRequests } from './parsed-requests.ts';
import type { Reply } from './reply.ts';
import { endpointRow } from './request-record.ts';

/** Answers an exchange that passed the limits. What it throws or rejects with is answered as an error. */
type Handler = (exchange: Exchange) => Reply | Promise<Reply>;

/** A resource that draws no entropy. */
export interface PlainRoute {
  /** A path that ends in a slash, except `/` itself, serves every path below it that has no route of its own. */
  readonly path: string;
  readonly methods: readonly string[];
  /** The key's scope it needs; null needs no key and knows no limits. */
  readonly scope: Scope | null;
  /** Counts against the rate limit. */
  readonly limited: boolean;
  /** Of a resource without a scope: the account whose key is in the body, in whose turn it is read. */
  readonly accountIn?: (body: Uint8Array) => Account | undefined;
  /** While the ledger is away a key is judged by what was known last. */
  readonly answersAlways?: true;
  readonly handler: Handler;
}

/** What a resource that anybody may read says of its requests. */
export const OPEN = { methods: ['GET', 'HEAD'], scope: null, limited: false } as const;

/** A resource as its requests are walked through: one that draws, which has `data`, or one with a handler. */
export interface Route extends Omit<PlainRoute, 'handler'> {
  /** The endpoint that its requests are counted under. */
  readonly endpoint: number;
  readonly data?: ParsedRequests;
  readonly handler?: Handler;
  /** Of the same path, for other methods. */
  next?: Route;
}

const SLASH = 0x2f;

/** The resources of the service, by path. */
export class RouteTable {
  readonly #routes = new Map<string, Route>();
  readonly #prefixes = new Map<string, Route>();

  constructor(
    dataEndpoints: readonly DrawingEndpointDefinition[],
    plainRoutes: readonly PlainRoute[],
    strictParameters: boolean,
  ) {
    for (const endpoint of dataEndpoints) {
      const { path, method, scope, body } = endpoint;
      const ofGet = body === undefined ? ['GET', 'HEAD'] : ['GET', 'HEAD', 'POST'];
      const methods = method === 'GET' ? ofGet : [method];
      const data = new ParsedRequests(endpoint, strictParameters);
      addRoute(this.#routes, { path, methods, scope, limited: true, data });
    }
    for (const route of plainRoutes) addRoute(isPrefix(route) ? this.#prefixes : this.#routes, route);
  }

  /** The first route of a path, by its whole path before any prefix. */
  of(path: string): Route | undefined {
    const route = this.#routes.get(path);
    if (route !== undefined) return route;
    if (path.charCodeAt(path.length - 1) === SLASH && !path.startsWith('/v1/')) return undefined; // it has moved
    for (const [prefix, under] of this.#prefixes) if (path.startsWith(prefix)) return under;
    return undefined;
  }

  /** The path of a page whose address was typed with slashes behind it; undefined for any other. */
  withoutSlash(path: string): string | undefined {
    if (path.charCodeAt(path.length - 1) !== SLASH || path.startsWith('/v1/')) return undefined;
    const stripped = path.replace(/\/{1,8}$/, '');
    return stripped !== '' && this.of(stripped) !== undefined ? stripped : undefined;
  }
}

/**
 * Whether a route serves the paths below its own.
 * @internal for tests, which find the routes of a list as the table does
 */
export function isPrefix({ path }: Pick<PlainRoute, 'path'>): boolean {
  return path.length > 1 && path.endsWith('/');
}

/** Routes of one path differ in their methods. */
function addRoute(routes: Map<string, Route>, route: Omit<Route, 'endpoint'>): void {
  const name = route.path.slice('/v1/'.length);
  const label = ENDPOINT_LABELS.find((each) => route.path === `/v1/${name}` && each === name) ?? 'public';
  const added = { ...route, endpoint: endpointRow(label) };
  let last = routes.get(route.path);
  while (last?.next !== undefined) last = last.next;
  if (last === undefined) routes.set(route.path, added);
  else last.next = added;
}
