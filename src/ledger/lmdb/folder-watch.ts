import { statSync } from 'node:fs';
import type { Log } from '../../core/log.ts';
import { LedgerError } from '../ledger.ts';
import type { FreeSpace } from './data-file.ts';
import type { FollowingBooks } from './following-books.ts';
import type { GroupWriter } from './group-writer.ts';

const LOOK_INTERVAL_MS = 1_000;

interface WatchedFolder {
  /** All that the ledger has open. */
  readonly files: readonly string[];
  readonly socket: string;
  readonly space: FreeSpace;
  readonly following: FollowingBooks;
  readonly writer: GroupWriter;
  readonly log: Log;
}

/**
 * Looks once a second at the folder of the ledger: whether the disk still has room, and whether the files that the ledger has
 * open still have their names. A file that was removed or replaced takes every write, and nothing of it is there after the
 * process ends: once one is gone, what is acknowledged is stored, and the ledger stops. A journal that is gone is not missed then.
 * Gives what ends the watch.
 */
export function watchFolder({ files, socket, space, following, writer, log }: WatchedFolder) {
  const known = [...files, socket].map((path) => ({ path, id: idOf(path) }));
  let stopping: Promise<void> | undefined;
  const stop = async (file: string) => {
    const what =
      file === socket ? 'start it again' : 'put it back, or restore a backup with `qrn ledger restore`';
    const gone = new LedgerError(
      'stopped',
      `${file} was removed or replaced while the service ran, and nothing more is acknowledged: ${what}`,
    );
    log.error({ file }, gone.message);
    await following.closeJournals().catch(() => {}); // whoever writes is told so too
    writer.stop(gone);
  };
  const timer = setInterval(() => {
    // files first: a folder that is gone has no free space to ask for
    const gone = known.find(({ path, id }) => idOf(path) !== id);
    if (gone === undefined) {
      space.look();
      return;
    }
    clearInterval(timer);
    stopping = stop(gone.path);
  }, LOOK_INTERVAL_MS).unref();
  return async () => {
    clearInterval(timer);
    await stopping;
  };
}

function idOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.dev} ${found.ino}`;
}
