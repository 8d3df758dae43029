import { existsSync, readFileSync } from 'node:fs';
import { replaceFile } from '../../core/files.ts';
import { LedgerError } from '../ledger.ts';

/**
 * Says that the records of a folder are, or are about to be, in a database (postgres/import.ts). It is on disk before the
 * import is committed, so that the folder and the database never serve at once. It lies beside the folder: the folder
 * goes on as the place of the node's blocks.
 */
export interface ImportMark {
  /** Of the import; the database holds the same when the import was committed. */
  readonly id: string;
  /** The database, without its password, for messages. */
  readonly database: string;
  /** When the schema of the database was made (Unix ms): tells it from another one at the same place. */
  readonly databaseMadeAtMs: number;
}

function markPath(path: string): string {
  return `${path}.imported.json`;
}

export function readImportMark(path: string): ImportMark | undefined {
  if (!existsSync(markPath(path))) return undefined;
  return JSON.parse(readFileSync(markPath(path), 'utf8')) as ImportMark;
}

export function writeImportMark(path: string, mark: ImportMark): void {
  replaceFile(markPath(path), `${JSON.stringify(mark)}\n`);
}

/** Throws `unusable` for a folder whose records went into a database. */
export function requireNotImported(path: string): void {
  const mark = readImportMark(path);
  if (mark === undefined) return;
  throw new LedgerError(
    'unusable',
    `the ledger in ${path} was imported into PostgreSQL at ${mark.database}, and this folder serves no more (${markPath(path)} says so): ` +
      'set QRN_LEDGER. If qrn cluster import-lmdb did not end, run it again',
  );
}
