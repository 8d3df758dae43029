import { keysDocument } from '../../src/certificate/keys-document.ts';
import type { CertificateLog } from '../../src/certificate/log.ts';
import { LogUnavailable } from '../../src/certificate/log-source.ts';
import { readVouchers } from '../../src/certificate/log-state.ts';
import { utf8Bytes } from '../../src/core/bytes.ts';
import { ApiError } from '../../src/core/errors.ts';
import type { Exchange } from '../../src/http/exchange.ts';
import { logRoutes } from '../../src/http/log-routes.ts';
import { RouteTable } from '../../src/http/route-table.ts';
import { answerEntry, lotRecord, seededSource, segmentRecord } from './fixtures.ts';
import { LogWorld } from './log-world.ts';

/** A log with the routes of the service in front of it, whose answers a test may change. */
export class WatchedLog {
  readonly world = new LogWorld();
  log!: CertificateLog;
  /** Paths that were read, in order. */
  readonly paths: string[] = [];
  /** False answers of the service, by path. */
  readonly lies = new Map<string, (truth: string) => string | Uint8Array>();
  #segment = 0;

  static async open(): Promise<WatchedLog> {
    const watched = new WatchedLog();
    watched.log = await watched.world.open();
    const lot = lotRecord('a');
    watched.world.lots.set(lot.id, lot);
    watched.world.released.set(lot.id, 0); // its leaf is of no interest here
    return watched;
  }

  /** Logs so many certificates; they differ with `salt`. */
  async grow(count: number, salt = 0): Promise<void> {
    this.#segment++;
    const entries = Array.from({ length: count }, (_, i) =>
      answerEntry(i, {
        delivered: new Uint8Array(32).fill(salt + this.#segment),
        issuedAtMs: this.world.clock.wall,
      }),
    );
    this.world.commit(segmentRecord(this.#segment, [seededSource(lotRecord('a').id)], entries));
    await this.log.sealAll();
  }

  async addLot(name: string): Promise<string> {
    const lot = lotRecord(name);
    this.world.lots.set(lot.id, lot);
    await this.log.seal();
    return lot.id;
  }

  async withdraw(lotId: string, why = 'a fault'): Promise<void> {
    this.world.withdrawn.push({ lotId, why, atMs: this.world.clock.wall });
    await this.log.seal();
  }

  /** Reads as a monitor does. */
  read = async (path: string): Promise<Uint8Array> => {
    this.paths.push(path);
    const [place, query = ''] = path.split('?');
    const { world, log } = this;
    const keys = keysDocument(world.keys, [], await readVouchers(world.store, world.keys));
    const handler = new RouteTable([], logRoutes(world.service(log, keys)), false).of(place)?.handler;
    if (handler === undefined) throw new LogUnavailable(`there is no ${path}`);
    try {
      const { body } = await handler({ path: place, query } as Exchange);
      const truth = body as Uint8Array;
      const lie = this.lies.get(place)?.(Buffer.from(truth).toString('utf8'));
      return typeof lie === 'string' ? utf8Bytes(lie) : (lie ?? truth);
    } catch (error) {
      if (error instanceof ApiError) throw new LogUnavailable(`${path}: ${error.code}`);
      throw error;
    }
  };
}
