import { action, type Command } from '../../../src/cli/command.ts';
import type { HealthReport } from '../src/answers.ts';
import { connect, SERVICE_OPTIONS, serving } from './service-client.ts';

const OPTIONS = { json: { meaning: 'one JSON object' }, ...SERVICE_OPTIONS } as const;

export const usage: Command = action({
  path: 'usage',
  summary: 'What the account has used this month, and what is left.',
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
  summary: 'The state of the service and of its sources. Exit status 1 when the service reports fail.',
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
