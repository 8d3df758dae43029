import { anyText, httpUrl, OptionError, oneOf, orNull, wholeNumber } from '../backend/definition.ts';
import {
  beacons,
  ConfigError,
  DEFAULT_BEACONS,
  isSourceVariable,
  ledgerUrl,
  logName,
  metricsPort,
  nodeName,
  origins,
  POLICY_VARIABLE,
  publicKey,
  readJsonObject,
  settingText,
  share,
  sourceNames,
  withoutPassword,
  witnesses,
} from './parsers.ts';
import type { SourceSetting } from './sources.ts';

/**
 * The only reader of the environment and of the configuration file. Read once at start, checked, frozen;
 * nobody else sees `process.env`. A variable wins over the file, the file over the default. An unknown `QRN_`
 * variable or name in the file is an error: a misspelt setting must not be silently ignored.
 */
export interface Settings extends Omit<Values, 'tlsCertFile' | 'tlsKeyFile'> {
  /** PEM files of the certificate chain and of its key; the service then speaks HTTPS alone. */
  readonly tls: TlsFiles | null;
  /** Not a setting: terminals and people say by other variables that they want no colours. */
  readonly logColour: boolean;
}

/** Settings, with the sources that they name (config/sources.ts). */
export interface Config extends Settings {
  /** The most wanted first. */
  readonly sources: readonly SourceSetting[];
}

export type SourcePolicy = Settings['sourcePolicy'];

interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

interface Setting<T> {
  readonly variable: string;
  readonly fallback: string;
  readonly meaning: string;
  readonly parse: (text: string) => T;
  /** For a value that may hold a secret: what of it may be shown. A wrong one is not repeated in the error. */
  readonly shown?: (text: string) => string;
}

