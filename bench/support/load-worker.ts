import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { parentPort, workerData } from 'node:worker_threads';
import { ConnectionLost, HttpConnection } from '../../test/support/http.ts';
import type { LoadOutcome, LoadPlan } from './load.ts';

/**
 * Longest sleep of the open loop, in milliseconds. A timer of Node is a millisecond late, which would be most of the
 * measured latency, and spinning would take a core from the server. So the loop sleeps at most this long and then looks
 * at its sockets: latencies are up to 50 µs too long, for every contender alike.
 */
const SLEEP_MAX_MS = 0.05;
/**
 * Time that an open loop sends requests before it measures. V8 stops this new thread for 10 to 20 ms at a time while it
 * compiles, which made up all of the p99 of a fast server in a round of a second.
 */
const LEAD_MS = 1_000;
/** Time that an open loop waits for answers after its last request was due. */
const PATIENCE_MS = 2_000;

const sleepCell = new Int32Array(new SharedArrayBuffer(4));
const plan = workerData as LoadPlan;
/** Histograms in µs, up to 19 hours, with a precision of 1 %. */
const [latency, lateness] = Array.from({ length: 2 }, () =>
  createHistogram({ highest: 2 ** 36, figures: 2 }),
);
const add = (histogram: RecordableHistogram, us: number) => histogram.record(Math.max(1, Math.round(us)));
let answers = 0;
let failures = 0;
let bytes = 0;
let leadAnswers = 0;
/** Requests sent before this time are not measured. */
let measuredFromMs = 0;

function count(status: number, size: number, sinceMs: number): void {
  if (sinceMs < measuredFromMs) {
    leadAnswers++;
    return;
  }
  const us = (performance.now() - sinceMs) * 1000;
  add(latency, us);
  if (status === 200) answers++;
  else failures++;
  bytes += size;
}

let lost: Error | undefined;

/** Ends the run: the server closed a connection, which makes the whole measurement void. */
function lose(error: Error): void {
  lost ??= error;
}

/** Sends the next request on each connection as soon as the last one is answered. */
function closedLoop(
  connections: readonly HttpConnection[],
  untilMs: number,
  requests: number,
): Promise<void> {
  return new Promise((resolve) => {
    let begun = 0;
    let open = connections.length;
    const ask = (connection: HttpConnection) => {
      const now = performance.now();
      if (now >= untilMs || begun >= requests) {
        if (--open === 0) resolve();
        return;
      }
      begun++;
      connection.request(plan.request, (reply) => {
        if (reply instanceof ConnectionLost) return lose(reply);
        count(reply.status, reply.bodyBytes, now);
        ask(connection);
      });
    };
    for (const connection of connections) ask(connection);
  });
}

/**
 * Sends requests that are due at a fixed rate, whatever the server does. A request that finds no free connection waits,
 * and its latency counts from when it was due, so a slow server cannot hide any (no coordinated omission). A request
 * that is never answered counts as a failure, with the time it waited.
 */
function openLoop(
  connections: readonly HttpConnection[],
  ratePerS: number,
  durationMs: number,
): Promise<void> {
  const startMs = performance.now();
  measuredFromMs = startMs + LEAD_MS;
  const planned = Math.round(((LEAD_MS + durationMs) / 1000) * ratePerS);
  const dueMs = (index: number) => startMs + (index * 1000) / ratePerS;
  const idle = [...connections];
  const flying = new Set<number>();
  let next = 0;

  const send = (connection: HttpConnection) => {
    const index = next++;
    flying.add(index);
    if (dueMs(index) >= measuredFromMs) add(lateness, (performance.now() - dueMs(index)) * 1000);
    connection.request(plan.request, (reply) => {
      if (reply instanceof ConnectionLost) return lose(reply);
      flying.delete(index);
      count(reply.status, reply.bodyBytes, dueMs(index));
      if (isDue()) send(connection);
      else idle.push(connection);
    });
  };
  const isDue = () => next < planned && dueMs(next) <= performance.now();
  const giveUp = () => {
    for (; next < planned; next++) flying.add(next);
    const unanswered = [...flying].filter((index) => dueMs(index) >= measuredFromMs);
    failures += unanswered.length;
    for (const index of unanswered) add(latency, (performance.now() - dueMs(index)) * 1000);
  };

  return new Promise((resolve) => {
    const turn = () => {
      while (idle.length > 0 && isDue()) send(idle.pop()!);
      const now = performance.now();
      if (next === planned && flying.size === 0) return resolve();
      if (now > measuredFromMs + durationMs + PATIENCE_MS) {
        giveUp();
        return resolve();
      }
      const pauseMs = next < planned ? Math.min(dueMs(next) - now, SLEEP_MAX_MS) : SLEEP_MAX_MS;
      if (pauseMs > 0) Atomics.wait(sleepCell, 0, 0, pauseMs);
      setImmediate(turn);
    };
    turn();
  });
}

const { hostname, port } = new URL(plan.origin);
const connections = await Promise.all(
  Array.from({ length: plan.connections }, () =>
    HttpConnection.open(Number(port), { host: hostname, countsOnly: true }),
  ),
);
const watch = new Promise<never>((_resolve, reject) => {
  setInterval(() => lost && reject(lost), 10).unref();
});
const startedMs = performance.now();
const { loop } = plan;
const done =
  loop.kind === 'open'
    ? openLoop(connections, loop.ratePerS, loop.durationMs)
    : closedLoop(
        connections,
        startedMs + (loop.durationMs ?? Number.POSITIVE_INFINITY),
        loop.requests ?? Number.POSITIVE_INFINITY,
      );
await Promise.race([done, watch]);
const outcome: LoadOutcome = {
  answers,
  leadAnswers,
  failures,
  bytes,
  seconds: (performance.now() - Math.max(startedMs, measuredFromMs)) / 1000,
  latency,
  lateness,
};
for (const connection of connections) connection.leave();
parentPort!.postMessage(outcome);
