import { anyText, decimal, matching, oneOf, orNull, wholeNumber } from '../backend/definition.ts';
import {
  apiUrl,
  beacons,
  ConfigError,
  DEFAULT_BEACONS,
  firstGiven,
  type InForce,
  isOn,
  isSourceVariable,
  ledgerUrl,
  listenHost,
  logName,
  metricsPort,
  nodeName,
  origins,
  parsedText,
  publicKey,
  publicUrl,
  readJsonObject,
  SOURCES_VARIABLE,
  settingText,
  sourceNames,
  withoutPassword,
  witnesses,
} from './parsers.ts';
import type { SourceSetting } from './sources.ts';

/**
 * The settings of the service. This file alone reads the environment and the configuration file: once at the start, and
 * the result is checked and frozen. A variable wins over the file, and the file over the default. An unknown `QRN_`
 * variable or name in the file is an error, because a misspelt setting must not be ignored silently.
 */
export interface Settings extends Omit<Values, 'tlsCertFile' | 'tlsKeyFile'> {
  /**
   * The PEM files of the certificate chain and of its key. With them the service speaks HTTPS only; null: HTTP only.
   */
  readonly tls: TlsFiles | null;
  /** False when NO_COLOR is set or TERM is `dumb`. Not a setting of the service. */
  readonly logColour: boolean;
}

/** The settings and the sources that QRN_BACKEND names (config/sources.ts). */
export interface Config extends Settings {
  /** In the order of preference, the preferred one first. */
  readonly sources: readonly SourceSetting[];
}

export type SourcePolicy = Settings['sourcePolicy'];

interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

interface Setting<T> {
  readonly fallback: string;
  readonly meaning: string;
  readonly parse: (text: string) => T;
  /** The variable, where it is not `QRN_` and the name in capitals. */
  readonly variable?: string;
  /** For a value that may hold a secret: returns the part that may be shown. An error does not repeat such a value. */
  readonly shown?: (text: string) => string;
}

/** Returns the definitions of all settings, by the names that the file and the code use. */
function settings(cores: number) {
  const setting = <T>(fallback: string, meaning: string, parse: (text: string) => T): Setting<T> => ({
    fallback,
    meaning,
    parse,
  });
  return {
    host: setting('127.0.0.1', 'address to listen on', listenHost),
    port: setting('3000', 'TCP port; 0 lets the system choose', wholeNumber(0, 65_535)),
    dataDir: setting('./data', 'folder of everything that lasts', matching(/./, 'the path of a folder')),
    ledger: {
      ...setting(
        '',
        'postgres:// URL of the database that nodes share; empty: a ledger in the data folder',
        ledgerUrl,
      ),
      shown: withoutPassword,
    },
    node: setting('', 'name of this node among those that share QRN_LEDGER; empty: the host name', nodeName),
    // Both are null when they are not given; the service then derives them from host and port.
    baseUrl: setting('', 'public base URL, ends in /v1', orNull(apiUrl)),
    verifyUrlBase: setting('', 'public base URL of the verification page', orNull(publicUrl)),
    backend: setting('simulator', 'quantum sources by name, the most wanted first, with commas', sourceNames),
    sourcesFile: {
      ...setting('', 'JSON file of sources and their options', anyText),
      variable: SOURCES_VARIABLE,
    },
    sourcePolicy: setting(
      'priority',
      'priority: a source fills when those before it do not; share: all fill side by side',
      oneOf('priority', 'share'),
    ),
    front: setting('uws', 'HTTP library: uws (uWebSockets.js) or node (node:http)', oneOf('uws', 'node')),
    fronts: setting('1', 'HTTP front threads', wholeNumber(1, 64)),
    workers: setting(String(cores), 'worker threads', wholeNumber(1, 256)),
    // fsync: an answer is on disk before its reply leaves. commit: it is committed before, and on disk within 10 ms.
    durability: setting('fsync', 'fsync or commit', oneOf('fsync', 'commit')),
    // The ledger drops whole segments at a time.
    certificateRetentionDays: {
      ...setting('400', 'days that certificates are kept', wholeNumber(1, 36_500)),
      variable: 'QRN_CERTIFICATE_RETENTION',
    },
    reservoirBytes: setting(
      String(8 * 1024 * 1024),
      'conditioned bytes of pure mode kept ready',
      wholeNumber(65_536, 1_073_741_824),
    ),
    rawRecipient: setting(
      '',
      'public key of qrn evidence keygen: raw shots of accepted lots are kept, sealed for it; empty: none are kept',
      publicKey,
    ),
    rawBytes: setting(
      String(1024 ** 3),
      'bytes on disk of the raw shots that are kept; the oldest go first',
      wholeNumber(1, 1024 ** 5),
    ),
    scrubMibPerS: setting(
      '1',
      'MiB per second of the ledger that are checked for damage in the background; 0: none',
      wholeNumber(0, 1_024),
    ),
    logName: setting(
      'qrn.localhost/log',
      'name of the transparency log; never changes for a data folder',
      logName,
    ),
    beacons: setting(
      DEFAULT_BEACONS,
      'chains of drand that committed draws may use: NAME HASH URL [URL…], with semicolons between them, or off; nothing is asked of them before a draw names one',
      beacons,
    ),
    witnesses: setting(
      '',
      'witnesses that cosign the log: KEY@URL, with commas between them; KEY as qrn witness prints it',
      witnesses,
    ),
    witnessQuorum: setting(
      '1',
      'cosignatures after which certificates are proven by a checkpoint that was witnessed',
      wholeNumber(1, 64),
    ),
    // the reply's template has bounded room for this text (answer/text.ts)
    poweredBy: setting(
      'Lang Quantum Circuits',
      'metadata.powered_by',
      matching(/^\P{C}{0,100}$/u, 'at most 100 printable characters'),
    ),
    rateLimitFields: {
      ...setting('on', 'RateLimit and RateLimit-Policy fields: on or off', isOn),
      variable: 'QRN_RATELIMIT_FIELDS',
    },
    strictParameters: setting(
      '0',
      '1: refuse unknown parameters with 400 unknown_parameter; 0: ignore them and list them in X-Ignored-Parameters',
      isOn,
    ),
    corsOrigins: setting('', 'origins whose pages may read answers: empty, * or a list with commas', origins),
    metricsPort: setting(
      'main',
      'port of /metrics; main: the one of everything else, for clients on this machine; public: for anybody; off: none',
      metricsPort,
    ),
    accessLogSample: setting(
      '0.01',
      'share of requests that get a line in the log; refused ones always do',
      decimal(0, 1),
    ),
    tlsCertFile: setting('', 'PEM file of the certificate chain: HTTPS', anyText),
    tlsKeyFile: setting('', 'PEM file of its key', anyText),
    logLevel: setting(
      'info',
      'debug, info, warn, error or silent',
      oneOf('debug', 'info', 'warn', 'error', 'silent'),
    ),
  };
}