/** By the names that the file and the code use. */
function settings(cores: number) {
  const setting = <T>(variable: string, fallback: string, meaning: string, parse: (text: string) => T) =>
    ({ variable, fallback, meaning, parse }) satisfies Setting<T>;
  return {
    host: setting('QRN_HOST', '127.0.0.1', 'address to listen on', anyText),
    port: setting('QRN_PORT', '3000', 'TCP port; 0 lets the system choose', wholeNumber(0, 65_535)),
    dataDir: setting('QRN_DATA_DIR', './data', 'folder of everything that lasts', anyText),
    ledger: {
      ...setting(
        'QRN_LEDGER',
        '',
        'postgres:// URL of the database that nodes share; empty: a ledger in the data folder',
        ledgerUrl,
      ),
      shown: withoutPassword,
    },
    node: setting(
      'QRN_NODE',
      '',
      'name of this node among those that share QRN_LEDGER; empty: the host name',
      nodeName,
    ),
    // Both null when left out: host and port then say them.
    baseUrl: setting('QRN_BASE_URL', '', 'public base URL, ends in /v1', orNull(httpUrl)),
    verifyUrlBase: setting(
      'QRN_VERIFY_URL_BASE',
      '',
      'public base URL of the verification page',
      orNull(httpUrl),
    ),
    backend: setting(
      'QRN_BACKEND',
      'simulator',
      'quantum sources by name, the most wanted first, with commas',
      sourceNames,
    ),
    sourcesFile: setting('QRN_SOURCES', '', 'JSON file of sources and their options', anyText),
    sourcePolicy: setting(
      POLICY_VARIABLE,
      'priority',
      'priority: a source fills when those before it do not; share: all fill side by side',
      oneOf('priority', 'share'),
    ),
    front: setting(
      'QRN_FRONT',
      'uws',
      'HTTP library: uws (uWebSockets.js) or node (node:http)',
      oneOf('uws', 'node'),
    ),
    fronts: setting('QRN_FRONTS', '1', 'HTTP front threads', wholeNumber(1, 64)),
    workers: setting('QRN_WORKERS', String(Math.max(1, cores - 1)), 'worker threads', wholeNumber(1, 256)),
    // fsync: on disk before the reply. commit: committed before the reply, on disk within 10 ms.
    durability: setting('QRN_DURABILITY', 'fsync', 'fsync or commit', oneOf('fsync', 'commit')),
    // Whole segments are dropped at a time.
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
    rawRecipient: setting(
      'QRN_RAW_RECIPIENT',
      '',
      'public key of qrn evidence keygen: raw shots of accepted lots are kept, sealed for it; empty: none are kept',
      publicKey,
    ),
    rawBytes: setting(
      'QRN_RAW_BYTES',
      String(1024 ** 3),
      'bytes on disk of the raw shots that are kept; the oldest go first',
      wholeNumber(1, 1024 ** 5),
    ),
    scrubMibPerS: setting(
      'QRN_SCRUB_MIB_PER_S',
      '1',
      'MiB per second of the ledger that are checked for damage in the background; 0: none',
      wholeNumber(0, 1_024),
    ),
    logName: setting(
      'QRN_LOG_NAME',
      'qrn.localhost/log',
      'name of the transparency log; never changes for a data folder',
      logName,
    ),
    beacons: setting(
      'QRN_BEACONS',
      DEFAULT_BEACONS,
      'chains of drand that committed draws may use: NAME HASH URL [URL…], with semicolons between them, or off; nothing is asked of them before a draw names one',
      beacons,
    ),
    witnesses: setting(
      'QRN_WITNESSES',
      '',
      'witnesses that cosign the log: KEY@URL, with commas between them; KEY as qrn witness prints it',
      witnesses,
    ),
    witnessQuorum: setting(
      'QRN_WITNESS_QUORUM',
      '1',
      'cosignatures after which certificates are proven by a checkpoint that was witnessed',
      wholeNumber(1, 64),
    ),
    poweredBy: setting('QRN_POWERED_BY', 'Lang Quantum Circuits', 'metadata.powered_by', anyText),
    rateLimitFields: setting(
      'QRN_RATELIMIT_FIELDS',
      'on',
      'RateLimit and RateLimit-Policy fields: on or off',
      (value) => oneOf('on', 'off')(value) === 'on',
    ),
    strictParameters: setting(
      'QRN_STRICT_PARAMETERS',
      '0',
      '1: refuse unknown parameters with 400 unknown_parameter; 0: ignore them and list them in X-Ignored-Parameters',
      (value) => ['1', 'on'].includes(oneOf('0', '1', 'off', 'on')(value)),
    ),
    corsOrigins: setting(
      'QRN_CORS_ORIGINS',
      '',
      'origins whose pages may read answers: empty, * or a list with commas',
      origins,
    ),
    metricsPort: setting(
      'QRN_METRICS_PORT',
      'main',
      'port of /metrics; main: the one of everything else, for clients on this machine; public: for anybody; off: none',
      metricsPort,
    ),
    accessLogSample: setting(
      'QRN_ACCESS_LOG_SAMPLE',
      '0.01',
      'share of requests that get a line in the log; refused ones always do',
      share,
    ),
    tlsCertFile: setting('QRN_TLS_CERT_FILE', '', 'PEM file of the certificate chain: HTTPS', anyText),
    tlsKeyFile: setting('QRN_TLS_KEY_FILE', '', 'PEM file of its key', anyText),
    logLevel: setting(
      'QRN_LOG_LEVEL',
      'info',
      'debug, info, warn, error or silent',
      oneOf('debug', 'info', 'warn', 'error', 'silent'),
    ),
  };
}

type Table = ReturnType<typeof settings>;
type Values = { readonly [Name in keyof Table]: ReturnType<Table[Name]['parse']> };

/** What the commands that draw values, and the client libraries, read: where a service is, and the key for it. */
const CLIENT_VARIABLES = ['QRN_URL', 'QRN_KEY'];

/** Names the file; not in the file itself. */
const FILE_VARIABLE = 'QRN_CONFIG';

export type Environment = Readonly<Record<string, string | undefined>>;

/** One setting as it is in force. */
export interface SettingInForce {
  /** As the file names it. */
  readonly name: string;
  readonly variable: string;
  /** As text, before it is parsed. */
  readonly value: string;
  /** What of the value may be shown, where it may hold a secret. */
  readonly shown?: string;
  readonly from: 'environment' | 'file' | 'default';
}

/**
 * Every setting with where it comes from. Throws a ConfigError that says what is wrong and where. Options of
 * sources are left to whoever needs the sources.
 */
export function readSettings(environment: Environment, cores = 2): SettingInForce[] {
  return parsedSettings(environment, cores).map(({ setting }) => setting);
}

