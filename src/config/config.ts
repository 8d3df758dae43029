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
    host: setting('127.0.0.1', 'host name or IP address that the service listens on', listenHost),
    port: setting(
      '3000',
      'TCP port that the service listens on; with 0 the operating system chooses one',
      wholeNumber(0, 65_535),
    ),
    dataDir: setting(
      './data',
      'folder of the ledger, the keys and all other stored data',
      matching(/./, 'the path of a folder'),
    ),
    ledger: {
      ...setting(
        '',
        'URL of the PostgreSQL database that several nodes share (postgres://…); if empty, the ledger is in QRN_DATA_DIR',
        ledgerUrl,
      ),
      shown: withoutPassword,
    },
    node: setting(
      '',
      'name of this node among the nodes that share QRN_LEDGER; if empty, the host name',
      nodeName,
    ),
    // Both are null when they are not given; the service then derives them from host and port.
    baseUrl: setting(
      '',
      'public base URL of the API, which ends in /v1; if empty, it is derived from QRN_HOST and QRN_PORT',
      orNull(apiUrl),
    ),
    verifyUrlBase: setting(
      '',
      'public base URL of the verification pages; if empty, it is derived from QRN_HOST and QRN_PORT',
      orNull(publicUrl),
    ),
    backend: setting(
      'simulator',
      'comma-separated names of the entropy sources, in order of preference',
      sourceNames,
    ),
    sourcesFile: {
      ...setting(
        '',
        'path of a JSON file with the entropy sources and their options; if empty, there is no file',
        anyText,
      ),
      variable: SOURCES_VARIABLE,
    },
    sourcePolicy: setting(
      'priority',
      'priority: a source is read only if the sources before it cannot fill the pool; share: all sources are read in parallel',
      oneOf('priority', 'share'),
    ),
    front: setting('uws', 'HTTP library: uws (uWebSockets.js), or node (node:http)', oneOf('uws', 'node')),
    fronts: setting('1', 'number of threads that serve HTTP, 1 to 64', wholeNumber(1, 64)),
    workers: setting(
      String(cores),
      'number of worker threads that make large answers and expand keystreams, 1 to 256; by default the number of CPU cores',
      wholeNumber(1, 256),
    ),
    // fsync: an answer is on disk before its reply leaves. commit: it is committed before, and on disk within 10 ms.
    durability: setting(
      'fsync',
      'fsync: records are on disk before the reply is sent; commit: records are written before the reply is sent and on disk within 10 ms',
      oneOf('fsync', 'commit'),
    ),
    // The ledger drops whole segments at a time.
    certificateRetentionDays: {
      ...setting('400', 'number of days for which certificates are kept, 1 to 36500', wholeNumber(1, 36_500)),
      variable: 'QRN_CERTIFICATE_RETENTION',
    },
    reservoirBytes: setting(
      String(8 * 1024 * 1024),
      'size of the reservoir in bytes: the conditioned bytes that are kept ready for pure mode, 65536 to 1073741824',
      wholeNumber(65_536, 1_073_741_824),
    ),
    rawRecipient: setting(
      '',
      'public key from qrn evidence keygen; the raw shots of accepted lots are kept, encrypted for this key; if empty, they are not kept',
      publicKey,
    ),
    rawBytes: setting(
      String(1024 ** 3),
      'maximum disk space for kept raw shots in bytes; the oldest are deleted first',
      wholeNumber(1, 1024 ** 5),
    ),
    scrubMibPerS: setting(
      '1',
      'speed in MiB per second at which the ledger is checked for damage in the background; 0 turns the check off',
      wholeNumber(0, 1_024),
    ),
    logName: setting(
      'qrn.localhost/log',
      'name of the transparency log; it must not change during the life of a data folder',
      logName,
    ),
    beacons: setting(
      DEFAULT_BEACONS,
      'drand chains that committed draws may use, separated by semicolons, each NAME HASH URL [URL…]; off turns beacons off; the service contacts a chain only when a draw uses it',
      beacons,
    ),
    witnesses: setting(
      '',
      'comma-separated list of the witnesses that cosign the log, each KEY@URL with the KEY that qrn witness prints; if empty, there are no witnesses',
      witnesses,
    ),
    witnessQuorum: setting(
      '1',
      'number of witnesses that must cosign a checkpoint before certificates are proven by it, 1 to 64',
      wholeNumber(1, 64),
    ),
    // the reply's template has bounded room for this text (answer/text.ts)
    poweredBy: setting(
      'Lang Quantum Circuits',
      'text of metadata.powered_by in every answer, at most 100 printable characters',
      matching(/^\P{C}{0,100}$/u, 'at most 100 printable characters'),
    ),
    rateLimitFields: {
      ...setting(
        'on',
        'on: replies have the RateLimit and RateLimit-Policy headers of the IETF draft; off: they do not',
        isOn,
      ),
      variable: 'QRN_RATELIMIT_FIELDS',
    },
    strictParameters: setting(
      '0',
      '1: a request with an unknown query parameter is refused with 400 unknown_parameter; 0: the parameter is ignored and listed in X-Ignored-Parameters',
      isOn,
    ),
    corsOrigins: setting(
      '',
      'comma-separated list of the web origins whose pages may read answers (CORS); * allows all origins; if empty, none is allowed',
      origins,
    ),
    metricsPort: setting(
      'main',
      'where /metrics is served: main (on the port of the service, only to clients on the same machine), public (on the port of the service, to everyone), a port number (on that port), or off',
      metricsPort,
    ),
    accessLogSample: setting(
      '0.01',
      'share of answered requests that are logged, 0 to 1; refused requests are always logged',
      decimal(0, 1),
    ),
    tlsCertFile: setting(
      '',
      'path of the PEM file with the TLS certificate chain; if empty, the service speaks HTTP instead of HTTPS',
      anyText,
    ),
    tlsKeyFile: setting('', 'path of the PEM file with the private key of the TLS certificate', anyText),
    logLevel: setting(
      'info',
      'lowest level of log lines that are written: debug, info, warn, error or silent',
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
    throw new ConfigError(`${unknown} is not a setting. The settings are: ${variables.join(', ')}`);
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
        throw new ConfigError(`${path}: ${name} is not a setting. The settings are: ${names.join(', ')}`);
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
  throw new ConfigError('QRN_TLS_CERT_FILE and QRN_TLS_KEY_FILE must both be set or both be empty');
}

/** Returns every setting with its default and its meaning, for `--help`. */
export function describeSettings(cores = 2): { variable: string; fallback: string; meaning: string }[] {
  const given = (variable: string, meaning: string) => ({ variable, fallback: '', meaning });
  return [
    given(FILE_VARIABLE, 'path of a JSON file with settings; environment variables take precedence over it'),
    ...rowsOf(cores).map(({ variable, fallback, meaning }) => ({ variable, fallback, meaning })),
    given(
      'QRN_SOURCE_<NAME>_<OPTION>',
      'option of an entropy source; for a secret option, QRN_SOURCE_<NAME>_<OPTION>_FILE is the path of a file that contains it (docs/sources.md)',
    ),
    given('QRN_URL', 'base URL of the service that commands such as qrn integers send requests to'),
    given('QRN_KEY', 'API key for the requests to QRN_URL'),
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
