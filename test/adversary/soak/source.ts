import { randomFillSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The state of the source: sound bits, no bits, or bits with one channel in eight stuck. */
export type SourceState = 'sound' | 'down' | 'stuck';

/**
 * Size of one lot: enough conditioned output for two SP 800-22 sequences, as the collector requests from any source.
 */
const LOT_BYTES = 512 * 1024;

/** A source of entropy over HTTP that breaks and mends while the service runs. */
export class SwitchedSource {
  state: SourceState = 'sound';
  readonly #server: Server;

  constructor() {
    this.#server = createServer((_request, response) => {
      if (this.state === 'down') {
        response.writeHead(503).end();
        return;
      }
      const bits = randomFillSync(Buffer.alloc(LOT_BYTES));
      if (this.state === 'stuck') for (let i = 0; i < bits.length; i++) bits[i] &= 0xfe;
      response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(bits);
    });
  }

  /** The settings of a service that reads from it. */
  async start(): Promise<Record<string, string>> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const { port } = this.#server.address() as AddressInfo;
    return {
      QRN_BACKEND: 'switched',
      QRN_SOURCE_SWITCHED_TYPE: 'qrng-http',
      QRN_SOURCE_SWITCHED_URL: `http://127.0.0.1:${port}/`,
      QRN_SOURCE_SWITCHED_DECODER: 'bytes',
      QRN_SOURCE_SWITCHED_ITEMS_PER_CALL: String(LOT_BYTES),
      QRN_SOURCE_SWITCHED_INTERVAL_MS: '0',
      QRN_SOURCE_SWITCHED_MIN_ENTROPY: '0.9',
      QRN_SOURCE_SWITCHED_ORIGIN: 'simulated',
    };
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
