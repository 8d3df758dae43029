import { createConnection, createServer, type Socket } from 'node:net';

/** A TCP proxy before a server, which loses connections when it is told to. */
export class CuttingProxy {
  /** Connections that were cut. */
  cuts = 0;
  readonly #server = createServer((client) => this.#join(client));
  readonly #upstream: string;
  readonly #sockets = new Set<Socket>();
  #next: 'request' | 'reply' | undefined;
  #isAway = false;
  #isSilent = false;
  #lastRequest: string | undefined;

  private constructor(upstream: string) {
    this.#upstream = upstream;
  }

  /** `upstream` is the path of a unix socket. Gives the proxy and its port on 127.0.0.1. */
  static async open(
    t: { after(close: () => void): void },
    upstream: string,
  ): Promise<{ proxy: CuttingProxy; port: number }> {
    const proxy = new CuttingProxy(upstream);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    t.after(() => proxy.close());
    const address = proxy.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
    return { proxy, port: address.port };
  }

  /** Loses the next message of this direction, and the connection with it. */
  cutNext(direction: 'request' | 'reply'): void {
    this.#next = direction;
  }

  /** While it is so, every connection is lost. */
  setAway(isAway: boolean): void {
    this.#isAway = isAway;
    if (isAway) for (const socket of this.#sockets) socket.destroy();
  }

  /** While it is so, nothing comes through and no connection ends, as in a partition. Then every connection is lost. */
  setSilent(isSilent: boolean): void {
    this.#isSilent = isSilent;
    if (!isSilent) for (const socket of this.#sockets) socket.destroy();
  }

  /** The next request that has this text in it is lost, and from then on every connection. */
  setAwayAt(text: string): void {
    this.#lastRequest = text;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #join(client: Socket): void {
    if (this.#isAway) {
      client.destroy();
      return;
    }
    const server = createConnection(this.#upstream);
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        this.#sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    client.on('data', (bytes) => {
      if (this.#isSilent) return;
      if (this.#lastRequest !== undefined && bytes.includes(this.#lastRequest)) this.setAway(true);
      if (!this.#isCut('request', client, server)) server.write(bytes);
    });
    server.on('data', (bytes) => {
      if (this.#isSilent) return;
      if (!this.#isCut('reply', client, server)) client.write(bytes);
    });
  }

  #isCut(direction: 'request' | 'reply', client: Socket, server: Socket): boolean {
    if (this.#next !== direction) return false;
    this.#next = undefined;
    this.cuts++;
    client.destroy();
    server.destroy();
    return true;
  }
}
