import {
  anyText,
  isLoopback,
  OptionError,
  type OptionValues,
  secretOption,
  wholeNumber,
} from '../definition.ts';

export const qrnOptions = {
  url: {
    meaning: 'address of the other service, https and without a path; http only to this machine',
    parse: originOf,
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

export type QrnOptions = OptionValues<typeof qrnOptions>;

/** Parses an address. Without TLS anybody on the way could read the bytes and the key. */
function originOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isAllowed = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(text));
  if (url === undefined || !isAllowed || `${url.origin}/` !== url.href) {
    throw new OptionError(
      'https://HOST or https://HOST:PORT and nothing behind it; http only to this machine',
    );
  }
  return url.origin;
}
