import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The reaction to one request: answer, never answer, or break the connection before or within the answer. */
export type FakeReply =
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      /** An object is sent as JSON. */
      readonly body?: object | string | Uint8Array;
    }
  | 'hang'
  | 'cut'
  | 'cut in the body';

export interface FakeRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A server that misbehaves as it is told, for what the real service cannot be made to do on purpose. */
export class FakeService {
  readonly requests: FakeRequest[] = [];
  readonly #server: Server;
  #replies: FakeReply[] = [];
  /** The cases served below /0, /1, …, each with the requests that came. */
  #cases: { readonly replies: FakeReply[]; readonly requests: FakeRequest[] }[] = [];

  private constructor() {
    this.#server = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      const { method = '', url: asked = '', headers } = request;
      const [, place, below] = /^\/(\d+)(\/.*)$/.exec(asked) ?? [];
      const { replies, requests } = place === undefined ? this.#script : this.#cases[Number(place)];
      requests.push({ method, url: below ?? asked, headers, body });
      const reply = replies.shift();
      if (reply === undefined) response.writeHead(418).end('no reply is left');
      else if (reply === 'cut') response.destroy();
      else if (reply === 'cut in the body') {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('{"data":', () => response.destroy());
      } else if (reply !== 'hang') send(reply);

      function send({ status, headers: fields = {}, body: content = '' }: Exclude<FakeReply, string>): void {
        const bytes = typeof content === 'string' || content instanceof Uint8Array;
        const type = bytes ? {} : { 'content-type': 'application/json' };
        response.writeHead(status, { ...type, ...fields });
        response.end(bytes ? content : JSON.stringify(content));
      }
    });
  }

  static async start(): Promise<FakeService> {
    const fake = new FakeService();
    await new Promise<void>((resolve) => fake.#server.listen(0, '127.0.0.1', resolve));
    return fake;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get baseUrl(): string {
    return `${this.origin}/v1`;
  }

  /** Forgets earlier requests and answers the next ones in this order. */
  script(...replies: FakeReply[]): void {
    this.requests.length = 0;
    this.#replies = replies;
  }

  /** Answers what is asked below /0, /1, … by these scripts. */
  scriptCases(scripts: readonly (readonly FakeReply[])[]): void {
    this.#cases = scripts.map((replies) => ({ replies: [...replies], requests: [] }));
  }

  requestsOf(place: number): readonly FakeRequest[] {
    return this.#cases[place].requests;
  }

  get #script(): { readonly replies: FakeReply[]; readonly requests: FakeRequest[] } {
    return { replies: this.#replies, requests: this.requests };
  }

  stop(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}

const MODE = { entropy_mode: 'quantum-seeded', quantum_source: 'none' };

/** A data answer with nothing of interest in it. */
export function someAnswer(data: object = { values: [1], count: 1 }): FakeReply {
  const metadata = {
    request_id: 'req_00000000000000000000000000',
    timestamp: '2026-11-21T00:00:00.000Z',
    lang_circuit: 'none',
    lang_version: 'none',
    quantum_backend: 'none',
    entropy_origin: 'simulated',
    nist_verified: false,
    certificate_id: 'cert_0',
    certificate_salt: '00',
    verify_url: 'http://127.0.0.1/verify/cert_0',
    processing_time_ms: 1,
    entropy_consumed_bytes: 1,
  };
  const meta = { request_id: '00000000-0000-7000-8000-000000000000', duration_ms: 1 };
  return {
    status: 200,
    headers: { 'x-ratelimit-remaining': '7', 'x-ratelimit-reset': '1800000000' },
    body: {
      data: { ...data, metadata: MODE },
      metadata,
      meta,
      quantum_credits: { remaining: 5, used: 0, total: 5 },
    },
  };
}

/** An answer in octets, its metadata in its header fields. */
export function someOctets(values: Uint8Array | Int32Array | Float64Array): FakeReply {
  return { status: 200, headers: OCTET_FIELDS, body: new Uint8Array(values.buffer) };
}

export const OCTET_FIELDS = {
  'Content-Type': 'application/octet-stream',
  'X-Entropy-Mode': 'quantum-seeded',
  'X-Entropy-Origin': 'simulated',
  'X-Quantum-Backend': 'simulator',
  'X-Lang-Circuit': 'h',
  'X-Lang-Version': '1',
  'X-NIST-Verified': 'true',
  'X-Request-ID': '019a0000-0000-7000-8000-000000000000',
  'X-Quantum-Credits-Remaining': '5',
  'X-Quantum-Credits-Used': '0',
  'X-Certificate-ID': 'cert_x',
  'X-Certificate-Salt': '00',
  'X-Verify-URL': 'http://qrn.example/verify/cert_0',
  'X-Timestamp': '2026-11-22T00:00:00.000Z',
  'X-Processing-Time-Ms': '1',
  'X-Entropy-Consumed-Bytes': '8',
} as const;

export function someError(
  status: number,
  code: string,
  headers: Readonly<Record<string, string>> = {},
  details?: object,
): FakeReply {
  const request_id = 'req_01m7yq3qxaep9ryzdvwpqt7yz1';
  return { status, headers, body: { error: { code, message: 'Say so.', status, request_id, details } } };
}
