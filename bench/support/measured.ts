import { requestBytes } from '../../test/support/http.ts';
import { cpuTime, residentMemory } from '../../test/support/process-usage.ts';
import { type HammerResult, hammer } from './closed-loop.ts';
import { type ClosedLoop, type LoadResult, type OpenLoop, putLoad } from './load.ts';
import type { Contender, Sample } from './rounds.ts';
import type { Server } from './server.ts';

/** The request that is sent to a server repeatedly. */
export interface Ask {
  readonly method: 'GET' | 'POST';
  /** Path and query. */
  readonly path: string;
  readonly body?: string;
}

/** Adds what the server spent on the load: CPU per answer in µs, of all its threads and of the main one, and memory. */
async function withCosts<T extends { readonly answers: number; readonly leadAnswers?: number }>(
  server: Server,
  load: () => Promise<T>,
): Promise<{ result: T; costs: Sample }> {
  const before = cpuTime(server.pid);
  const result = await load();
  const after = cpuTime(server.pid);
  const perAnswerUs = (earlier?: number, later?: number) => {
    // When a worker ends meanwhile, the sum loses its time.
    if (earlier === undefined || later === undefined || later < earlier) return undefined;
    return (later - earlier) / 1e3 / (result.answers + (result.leadAnswers ?? 0));
  };
  const costs = {
    cpuUs: perAnswerUs(before?.allNs, after?.allNs),
    frontUs: perAnswerUs(before?.mainNs, after?.mainNs),
    peakMib: residentMemory(server.pid)?.peakMib,
  };
  return { result, costs };
}

/**
 * Seconds of load on a server before its first measurement: V8's compiler threads cost the service 34 µs an answer after
 * 2 s, and 3 after 12.
 */
const WARM_UP_S = 12;
const warm = new WeakSet<Server>();

/** Sends GET requests as fast as they are answered, by wrk or autocannon. */
export function hammered(
  name: string,
  server: Server,
  path: string,
  load: { readonly connections: number; readonly seconds: number },
): Contender {
  return {
    name,
    async measure(phase) {
      const seconds = phase === 'warm-up' && !warm.has(server) ? WARM_UP_S : load.seconds;
      warm.add(server);
      const ask = { url: server.origin + path, headers: server.headers, ...load, seconds };
      const { result, costs } = await withCosts<HammerResult>(server, () => hammer(ask));
      return { answersPerS: result.answersPerS, p50Us: result.p50Us, p99Us: result.p99Us, ...costs };
    },
  };
}

/** Runs this bench's own client, for large answers, fixed counts of requests and fixed rates. */
function loadOn(
  server: Server,
  ask: Ask,
  connections: number,
  loop: ClosedLoop | OpenLoop,
): Promise<LoadResult> {
  const { origin } = server;
  const { method, path: target, body = null } = ask;
  const headers = {
    ...(body === null ? {} : { 'content-type': 'application/json' }),
    ...server.headers,
  };
  const request = { method, target, headers: Object.entries(headers), body };
  return putLoad({ origin, request: requestBytes(request, new URL(origin).host), connections, loop });
}

/** Returns the latencies of a load and the share of its requests that failed. */
export function latenciesOf({ latency, answers, failures }: LoadResult) {
  return {
    p50Us: latency.percentile(50),
    p90Us: latency.percentile(90),
    p99Us: latency.percentile(99),
    p999Us: latency.percentile(99.9),
    failedPercent: (100 * failures) / (answers + failures),
  };
}

/**
 * Measures a server with this bench's own client. A closed loop throws on any answer but 200, because a server that
 * refuses is fast. An open loop reports the share of failures.
 */
export function loaded(
  name: string,
  server: Server,
  ask: Ask,
  connections: number,
  loop: ClosedLoop | OpenLoop,
): Contender {
  return {
    name,
    async measure(phase) {
      const isCold = phase === 'warm-up' && loop.kind === 'closed' && !warm.has(server);
      if (isCold) await loadOn(server, ask, connections, { kind: 'closed', durationMs: 1e3 * WARM_UP_S });
      warm.add(server);
      const { result, costs } = await withCosts(server, () => loadOn(server, ask, connections, loop));
      if (loop.kind === 'closed') requireAnswers(name, result);
      const { answersPerS, bytesPerS, lateness } = result;
      return {
        ...latenciesOf(result),
        answersPerS,
        us: 1e6 / answersPerS,
        bodyKb: bytesPerS / answersPerS / 1e3,
        lateP99Us: lateness.percentile(99),
        ...costs,
      };
    },
  };
}

/** Throws when any answer was not 200, because a server that refuses is fast. */
function requireAnswers(name: string, result: LoadResult): void {
  if (result.failures > 0)
    throw new Error(`${name}: ${result.failures} of ${result.answers + result.failures} failed`);
}
