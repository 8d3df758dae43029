import { listIn, numberIn, objectIn, textIn } from '../../core/json.ts';
import {
  anyText,
  decimal,
  declaredText,
  type OptionValues,
  oneOf,
  orNull,
  wholeNumber,
} from '../definition.ts';
import { memberOf, type Refusal, wordsOf } from '../provider.ts';

/** Returns an option whose default is the preset's. */
function override<T>(meaning: string, parse: (text: string) => T) {
  return {
    meaning: `${meaning}; if empty, the value of the preset`,
    fallback: '',
    parse: orNull(parse),
  } as const;
}

/** Parses `none` as an empty text. The empty text itself stands for the preset's value. */
const orNone = (text: string): string => (text === 'none' ? '' : text);

export const DECODERS = ['hex', 'base64', 'decimal', 'binary', 'bytes'] as const;
export type Decoder = (typeof DECODERS)[number];

/** The options that describe a QRNG service, so that no service needs code of its own. */
export const SERVICE_OPTIONS = {
  url: override(
    'URL of a call; {items} and {bytes} are replaced by the requested number of items and bytes',
    anyText,
  ),
  method: override('HTTP method of a call: GET or POST', oneOf('GET', 'POST')),
  body: override('JSON body of a call, in which {items} and {bytes} are replaced as in url; or none', orNone),
  auth_header: override(
    'header for the API key, e.g. x-api-key: {key}, in which {key} is replaced by the key; or none',
    orNone,
  ),
  path: override('path of the items in the JSON of a reply; none for a reply that is not JSON', orNone),
  decoder: override(`encoding of the items, one of ${DECODERS.join(', ')}`, oneOf(...DECODERS)),
  list: override(
    'items: each entry of the list is one item; pieces: entries have any size',
    oneOf('items', 'pieces'),
  ),
  item_bytes: override('number of bytes per item', wholeNumber(1, 2 ** 20)),
  items_per_call: override('maximum number of items per call', wholeNumber(1, 2 ** 20)),
  calls: override('number of calls per lot', wholeNumber(1, 10_000)),
  interval_ms: override('minimum number of milliseconds between calls', wholeNumber(0, 3_600_000)),
  min_entropy: override('claimed min-entropy per delivered bit, 0.001 to 1', decimal(0.001, 1)),
  price_per_call: override('price of a call, for the budget; with 0 calls are only counted', decimal(0, 1e6)),
  currency: override('currency of the price', declaredText),
  provider: override('operator of the service, as certificates show it', declaredText),
  device: override('name of the device, as certificates show it', declaredText),
  origin: override(
    'qrng-device if the declared model of the device is quantum, otherwise simulated',
    oneOf('qrng-device', 'simulated'),
  ),
} as const;

type Described = {
  readonly [Name in keyof typeof SERVICE_OPTIONS]: NonNullable<OptionValues<typeof SERVICE_OPTIONS>[Name]>;
};

/** A service as its options describe it, with what no option describes. An empty text stands for none. */
export interface QrngService extends Described {
  /** The `quantum_backend` of answers. */
  readonly quantumBackend: string;
  /** Whether the origin is the operator's word, and not that of a known service. */
  readonly isDeclared?: boolean;
  /** Returns what a reply means by the service's own rules; undefined if these say nothing and the status decides. */
  readonly refusal?: (status: number, json: unknown) => Refusal | undefined;
  /** Returns the figures that come with the bits of a reply. */
  readonly draws?: (json: unknown) => readonly Draw[];
}

/** One draw of a service that certifies each draw. */
export interface Draw {
  readonly id: string;
  /** Null if the service left it out. */
  readonly chsh: number | null;
  /** Min-entropy per bit that the service certifies; null if it left it out. */
  readonly minEntropy: number | null;
}

export function bytesPerCall(service: QrngService): number {
  return service.items_per_call * service.item_bytes;
}

/**
 * The claim for services that give no evidence of their bits, which are all but Quandela: the worst that SP 800-90B's
 * estimators give an ideal source on 10^6 bits (pool/intake/lots.ts, bench `ideal-entropy`).
 */
const UNPROVEN_CLAIM = 0.8;

/** What most of the services have in common. */
const USUAL = {
  origin: 'qrng-device',
  method: 'GET',
  body: '',
  list: 'items',
  item_bytes: 1,
  interval_ms: 0,
  min_entropy: UNPROVEN_CLAIM,
  price_per_call: 0,
  currency: 'USD',
} as const;