type Table = ReturnType<typeof settings>;
type Values = { readonly [Name in keyof Table]: ReturnType<Table[Name]['parse']> };

/** The service to ask and the API key for it: the client libraries and the commands that draw values read them. */
const CLIENT_VARIABLES = ['QRN_URL', 'QRN_KEY'];

/** The variable that names the configuration file. The file itself cannot hold it. */
const FILE_VARIABLE = 'QRN_CONFIG';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns every setting and where its value comes from. Throws a ConfigError that says what is wrong and where. Does
 * not read the options of sources.
 */
export function readSettings(environment: Environment, cores = 2): InForce[] {
  return parsedSettings(environment, cores).map(({ inForce }) => inForce);
}

function parsedSettings(
  environment: Environment,
  cores: number,
): { readonly inForce: InForce; readonly parsed: unknown }[] {
  const rows = rowsOf(cores);
  const variables = [FILE_VARIABLE, ...rows.map(({ variable }) => variable)];
  const known = [...variables, ...CLIENT_VARIABLES];
  const unknown = Object.keys(environment).find(
    (each) => each.startsWith('QRN_') && !known.includes(each) && !isSourceVariable(each),
  );
  if (unknown !== undefined) {
    throw new ConfigError(`${unknown} is not a setting; the settings are ${variables.join(', ')}`);
  }
  const path = environment[FILE_VARIABLE] ?? '';
  const names = rows.map(({ name }) => name);
  const file = path === '' ? new Map<string, string>() : readFile(path, names);
  return rows.map(({ name, variable, fallback, parse, shown }) => {
    const found = { environment: environment[variable], file: file.get(name), default: fallback };
    const given = firstGiven(name, variable, found, `${name} in ${path}`)!;
    const parsed = parsedText(parse, given, shown && 'the value');
    const value = shown?.(given.value) ?? given.value;
    return { parsed, inForce: { name, variable, value, from: given.from } };
  });
}

function rowsOf(cores: number) {
  return Object.entries<Setting<unknown>>(settings(cores)).map(([name, setting]) => {
    const { variable = `QRN_${name.replaceAll(/[A-Z]/g, '_$&').toUpperCase()}` } = setting;
    return { ...setting, name, variable };
  });
}

/** Returns the settings that the JSON file holds, as text by name. */
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
 * Reads and checks all settings except the options of sources: a command that draws nothing must work without them.
 * Throws a ConfigError that names the setting and its allowed values.
 */
export function loadSettings(environment: Environment, cores = 2): Settings {
  const values = Object.fromEntries(
    parsedSettings(environment, cores).map(({ inForce: { name }, parsed }) => [name, parsed]),
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

/** Returns every setting with its default and its meaning, for `--help`. */
export function describeSettings(cores = 2): { variable: string; fallback: string; meaning: string }[] {
  const given = (variable: string, meaning: string) => ({ variable, fallback: '', meaning });
  return [
    given(FILE_VARIABLE, 'JSON file of settings; variables win'),
    ...rowsOf(cores).map(({ variable, fallback, meaning }) => ({ variable, fallback, meaning })),
    given(
      'QRN_SOURCE_<NAME>_<OPTION>',
      'an option of a source; _FILE behind a secret one names a file with it (docs/sources.md)',
    ),
    given('QRN_URL', 'for qrn integers and the like: base URL of the service to ask'),
    given('QRN_KEY', 'the API key for it'),
  ];
}

/**
 * Returns the origin at which a client on this machine reaches the service. 0.0.0.0 and :: are addresses to listen on,
 * not to connect to, so the loopback address stands for them.
 */
export function localOrigin({ host, tls }: Pick<Settings, 'host' | 'tls'>, port: number): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  const isBare = reachable.includes(':') && !reachable.startsWith('[');
  return `${tls === null ? 'http' : 'https'}://${isBare ? `[${reachable}]` : reachable}:${port}`;
}
