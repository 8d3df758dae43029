import { cpuTimeEver, residentMemory } from './process-usage.ts';
import { freshSums } from './prometheus.ts';
import type { TestServer } from './server.ts';

/** The usage of one account, and what the service has drawn for all. */
export interface Books {
  readonly requests: number;
  readonly credits: number;
  /** Certified answers that left, of all accounts. */
  readonly answers: number;
  /** Bytes of entropy drawn for answers, of all accounts. */
  readonly drawn: number;
}

/** The holdings of the front, at most a second old. */
export interface FrontLoad {
  readonly connections: number;
  readonly waitingRequests: number;
  readonly sendingReplies: number;
  readonly heldBytes: number;
}

/** The service under attack, and what is looked at meanwhile. */
export class Target {
  readonly server: TestServer;
  readonly port: number;
  readonly key: string;

  constructor(server: TestServer, key: string) {
    this.server = server;
    this.port = server.port;
    this.key = key;
  }

  /** Sends a request as an honest client would. */
  get(path: string): Promise<Response> {
    return this.server.get(path, { authorization: `Bearer ${this.key}` });
  }

  async books(): Promise<Books> {
    const usage = await this.get('/usage');
    if (usage.status !== 200) throw new Error(`the usage is answered ${usage.status}: ${await usage.text()}`);
    const { data } = (await usage.json()) as {
      data: { requests: { used: number }; credits: { used: number } };
    };
    const metrics = await this.#metrics();
    return {
      requests: data.requests.used,
      credits: data.credits.used,
      answers: metrics('qrn_answers_total'),
      drawn: metrics('qrn_entropy_consumed_bytes_total'),
    };
  }

  async load(): Promise<FrontLoad> {
    const metrics = await this.#metrics();
    return {
      connections: metrics('qrn_http_connections'),
      waitingRequests: metrics('qrn_http_waiting_requests'),
      sendingReplies: metrics('qrn_http_sending_replies'),
      heldBytes: metrics('qrn_http_held_bytes'),
    };
  }

  /** Resolves when the front stands so; the suite's own time limit ends a wait that never does. */
  async until(condition: (load: FrontLoad) => boolean): Promise<FrontLoad> {
    for (;;) {
      // the service turns connections away while it has as many as it may
      const load = await this.load().catch(() => undefined);
      if (load !== undefined && condition(load)) return load;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** Resolves when nothing of an attack is left; what asks for the metrics may have connections of its own. */
  async untilCalm(): Promise<void> {
    await this.until(
      ({ connections, waitingRequests, sendingReplies, heldBytes }) =>
        connections <= CONNECTIONS_OF_FETCH && waitingRequests + sendingReplies + heldBytes === 0,
    );
  }

  /** Lines of the log that hold the text. */
  logLines(text: string): string[] {
    return this.server
      .output()
      .split('\n')
      .filter((line) => line.includes(text));
  }

  /** Resident memory of the service in bytes. */
  residentBytes(): number {
    return residentMemory(this.#pid)!.nowMib * 2 ** 20;
  }

  /** Processor time that the service has used, in seconds. */
  cpuSeconds(): number {
    return cpuTimeEver(this.#pid)! / 1_000;
  }

  get #pid(): number {
    return this.server.process.pid!;
  }

  #metrics(): Promise<(family: string) => number> {
    return freshSums(this.server.origin);
  }
}

const CONNECTIONS_OF_FETCH = 4;

/** Only Linux tells what another process uses. */
export const noProc = process.platform === 'linux' ? false : 'needs /proc of Linux';
