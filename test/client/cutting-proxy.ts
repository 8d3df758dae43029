import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A network between client and service that breaks while an answer is on its way: the service has made it. */
export class CuttingProxy {
  /** Answers still to be cut: not a byte of them gets through. */
  cuts = 0;
  /** Requests that went to the service, by their first line. */
  readonly requests: string[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(port: number) {
    this.#server = createServer((client) => {
      const service = connect(port, '127.0.0.1');
      for (const socket of [client, service]) {
        this.#sockets.add(socket);
        socket.on('close', () => this.#sockets.delete(socket));
        socket.on('error', () => {}); // either side may vanish: that is what this is for
      }
      client.on('data', (chunk) => {
        const line = /^(GET|POST) \S+/.exec(chunk.toString('latin1'));
        if (line !== null) this.requests.push(line[0]);
        service.write(chunk);
      });
      service.on('data', (chunk) => {
        if (this.cuts === 0) {
          client.write(chunk);
          return;
        }
        this.cuts -= 1;
        client.destroy();
        service.destroy();
      });
      client.on('close', () => service.destroy());
      service.on('close', () => client.destroy());
    });
  }

  /** In front of the service at `origin`. */
  static async start(origin: string): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(Number(new URL(origin).port));
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}
