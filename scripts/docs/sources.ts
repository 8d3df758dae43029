import { BACKENDS } from '../../src/backend/backends.ts';
import type { OptionDefinitions } from '../../src/backend/definition.ts';
import { sourceVariable } from '../../src/config/parsers.ts';
import { COMMON_OPTIONS, readSources } from '../../src/config/sources.ts';
import { systemClock } from '../../src/core/clock.ts';
import { rawBitsFor } from '../../src/pool/intake/conditioner.ts';
import { estimateOf } from '../../src/pool/intake/read.ts';
import { lotRawBitsOf, makeBackend } from '../../src/service/sources.ts';

/** Returns docs/sources.md with its generated tables: the options, and the costs of the sources that it lists. */
export function withSourceTables(page: string): string {
  return page.replaceAll(/(<!-- (options|costs)(?:: ([\w-]+))? -->\n\n)([\s\S]*?)(?=\n\n)/g, (...found) => {
    const [, mark, kind, type, table] = found as string[];
    return mark + (kind === 'costs' ? costsTable(table) : optionsTable(optionsOf(type)));
  });
}

function optionsOf(type: string): OptionDefinitions {
  if (type === 'common') return COMMON_OPTIONS;
  const found = BACKENDS.find((backend) => backend.type === type);
  if (found === undefined) throw new Error(`docs/sources.md has a table of the unknown type ${type}`);
  return found.options;
}

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');

function optionsTable(options: OptionDefinitions): string {
  const rows = Object.entries(options).map(([name, { meaning, fallback, secret }]) => {
    const shown = fallback === undefined ? '**must be given**' : fallback === '' ? '' : `\`${fallback}\``;
    return `| \`${name}\`${secret === true ? ' (secret)' : ''} | ${shown} | ${cell(meaning)} |`;
  });
  return ['| Option | Default | Meaning |', '|---|---|---|', ...rows].join('\n');
}

/** The options that a backend needs besides those that a row names. The backend is only constructed, not called. */
const REQUIRED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ibm: {
    api_key: 'k',
    crn: 'crn:v1:bluemix:public:quantum-computing:us-east:a/a:b::',
    device: 'ibm_fez',
  },
  braket: { bucket: 'a-bucket' },
  ionq: { api_key: 'k', backend: 'qpu.forte-1' },
  anu: { api_key: 'k' },
  outshift: { api_key: 'k' },
  qrypt: { api_key: 'k' },
  quandela: { api_key: 'k' },
};

/** Computes the costs in a table whose rows name a source and its options. */
function costsTable(table: string): string {
  const [, , ...rows] = table.split('\n');
  const made = rows.map((row) => {
    const [, name, options = ''] = /^\| `([\w-]+)` \| (?:`([^`]*)`)? ?\|/.exec(row) ?? [];
    return costRow(name, options);
  });
  return [
    '| Source | Options | A lot | Costs | Per KiB raw | Per KiB that serves |',
    '|---|---|---|---|---|---|',
    ...made,
  ].join('\n');
}

/** Returns a row of the costs. */
function costRow(name: string, given: string): string {
  const options: Record<string, string> = Object.fromEntries(
    given
      .split(' ')
      .filter((each) => each !== '')
      .map((each) => each.split('=')),
  );
  const environment = Object.fromEntries(
    Object.entries({ ...REQUIRED[name], ...options }).map(([option, text]) => {
      return [sourceVariable(name, option), text];
    }),
  );
  const [setting] = readSources(environment, [name], '');
  const memory = { recall: async () => undefined, recallAll: async () => [], keep: async () => {} };
  const backend = makeBackend(setting, memory, systemClock);
  const bits = lotRawBitsOf(backend);
  const lot = estimateOf(backend, bits);
  if (lot === undefined) throw new Error(`${name} costs nothing`);
  const rawKiB = bits / 8192;
  const servedKiB = bits / rawBitsFor(1024, backend.claimedMinEntropyPerBit);
  const price = (amount: number) => (amount === 0 ? '–' : `${amount.toPrecision(3)} ${lot.currency}`);
  const calls = `${lot.calls} ${lot.calls === 1 ? 'call' : 'calls'}`;
  const costs = lot.amount === 0 ? calls : price(lot.amount);
  return `| \`${name}\` | ${given === '' ? '' : `\`${given}\``} | ${Math.round(rawKiB)} KiB | ${costs} | ${price(lot.amount / rawKiB)} | ${price(lot.amount / servedKiB)} |`;
}
