import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import net, { type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../../src/core/clock.ts';
import type { Log } from '../../../src/core/log.ts';
import { DirectoryFeed } from '../../../src/ledger/directory-feed.ts';
import type { Durability, JournalPlace } from '../../../src/ledger/journal.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import type { LmdbLedger } from '../../../src/ledger/lmdb/lmdb-ledger.ts';
import type { RawStore } from '../../../src/ledger/lmdb/table.ts';
import { openTestLedger } from '../../support/ledger-folder.ts';
import type { AtRisk, SimDisk } from './disk.ts';
import type { SimMachine } from './machine.ts';

/** How a process ends. */
export type Ending = 'in order' | 'killed' | 'power cut';

/** In memory where there is such a file system: the simulated disk determines the time of a flush. */
const PARENT = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
/** Size of a journal's file: small, so that files fill often, and some records find no room. */
const FILE_BYTES = 64 * 1_024;

const DIRECTORY_CHANGES: ReadonlySet<unknown> = new Set([
  'createAccount',
  'putAccount',
  'putKey',
  'revokeLot',
]);

const listenFor = net.createServer;
/** The sockets on which the ledgers of this process listen. */
const servers = new Set<Server>();

export interface LedgerFolderOptions {
  readonly machine: SimMachine;
  readonly fronts: number;
  readonly durability: Durability;
  readonly log: Log;
  /** Called when the ledger has stopped. */
  readonly failed: () => void;
}

/**
 * The ledger of one node, as its thread has it: LMDB in a folder, which follows and recovers the journals of the
 * fronts. LMDB loses nothing here that it has stored: test/ledger and test/adversary/crash kill real processes for
 * that.
 */
export class LedgerFolder {
  readonly path = mkdtempSync(join(PARENT, 'qrn-sim-'));
  /** The present ledger, whatever process has it. */
  readonly ledger: Ledger;
  readonly #options: LedgerFolderOptions;
  readonly #clock: Clock;
  #raw: RawStore | undefined;
  #open: LmdbLedger | undefined;
  /** The owner of the thread's own tasks. */
  #thread = { dead: false, pausedUntilMs: 0 };

  constructor(options: LedgerFolderOptions) {
    const { machine } = options;
    this.#options = options;
    this.#clock = machine.clock();
    const call = (name: keyof Ledger, args: unknown[]) =>
      machine.really(() => (this.#open![name] as (...args: unknown[]) => Promise<unknown>)(...args));
    const ledger = new Proxy({} as Ledger, {
      get: (_target, name) =>
        name === 'then' ? undefined : (...args: unknown[]) => call(name as keyof Ledger, args),
    });
    // Readers are notified in simulated time, which stands still while somebody outside waits for a change.
    const feed = new DirectoryFeed((since) => ledger.directoryChanges(since), this.#clock);
    const follow: Ledger['follow'] = (reader) => feed.follow(reader);
    const changing = async (name: keyof Ledger, args: unknown[]) => {
      const result = await call(name, args);
      feed.push().catch(() => {}); // the process that follows has ended
      return result;
    };
    this.ledger = new Proxy(ledger, {
      get: (_target, name) => {
        if (name === 'follow') return follow;
        if (!DIRECTORY_CHANGES.has(name)) return ledger[name as 'probe'];
        return (...args: unknown[]) => changing(name as keyof Ledger, args);
      },
    });
  }

  /** The journals of the fronts of this start. */
  get journals(): readonly JournalPlace[] {
    return this.#open!.journals;
  }

  /** Starts the thread of the next process; with `asItLies` as an operator who gives up what is damaged. */
  async start(disk: SimDisk, asItLies = false): Promise<void> {
    const { machine, fronts, durability, log, failed } = this.#options;
    const thread = { dead: false, pausedUntilMs: 0 };
    this.#thread = thread;
    machine.enter(thread);
    net.createServer = ((...args: []) => {
      const server = listenFor(...args);
      servers.add(server);
      return server;
    }) as typeof net.createServer;
    syncBuiltinESMExports();
    this.#open = await machine.really(() =>
      openTestLedger(join(this.path, 'ledger'), {
        ...{ clock: this.#clock, log, fronts, durability, journalFileBytes: FILE_BYTES },
        ...{ freeBytes: () => disk.freeBytes(), freeBytesMin: 1 },
        wrap: (raw) => (this.#raw = raw),
        ...(asItLies && { mayLackJournals: true }),
      }),
    );
    machine.enter('world');
    this.#open.failed.then(() => thread.dead || failed());
  }

  /** Ends the process. Returns what it may have lost, by sequence. */
  async end(how: Ending, disk: SimDisk): Promise<ReadonlyMap<number, AtRisk>> {
    const { machine } = this.#options;
    if (how === 'in order') {
      await machine.really(async () => this.#open?.close());
      this.#open = undefined;
      servers.clear();
      this.#thread.dead = true;
      disk.kill();
      return new Map();
    }
    this.#thread.dead = true;
    this.#open = undefined;
    await machine.really(async () => {
      await this.#raw!.close();
      for (const each of servers) each.close();
      servers.clear();
      rmSync(join(this.path, 'ledger', 'server.sock'), { force: true });
    });
    return how === 'power cut' ? disk.cutPower() : disk.kill();
  }

  async close(): Promise<void> {
    try {
      await this.#options.machine.really(async () => this.#open?.close());
    } finally {
      net.createServer = listenFor;
      syncBuiltinESMExports();
      rmSync(this.path, { recursive: true, force: true });
    }
  }
}
