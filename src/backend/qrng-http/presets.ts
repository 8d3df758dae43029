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

export const DECODERS = ['hex', 'base64', 'decimal', 'binary', 'bytes'] as const;
export type Decoder = (typeof DECODERS)[number];

/** All that the backend must know of a QRNG service to read it: a description, not code for each. */
export const SERVICE_OPTIONS = {
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
  min_entropy: override('claimed min-entropy of a delivered bit', decimal(0.001, 1)),
  price_per_call: override('what a call costs, for the budget; 0: calls are only counted', decimal(0, 1e6)),
  currency: override('currency of the price', declaredText),
  provider: override('who runs the service, as certificates say it', declaredText),
  device: override('which device it is, as certificates say it', declaredText),
  origin: override(
    'qrng-device where the device is quantum by its declared model, else simulated',
    oneOf('qrng-device', 'simulated'),
  ),
} as const;

type Described = {
  readonly [Name in keyof typeof SERVICE_OPTIONS]: NonNullable<OptionValues<typeof SERVICE_OPTIONS>[Name]>;
};

/** A service as its options describe it, and what no option says. An empty text is none. */
export interface QrngService extends Described {
  /** `quantum_backend` of answers. */
  readonly quantumBackend: string;
  /** The operator named the origin; a known service has its own. */
  readonly isDeclared?: boolean;
  /** What the service says in its own way, before the status is looked at; undefined: nothing. */
  readonly refusal?: (status: number, json: unknown) => Refusal | undefined;
  /** Figures that come with the bits of one reply. */
  readonly draws?: (json: unknown) => readonly Draw[];
}

/** One draw of a service that certifies each. */
export interface Draw {
  readonly id: string;
  /** Null where the service left it out. */
  readonly chsh: number | null;
  /** Per bit, as certified by the service. */
  readonly minEntropy: number | null;
}

export function bytesPerCall(service: QrngService): number {
  return service.items_per_call * service.item_bytes;
}

/**
 * What SP 800-90B's estimators grant an ideal source on 10^6 bits at worst (pool/intake/lots.ts, bench
 * `ideal-entropy`). The services claim full entropy of bits that they processed, and none but Quandela gives
 * evidence for it.
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
   * ANU Quantum Numbers: homodyne detection of the vacuum. 1,024 items of ten 16-bit blocks are its largest
   * call. Ten of them are the fewest that make a lot whose conditioned output SP 800-22 can be run on (10^6
   * bits at 0.8 per raw bit).
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
      // The gateway answers 429 to both: `Too Many Requests` is the rate, `Limit Exceeded` the plan's quota.
      if (status === 429 && wordsOf(json) === 'Limit Exceeded')
        return { kind: 'quota', words: 'Limit Exceeded' };
      if (status < 300 && memberOf(json, 'success') === false) {
        return { kind: 'retryable', words: wordsOf(json) || 'success: false' };
      }
      return undefined;
    },
  },
  /**
   * Outshift by Cisco. Of its forms only the text in `decimal` of `format: all` is confirmed by several
   * clients. Twelve calls are a day of the free plan (100,000 bits).
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
   * The data processing laboratory of OTH Regensburg, an ID Quantique card open to all. There are no keys and
   * no stated limits, but fair use: a small lot, one call a second.
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
      // an error may come with status 200
      const isError = status < 300 && memberOf(json, 'error') !== undefined;
      return isError ? { kind: 'retryable', words: wordsOf(json) } : undefined;
    },
  },
  /**
   * Quandela Entropy: each draw comes with its CHSH value and certified min-entropy. The claim is a floor below
   * what CHSH 2.5 gives (1 - log2(1 + sqrt(2 - S²/4)) = 0.27, Pironio et al. 2010): a draw certified for less
   * is refused.
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
 * The services that are known, by name; contracts as of 2026-11. A lot is as many calls as fit 30 s and the
 * smallest plan of the provider; every figure can be overridden by an option.
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
