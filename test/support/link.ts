import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A connection, of which this process has both ends: `near` to whoever opened it, `far` to whom it is for. */
type Pair = readonly [near: Socket, far: Socket];

/**
 * A TCP connection between two parties that can be cut like a cable: what is sent meanwhile arrives nowhere, nobody is told,
 * and what was on its way arrives when the link is whole again, however late. New connections open on the near side and get
 * no answer. It can also lose single messages, each with its connection.
 */
export class Link {
  /** Messages that were lost as `loseNext` said. */
  losses = 0;
  /** First lines of what was asked by HTTP. */
  readonly requests: string[] = [];
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  #target: string | number;
  #isCut = false;
  #isAway = false;
  #waiting: Socket[] = [];
  #lost: 'request' | 'reply' = 'reply';
  #lostLeft = 0;
  #lastRequest: string | undefined;

  private constructor(server: Server, target: string | number) {
    this.#server = server;
    this.#target = target;
    server.on('connection', (near) => {
      near.on('error', () => {});
      if (this.#isAway) near.destroy();
      else if (this.#isCut) this.#waiting.push(near);
      else this.#join(near);
    });
  }

  /** `target` is the path of a unix socket, or a port of this machine. */
  static async open(target: string | number): Promise<Link> {
    const server = createServer({ noDelay: true, allowHalfOpen: false, pauseOnConnect: true });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Link(server, target);
  }

  /** Opens a link until the test ends. */
  static async openFor(t: { after(close: () => void): void }, target: string | number): Promise<Link> {
    const link = await Link.open(target);
    t.after(() => link.close());
    return link;
  }

  /** The port on 127.0.0.1. */
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

  /** Whole again, but what was on its way is lost, and every connection with it. */
  healWithLoss(): void {
    this.#loseAll();
    this.heal();
  }

  /** While it is so, every connection is lost. */
  setAway(isAway: boolean): void {
    this.#isAway = isAway;
    if (isAway) this.#loseAll();
  }

  /** The next request that has this text in it is lost, and from then on every connection. */
  setAwayAt(text: string): void {
    this.#lastRequest = text;
  }

  /** Loses the next messages of this direction, and their connections with them. */
  loseNext(direction: 'request' | 'reply', times = 1): void {
    this.#lost = direction;
    this.#lostLeft = times;
  }

  /** New connections go there; those that are open stay where they are. */
  retarget(target: string | number): void {
    this.#target = target;
  }

  close(): void {
    this.#server.close();
    this.#loseAll();
    for (const near of this.#waiting) near.destroy();
  }

  #loseAll(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
  }

  #join(near: Socket): void {
    const target = this.#target;
    const far = connect(
      typeof target === 'string' ? { path: target } : { port: target, host: '127.0.0.1', noDelay: true },
    );
    const pair: Pair = [near, far];
    this.#pairs.add(pair);
    const forward = (from: Socket, to: Socket) => {
      from.on('data', (chunk: Buffer) => {
        if (this.#passes(from === near ? 'request' : 'reply', chunk)) to.write(chunk);
        else for (const socket of pair) socket.destroy();
      });
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

  #passes(direction: 'request' | 'reply', bytes: Buffer): boolean {
    if (direction === 'request') {
      const [line] = /^(?:GET|POST) \S+/.exec(bytes.toString('latin1')) ?? [];
      if (line !== undefined) this.requests.push(line);
      if (this.#lastRequest !== undefined && bytes.includes(this.#lastRequest)) this.setAway(true);
    }
    if (this.#isAway) return false;
    if (this.#lostLeft === 0 || this.#lost !== direction) return true;
    this.#lostLeft--;
    this.losses++;
    return false;
  }
}
