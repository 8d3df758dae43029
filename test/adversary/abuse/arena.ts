import type { EngineName } from '../../../src/http/engine.ts';
import { Target } from '../../support/raw-http.ts';
import { type Environment, TestServer } from '../../support/server.ts';

/** A measured figure, and whether it is within its bound. */
export interface Finding {
  readonly figure: string;
  readonly isMet: boolean;
}

/** One attack of the long run. If it throws, it has failed, and the message is its figure. */
export interface AbuseCase {
  readonly name: string;
  /** The bound in words, for the table. */
  readonly bound: string;
  /** Time limit in seconds; 120 by default. */
  readonly limitS?: number;
  run(arena: Arena): Promise<Finding>;
}

/**
 * The service that the cases of one engine attack in turn. It is started for the first case that needs it, and again after a
 * case that did not end, so that one failure is not counted twice.
 */
export class Arena {
  readonly engine: EngineName;
  /** Seed of the random choices of a case. */
  readonly seed: number;
  #server: TestServer | undefined;
  #target: Target | undefined;

  constructor(engine: EngineName, seed: number) {
    this.engine = engine;
    this.seed = seed;
  }

  get environment(): Readonly<Record<string, string>> {
    return { QRN_ACCESS_LOG_SAMPLE: '0', QRN_FRONT: this.engine };
  }

  /** Returns the shared service with a key of an account without limits. */
  async target(): Promise<Target> {
    if (this.#target !== undefined) return this.#target;
    this.#server = await TestServer.start(this.environment);
    const { key } = await this.#server.account('enterprise', '--credits-per-month', '1000000000');
    this.#target = new Target(this.#server, key);
    return this.#target;
  }

  async server(): Promise<TestServer> {
    return (await this.target()).server;
  }

  /** True once the shared service has been attacked, so that its books are worth an audit. */
  get isStarted(): boolean {
    return this.#target !== undefined;
  }

  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    this.#target = undefined;
    if (server === undefined) return;
    const killer = setTimeout(() => server.process.kill('SIGKILL'), 20_000);
    await server.stop();
    clearTimeout(killer);
  }
}

/** Runs `use` with a separate service, which is stopped at the end. */
export async function withServer<T>(
  environment: Environment,
  use: (server: TestServer) => Promise<T>,
  options?: Parameters<typeof TestServer.start>[2],
): Promise<T> {
  const server = await TestServer.start(environment, undefined, options);
  try {
    return await use(server);
  } finally {
    await server.stop();
  }
}
