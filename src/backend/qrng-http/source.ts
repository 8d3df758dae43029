import { MAX_READ_BITS } from '../backend.ts';
import {
  anyText,
  defineBackend,
  httpUrl,
  isLoopback,
  OptionError,
  type OptionValues,
  oneOf,
  orNull,
  type Secret,
  wholeNumber,
} from '../definition.ts';
import { isJsonPath } from './decoder.ts';
import { bytesPerCall, QRNG_PRESETS, type QrngService, SERVICE_OPTIONS } from './presets.ts';
import { CALL_BYTES_MIN, qrngHttp } from './qrng-http.ts';

const CUSTOM = 'custom';

const options = {
  preset: {
    meaning: 'name of a known service, or custom for a service that the other options describe',
    fallback: CUSTOM,
    parse: oneOf(CUSTOM, ...QRNG_PRESETS.keys()),
  },
  api_key: {
    meaning: 'API key of the service; empty if the service needs none',
    secret: true,
    fallback: '',
    parse: anyText,
  },
  base_url: {
    meaning:
      'scheme and host that replace those in url, e.g. for another region; if empty, the value of the preset',
    fallback: '',
    parse: orNull(httpUrl),
  },
  ...SERVICE_OPTIONS,
  call_timeout_ms: {
    meaning: 'number of milliseconds after which a call fails',
    fallback: '10000',
    parse: wholeNumber(10, 600_000),
  },
  plain_http: {
    meaning:
      'allow: http may be used over a network, so that the key and the bits are sent without encryption; refuse: it may not',
    fallback: 'refuse',
    parse: oneOf('refuse', 'allow'),
  },
} as const;

type Values = OptionValues<typeof options>;

/** A service that gives quantum random bits over HTTP: one of the presets, or one that the options describe. */
export const qrngHttpBackend = defineBackend({
  type: 'qrng-http',
  summary: 'a quantum random number service over HTTP: ANU, Outshift, Qrypt, LfD, Quandela or a custom one',
  options,
  create(name, values, parts) {
    const service = checked(described(values));
    const key = keyFor(service, values.api_key);
    if (values.plain_http === 'refuse') assertPrivate(service);
    return qrngHttp(name, service, key, values.call_timeout_ms, parts);
  },
});

/** If one of these options is set, the service is no longer the known one of the preset, and its origin is declared. */
const RENAMING = ['origin', 'url', 'base_url', 'provider', 'device'] as const;

/** The defaults of a custom service. */
const UNKNOWN = {
  device: 'QRNG service',
  quantumBackend: 'qrng-http',
  method: 'GET',
  body: '',
  auth_header: '',
  path: '',
  item_bytes: 1,
  calls: 1,
  interval_ms: 1_000,
  price_per_call: 0,
  currency: 'USD',
} as const;

/** The options that a custom service must have. */
const REQUIRED = ['url', 'decoder', 'origin', 'items_per_call', 'min_entropy'] as const;

/** Returns the preset, or the defaults, with the operator's options in place. */
function described(values: Values): QrngService {
  const preset = QRNG_PRESETS.get(values.preset);
  const given = Object.entries(values).filter(([name, value]) => name in SERVICE_OPTIONS && value !== null);
  const service: Partial<QrngService> = { ...(preset ?? UNKNOWN), ...Object.fromEntries(given) };
  for (const option of REQUIRED) {
    if (service[option] === undefined)
      throw new OptionError(`a custom service requires the option ${option}`);
  }
  const { url, origin, decoder, list, provider } = service as QrngService;
  const isRenamed = preset === undefined || RENAMING.some((each) => values[each] !== null);
  return {
    ...(service as QrngService),
    provider: provider ?? hostOf(url),
    list: list ?? (decoder === 'decimal' ? 'items' : 'pieces'),
    url: values.base_url === null ? url : url.replace(/^https?:\/\/[^/?#]*/, values.base_url),
    isDeclared: origin === 'qrng-device' && isRenamed,
  };
}

function hostOf(url: string): string {
  if (!URL.canParse(url)) throw new OptionError('url must be an http or https URL');
  return new URL(url).host;
}

/** Returns the description. Throws an OptionError if it cannot work. */
function checked(service: QrngService): QrngService {
  const { auth_header: authHeader, body, calls, decoder, method, path, url } = service;
  if (!/^https?:/.test(url) || !URL.canParse(url)) throw new OptionError('url must be an http or https URL');
  if (new URL(url).username !== '' || new URL(url).password !== '') {
    throw new OptionError('url must not contain credentials; use api_key and auth_header for them');
  }
  if (authHeader !== '' && !/^[\w-]+:[\x20-\x7e]*\{key\}[\x20-\x7e]*$/.test(authHeader)) {
    throw new OptionError(
      'auth_header must be a name, a colon and a text that contains {key}, e.g. x-api-key: {key}',
    );
  }
  if (path !== '' && !isJsonPath(path))
    throw new OptionError('path must consist of names separated by dots, e.g. jobs[].bytes');
  if (decoder === 'bytes' && path !== '')
    throw new OptionError(
      'decoder must not be bytes if path is set, because it reads replies that are not JSON',
    );
  if (body !== '' && method === 'GET') throw new OptionError('body must be none if method is GET');
  const callBytes = bytesPerCall(service);
  const lotBits = 8 * callBytes * calls;
  if (callBytes < CALL_BYTES_MIN)
    throw new OptionError(`items_per_call times item_bytes must be at least ${CALL_BYTES_MIN}`);
  // SP 800-90B §4.3: the startup tests need 1,024 samples.
  if (lotBits < 1024 || lotBits > MAX_READ_BITS) {
    throw new OptionError(
      `calls: a lot has ${lotBits} bits with this value; it must have 1024 to ${MAX_READ_BITS}`,
    );
  }
  return service;
}

function keyFor({ auth_header: authHeader }: QrngService, key: Secret): Secret | undefined {
  const text = key.reveal();
  if (authHeader === '') {
    if (text !== '')
      throw new OptionError(
        'api_key must not be set without auth_header, which states where the key is sent',
      );
    return undefined;
  }
  // The error for a value that no header field can hold would repeat the value, so refuse it here.
  if (!/^[\x21-\x7e]+$/.test(text)) throw new OptionError('api_key must be set, in visible ASCII characters');
  return key;
}

/** Refuses plain HTTP to another machine: anybody on the way could read the key, and read or replace the bits. */
function assertPrivate({ url }: QrngService): void {
  if (new URL(url).protocol === 'http:' && !isLoopback(url)) {
    throw new OptionError('url must use https, unless plain_http is allow (only for a private network)');
  }
}
