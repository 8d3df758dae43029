import { availableParallelism } from 'node:os';
import { describeSettings, readSettings } from '../config/config.ts';
import { loadConfig } from '../config/sources.ts';
import { action, described, json, table } from './command.ts';

/** A default of more characters, which the setting itself shows, would not fit a line. */
const FALLBACK_SHOWN_MAX = 40;

export const config = action({
  path: 'config',
  summary: 'Prints the settings in force and where each comes from. Secrets are not shown.',
  options: {
    json: {
      meaning:
        'as one JSON object: by name the variable, the value and where it comes from; the same of each source under sources',
    },
  },
  footer: () => {
    const rows = describeSettings(availableParallelism()).map(({ variable, fallback, meaning }) => {
      return [
        variable,
        fallback === '' || fallback.length > FALLBACK_SHOWN_MAX
          ? meaning
          : `${meaning}; ${fallback} when not given`,
      ] as const;
    });
    return `\nSettings:\n\n${described(rows)}\n`;
  },
  async run(input, context) {
    // also checks what several settings say together
    const { sources } = loadConfig(context.environment, availableParallelism());
    const settings = readSettings(context.environment, availableParallelism()).map(
      ({ shown, ...setting }) => ({ ...setting, value: shown ?? setting.value }),
    );
    for (const warning of sources.flatMap(({ warnings }) => warnings)) context.talk(`${warning}\n`);
    if (input.has('json')) {
      context.out(
        json({
          ...byName(settings),
          sources: Object.fromEntries(sources.map(({ name, inForce }) => [name, byName(inForce)])),
        }),
      );
      return 0;
    }
    const ofSources = sources.flatMap(({ name: source, inForce }) =>
      inForce.map((option) => ({ ...option, name: `${source}.${option.name}` })),
    );
    const rows = [...settings, ...ofSources].map(({ name, variable, value, from }) => [
      name,
      variable,
      value || '-',
      from,
    ]);
    context.out(table(['NAME', 'VARIABLE', 'VALUE', 'FROM'], rows));
  },
});

interface InForce {
  readonly name: string;
  readonly variable: string;
  readonly value: string;
  readonly from: string;
}

function byName(entries: readonly InForce[]): Record<string, Omit<InForce, 'name'>> {
  return Object.fromEntries(
    entries.map(({ name, variable, value, from }) => [name, { variable, value, from }]),
  );
}
