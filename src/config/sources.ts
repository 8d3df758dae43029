import { readFileSync, statSync } from 'node:fs';
import { BACKENDS, backendOfType, SOURCE_PRESETS } from '../backend/backends.ts';
import {
  type BackendDefinition,
  decimal,
  type OptionDefinition,
  type OptionDefinitions,
  OptionError,
  orNull,
  Secret,
  wholeNumber,
} from '../backend/definition.ts';
import { messageOf } from '../core/assert.ts';
import { isObject } from '../core/json.ts';
import type { SpendLimits } from '../ledger/records.ts';
import { type Config, type Environment, loadSettings } from './config.ts';
import {
  ConfigError,
  firstGiven,
  type InForce,
  isSourceName,
  isSourceVariable,
  parsedText,
  readJsonObject,
  SOURCES_VARIABLE,
  settingText,
  sourceVariable,
} from './parsers.ts';

/**
 * A source that an operator configured. Its options come from `QRN_SOURCE_<NAME>_<OPTION>` or from the JSON file that
 * `QRN_SOURCES` names (`{"lab": {"type": "device", "path": "/dev/qrandom0"}}`). A secret comes from its variable or
 * from the file that `QRN_SOURCE_<NAME>_<OPTION>_FILE` names, never from the JSON file. An unknown name is an error.
 */
export interface SourceSetting {
  readonly name: string;
  readonly backend: BackendDefinition;
  /** The options of the backend, parsed by its definition. A secret is an object of class Secret. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly limits: SpendLimits;
  /** Whether the operator set a budget per day; `none` counts as set. */
  readonly isBudgeted: boolean;
  /** The type and every option, each with the place that it comes from. */
  readonly inForce: readonly InForce[];
  /** What works but should be changed, e.g. a secret in a file that everybody on the machine can read. */
  readonly warnings: readonly string[];
}

/** Returns the budget of a day in the source's currency: undefined for the empty text, null for `none` (no bound). */
function dayBudget(text: string): number | null | undefined {
  if (text === '') return undefined;
  if (text === 'none') return null;
  try {
    return decimal(0, 1e9)(text);
  } catch (error) {
    if (!(error instanceof OptionError)) throw error;
    throw new OptionError(`none or ${error.message}`);
  }
}

/** The options that every source has besides those of its backend. */
export const COMMON_OPTIONS = {
  type: {
    meaning: 'type of the source; not needed if the name of the source is a type or a known service',
    fallback: '',
    parse: (text: string) => text,
  },
  budget_per_day: {
    meaning:
      'maximum cost per UTC day, in the currency of the source, or `none` for no limit; required for a source that costs money',
    fallback: '',
    parse: dayBudget,
  },
  calls_per_day: {
    meaning: 'maximum number of calls or jobs per UTC day; if empty, there is no limit',
    fallback: '',
    parse: orNull(wholeNumber(0, 1e9)),
  },
} as const satisfies OptionDefinitions;

type FiledSources = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

/**
 * Returns the named sources, in the order of the names. `path` is the JSON file of sources; empty: there is none. A
 * source that is configured but not named may lack options, but the options that it has must exist. Throws a
 * ConfigError.
 */
export function readSources(
  environment: Environment,
  names: readonly string[],
  path: string,
): SourceSetting[] {
  const filed = path === '' ? new Map() : readSourcesFile(path);
  const described = new Map(
    [...new Set([...names, ...filed.keys(), ...SOURCE_PRESETS.keys()])].map((name) => {
      return [name, describeSource(name, environment, filed)] as const;
    }),
  );
  checkVariables(environment, [...described.values()]);
  for (const [name, options] of filed) checkFiledOptions(name, described.get(name)!.backend, options, path);
  return names.map((name) => settingOf(described.get(name)!, environment, filed.get(name) ?? {}, path));
}

function readSourcesFile(path: string): FiledSources {
  return new Map(
    Object.entries(readJsonObject(SOURCES_VARIABLE, path)).map(([name, options]) => {
      if (!isSourceName(name)) {
        throw new ConfigError(
          `${path}: ${JSON.stringify(name)} is not a valid name of a source: use lower-case letters and digits, with single hyphens between words`,
        );
      }
      if (!isObject(options))
        throw new ConfigError(`${path}: ${name} must be an object with the options of the source`);
      return [name, options] as const;
    }),
  );
}

