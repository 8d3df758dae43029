import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy before a server, which loses connections when it is told to. */
export class CuttingProxy {
  /** Connections that were cut. */
  cuts = 0;
  readonly #server = createServer((client) => this.#join(client));
  /** First lines of what was asked by HTTP. */
  readonly requests: string[] = [];
  readonly #upstream: string | number;
  readonly #sockets = new Set<Socket>();
  #next: 'request' | 'reply' = 'reply';
  #nextLeft = 0;
  #isAway = false;
  #isSilent = false;
  #lastRequest: string | undefined;

  private constructor(upstream: string | number) {
    this.#upstream = upstream;
  }

  /** `upstream` is the path of a unix socket, or a port of this machine. */
  static async start(upstream: string | number): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(upstream);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  /** The same, until the test ends. */
  static async open(
    t: { after(close: () => void): void },
    upstream: string,
  ): Promise<{ proxy: CuttingProxy; port: number }> {
    const proxy = await CuttingProxy.start(upstream);
    t.after(() => proxy.close());
    return { proxy, port: proxy.port };
  }

  /** On 127.0.0.1. */
  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Loses the next messages of this direction, and their connections with them. */
  cutNext(direction: 'request' | 'reply', times = 1): void {
    this.#next = direction;
    this.#nextLeft = times;
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
    const server = connect(this.#upstream as string); // a port is taken too
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
      const [line] = /^(?:GET|POST) \S+/.exec(bytes.toString('latin1')) ?? [];
      if (line !== undefined) this.requests.push(line);
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
    if (this.#nextLeft === 0 || this.#next !== direction) return false;
    this.#nextLeft--;
    this.cuts++;
    client.destroy();
    server.destroy();
    return true;
  }
}
