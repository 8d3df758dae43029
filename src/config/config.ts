import type { ChainSetting } from '../beacon/chains.ts';
import type { LogLevel } from '../core/log.ts';
import {
  beacons,
  ConfigError,
  DEFAULT_BEACONS,
  isSourceVariable,
  ledgerUrl,
  logName,
  metricsPort,
  nodeName,
  oneOf,
  origins,
  POLICY_VARIABLE,
  publicKey,
  readJsonObject,
  settingText,
  share,
  sourceNames,
  text,
  url,
  wholeNumber,
  withoutPassword,
  witnesses,
} from './parsers.ts';
import type { SourceSetting } from './sources.ts';

/**
 * The only reader of the environment and of the configuration file. Read once at start, checked, frozen;
 * nobody else sees `process.env`. A variable wins over the file, the file over the default. An unknown `QRN_`
 * variable or name in the file is an error: a misspelt setting must not be silently ignored.
 */
export interface Settings {
  /** Address to listen on. */
  readonly host: string;
  /** TCP port; 0 lets the system choose. */
  readonly port: number;
  /** Folder of everything that lasts: ledger, keys, the demo key. */
  readonly dataDir: string;
  /** PostgreSQL server that holds the books of all nodes; empty for a ledger in the data folder. May hold a password. */
  readonly ledger: string;
  /** What this node is called among those that share a PostgreSQL server; empty: the host name. */
  readonly node: string;
  /** Public base URL, ends in /v1; null derives it from host and port. */
  readonly baseUrl: string | null;
  /** Public base URL of the verification page; null derives it from host and port. */
  readonly verifyUrlBase: string | null;
  /** Names of the quantum sources, the most wanted first. */
  readonly backend: readonly string[];
  /** JSON file of sources and their options; empty for none. */
  readonly sourcesFile: string;
  /** `priority`: a source fills the pool when those before it do not. `share`: all fill it side by side. */
  readonly sourcePolicy: SourcePolicy;
  /** What parses HTTP: uWebSockets.js, or node:http, which is slower and needs no binary package. */
  readonly front: 'uws' | 'node';
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
  /** X25519 public key, in base64, that raw shots of accepted lots are sealed for; empty keeps none. */
  readonly rawRecipient: string;
  /** Bytes on disk of the raw shots that are kept; the oldest go first. */
  readonly rawBytes: number;
  /** MiB per second that the scrub of the ledger reads in the background; 0 turns it off. */
  readonly scrubMibPerS: number;
  /** Name of the transparency log in its checkpoints and keys. */
  readonly logName: string;
  /** `KEY@URL` of each witness of the log. */
  readonly witnesses: readonly string[];
  /** Chains of drand that committed draws may use. */
  readonly beacons: readonly ChainSetting[];
  /** Cosignatures that make a checkpoint witnessed. */
  readonly witnessQuorum: number;
  /** `metadata.powered_by`. */
  readonly poweredBy: string;
  /** Send the IETF draft's RateLimit and RateLimit-Policy fields. */
  readonly rateLimitFields: boolean;
  /** Refuse unknown parameters instead of ignoring them. */
  readonly strictParameters: boolean;
  /** Origins whose pages may read answers; `*` for all, none for no page but the service's own. */
  readonly corsOrigins: readonly string[];
  /** Where /metrics is served: with everything else, on a port of its own, or not at all. */
  readonly metricsPort: MetricsPort;
  /** The share of requests, from 0 to 1, that get a line in the log; refused ones always do. */
  readonly accessLogSample: number;
  /** PEM files of the certificate chain and of its key; the service then speaks HTTPS alone. */
  readonly tls: TlsFiles | null;
  readonly logLevel: LogLevel;
  /** Not a setting: terminals and people say by other variables that they want no colours. */
  readonly logColour: boolean;
}

/** Settings, with the sources that they name (config/sources.ts). */
export interface Config extends Settings {
  /** The most wanted first. */
  readonly sources: readonly SourceSetting[];
}

type MetricsPort = 'main' | 'public' | 'off' | number;

export type SourcePolicy = 'priority' | 'share';

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

