import { setTimeout as sleep } from 'node:timers/promises';
import { verifyAnswer } from '../../../src/certificate/verify.ts';
import { fetchWhole } from '../../support/http.ts';
import type { TestServer } from '../../support/server.ts';
import type { Clients, Kept } from '../clients/clients.ts';

/** Certificates are logged within a fraction of a second; asked for earlier, they have no proof yet. */
const LOGGED_AFTER_MS = 2_000;
const TRIES = 20;
const TRY_AGAIN_MS = 250;
/** Count of verified answers that are verified again at the end, after all restarts. */
const AGAIN_MAX = 40;

/** Holds kept answers against their certificates, proofs and the log's keys. */
export class Verifier {
  verified = 0;
  readonly #again: Kept[] = [];
  readonly #client: Clients;
  readonly #key: string;

  constructor(client: Clients, key: string) {
    this.#client = client;
    this.#key = key;
  }

  /** Verifies the answers that are old enough. If the server goes down, the others are left for later. */
  async verifyDue(server: TestServer): Promise<void> {
    const { kept } = this.#client;
    while (kept.length > 0 && performance.now() - kept[0].atMs >= LOGGED_AFTER_MS) {
      if (!(await this.#verify(server, kept[0]))) return;
      const [done] = kept.splice(0, 1);
      if (this.#again.length < AGAIN_MAX) this.#again.push(done);
    }
  }

  /** Verifies all remaining answers, and early ones again. */
  async verifyAll(server: TestServer): Promise<void> {
    for (const each of [...this.#client.kept.splice(0), ...this.#again]) {
      if (!(await this.#verify(server, each)))
        this.#client.violate('no certificate could be fetched in the end');
    }
  }

  /** False when the service could not be asked. */
  async #verify(server: TestServer, { certificateId, response }: Kept): Promise<boolean> {
    for (let tries = 1; ; tries++) {
      const documents = await this.#fetch(server, certificateId);
      if (documents === undefined) return false;
      const { ok, checks } = await verifyAnswer({ response, ...documents });
      if (ok) {
        this.verified++;
        return true;
      }
      const isUnlogged = checks.some(({ name, ok }) => name === 'inclusion' && !ok);
      if (!isUnlogged || tries === TRIES) {
        const why = checks.filter((check) => !check.ok).map((check) => check.why);
        this.#client.violate(`${certificateId} does not verify: ${why.join(' ')}`);
        return true;
      }
      await sleep(TRY_AGAIN_MS);
    }
  }

  /** Undefined when the service is down or going down. */
  async #fetch(server: TestServer, id: string): Promise<{ certificate: unknown; keys: unknown } | undefined> {
    const headers = { authorization: `Bearer ${this.#key}` };
    try {
      const certificate = await server.get(`/certificate?id=${id}`, headers);
      const keys = await fetchWhole(`${server.origin}/.well-known/qrn-keys.json`);
      if (certificate.status === 503) return undefined;
      return { certificate: await certificate.json(), keys: await keys.json() };
    } catch (error) {
      if (error instanceof TypeError) return undefined; // fetch: the connection was refused or broke
      throw error;
    }
  }
}
