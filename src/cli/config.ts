import { availableParallelism } from 'node:os';
import { Help } from 'commander';
import { describeSettings, readSettings } from '../config/config.ts';
import type { InForce } from '../config/parsers.ts';
import { loadConfig } from '../config/sources.ts';
import { action, HELP_WIDTH } from './command.ts';

/** The help leaves out a default with more characters, which does not fit a line; `qrn config` prints it. */
const FALLBACK_SHOWN_MAX = 40;

export const config = action({
  path: 'config',
  summary: 'Prints all settings with their values and where each value comes from. Secrets are not shown.',
  options: {
    json: {
      meaning:
        'print one JSON object: for each name the variable, the value and its origin, and the same for the options of each source under sources',
    },
  },
  footer: () => {
    const help = Object.assign(new Help(), { helpWidth: HELP_WIDTH });
    const settings = describeSettings(availableParallelism());
    const width = Math.max(...settings.map(({ variable }) => variable.length));
    const lines = settings.map(({ variable, fallback, meaning }) => {
      const isShown = fallback !== '' && fallback.length <= FALLBACK_SHOWN_MAX;
      const text = isShown ? `${meaning}; default: ${fallback}` : meaning;
      return help.formatItem(variable, width, text, help);
    });
    return `\nSettings:\n${lines.join('\n')}\n`;
  },
  async run(_input, context) {
    // unlike readSettings, this also checks settings against each other
    const { sources } = loadConfig(context.environment, availableParallelism());
    const settings = readSettings(context.environment, availableParallelism());
    for (const warning of sources.flatMap(({ warnings }) => warnings)) context.talk(`${warning}\n`);
    const ofSources = Object.fromEntries(sources.map(({ name, inForce }) => [name, byName(inForce)]));
    const rows = sources.flatMap(({ name: source, inForce }) =>
      inForce.map((option) => ({ ...option, name: `${source}.${option.name}` })),
    );
    return {
      data: { ...byName(settings), sources: ofSources },
      shown: [[...settings, ...rows]],
    };
  },
});

function byName(entries: readonly InForce[]): Record<string, Omit<InForce, 'name'>> {
  return Object.fromEntries(
    entries.map(({ name, variable, value, from }) => [name, { variable, value, from }]),
  );
}
