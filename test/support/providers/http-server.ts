import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

/** A request as a provider sees it. */
export interface ProviderRequest {
  readonly method: string;
  /** The path without the query, in the received percent-encoding. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

export interface ProviderReply {
  /** 200 when left out. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text and bytes are sent verbatim; anything else as JSON. No body when left out. */
  readonly body?: unknown;
}

/**
 * A fault of a provider: a reply that replaces the right one, or: `stall` never answers; `reset` closes the connection
 * instead; `cut` closes it halfway through the right reply; `broken-json` sends half of the right body as if it were
 * whole; `replay` repeats the last reply to the same method and path; `slow` sends the right reply after some 50 ms;
 * `none` is the right reply, for a fault of a later request.
 */
export type Fault = ProviderReply | 'stall' | 'reset' | 'cut' | 'broken-json' | 'replay' | 'slow' | 'none';

/**
 * A provider on the loopback, over real HTTP. Faults are served one a request, in the order in which they were injected;
 * then it is sound again.
 */
export class ProviderServer {
  /** Every request, in order. */
  readonly requests: ProviderRequest[] = [];
  /** The bodies that were sent with status 200, in order, verbatim. */
  readonly sent: Buffer<ArrayBuffer>[] = [];
  readonly #faults: { readonly fault: Fault; readonly on: string; readonly served: () => void }[] = [];
  readonly #lastSent = new Map<string, Buffer<ArrayBuffer>>();
  readonly #handle: (request: ProviderRequest) => ProviderReply | Promise<ProviderReply>;
  readonly #server: Server;

  /** Listens from `start` on. A handler that throws answers 500 with the error's message. */
  constructor(handle: (request: ProviderRequest) => ProviderReply | Promise<ProviderReply>) {
    this.#handle = handle;
    this.#server = createServer((incoming, outgoing) => {
      this.#serve(incoming, outgoing).catch((error: Error) => {
        if (!outgoing.headersSent) outgoing.writeHead(500);
        outgoing.end(error.message);
      });
    });
  }

  /** Listens on a free port of 127.0.0.1 until the test is over. */
  async start(t: TestContext): Promise<this> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    t.after(() => this.close());
    return this;
  }

  /** The URL without a slash at its end. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The next request whose `METHOD /path` begins with `on` meets this fault. Resolves when it has come. */
  inject(fault: Fault, on = ''): Promise<void> {
    return new Promise((served) => this.#faults.push({ fault, on, served }));
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const request = await received(incoming);
    this.requests.push(request);
    const target = `${request.method} ${request.path}`;
    const fault = this.#takeFault(target);
    if (fault === 'stall') return;
    if (fault === 'reset') {
      incoming.socket.destroy();
      return;
    }
    if (typeof fault === 'object') return this.#send(outgoing, target, fault);
    const reply = await this.#handle(request);
    const body = bytesOf(reply.body);
    if (fault === 'cut') {
      outgoing.writeHead(reply.status ?? 200, { ...reply.headers, 'content-length': body.length });
      outgoing.write(body.subarray(0, body.length / 2), () => incoming.socket.destroy());
      return;
    }
    this.#send(outgoing, target, await this.#spoiled(fault, target, { ...reply, body }));
  }

  #takeFault(target: string): Fault | undefined {
    const at = this.#faults.findIndex(({ on }) => target.startsWith(on));
    if (at === -1) return undefined;
    const [{ fault, served }] = this.#faults.splice(at, 1);
    served();
    return fault;
  }

  async #spoiled(
    fault: 'broken-json' | 'replay' | 'slow' | 'none' | undefined,
    target: string,
    reply: ProviderReply & { readonly body: Buffer<ArrayBuffer> },
  ): Promise<ProviderReply> {
    if (fault === 'broken-json') return { ...reply, body: reply.body.subarray(0, reply.body.length / 2) };
    if (fault === 'replay') return { ...reply, body: this.#lastSent.get(target) ?? reply.body };
    if (fault === 'slow') await new Promise((resume) => setTimeout(resume, 50));
    return reply;
  }

  #send(outgoing: ServerResponse, target: string, { status = 200, headers = {}, body }: ProviderReply): void {
    const bytes = bytesOf(body);
    if (status === 200) {
      this.sent.push(bytes);
      this.#lastSent.set(target, bytes);
    }
    outgoing.writeHead(status, { 'content-type': 'application/json', ...headers });
    outgoing.end(bytes);
  }
}

async function received(incoming: IncomingMessage): Promise<ProviderRequest> {
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece);
  const [path, query = ''] = (incoming.url ?? '/').split('?', 2);
  const headers = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]);
  return {
    method: incoming.method ?? 'GET',
    path,
    query: new URLSearchParams(query),
    headers: Object.fromEntries(headers),
    body: Buffer.concat(pieces).toString('utf8'),
  };
}

function bytesOf(body: unknown): Buffer<ArrayBuffer> {
  if (body === undefined) return Buffer.alloc(0);
  if (body instanceof Uint8Array) return Buffer.from(body);
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}
