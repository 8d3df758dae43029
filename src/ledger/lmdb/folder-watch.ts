import { statSync } from 'node:fs';
import type { Log } from '../../core/log.ts';
import { LedgerError } from '../ledger.ts';
import type { FreeSpace } from './data-file.ts';
import type { FollowingBooks } from './following-books.ts';
import type { GroupWriter } from './group-writer.ts';

const LOOK_INTERVAL_MS = 1_000;

interface WatchedFolder {
  /** Paths of all files that the ledger has open. */
  readonly files: readonly string[];
  readonly socket: string;
  readonly space: FreeSpace;
  readonly following: FollowingBooks;
  readonly writer: GroupWriter;
  readonly log: Log;
}

/**
 * Checks once a second whether the disk still has room, and whether the files that the ledger has open are still under their
 * names. A file that was removed or replaced still takes writes, but they are lost when the process ends. When a file is gone,
 * the watch stores all that was acknowledged, so that a missing journal does no harm, and stops the ledger. Returns a
 * function that ends the watch.
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
    await following.closeJournals().catch(() => {}); // every write rejects as well
    writer.stop(gone);
  };
  const timer = setInterval(() => {
    // files first: statfs fails when the folder is gone
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
