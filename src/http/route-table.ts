import type { Account } from '../account/directory.ts';
import { ENDPOINT_LABELS } from '../core/metrics.ts';
import type { Scope } from '../core/vocabulary.ts';
import type { DrawingEndpointDefinition, RequestContent } from './endpoint.ts';
import type { Exchange } from './exchange.ts';
import { type ParsedRequest, requestParser } from './parsed-requests.ts';
import type { Reply } from './reply.ts';
import { endpointRow } from './request-record.ts';

/** Answers a request that passed the limits. An error that it throws or rejects with is sent to the client. */
type Handler = (exchange: Exchange) => Reply | Promise<Reply>;

/** A resource that draws no entropy. */
export interface PlainRoute {
  /** A path that ends in a slash, except `/` itself, serves every path below it that has no route of its own. */
  readonly path: string;
  /** GET and HEAD by default. */
  readonly methods?: readonly string[];
  /** The scope that the key needs. By default no key is needed, and no limits apply. */
  readonly scope?: Scope;
  /** True if requests with a key do not count against the rate limit, or the handler counts them. */
  readonly isUnlimited?: true;
  /**
   * Returns the account whose key is in the body, for a resource without a scope; the body is then parsed in that account's
   * turn.
   */
  readonly accountIn?: (body: Uint8Array) => Account | undefined;
  /** True if the resource answers even while the ledger is away. Keys are then checked against the last known directory. */
  readonly answersAlways?: true;
  readonly handler: Handler;
}

/** A resource in the router: one that draws has `data`, any other a handler. */
export interface Route extends Pick<PlainRoute, 'path' | 'accountIn' | 'answersAlways'> {
  readonly methods: readonly string[];
  /** null if no key is needed. */
  readonly scope: Scope | null;
  /** True if requests count against the rate limit. */
  readonly limited: boolean;
  /** Row of the endpoint in the counters. */
  readonly endpoint: number;
  /** Parses a request for values. */
  readonly data?: (content: RequestContent) => ParsedRequest;
  readonly handler?: Handler;
  /** The next route of the same path, for other methods. */
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
      const data = requestParser(endpoint, strictParameters);
      addRoute(this.#routes, { path, methods, scope, limited: true, data });
    }
    for (const plain of plainRoutes) {
      const { methods = ['GET', 'HEAD'], scope = null, isUnlimited } = plain;
      const route = { ...plain, methods, scope, limited: scope !== null && !isUnlimited };
      const isPrefix = plain.path.length > 1 && plain.path.endsWith('/');
      addRoute(isPrefix ? this.#prefixes : this.#routes, route);
    }
  }

  /** Returns the first route of a path. A route of the exact path comes before any prefix. */
  of(path: string): Route | undefined {
    const route = this.#routes.get(path);
    if (route !== undefined) return route;
    if (path.charCodeAt(path.length - 1) === SLASH && !path.startsWith('/v1/')) return undefined; // see withoutSlash
    for (const [prefix, under] of this.#prefixes) if (path.startsWith(prefix)) return under;
    return undefined;
  }

  /** Returns the path of the page that `path` names with trailing slashes; undefined if there is no such page. */
  withoutSlash(path: string): string | undefined {
    if (path.charCodeAt(path.length - 1) !== SLASH || path.startsWith('/v1/')) return undefined;
    const stripped = path.replace(/\/{1,8}$/, '');
    return stripped !== '' && this.of(stripped) !== undefined ? stripped : undefined;
  }
}

function addRoute(routes: Map<string, Route>, route: Omit<Route, 'endpoint'>): void {
  const name = route.path.slice('/v1/'.length);
  const label = ENDPOINT_LABELS.find((each) => route.path === `/v1/${name}` && each === name) ?? 'public';
  const added = { ...route, endpoint: endpointRow(label) };
  let last = routes.get(route.path);
  while (last?.next !== undefined) last = last.next;
  if (last === undefined) routes.set(route.path, added);
  else last.next = added;
}
