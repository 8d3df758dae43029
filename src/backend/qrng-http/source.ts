import { MAX_READ_BITS } from '../backend.ts';
import {
  anyText,
  decimal,
  declaredText,
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
import { bytesPerCall, DECODERS, QRNG_PRESETS, type QrngService } from './presets.ts';
import { CALL_BYTES_MIN, QrngHttp, type QrngHttpParts } from './qrng-http.ts';

const CUSTOM = 'custom';

/** An option that, left out, stands as the preset has it. */
function override<T>(meaning: string, parse: (text: string) => T) {
  return {
    meaning: `${meaning}; left out, as the preset has it`,
    fallback: '',
    parse: orNull(parse),
  } as const;
}

/** An empty text says the preset's; this one says none. */
const orNone = (text: string): string => (text === 'none' ? '' : text);

const options = {
  preset: {
    meaning: 'a service that is known, or custom for one that the other options describe',
    fallback: CUSTOM,
    parse: oneOf(CUSTOM, ...QRNG_PRESETS.keys()),
  },
  api_key: {
    meaning: 'key of the service; left out for one that takes none',
    secret: true,
    fallback: '',
    parse: anyText,
  },
  base_url: override('scheme and host in place of those in url, e.g. of another region', httpUrl),
  url: override('URL of a call; {items} and {bytes} stand for what it asks', anyText),
  method: override('GET or POST', oneOf('GET', 'POST')),
  body: override('JSON body of a call with the same places, or none', orNone),
  auth_header: override('header with {key} in the place of the API key, or none', orNone),
  path: override('where the items lie in the JSON of a reply, or none for a reply that is not JSON', orNone),
  decoder: override(`form of the items, one of ${DECODERS.join(', ')}`, oneOf(...DECODERS)),
  list: override(
    'items: one entry of the list for each item; pieces: entries of any size',
    oneOf('items', 'pieces'),
  ),
  item_bytes: override('bytes of one item', wholeNumber(1, 2 ** 20)),
  items_per_call: override('items that a call asks for at most', wholeNumber(1, 2 ** 20)),
  calls: override('calls that make a lot', wholeNumber(1, 10_000)),
  interval_ms: override('least milliseconds from one call to the next', wholeNumber(0, 3_600_000)),
  call_timeout_ms: {
    meaning: 'milliseconds after which a call has stalled',
    fallback: '10000',
    parse: wholeNumber(10, 600_000),
  },
  min_entropy: override('claimed min-entropy of a delivered bit', decimal(0.001, 1)),
  price_per_call: override('what a call costs, for the budget; 0: calls are only counted', decimal(0, 1e6)),
  currency: override('currency of the price', declaredText),
  provider: override('who runs the service, as certificates say it', declaredText),
  device: override('which device it is, as certificates say it', declaredText),
  origin: override(
    'qrng-device where the device is quantum by its declared model, else simulated',
    oneOf('qrng-device', 'simulated'),
  ),
  plain_http: {
    meaning: 'allow lets the key and the bits cross a network without TLS',
    fallback: 'refuse',
    parse: oneOf('refuse', 'allow'),
  },
} as const;

type Values = OptionValues<typeof options>;

/**
 * A service that gives quantum random bits over HTTP, one of the presets or one that the options describe.
 */
export const qrngHttpBackend = defineBackend({
  type: 'qrng-http',
  summary: 'a quantum random number service over HTTP: ANU, Outshift, Qrypt, LfD, Quandela or a custom one',
  options,
  create: createQrngHttp,
});

/** `parts.wait` is for tests. Throws an OptionError. */
export function createQrngHttp(name: string, values: Values, parts: QrngHttpParts): QrngHttp {
  const service = checked(described(values));
  const key = keyFor(service, values.api_key);
  if (values.plain_http === 'refuse') assertPrivate(service);
  return new QrngHttp(name, { service, key, callTimeoutMs: values.call_timeout_ms }, parts);
}

/** With one of these a preset is no longer the service that it is known to be: its origin is what the operator says. */
const RENAMING = ['origin', 'url', 'base_url', 'provider', 'device'] as const;

/** The preset with what the operator put in its place. */
function described(values: Values): QrngService {
  const preset = QRNG_PRESETS.get(values.preset);
  const url = required('url', values.url ?? preset?.url);
  const decoder = required('decoder', values.decoder ?? preset?.decoder);
  // Nobody but the operator knows what an unknown service is made of.
  const origin = required('origin', values.origin ?? preset?.origin);
  return {
    provider: values.provider ?? preset?.provider ?? hostOf(url),
    device: values.device ?? preset?.device ?? 'QRNG service',
    quantumBackend: preset?.quantumBackend ?? 'qrng-http',
    origin,
    isDeclared:
      origin === 'qrng-device' && (preset === undefined || RENAMING.some((each) => values[each] !== null)),
    method: values.method ?? preset?.method ?? 'GET',
    url: values.base_url === null ? url : url.replace(/^https?:\/\/[^/?#]*/, values.base_url),
    body: values.body ?? preset?.body ?? '',
    authHeader: values.auth_header ?? preset?.authHeader ?? '',
    path: values.path ?? preset?.path ?? '',
    decoder,
    list: values.list ?? preset?.list ?? (decoder === 'decimal' ? 'items' : 'pieces'),
    itemBytes: values.item_bytes ?? preset?.itemBytes ?? 1,
    itemsPerCall: required('items_per_call', values.items_per_call ?? preset?.itemsPerCall),
    callsPerLot: values.calls ?? preset?.callsPerLot ?? 1,
    intervalMs: values.interval_ms ?? preset?.intervalMs ?? 1_000,
    minEntropyPerBit: required('min_entropy', values.min_entropy ?? preset?.minEntropyPerBit),
    pricePerCall: values.price_per_call ?? preset?.pricePerCall ?? 0,
    currency: values.currency ?? preset?.currency ?? 'USD',
    ...(preset?.refusal === undefined ? {} : { refusal: preset.refusal }),
    ...(preset?.draws === undefined ? {} : { draws: preset.draws }),
  };
}

function required<T>(option: string, value: T | null | undefined): T {
  if (value === null || value === undefined) throw new OptionError(`a custom service needs ${option}`);
  return value;
}

function hostOf(url: string): string {
  if (!URL.canParse(url)) throw new OptionError('url: an http or https URL');
  return new URL(url).host;
}

/** A description that can work at all. */
function checked(service: QrngService): QrngService {
  const { authHeader, body, callsPerLot, decoder, method, path, url } = service;
  if (!/^https?:/.test(url) || !URL.canParse(url)) throw new OptionError('url: an http or https URL');
  if (new URL(url).username !== '' || new URL(url).password !== '') {
    throw new OptionError('url: no credentials in it; api_key and auth_header are for them');
  }
  if (authHeader !== '' && !/^[\w-]+:[\x20-\x7e]*\{key\}[\x20-\x7e]*$/.test(authHeader)) {
    throw new OptionError('auth_header: a name, a colon and a text with {key}, e.g. x-api-key: {key}');
  }
  if (path !== '' && !isJsonPath(path)) throw new OptionError('path: names and dots, e.g. jobs[].bytes');
  if (decoder === 'bytes' && path !== '')
    throw new OptionError('decoder bytes is for a reply that is not JSON');
  if (body !== '' && method === 'GET') throw new OptionError('body: a GET has none');
  const callBytes = bytesPerCall(service);
  const lotBits = 8 * callBytes * callsPerLot;
  if (callBytes < CALL_BYTES_MIN) throw new OptionError(`a call must give at least ${CALL_BYTES_MIN} bytes`);
  // SP 800-90B §4.3: startup takes 1,024 samples.
  if (lotBits < 1024 || lotBits > MAX_READ_BITS) {
    throw new OptionError(`calls: a lot of ${lotBits} bits is not within 1024 and ${MAX_READ_BITS}`);
  }
  return service;
}

function keyFor({ authHeader }: QrngService, key: Secret): Secret | undefined {
  const text = key.reveal();
  if (authHeader === '') {
    if (text !== '')
      throw new OptionError('api_key: this service takes none; auth_header says where one goes');
    return undefined;
  }
  // fetch names the value of a header that it refuses, so no such value gets there.
  if (!/^[\x21-\x7e]+$/.test(text)) throw new OptionError('api_key: must be given, in visible ASCII');
  return key;
}

/** Without TLS everyone on the way reads the bits and the key, and may put others in their place. */
function assertPrivate({ url }: QrngService): void {
  if (new URL(url).protocol === 'http:' && !isLoopback(url)) {
    throw new OptionError('url: https, or plain_http=allow for a network that nobody else is in');
  }
}