interface DescribedSource {
  readonly name: string;
  readonly backend: BackendDefinition;
  readonly type: InForce;
  /** The options that the name implies, where it is the name of a known service. */
  readonly preset: Readonly<Record<string, string>>;
}

function describeSource(name: string, environment: Environment, filed: FiledSources): DescribedSource {
  const variable = sourceVariable(name, 'type');
  const fromFile = filed.get(name)?.['type'];
  const preset = SOURCE_PRESETS.get(name);
  const inFile = `type of ${name}`;
  const found = {
    environment: environment[variable],
    file: fromFile === undefined ? undefined : settingText(fromFile, inFile),
    name: preset?.type,
  };
  const type = firstGiven('type', variable, found, inFile);
  const types = BACKENDS.map(({ type: each }) => each).join(', ');
  if (type === undefined) {
    const known = [...new Set([...filed.keys(), ...SOURCE_PRESETS.keys()])].join(', ');
    throw new ConfigError(
      `${name} is not a known source. The known sources are: ${known}. To define it, set ${variable} to one of the types: ${types}`,
    );
  }
  const backend = backendOfType(type.value);
  if (backend === undefined) {
    throw new ConfigError(
      `type of ${name}: ${JSON.stringify(type.value)} is not a type of source. The types are: ${types}`,
    );
  }
  return { name, backend, type, preset: preset?.type === backend.type ? preset.options : {} };
}

/** Throws a ConfigError unless every `QRN_SOURCE_` variable belongs to exactly one option of one source. */
function checkVariables(environment: Environment, sources: readonly DescribedSource[]): void {
  const owners = new Map<string, string>();
  for (const { name, backend } of sources) {
    for (const [option, { secret }] of Object.entries(optionsOf(backend))) {
      const variable = sourceVariable(name, option);
      for (const each of secret === true ? [variable, `${variable}_FILE`] : [variable]) {
        const other = owners.get(each);
        if (other !== undefined && environment[each] !== undefined) {
          throw new ConfigError(
            `${each} is ambiguous: it could be an option of the source ${other} or of the source ${name}. Rename one of the sources`,
          );
        }
        owners.set(each, name);
      }
    }
  }
  for (const variable of Object.keys(environment).filter(isSourceVariable)) {
    if (environment[variable] !== undefined && !owners.has(variable)) {
      throw new ConfigError(unknownVariable(variable, sources));
    }
  }
}

function unknownVariable(variable: string, sources: readonly DescribedSource[]): string {
  const owner = sources
    .filter(({ name }) => variable.startsWith(sourceVariable(name, '')))
    .sort((a, b) => b.name.length - a.name.length)
    .at(0);
  if (owner === undefined) {
    return `${variable} is not an option of a known source. The known sources are: ${sources.map(({ name }) => name).join(', ')}`;
  }
  const options = Object.keys(optionsOf(owner.backend)).join(', ');
  return `${variable} is not an option of ${owner.name} (${owner.backend.type}). Its options are: ${options}`;
}

function checkFiledOptions(
  source: string,
  backend: BackendDefinition,
  filed: Readonly<Record<string, unknown>>,
  path: string,
): void {
  const options = optionsOf(backend);
  for (const option of Object.keys(filed)) {
    if (!Object.hasOwn(options, option)) {
      const known = Object.keys(options).join(', ');
      throw new ConfigError(
        `${path}: ${option} is not an option of ${source} (${backend.type}). Its options are: ${known}`,
      );
    }
    if (options[option].secret === true) {
      const variable = sourceVariable(source, option);
      throw new ConfigError(
        `${path}: ${option} of ${source} is a secret and must not be in this file. Set ${variable} or ${variable}_FILE instead`,
      );
    }
  }
}

function optionsOf(backend: BackendDefinition): OptionDefinitions {
  return { ...COMMON_OPTIONS, ...backend.options };
}

