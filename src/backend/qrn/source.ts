import {
  anyText,
  defineBackend,
  isLoopback,
  OptionError,
  type OptionValues,
  type Secret,
  secretOption,
  wholeNumber,
} from '../definition.ts';
import { Qrn, type QrnParts } from './qrn.ts';

const options = {
  url: {
    meaning: 'address of the other service, https and without a path; http only to this machine',
    parse: anyText,
  },
  api_key: secretOption('API key of an account there, which pays a credit for each byte'),
  log_keys: {
    meaning:
      'file with the keys of its log, saved from its /.well-known/qrn-keys.json or got from its operator',
    parse: anyText,
  },
  calls: {
    meaning: 'calls of 1,024 bytes that make a lot; below 200 a lot is too short for SP 800-22',
    fallback: '200',
    parse: wholeNumber(1, 512),
  },
  call_timeout_ms: {
    meaning: 'milliseconds after which a call has stalled',
    fallback: '10000',
    parse: wholeNumber(10, 30_000),
  },
} as const;

type Values = OptionValues<typeof options>;

/** Another service of this kind: its `/v1/bytes` in pure mode. */
export const qrnBackend = defineBackend({
  type: 'qrn',
  summary:
    'another service of this kind, whose certificates the lots cite; their origin is what it certifies',
  options,
  create: createQrn,
});

/** `parts.wait` is for tests. Throws an OptionError. */
export function createQrn(name: string, values: Values, parts: QrnParts): Qrn {
  const { log_keys: logKeysPath, calls: callsPerLot, call_timeout_ms: callTimeoutMs } = values;
  const upstream = { url: originOf(values.url), key: checkedKey(values.api_key), callTimeoutMs };
  return new Qrn(name, { upstream, logKeysPath, callsPerLot }, parts);
}

/** Without TLS everyone on the way reads the bytes and the key. */
function originOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isAllowed = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(text));
  if (url === undefined || !isAllowed || `${url.origin}/` !== url.href) {
    throw new OptionError(
      'url: https://HOST or https://HOST:PORT and nothing behind it; http only to this machine',
    );
  }
  return url.origin;
}

function checkedKey(key: Secret): Secret {
  if (/^[\x21-\x7e]+$/.test(key.reveal())) return key;
  throw new OptionError('api_key: must be given, in visible ASCII');
}
