import type { qrngHttp } from '../../src/backend/qrng-http/qrng-http.ts';
import { qrngHttpBackend } from '../../src/backend/qrng-http/source.ts';
import type { Wait } from '../../src/core/clock.ts';
import { ManualClock } from '../support/manual-clock.ts';
import type { QrngServer } from '../support/providers/qrng-server.ts';
import { MemoryNotes, type optionValues, sourceOf } from '../support/source-parts.ts';
import type { Sent, StreamSubject } from './backend-contract.ts';

type QrngHttp = ReturnType<typeof qrngHttp>;
type Texts = Parameters<typeof optionValues<typeof qrngHttpBackend.options>>[1];

/** Time that passes by waiting alone. */
export class Pace {
  readonly clock = new ManualClock();
  readonly waited: number[] = [];
  readonly wait: Wait = async (ms, signal) => {
    signal.throwIfAborted();
    this.waited.push(ms);
    this.clock.advance(ms);
  };
}

export function source(texts: Texts, pace = new Pace(), memory = new MemoryNotes()): QrngHttp {
  const { clock, wait } = pace;
  return sourceOf('stream', qrngHttpBackend, texts, { clock, memory, wait }) as QrngHttp;
}

/** Reads of the contract take this many calls, the last one for half as much. */
export const CALLS = 3;

/** A source, its service, and what stands between them. */
export class QrngSubject implements StreamSubject {
  readonly backend: QrngHttp;
  readonly bits: number;
  readonly secrets: readonly string[];
  readonly server: QrngServer;
  readonly pace: Pace;
  readonly memory = new MemoryNotes();
  readonly #texts: Texts;

  constructor(server: QrngServer, pace: Pace, texts: Texts) {
    this.server = server;
    this.pace = pace;
    this.#texts = { base_url: server.url, ...texts };
    this.secrets = texts.api_key === undefined ? [] : [texts.api_key];
    this.backend = this.restarted();
    const callBits = this.backend.lotRawBits / this.backend.estimate(this.backend.lotRawBits).calls;
    this.bits = (CALLS - 0.5) * callBits;
  }

  /** The same source after a restart of the service. */
  restarted(): QrngHttp {
    return source(this.#texts, this.pace, this.memory);
  }

  sent(): Sent {
    return this.server.lastSent(CALLS);
  }

  calls(): number {
    return this.server.requests.length;
  }

  stall(): Promise<void> {
    return this.server.inject('stall');
  }
}
