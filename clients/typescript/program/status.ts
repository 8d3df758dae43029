import { action, type Command } from '../../../src/cli/command.ts';
import type { HealthReport } from '../src/answers.ts';
import { connect, SERVICE_OPTIONS, serving } from './service-client.ts';

const OPTIONS = { json: { meaning: 'print one JSON object' }, ...SERVICE_OPTIONS } as const;

export const usage: Command = action({
  path: 'usage',
  summary: 'Shows the usage of the account in this month, and what is left.',
  options: OPTIONS,
  run: async (input, context) => {
    const { client, url } = connect(input, context);
    const { data } = await serving(url, () => client.usage());
    const { by_endpoint: _, days: __, ...month } = data;
    return { data, shown: [month] };
  },
});

export const status: Command = action({
  path: 'status',
  summary:
    'Shows the state of the service and of its sources. Exits with status 1 if the service reports fail.',
  options: OPTIONS,
  run: async (input, context) => {
    const { client, url } = connect(input, context);
    const { data } = await serving(url, () => client.health());
    const title = `${url}: ${data.status}, version ${data.version}`;
    return { data, shown: [title, checksOf(data)], status: data.status === 'fail' ? 1 : 0 };
  },
});

function checksOf({ checks }: HealthReport): object[] {
  return Object.entries(checks).flatMap(([name, each]) =>
    each.map(({ status: found, observedValue = null, observedUnit = '', output = '', details }) => ({
      check: typeof details?.['name'] === 'string' ? `${name} ${details['name']}` : name,
      status: found,
      value: observedValue === null ? null : `${observedValue} ${observedUnit}`.trim(),
      advice: output,
    })),
  );
}
