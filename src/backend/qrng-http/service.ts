import type { Origin } from '../../core/vocabulary.ts';
import type { BackendErrorKind } from '../backend.ts';

/** Everything that one adapter must know of a QRNG service to read it: a description, not code for each. */
export interface QrngService {
  /** Provenance: who runs it, and which device the bits come from as far as the provider says. */
  readonly provider: string;
  readonly device: string;
  /** `quantum_backend` of answers. */
  readonly quantumBackend: string;
  readonly origin: Origin;
  readonly method: 'GET' | 'POST';
  /** `{items}` and `{bytes}` stand for what a call asks; without either every call asks the same. */
  readonly url: string;
  /** JSON with the same places; empty: no body. */
  readonly body: string;
  /** `Name: text` with `{key}` for the API key; empty: the service takes no key. */
  readonly authHeader: string;
  /** Where the items lie in the JSON of a reply (json-path.ts); empty: the reply is they, and no JSON. */
  readonly path: string;
  readonly decoder: Decoder;
  /**
   * `items`: the list found holds one entry for each item, of its exact size. `pieces`: entries of any size, and only what
   * they hold together is exact.
   */
  readonly list: 'items' | 'pieces';
  /** Bytes of one item, the unit in which a call asks. */
  readonly itemBytes: number;
  readonly itemsPerCall: number;
  /** Calls that make a lot. */
  readonly callsPerLot: number;
  /** Least time from the end of a call to the next. */
  readonly intervalMs: number;
  /** Claim per bit of what is delivered (SP 800-90B H_submitter). */
  readonly minEntropyPerBit: number;
  readonly pricePerCall: number;
  readonly currency: string;
  /** What the service says in its own way, before the status is looked at; undefined: nothing. */
  readonly refusal?: (status: number, json: unknown) => Refusal | undefined;
  /** Figures that come with the bits of one reply. */
  readonly draws?: (json: unknown) => readonly Draw[];
}

export const DECODERS = ['hex', 'base64', 'decimal', 'binary', 'bytes'] as const;
export type Decoder = (typeof DECODERS)[number];

export interface Refusal {
  readonly kind: BackendErrorKind;
  readonly words: string;
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
  return service.itemsPerCall * service.itemBytes;
}
