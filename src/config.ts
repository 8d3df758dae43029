import type { LogLevel } from './core/log.ts';

/**
 * The only reader of the environment. Read once at start, checked, frozen; nobody else sees `process.env`.
 * An unknown `QRN_` variable is an error: a misspelt setting must not be silently ignored.
 */
export interface Config {
  /** Address to listen on. */
  readonly host: string;
  /** TCP port; 0 lets the system choose. */
  readonly port: number;
  /** Folder of everything that lasts: ledger, keys, the demo key. */
  readonly dataDir: string;
  /** Public base URL, ends in /v1; null derives it from host and port. */
  readonly baseUrl: string | null;
  /** Public base URL of the verification page; null derives it from host and port. */
  readonly verifyUrlBase: string | null;
  /** Name of the entropy backend. */
  readonly backend: string;
  /** HTTP front threads. */
  readonly fronts: number;
  /** Piscina worker threads. */
  readonly workers: number;
  /** `fsync`: on disk before the reply. `commit`: committed before the reply, on disk within 10 ms. */
  readonly durability: 'fsync' | 'commit';
  /** Certificates older than this are dropped, whole segments at a time. */
  readonly certificateRetentionDays: number;
  /** Conditioned bytes of pure mode kept ready on disk. */
  readonly reservoirBytes: number;
  /** Name of the transparency log in its checkpoints and keys. */
  readonly logName: string;
  /** `metadata.powered_by`. */
  readonly poweredBy: string;
  /** Send the IETF draft's RateLimit and RateLimit-Policy fields. */
  readonly rateLimitFields: boolean;
  readonly logLevel: LogLevel;
}

interface Setting<T> {
  readonly variable: string;
  readonly fallback: string;
  readonly meaning: string;
  readonly parse: (text: string) => T;
}

export class ConfigError extends Error {
  override name = 'ConfigError';
}

const text = (value: string): string => value;

function wholeNumber(min: number, max: number): (text: string) => number {
  return (value) => {
    const parsed = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    if (!(parsed >= min && parsed <= max)) throw new ConfigError(`a whole number from ${min} to ${max}`);
    return parsed;
  };
}

function oneOf<const T extends string>(...values: readonly T[]): (text: string) => T {
  return (value) => {
    const found = values.find((candidate) => candidate === value);
    if (found === undefined) throw new ConfigError(`one of ${values.join(', ')}`);
    return found;
  };
}

function logName(value: string): string {
  if (!/^[\x21-\x2a\x2c-\x7e]{1,100}$/.test(value))
    throw new ConfigError('1 to 100 visible ASCII characters without plus');
  return value;
}

function url(value: string): string | null {
  if (value === '') return null;
  if (!URL.canParse(value) || !/^https?:/.test(value)) throw new ConfigError('an http or https URL');
  return value.replace(/\/+$/, '');
}

function settings(defaultWorkers: number) {
  const setting = <T>(variable: string, fallback: string, meaning: string, parse: (text: string) => T) =>
    ({ variable, fallback, meaning, parse }) satisfies Setting<T>;
  return {
    host: setting('QRN_HOST', '127.0.0.1', 'address to listen on', text),
    port: setting('QRN_PORT', '3000', 'TCP port; 0 lets the system choose', wholeNumber(0, 65_535)),
    dataDir: setting('QRN_DATA_DIR', './data', 'folder of everything that lasts', text),
    baseUrl: setting('QRN_BASE_URL', '', 'public base URL, ends in /v1', url),
    verifyUrlBase: setting('QRN_VERIFY_URL_BASE', '', 'public base URL of the verification page', url),
    backend: setting('QRN_BACKEND', 'simulator', 'entropy backend', text),
    fronts: setting('QRN_FRONTS', '1', 'HTTP front threads', wholeNumber(1, 64)),
    workers: setting('QRN_WORKERS', String(defaultWorkers), 'worker threads', wholeNumber(1, 256)),
    durability: setting('QRN_DURABILITY', 'fsync', 'fsync or commit', oneOf('fsync', 'commit')),
    certificateRetentionDays: setting(
      'QRN_CERTIFICATE_RETENTION',
      '400',
      'days that certificates are kept',
      wholeNumber(1, 36_500),
    ),
    reservoirBytes: setting(
      'QRN_RESERVOIR_BYTES',
      String(8 * 1024 * 1024),
      'conditioned bytes of pure mode kept ready',
      wholeNumber(65_536, 1_073_741_824),
    ),
    logName: setting(
      'QRN_LOG_NAME',
      'qrn.localhost/log',
      'name of the transparency log; never changes for a data folder',
      logName,
    ),
    poweredBy: setting('QRN_POWERED_BY', 'Lang Quantum Circuits', 'metadata.powered_by', text),
    rateLimitFields: setting(
      'QRN_RATELIMIT_FIELDS',
      'on',
      'RateLimit and RateLimit-Policy fields: on or off',
      (value) => oneOf('on', 'off')(value) === 'on',
    ),
    logLevel: setting(
      'QRN_LOG_LEVEL',
      'info',
      'debug, info, warn, error or silent',
      oneOf('debug', 'info', 'warn', 'error', 'silent'),
    ),
  };
}

/** Reads and checks the whole configuration. Throws a ConfigError that names the variable and what it may be. */
export function loadConfig(environment: Readonly<Record<string, string | undefined>>, cores = 2): Config {
  const table = settings(Math.max(1, cores - 1));
  const known = new Set<string>(Object.values(table).map((each) => each.variable));
  for (const variable of Object.keys(environment)) {
    if (variable.startsWith('QRN_') && !known.has(variable)) {
      throw new ConfigError(`${variable} is not a setting; the settings are ${[...known].join(', ')}`);
    }
  }
  const values: Record<string, unknown> = {};
  for (const [name, each] of Object.entries(table)) {
    const given = environment[each.variable];
    try {
      values[name] = each.parse(given ?? each.fallback);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      throw new ConfigError(`${each.variable}=${given} is not ${error.message}`);
    }
  }
  return Object.freeze(values as unknown as Config);
}

/** Every setting with its default and meaning, for `--help`. */
export function describeSettings(cores = 2): { variable: string; fallback: string; meaning: string }[] {
  return Object.values(settings(Math.max(1, cores - 1))).map(({ variable, fallback, meaning }) => ({
    variable,
    fallback,
    meaning,
  }));
}
