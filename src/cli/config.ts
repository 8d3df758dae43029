import { availableParallelism } from 'node:os';
import { loadConfig, readSettings } from '../config.ts';
import { action, json, table } from './command.ts';

export const config = action({
  path: 'config',
  summary: 'Prints the settings in force and where each comes from.',
  options: {
    json: { meaning: 'as one JSON object: by name the variable, the value and where it comes from' },
  },
  async run(input, context) {
    loadConfig(context.environment); // also checks what several settings say together
    const settings = readSettings(context.environment, availableParallelism());
    if (input.has('json')) {
      const entries = settings.map(({ name, variable, value, from }) => [name, { variable, value, from }]);
      context.out(json(Object.fromEntries(entries)));
    } else {
      const rows = settings.map(({ name, variable, value, from }) => [name, variable, value || '-', from]);
      context.out(table(['NAME', 'VARIABLE', 'VALUE', 'FROM'], rows));
    }
    return 0;
  },
});
