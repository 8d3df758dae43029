import { parseArgs } from 'node:util';
import { requestBytes } from '../test/support/http.ts';
import { UsageError, wholeNumber } from './support/arguments.ts';
import { putLoad } from './support/load.ts';
import { type Ask, latenciesOf } from './support/measured.ts';
import { figure, say } from './support/reporter.ts';
import { batchBody, VALUE_KINDS } from './support/value-kinds.ts';

/** The requests that a mix may contain. */
const ASKS: Readonly<Record<string, Ask>> = {
  small: { method: 'GET', path: '/v1/integers?count=10' },
  pure: { method: 'GET', path: '/v1/bytes?count=32&entropy_mode=pure' },
  uuid: { method: 'GET', path: '/v1/uuid' },
  batch: { method: 'POST', path: '/v1/batch', body: batchBody(VALUE_KINDS[0], 100_000) },
};

export const LOAD_USAGE = `npm run bench -- load --url URL --key KEY [--rate N] [--mix NAME=WEIGHT,...] [--connections N] [--seconds N]
  a running service under requests at a fixed rate (1,000 a second, small=1, 64 connections and 10 s unless given): the latency counts
  from the moment a request was due. The mix is made of ${Object.keys(ASKS).join(', ')}.`;

/**
 * Puts the load on and prints a line for each part of the mix. Returns the count of failed requests. Throws a
 * UsageError.
 */
export async function load(args: readonly string[]): Promise<number> {
  const text = { type: 'string' } as const;
  const options = { url: text, key: text, rate: text, mix: text, connections: text, seconds: text };
  const { values } = parseArgs({ args: [...args], options });
  const url = URL.canParse(values.url ?? '') ? new URL(values.url!) : undefined;
  if (url?.protocol !== 'http:' || values.key === undefined)
    throw new UsageError(`--url is an http:// address and --key a key of the service\n${LOAD_USAGE}`);
  const parts = (values.mix ?? 'small=1').split(',').map((part) => {
    const [, name, weight] = /^(\w+)=([1-9]\d{0,3})$/.exec(part) ?? [];
    if (ASKS[name] === undefined) throw new UsageError(`--mix ${part}: name a part as in\n${LOAD_USAGE}`);
    return { name, weight: Number(weight), ask: ASKS[name] };
  });
  const sum = parts.reduce((all, { weight }) => all + weight, 0);
  const rate = wholeNumber('--rate', values.rate, 1_000);
  const connections = wholeNumber('--connections', values.connections, 64);
  const durationMs = 1_000 * wholeNumber('--seconds', values.seconds, 10);
  const results = await Promise.all(
    parts.map(({ ask: { method, path: target, body = null }, weight }) => {
      const type = body === null ? [] : [['content-type', 'application/json'] as const];
      const headers = [['authorization', `Bearer ${values.key}`] as const, ...type];
      const share = (of: number) => Math.max(1, Math.round((of * weight) / sum));
      return putLoad({
        origin: url.origin,
        request: requestBytes({ method, target, headers, body }, url.host),
        connections: share(connections),
        loop: { kind: 'open', ratePerS: share(rate), durationMs },
      });
    }),
  );
  for (const [i, result] of results.entries()) {
    const { p50Us, p99Us, p999Us, failedPercent } = latenciesOf(result);
    const times = `p50 ${figure(p50Us)} µs, p99 ${figure(p99Us)} µs, p99.9 ${figure(p999Us)} µs`;
    say(
      `${parts[i].name}: ${figure(result.answersPerS)} answers/s, ${times}, failed ${figure(failedPercent)} %, ` +
        `sent late p99 ${figure(result.lateness.percentile(99))} µs`,
    );
  }
  return results.reduce((all, { failures }) => all + failures, 0);
}