const PRESETS: Readonly<Record<string, QrngService>> = {
  /**
   * ANU Quantum Numbers: homodyne detection of the vacuum. Its largest call is 1,024 items of ten 16-bit blocks. Ten
   * calls are the fewest that give SP 800-22 enough conditioned output (10^6 bits at 0.8 per raw bit).
   */
  anu: {
    ...USUAL,
    provider: 'ANU Quantum Numbers',
    device: 'vacuum-fluctuation QRNG',
    quantumBackend: 'anu-quantum-numbers',
    url: 'https://api.quantumnumbers.anu.edu.au/?length={items}&type=hex16&size=10',
    auth_header: 'x-api-key: {key}',
    path: 'data',
    decoder: 'hex',
    item_bytes: 20,
    items_per_call: 1024,
    calls: 10,
    interval_ms: 1_000, // the free plan allows one request a second
    currency: 'AUD',
    refusal(status, json): Refusal | undefined {
      // The gateway answers 429 with `Too Many Requests` for the rate, and with `Limit Exceeded` for the plan's quota.
      if (status === 429 && wordsOf(json) === 'Limit Exceeded')
        return { kind: 'quota', words: 'Limit Exceeded' };
      if (status < 300 && memberOf(json, 'success') === false) {
        return { kind: 'retryable', words: wordsOf(json) || 'success: false' };
      }
      return undefined;
    },
  },
  /**
   * Outshift by Cisco. It uses the text in `decimal` of `format: all`, the only form that several clients confirm.
   * Twelve calls are a day of the free plan (100,000 bits).
   */
  outshift: {
    ...USUAL,
    provider: 'Outshift by Cisco',
    device: 'Outshift QRNG',
    quantumBackend: 'outshift-qrng',
    method: 'POST',
    url: 'https://api.qrng.outshift.com/api/v1/random_numbers',
    body: '{"encoding":"raw","format":"all","bits_per_block":8,"number_of_blocks":{items}}',
    auth_header: 'x-id-api-key: {key}',
    path: 'random_numbers[].decimal',
    decoder: 'decimal',
    items_per_call: 1000,
    calls: 12,
    refusal(status, json): Refusal | undefined {
      const words = wordsOf(json);
      const isSpent = status >= 400 && /daily limit|exceeds your|quota/i.test(words);
      return isSpent ? { kind: 'quota', words } : undefined;
    },
  },
  /** Qrypt Entropy as a Service: blocks of 1 KiB, up to 512 a call. One call is a lot of 4 Mbit. */
  qrypt: {
    ...USUAL,
    provider: 'Qrypt',
    device: 'Quantum Entropy service',
    quantumBackend: 'qrypt-quantum-entropy',
    url: 'https://api-eus.qrypt.com/api/v1/quantum-entropy?size={items}',
    auth_header: 'Authorization: Bearer {key}',
    path: 'random',
    decoder: 'base64',
    item_bytes: 1024,
    items_per_call: 512,
    calls: 1,
  },
  /**
   * The data processing laboratory of OTH Regensburg, with an ID Quantique card that is open to all. There are no keys
   * and no stated limits. To be fair, a lot is small and calls are a second apart.
   */
  lfd: {
    ...USUAL,
    provider: 'LfD Regensburg',
    device: 'ID Quantique QRNG PCIe',
    quantumBackend: 'lfd-qrng',
    url: 'https://lfdr.de/qrng_api/qrng?length={bytes}&format=HEX',
    auth_header: '',
    path: 'qrn',
    decoder: 'hex',
    list: 'pieces',
    items_per_call: 4096,
    calls: 8,
    interval_ms: 1_000,
    currency: 'EUR',
    refusal(status, json): Refusal | undefined {
      // An error may come with status 200.
      const isError = status < 300 && memberOf(json, 'error') !== undefined;
      return isError ? { kind: 'retryable', words: wordsOf(json) } : undefined;
    },
  },
  /**
   * Quandela Entropy: each draw comes with its CHSH value and certified min-entropy. A draw certified for less than the
   * claim is refused. The claim is below what CHSH 2.5 gives (1 - log2(1 + sqrt(2 - S²/4)) = 0.27, Pironio et al.
   * 2010).
   */
  quandela: {
    ...USUAL,
    provider: 'Quandela',
    device: 'Quandela Entropy',
    quantumBackend: 'quandela-entropy',
    url: 'https://api.cloud.quandela.com/qt/qrng/bytes?count={bytes}',
    auth_header: 'Authorization: Bearer {key}',
    path: 'jobs[].bytes',
    decoder: 'base64',
    list: 'pieces',
    items_per_call: 1024,
    calls: 32,
    min_entropy: 0.25,
    currency: 'credits',
    refusal(status, json): Refusal | undefined {
      const words = wordsOf(json);
      if (status === 404 && /pool empty/i.test(words)) return { kind: 'retryable', words };
      if (status === 401 && /credits/i.test(words)) return { kind: 'quota', words };
      return undefined;
    },
    draws: quandelaDraws,
  },
};

/**
 * The known services by name, as of 2026-11. A lot is as many calls as fit in 30 s and in the provider's smallest plan.
 * Options override every figure.
 */
export const QRNG_PRESETS: ReadonlyMap<string, QrngService> = new Map(Object.entries(PRESETS));

function quandelaDraws(json: unknown): readonly Draw[] {
  return listIn(memberOf(json, 'jobs'))
    .map(objectIn)
    .filter(({ bytes }) => bytes !== undefined)
    .map(({ id, chsh, min_entropy }) => ({
      id: String(textIn(id) ?? numberIn(id) ?? 'unnamed'),
      chsh: numberIn(chsh),
      minEntropy: numberIn(min_entropy),
    }));
}