function settingOf(
  { name, backend, type, preset }: DescribedSource,
  environment: Environment,
  filed: Readonly<Record<string, unknown>>,
  path: string,
): SourceSetting {
  const options: Record<string, unknown> = {};
  const inForce: InForce[] = [type];
  const warnings: string[] = [];
  for (const [option, definition] of Object.entries(optionsOf(backend))) {
    if (option === 'type') continue;
    const variable = sourceVariable(name, option);
    const isSecret = definition.secret === true;
    const inFile = `${option} of ${name} in ${path}`;
    const text = environment[variable];
    const found = {
      // a container's environment passes a secret that is not set as an empty variable
      environment: isSecret && text === '' ? undefined : text,
      file: Object.hasOwn(filed, option) ? settingText(filed[option], inFile, ['true', 'false']) : undefined,
      name: preset[option],
      default: definition.fallback,
    };
    const secret = isSecret ? secretFile(variable, environment) : undefined;
    const given = secret?.given ?? firstGiven(option, variable, found, inFile);
    if (given === undefined) {
      const ways = isSecret ? `${variable} or ${variable}_FILE` : variable;
      throw new ConfigError(
        `the source ${name} requires the option ${option} (${definition.meaning}). Set ${ways}`,
      );
    }
    options[option] = isSecret ? parsedSecret(definition, given, name) : parsedText(definition.parse, given);
    const value = isSecret && given.value !== '' ? '[secret]' : given.value;
    inForce.push({ name: option, variable: given.variable, value, from: given.from });
    if (secret?.warning !== undefined) warnings.push(secret.warning);
  }
  const { budget_per_day: budget, calls_per_day: callsPerDay, ...own } = options;
  return {
    name,
    backend,
    options: own,
    limits: {
      amountPerDay: (budget as ReturnType<typeof dayBudget>) ?? null,
      callsPerDay: callsPerDay as number | null,
    },
    isBudgeted: budget !== undefined,
    inForce,
    warnings,
  };
}

/**
 * Returns the one line of the file that `<variable>_FILE` names, with a warning when everybody can read that file;
 * undefined when the variable is not set.
 */
function secretFile(variable: string, environment: Environment) {
  const naming = `${variable}_FILE`;
  const path = environment[naming] ?? '';
  if (path === '') return undefined;
  if ((environment[variable] ?? '') !== '')
    throw new ConfigError(`${variable} and ${naming} must not both be set`);
  const { text, mode } = readSecret(naming, path);
  const given = { value: text, variable: naming, from: 'environment', where: naming } as const;
  // Windows has no such permission bits and reports 666 for every file
  if ((mode & 0o004) === 0 || process.platform === 'win32') return { given };
  return { given, warning: `${naming}: every user of this machine can read ${path}. Run chmod o-r on it` };
}

function readSecret(naming: string, path: string): { text: string; mode: number } {
  let text: string;
  let mode: number;
  try {
    text = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
    ({ mode } = statSync(path));
  } catch (error) {
    const why = messageOf(error);
    throw new ConfigError(`${naming}: the secret file cannot be read: ${why}`);
  }
  if (text === '' || /[\r\n]/.test(text))
    throw new ConfigError(`${naming}: ${path} must contain exactly one line`);
  return { text, mode };
}

function parsedSecret(
  { parse }: OptionDefinition<unknown>,
  given: { readonly value: string; readonly where: string },
  source: string,
): Secret {
  // A header field takes no other characters. The check is here because a parser's error would repeat the secret.
  if (!/^[\x20-\x7e]*$/.test(given.value)) {
    throw new ConfigError(
      `${given.where}: the secret of ${source} must be one line of printable ASCII characters`,
    );
  }
  parsedText(parse, given, `the secret of ${source}`);
  return new Secret(given.value);
}

/**
 * Returns the whole configuration. It is apart from `loadSettings` because it loads the code of every backend. Throws a
 * ConfigError that names the setting or the option of a source.
 */
export function loadConfig(environment: Environment, cores = 2): Config {
  const settings = loadSettings(environment, cores);
  const sources = readSources(environment, settings.backend, settings.sourcesFile);
  return Object.freeze({ ...settings, sources });
}
