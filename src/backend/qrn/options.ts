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
    meaning: 'URL of the other service, with https and without a path; http is allowed only for this machine',
    parse: originOf,
  },
  api_key: secretOption('API key of an account at the other service; the account pays one credit per byte'),
  log_keys: {
    meaning:
      'path of a file with the log keys of the other service, from its /.well-known/qrn-keys.json or from its operator',
    parse: anyText,
  },
  calls: {
    meaning:
      'number of calls per lot, 1024 bytes each; a lot of fewer than 200 calls is too short for the SP 800-22 tests',
    fallback: '200',
    parse: wholeNumber(1, 512),
  },
  call_timeout_ms: {
    meaning: 'number of milliseconds after which a call fails',
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
      'https://HOST or https://HOST:PORT without a path; http is allowed only for this machine',
    );
  }
  return url.origin;
}
