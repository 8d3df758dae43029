import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fetchWhole } from '../support/http.ts';
import {
  type ProviderReply,
  type ProviderRequest,
  ProviderServer,
} from '../support/providers/http-server.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import type { TestServer } from '../support/server.ts';

/** A proxy between a service and a source of kind `qrn`: it passes requests on, and changes them or their replies. */

export interface Between {
  /** Returns a replacement for the request. */
  request?(request: ProviderRequest): ProviderRequest;
  /** Returns a replacement for the reply; `body` is bytes. */
  reply?(reply: PassedOn, request: ProviderRequest): ProviderReply;
}

/** A reply of the service. */
export interface PassedOn {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer<ArrayBuffer>;
}

export const BYTES = 'GET /v1/bytes';
export const CERTIFICATE = 'GET /verify/';

const PASSED = ['accept', 'authorization', 'idempotency-key'];
/** Fields of one connection, or of the body as it was sent, which a proxy does not pass on. */
const NOT_PASSED = ['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'content-encoding'];

/** The service behind an address of its own. */
export class MiddleMan extends ProviderServer {
  between: Between = {};

  constructor(service: TestServer) {
    super(async (came) => {
      const request = this.between.request?.(came) ?? came;
      const headers = PASSED.flatMap((name): [string, string][] => {
        const value = request.headers[name];
        return value === undefined ? [] : [[name, value]];
      });
      const url = `${service.origin}${request.path}?${request.query}`;
      const response = await fetchWhole(url, { headers });
      const fields = [...response.headers].filter(([name]) => !NOT_PASSED.includes(name));
      const passed: PassedOn = {
        status: response.status,
        headers: Object.fromEntries(fields),
        body: Buffer.from(await response.arrayBuffer()),
      };
      return this.between.reply?.(passed, request) ?? passed;
    });
  }
}

/** A copy of the keys of a log; gives its path. */
export function savedKeys(keys: unknown): string {
  const path = join(scratchFolder(), 'keys.json');
  writeFileSync(path, JSON.stringify(keys));
  return path;
}

/** A change of the document of a certificate alone. */
export function ofCertificate(change: (document: Record<string, unknown>) => unknown): Between {
  return {
    reply(reply, { path }) {
      if (!path.startsWith('/verify/')) return reply;
      const document = JSON.parse(reply.body.toString('utf8'));
      if (document.certificate.proof === null) return reply; // it is asked for again
      return { ...reply, body: JSON.stringify(change(document)) };
    },
  };
}

/** A change of the reply to a call for bytes alone. */
export function ofBytes(change: (reply: PassedOn) => ProviderReply): Between {
  return { reply: (reply, { path }) => (path === '/v1/bytes' ? change(reply) : reply) };
}
