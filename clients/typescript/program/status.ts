import { action, type Command, facts, json, table } from '../../../src/cli/command.ts';
import type { HealthReport, Usage } from '../src/answers.ts';
import { connect, SERVICE_OPTIONS, serving } from './service-client.ts';

/** The figure of a limit that does not limit. */
const UNLIMITED = Number.MAX_SAFE_INTEGER;

export const usage: Command = action({
  path: 'usage',
  summary: 'What the account has used this month, and what is left.',
  options: { json: { meaning: 'one JSON object' }, ...SERVICE_OPTIONS },
  run: async (input, context) => {
    const { client, url } = connect(input, context);
    const { data } = await serving(url, () => client.usage());
    context.out(input.has('json') ? json(data) : usageText(data));
  },
});

function usageText({ period, tier, requests, credits, rate, by_mode: byMode }: Usage): string {
  const of = (used: number, total: number | null) =>
    `${used} of ${total === UNLIMITED ? 'unlimited' : total}`;
  const limit = rate.limit_per_minute === UNLIMITED ? 'unlimited' : `${rate.limit_per_minute} a minute`;
  return facts({
    month: `${period} (UTC)`,
    tier,
    requests: of(requests.used, requests.limit),
    credits: of(credits.used, credits.total),
    rate:
      rate.limit_per_minute === UNLIMITED
        ? limit
        : `${limit}, ${rate.remaining} of a burst of ${rate.burst} left`,
    ...Object.fromEntries(
      Object.entries(byMode).map(([mode, used]) => [
        mode,
        `${used.requests} requests, ${used.values} values`,
      ]),
    ),
  });
}

export const status: Command = action({
  path: 'status',
  summary: 'The state of the service and of its sources. Exit status 1 when the service reports fail.',
  options: { json: { meaning: 'one JSON object' }, ...SERVICE_OPTIONS },
  run: async (input, context) => {
    const { client, url } = connect(input, context);
    const { data: report } = await serving(url, () => client.health());
    context.out(
      input.has('json')
        ? json(report)
        : `${url}: ${report.status}, version ${report.version}\n\n${checksOf(report)}`,
    );
    return report.status === 'fail' ? 1 : 0;
  },
});

function checksOf({ checks }: HealthReport): string {
  const rows = Object.entries(checks).flatMap(([name, each]) =>
    each.map(({ status: found, observedValue = null, observedUnit = '', output = '', details }) => [
      typeof details?.['name'] === 'string' ? `${name} ${details['name']}` : name,
      found,
      observedValue === null ? '-' : `${observedValue} ${observedUnit}`.trim(),
      output,
    ]),
  );
  return table(['CHECK', 'STATUS', 'VALUE', ''], rows);
}
