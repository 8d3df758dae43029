import { hash } from 'node:crypto';
import { fixedBytes } from '../backends.ts';
import { type ProviderReply, type ProviderRequest, ProviderServer } from './http-server.ts';

/** Returns the bytes of the device, each once. */
export type Draw = (length: number) => Uint8Array;

/** A QRNG service: real HTTP, bytes that depend on its label alone, and a record of which response held which. */
export class QrngServer extends ProviderServer {
  readonly #bytesOf = new Map<string, Uint8Array>();

  constructor(label: string, answer: (request: ProviderRequest, draw: Draw) => ProviderReply) {
    const source = fixedBytes(label);
    super((request) => {
      const pieces: Uint8Array[] = [];
      const reply = answer(request, (length) => {
        const bytes = new Uint8Array(length);
        source(bytes);
        pieces.push(bytes);
        return bytes;
      });
      const body = typeof reply.body === 'string' || reply.body instanceof Uint8Array;
      const verbatim = body ? reply.body : JSON.stringify(reply.body);
      if (pieces.length > 0)
        this.#bytesOf.set(digest(Buffer.from(verbatim as string)), Buffer.concat(pieces));
      return { ...reply, body: verbatim };
    });
  }

  /** The last `calls` responses that held bytes, a repeated one counted where it came first. */
  lastSent(calls: number): { readonly verbatim: readonly Uint8Array[]; readonly bits: Uint8Array } {
    const distinct = new Map(this.sent.map((body) => [digest(body), body]));
    const known = [...distinct].filter(([key]) => this.#bytesOf.has(key)).slice(-calls);
    return {
      verbatim: known.map(([, body]) => body),
      bits: Buffer.concat(known.map(([key]) => this.#bytesOf.get(key)!)),
    };
  }
}

function digest(body: Uint8Array): string {
  return hash('sha256', body, 'hex');
}

/** A whole number from a query, if it lies within the bounds that the service documents. */
export function within(text: string | null, min: number, max: number): number | undefined {
  const value = text !== null && /^\d+$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? value : undefined;
}
