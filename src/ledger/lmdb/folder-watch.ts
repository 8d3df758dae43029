import { statSync } from 'node:fs';
import type { FreeSpace } from './data-file.ts';

const LOOK_INTERVAL_MS = 1_000;

/**
 * Looks once a second at the folder of the ledger: whether the disk still has room, and whether the files that the ledger has
 * open still have their names. A file that was removed or replaced takes every write, and nothing of it is there after the
 * process ends.
 */
export class FolderWatch {
  readonly #timer: NodeJS.Timeout;
  #told: Promise<void> = Promise.resolve();

  /** `onGone`, which does not reject, is called once, with the first file that is not there any more. */
  constructor(paths: readonly string[], space: FreeSpace, onGone: (path: string) => Promise<void>) {
    const known = paths.map((path) => ({ path, id: idOf(path) }));
    this.#timer = setInterval(() => {
      // files first: a folder that is gone has no free space to ask for
      const gone = known.find(({ path, id }) => idOf(path) !== id);
      if (gone === undefined) {
        space.look();
        return;
      }
      clearInterval(this.#timer);
      this.#told = onGone(gone.path);
    }, LOOK_INTERVAL_MS).unref();
  }

  /** Resolves when what a file that is gone has led to is done. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#told;
  }
}

function idOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.dev} ${found.ino}`;
}