function parsedSettings(
  environment: Environment,
  cores: number,
): { readonly setting: SettingInForce; readonly value: unknown }[] {
  const table = settings(cores);
  const variables = [FILE_VARIABLE, ...Object.values(table).map((each) => each.variable)];
  const unknown = Object.keys(environment).find(
    (each) =>
      each.startsWith('QRN_') &&
      !variables.includes(each) &&
      !CLIENT_VARIABLES.includes(each) &&
      !isSourceVariable(each),
  );
  if (unknown !== undefined) {
    throw new ConfigError(`${unknown} is not a setting; the settings are ${variables.join(', ')}`);
  }
  const path = environment[FILE_VARIABLE] ?? '';
  const file = path === '' ? new Map<string, string>() : readFile(path, Object.keys(table));
  const rows: [string, Setting<unknown>][] = Object.entries(table);
  return rows.map(([name, { variable, fallback, parse, shown }]) => {
    const setting = inForce(name, variable, environment[variable], file.get(name), fallback);
    const where = setting.from === 'file' ? `${name} in ${path}` : variable;
    const value = checked(parse, setting.value, where, shown !== undefined);
    return { value, setting: shown === undefined ? setting : { ...setting, shown: shown(setting.value) } };
  });
}

function inForce(
  name: string,
  variable: string,
  given: string | undefined,
  filed: string | undefined,
  fallback: string,
): SettingInForce {
  if (given !== undefined) return { name, variable, value: given, from: 'environment' };
  if (filed !== undefined) return { name, variable, value: filed, from: 'file' };
  return { name, variable, value: fallback, from: 'default' };
}

function checked<T>(parse: (text: string) => T, value: string, where: string, isSecret: boolean): T {
  try {
    return parse(value);
  } catch (error) {
    if (!(error instanceof OptionError)) throw error;
    const told = isSecret ? 'the value' : JSON.stringify(value);
    throw new ConfigError(`${where}: ${told} is not ${error.message}`);
  }
}

/** A JSON object of settings by name: strings, numbers, booleans, and lists of strings. */
function readFile(path: string, names: readonly string[]): Map<string, string> {
  const entries = Object.entries(readJsonObject(FILE_VARIABLE, path)).map(
    ([name, value]): [string, string] => {
      if (!names.includes(name)) {
        throw new ConfigError(`${path}: ${name} is not a setting; the settings are ${names.join(', ')}`);
      }
      return [name, settingText(value, `${name} in ${path}`)];
    },
  );
  return new Map(entries);
}

/**
 * Reads and checks all settings but the options of sources, which a command that draws nothing needs neither
 * to see nor to have. Throws a ConfigError that names the setting and what it may be.
 */
export function loadSettings(environment: Environment, cores = 2): Settings {
  const values = Object.fromEntries(
    parsedSettings(environment, cores).map(({ setting: { name }, value }) => [name, value]),
  ) as unknown as Values;
  const { tlsCertFile, tlsKeyFile, ...plain } = values;
  // https://no-color.org
  const logColour = (environment['NO_COLOR'] ?? '') === '' && environment['TERM'] !== 'dumb';
  return Object.freeze({ ...plain, tls: tlsFiles(tlsCertFile, tlsKeyFile), logColour });
}

function tlsFiles(certFile: string, keyFile: string): TlsFiles | null {
  if (certFile === '' && keyFile === '') return null;
  if (certFile !== '' && keyFile !== '') return { certFile, keyFile };
  throw new ConfigError('QRN_TLS_CERT_FILE and QRN_TLS_KEY_FILE belong together: give both or none');
}

/** Every setting with its default and meaning, for `--help`. */
export function describeSettings(cores = 2): { variable: string; fallback: string; meaning: string }[] {
  return [
    { variable: FILE_VARIABLE, fallback: '', meaning: 'JSON file of settings; variables win' },
    ...Object.values(settings(cores)).map(({ variable, fallback, meaning }) => ({
      variable,
      fallback,
      meaning,
    })),
    {
      variable: 'QRN_SOURCE_<NAME>_<OPTION>',
      fallback: '',
      meaning: 'an option of a source; _FILE behind a secret one names a file with it (docs/sources.md)',
    },
    {
      variable: 'QRN_URL',
      fallback: '',
      meaning: 'for qrn integers and the like: base URL of the service to ask',
    },
    { variable: 'QRN_KEY', fallback: '', meaning: 'the API key for it' },
  ];
}

/**
 * Where a client on this machine reaches the service: 0.0.0.0 and :: are addresses to listen on, which no browser opens.
 */
export function localOrigin({ host, tls }: Pick<Settings, 'host' | 'tls'>, port: number): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  const isBare = reachable.includes(':') && !reachable.startsWith('[');
  return `${tls === null ? 'http' : 'https'}://${isBare ? `[${reachable}]` : reachable}:${port}`;
}
