import { existsSync, readFileSync } from 'node:fs';
import { replaceFile } from '../../core/files.ts';
import { LedgerError } from '../ledger.ts';

/**
 * States that the records of a folder are in a database, or are about to be (postgres/import.ts). The mark is on disk before
 * the import is committed, so the folder and the database never serve at the same time. It lies beside the folder, because
 * the folder continues to hold the node's blocks.
 */
export interface ImportMark {
  /** The id of the import. The database has the same id when the import was committed. */
  readonly id: string;
  /** The database without its password, for messages. */
  readonly database: string;
  /** When the schema of the database was created (Unix ms), which tells it from another database at the same address. */
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

/** Throws `unusable` for a folder whose records were imported into a database. */
export function requireNotImported(path: string): void {
  const mark = readImportMark(path);
  if (mark === undefined) return;
  throw new LedgerError(
    'unusable',
    `the ledger in ${path} was imported into PostgreSQL at ${mark.database}, so this folder is no longer used (${markPath(path)} says so): ` +
      'set QRN_LEDGER. If qrn cluster import-lmdb did not complete, run it again',
  );
}
