import { readFileSync } from 'node:fs';
import { httpUrl, isHttpUrl, matching, OptionError, oneOf } from '../backend/definition.ts';
import type { ChainSetting } from '../beacon/chains.ts';
import { LEAGUE_OF_ENTROPY } from '../beacon/drand.ts';
import type { AskedWitness } from '../certificate/witnessed.ts';
import { messageOf } from '../core/assert.ts';
import { toHex } from '../core/bytes.ts';
import { isObject } from '../core/json.ts';
import { fromBase64 } from '../crypto/base64.ts';
import { parseVerifierKey } from '../crypto/note.ts';

/** The message says which setting is wrong, where it was given and what is allowed. It never holds a secret. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/** Parsers of settings. Each throws an OptionError that says what is allowed. */

/** Refuses an empty text, for which uWebSockets.js would listen on every address of the machine, at any port. */
export const listenHost = matching(/^[\w.:%-]+$/, 'a host name or an IP address');

/**
 * Returns a URL to which the service appends paths. It is written verbatim into JSON and header fields, so only ASCII
 * is taken: other characters must be given percent-encoded or as punycode.
 */
export function publicUrl(value: string): string {
  if (!/^[!-~]*$/.test(value) || /[?#@"<>\\]/.test(value))
    throw new OptionError('an http or https URL in ASCII without user name, query and fragment');
  return httpUrl(value);
}

/** Returns the public base URL of the service. */
export function apiUrl(value: string): string {
  const url = publicUrl(value);
  if (!url.endsWith('/v1')) throw new OptionError('a URL that ends in /v1, such as https://qrn.example/v1');
  return url;
}

/** Returns a public key, 32 bytes in base64, or the empty text. */
export function publicKey(value: string): string {
  if (value !== '' && fromBase64(value)?.length !== 32)
    throw new OptionError(
      'a public key as qrn evidence keygen prints it (44 characters of base64), or empty',
    );
  return value;
}

export const logName = matching(
  /^[\x21-\x2a\x2c-\x7e]{1,100}$/,
  '1 to 100 visible ASCII characters without +',
);

/** The chains of the League of Entropy, each with two of its relays. */
export const DEFAULT_BEACONS = Object.entries(LEAGUE_OF_ENTROPY)
  .map(([hash, name]) => `${name} ${hash} https://api.drand.sh https://drand.cloudflare.com`)
  .join('; ');

/** Returns the chains in a text of `NAME HASH URL [URL…]` with semicolons between them; none for `off`. */
export function beacons(value: string): readonly ChainSetting[] {
  if (value === 'off') return [];
  const chains = value.split(';').map((each): ChainSetting => {
    const [name = '', hash = '', ...urls] = each.trim().split(/\s+/);
    const isNamed = /^[\w.-]{1,64}$/.test(name) && /^[0-9a-f]{64}$/.test(hash);
    if (!isNamed || urls.length === 0 || !urls.every(isHttpUrl))
      throw new OptionError(
        'off, or a list of chains separated by semicolons, each NAME HASH URL [URL…], such as quicknet 52db9ba7… https://api.drand.sh',
      );
    return { name, hash, urls: urls.map(httpUrl) };
  });
  const words = chains.flatMap(({ name, hash }) => [name, hash]);
  if (new Set(words).size < words.length) throw new OptionError('a list that names each chain once');
  return chains;
}

/** Returns the witnesses in a list of `KEY@URL` with commas between them; none for the empty text. */
export function witnesses(value: string): readonly AskedWitness[] {
  const given = value === '' ? [] : value.split(',').map((each) => witness(each.trim()));
  if (given.length > 16) throw new OptionError('a list of at most 16 witnesses');
  // a verifier counts each key once, whatever names it has
  if (new Set(given.map(({ key }) => toHex(key.publicKey))).size < given.length)
    throw new OptionError('a list that contains each key once');
  return given;
}

function witness(text: string): AskedWitness {
  const [, verifier = '', url = ''] = /^([^\s@]+)@(\S+)$/.exec(text) ?? [];
  const key = parseVerifierKey(verifier);
  if (key === undefined || !isHttpUrl(url))
    throw new OptionError(
      'a comma-separated list of KEY@URL, such as w.example+01234567+B…@https://w.example, or empty',
    );
  return { key, url: httpUrl(url) };
}

/** Returns the origins (RFC 6454 §6.2) of a list with commas, or `*` alone; none for the empty text. */
export function origins(value: string): readonly string[] {
  if (value === '') return [];
  const given = value.split(',').map((each) => each.trim());
  const wrong = given.find((each) => each !== '*' && !(URL.canParse(each) && new URL(each).origin === each));
  if (wrong !== undefined || (given.includes('*') && given.length > 1)) {
    throw new OptionError('*, a comma-separated list of origins such as https://example.org, or empty');
  }
  return given;
}

export function isOn(value: string): boolean {
  return ['1', 'on'].includes(oneOf('0', '1', 'off', 'on')(value));
}

export function metricsPort(value: string): 'main' | 'public' | 'off' | number {
  if (value === 'main' || value === 'public' || value === 'off') return value;
  const port = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  if (!(port <= 65_535)) throw new OptionError('main, public, off, or a whole number from 0 to 65535');
  return port;
}

/** The connection string of a PostgreSQL server, or the empty text. It may name several hosts, as for libpq. */
export const ledgerUrl = matching(
  /^(postgres(ql)?:\/\/\S+)?$/,
  'postgres://USER@HOST:PORT/DATABASE, or empty for the ledger in QRN_DATA_DIR',
);

/** Returns the connection string with every password replaced by `***`. */
export function withoutPassword(value: string): string {
  return value
    .replace(/^(\w+:\/\/[^:@/?]*):.*@/, '$1:***@') // a password may hold any character that somebody typed
    .replace(/([?&](?:ssl)?password=)[^&]*/g, '$1***');
}

/** The name of a node in the shared database, or the empty text. */
export const nodeName = matching(
  /^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$/,
  '1 to 63 letters, digits, dots, hyphens and underscores, as in a host name, or empty',
);

/** The name of a source. It becomes a label of metrics and a part of the names of variables. */
const SOURCE_NAME = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;
const SOURCE_NAME_LENGTH_MAX = 32;

export function isSourceName(value: string): boolean {
  return value.length <= SOURCE_NAME_LENGTH_MAX && SOURCE_NAME.test(value);
}

/** Returns the names of sources in a list with commas, the preferred one first. */
export function sourceNames(value: string): readonly string[] {
  const names = value.split(',').map((each) => each.trim());
  if (!names.every(isSourceName) || new Set(names).size < names.length) {
    throw new OptionError(
      'a comma-separated list of different names, each of lower-case letters and digits, with single hyphens between words',
    );
  }
  return names;
}

/** The variable that names the JSON file of sources. */
export const SOURCES_VARIABLE = 'QRN_SOURCES';

const PREFIX = 'QRN_SOURCE_';
/** The variable of a setting for all sources. It begins like an option of one source. */
const POLICY_VARIABLE = `${PREFIX}POLICY`;

/** Returns whether the variable is an option of a source, be that source known or not. */
export function isSourceVariable(variable: string): boolean {
  return variable.startsWith(PREFIX) && variable !== POLICY_VARIABLE;
}

/** Returns the variable of a source's option: `QRN_SOURCE_<NAME>_<OPTION>`. */
export function sourceVariable(source: string, option: string): string {
  return `${PREFIX}${source.replaceAll('-', '_')}_${option}`.toUpperCase();
}

/** Where a value may come from, in the order of precedence. `name`: the name of the source implies it (a preset). */
const PLACES = ['environment', 'file', 'name', 'default'] as const;
type Place = (typeof PLACES)[number];

/** The value in force of a setting or of an option of a source. */
export interface InForce {
  readonly name: string;
  readonly variable: string;
  /** The text before it is parsed; where it holds a secret, only the part that may be shown. */
  readonly value: string;
  readonly from: Place;
}

interface Given extends InForce {
  /** The place that an error message names. */
  readonly where: string;
}

/** Returns the text that takes precedence among those that were found; undefined when there is none. */
export function firstGiven(
  name: string,
  variable: string,
  found: Readonly<Partial<Record<Place, string | undefined>>>,
  inFile: string,
): Given | undefined {
  const from = PLACES.find((place) => found[place] !== undefined);
  if (from === undefined) return undefined;
  return { name, variable, value: found[from]!, from, where: from === 'file' ? inFile : variable };
}

/** Returns the parsed value. Throws a ConfigError that quotes `told` and says what is allowed. */
export function parsedText<T>(
  parse: (text: string) => T,
  { value, where }: Pick<Given, 'value' | 'where'>,
  told = JSON.stringify(value),
): T {
  try {
    return parse(value);
  } catch (error) {
    if (!(error instanceof OptionError)) throw error;
    throw new ConfigError(`${where}: ${told} is not ${error.message}`);
  }
}

/** Returns the JSON object in the file at `path`. An error names `variable`, the setting that named the file. */
export function readJsonObject(variable: string, path: string): Readonly<Record<string, unknown>> {
  const parsed = parseFile(variable, path);
  if (!isObject(parsed)) throw new ConfigError(`${variable}: ${path} must contain one JSON object`);
  return parsed;
}

function parseFile(variable: string, path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const why = messageOf(error);
    throw new ConfigError(`${variable}: ${path} cannot be read as JSON: ${why}`);
  }
}

/**
 * Returns a value from a JSON file as the text that a variable would have. Takes strings, numbers, booleans and lists
 * of strings; `yes` and `no` are the texts of true and false.
 */
export function settingText(value: unknown, where: string, [yes, no] = ['on', 'off']): string {
  if (typeof value === 'boolean') return value ? yes : no;
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value.join(',');
  throw new ConfigError(`${where} must be a string, a number, true, false or a list of strings`);
}