function settings(defaultWorkers: number) {
  const setting = <T>(variable: string, fallback: string, meaning: string, parse: (text: string) => T) =>
    ({ variable, fallback, meaning, parse }) satisfies Setting<T>;
  return {
    host: setting('QRN_HOST', '127.0.0.1', 'address to listen on', text),
    port: setting('QRN_PORT', '3000', 'TCP port; 0 lets the system choose', wholeNumber(0, 65_535)),
    dataDir: setting('QRN_DATA_DIR', './data', 'folder of everything that lasts', text),
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
    baseUrl: setting('QRN_BASE_URL', '', 'public base URL, ends in /v1', url),
    verifyUrlBase: setting('QRN_VERIFY_URL_BASE', '', 'public base URL of the verification page', url),
    backend: setting(
      'QRN_BACKEND',
      'simulator',
      'quantum sources by name, the most wanted first, with commas; none on a node that other nodes of QRN_LEDGER feed',
      sourceNames,
    ),
    sourcesFile: setting('QRN_SOURCES', '', 'JSON file of sources and their options', text),
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
    poweredBy: setting('QRN_POWERED_BY', 'Lang Quantum Circuits', 'metadata.powered_by', text),
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
    tlsCertFile: setting('QRN_TLS_CERT_FILE', '', 'PEM file of the certificate chain: HTTPS', text),
    tlsKeyFile: setting('QRN_TLS_KEY_FILE', '', 'PEM file of its key', text),
    logLevel: setting(
      'QRN_LOG_LEVEL',
      'info',
      'debug, info, warn, error or silent',
      oneOf('debug', 'info', 'warn', 'error', 'silent'),
    ),
  };
}

type SettingName = keyof ReturnType<typeof settings>;

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
  const table = settings(Math.max(1, cores - 1));
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
    checked(parse, setting.value, where, shown !== undefined);
    return shown === undefined ? setting : { ...setting, shown: shown(setting.value) };
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
    if (!(error instanceof ConfigError)) throw error;
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
  const table = settings(Math.max(1, cores - 1));
  const inForce = new Map(readSettings(environment, cores).map(({ name, value }) => [name, value]));
  const value = <N extends SettingName>(name: N) =>
    table[name].parse(inForce.get(name)!) as ReturnType<(typeof table)[N]['parse']>;
  const { tlsCertFile, tlsKeyFile, ...plain } = table;
  const values = Object.fromEntries(
    Object.keys(plain).map((name) => [name, value(name as SettingName)]),
  ) as Omit<Settings, 'tls' | 'logColour'>;
  const tls = tlsFiles(
    tlsCertFile.parse(inForce.get('tlsCertFile')!),
    tlsKeyFile.parse(inForce.get('tlsKeyFile')!),
  );
  // https://no-color.org
  const logColour = (environment['NO_COLOR'] ?? '') === '' && environment['TERM'] !== 'dumb';
  return Object.freeze({ ...values, tls, logColour });
}

function tlsFiles(certFile: string, keyFile: string): TlsFiles | null {
  if (certFile === '' && keyFile === '') return null;
  if (certFile !== '' && keyFile !== '') return { certFile, keyFile };
  throw new ConfigError('QRN_TLS_CERT_FILE and QRN_TLS_KEY_FILE belong together: give both or none');
}

/** Every setting with its default and meaning, for `--help`. */
export function describeSettings(cores = 2): { variable: string; fallback: string; meaning: string }[] {
  const fileRow = { variable: FILE_VARIABLE, fallback: '', meaning: 'JSON file of settings; variables win' };
  const rows = Object.values(settings(Math.max(1, cores - 1))).map(({ variable, fallback, meaning }) => ({
    variable,
    fallback,
    meaning,
  }));
  const sourceRow = {
    variable: 'QRN_SOURCE_<NAME>_<OPTION>',
    fallback: '',
    meaning: 'an option of a source; _FILE behind a secret one names a file with it (docs/sources.md)',
  };
  const clientRows = [
    {
      variable: 'QRN_URL',
      fallback: '',
      meaning: 'for qrn integers and the like: base URL of the service to ask',
    },
    { variable: 'QRN_KEY', fallback: '', meaning: 'the API key for it' },
  ];
  return [fileRow, ...rows, sourceRow, ...clientRows];
}

/**
 * Where a client on this machine reaches the service: 0.0.0.0 and :: are addresses to listen on, which no browser opens.
 */
export function localOrigin({ host, tls }: Pick<Settings, 'host' | 'tls'>, port: number): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  const isBare = reachable.includes(':') && !reachable.startsWith('[');
  return `${tls === null ? 'http' : 'https'}://${isBare ? `[${reachable}]` : reachable}:${port}`;
}
