import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/**
 * A TCP connection between two parties that can be cut like a cable: what is sent meanwhile arrives nowhere, nobody is told,
 * and what was on its way arrives when the link is whole again, however late. New connections open on the near side and get
 * no answer.
 */
export class Link {
  readonly #server: Server;
  readonly #pairs = new Set<readonly [near: Socket, far: Socket]>();
  #target: number;
  #isCut = false;
  #waiting: Socket[] = [];

  private constructor(server: Server, target: number) {
    this.#server = server;
    this.#target = target;
    server.on('connection', (near) => {
      near.on('error', () => {});
      if (this.#isCut) this.#waiting.push(near);
      else this.#join(near);
    });
  }

  static async open(target: number): Promise<Link> {
    const server = createServer({ noDelay: true, allowHalfOpen: false, pauseOnConnect: true });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Link(server, target);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  cut(): void {
    this.#isCut = true;
    for (const pair of this.#pairs) for (const socket of pair) socket.pause();
  }

  heal(): void {
    this.#isCut = false;
    for (const pair of this.#pairs) for (const socket of pair) socket.resume();
    for (const near of this.#waiting.splice(0)) if (!near.destroyed) this.#join(near);
  }

  /** Whole again, but what was on its way is lost: its sender is dead and sends nothing again. */
  healWithLoss(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
    this.heal();
  }

  /** New connections go there; those that are open stay where they are. */
  retarget(target: number): void {
    this.#target = target;
  }

  close(): void {
    this.#server.close();
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
    for (const near of this.#waiting) near.destroy();
  }

  #join(near: Socket): void {
    const far = connect({ port: this.#target, host: '127.0.0.1', noDelay: true });
    const pair = [near, far] as const;
    this.#pairs.add(pair);
    const forward = (from: Socket, to: Socket) => {
      from.on('data', (chunk: Buffer) => to.write(chunk));
      from.on('error', () => {});
      // A close is a packet too: while the link is cut the other side does not hear of it.
      from.on('close', () => {
        const end = () => {
          to.destroy();
          this.#pairs.delete(pair);
        };
        if (this.#isCut) to.once('resume', end);
        else end();
      });
    };
    forward(near, far);
    forward(far, near);
    near.resume();
  }
}
