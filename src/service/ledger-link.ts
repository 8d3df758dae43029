import type { MessagePort } from 'node:worker_threads';
import type { CertificateService } from '../certificate/archive.ts';
import { concatBytes, giveBack, isLarge, wipe } from '../core/bytes.ts';
import {
  type Books,
  type DirectoryReader,
  type Ledger,
  type LedgerCalls,
  LedgerError,
} from '../ledger/ledger.ts';
import { Link, type OneEachTurn } from '../workers/call.ts';

/**
 * The ports of one front: calls on the ledger, look-ups for clients with a key, and look-ups for clients without. Look-ups
 * have ports of their own, so that they do not delay calls that all clients depend on.
 */
export const PORTS = ['ledger', 'keyed', 'keyless'] as const;
export type LedgerPorts = Readonly<Record<(typeof PORTS)[number], MessagePort>>;

/** The calls on the ledger from another thread, which after `follow` gets changes of the directory on the same port. */
interface FarLedger extends LedgerCalls {
  follow(): Promise<void>;
}

/** Look-ups for the owner of a key. */
export interface KeyedLookUps extends CertificateService, Pick<Books, 'usage'> {}

/**
 * Serves one front. Calls on the ledger run as they come. Of the look-ups of all fronts, each turn of the loop runs one
 * with a key and one without.
 */
export function serveFront(
  ports: LedgerPorts,
  ledger: ServedLedger,
  certificates: CertificateService,
  lookUps: { readonly keyed: OneEachTurn; readonly keyless: OneEachTurn },
): void {
  serveLedger(ledger, ports.ledger);
  new Link<object, KeyedLookUps>(ports.keyed, {
    serve: { ...certificates, usage: (...args) => ledger.usage(...args) },
    schedule: (run) => lookUps.keyed.add(run),
  });
  new Link<object, CertificateService>(ports.keyless, {
    serve: certificates,
    schedule: (run) => lookUps.keyless.add(run),
  });
}

type ServedLedger = LedgerCalls & Pick<Ledger, 'follow'>;

/** Serves the ledger's calls on a port. Closing the port leaves the ledger open. */
export function serveLedger(ledger: ServedLedger, port: MessagePort): void {
  const far: FarLedger = { ...ledger, follow: () => ledger.follow(link.calls) };
  const link: Link<DirectoryReader, FarLedger> = new Link<DirectoryReader, FarLedger>(port, {
    serve: far,
    movesOf: buffersOf,
    after: {
      addLot: (_lot, blocks) => wipe(...blocks.map(({ bytes }) => bytes)),
      commit: (_segments, answers) => giveBack(...answers.map(({ sealed }) => sealed)),
    },
  });
}

/**
 * Returns the ledger behind the port. `commit` copies the packed entries of segments, which are views of larger memory, and
 * moves large kept answers. Afterwards the length of those here is 0, so a caller who may repeat a commit keeps a copy. `close`
 * waits for the replies that are due, and closes the port. The calls are no members of their own, so a spread leaves them out.
 */
export function connectLedger(port: MessagePort): Ledger {
  const readers = new Set<DirectoryReader>();
  const link = new Link<FarLedger, DirectoryReader>(port, {
    serve: {
      async directoryChanged(...change) {
        const tell = (reader: DirectoryReader) =>
          reader.directoryChanged(...change).catch((error: unknown) => {
            readers.delete(reader); // the reader has ended; the others go on
            if (change[0].isWhole) throw error;
          });
        await Promise.all([...readers].map(tell));
      },
    },
    hand: {
      commit: (segments, answers) => {
        const copies = segments.map((segment) => ({ ...segment, entries: segment.entries.slice() }));
        return {
          args: [copies, answers],
          moves: [...copies.map(({ entries }) => entries.buffer), ...buffersOf(answers)],
        };
      },
      addLot: (lot, blocks, jobKey) => {
        const { moved, buffer } = copiedToMove(blocks);
        return { args: [lot, moved, jobKey], moves: [buffer] };
      },
    },
    closedError: (why) => new LedgerError('stopped', `the ledger cannot answer: ${why}`),
  });
  return Object.assign(Object.create(link.calls) as LedgerCalls, {
    identity: undefined, // a call on the port has any name
    async follow(reader: DirectoryReader) {
      readers.add(reader);
      await link.calls.follow();
    },
    close: () => link.close(),
  });
}

/**
 * Makes one copy of all blocks, which moves to the ledger's thread and is erased there. A message would leave copies
 * behind.
 */
function copiedToMove(blocks: Parameters<LedgerCalls['addLot']>[1]) {
  const copy = concatBytes(...blocks.map(({ bytes }) => bytes));
  let at = 0;
  const moved = blocks.map(({ kind, bytes }) => ({ kind, bytes: copy.subarray(at, (at += bytes.length)) }));
  return { moved, buffer: copy.buffer };
}

/**
 * Returns the buffers of blocks, and of kept answers that are cheaper to move than to copy, as far as the bytes fill their
 * buffer: the rest of a larger one is still in use.
 */
function buffersOf(value: unknown): ArrayBuffer[] {
  return [value].flat().flatMap((item) => {
    const { sealed, bytes } = (item ?? {}) as { sealed?: Uint8Array<ArrayBuffer>; bytes?: unknown };
    const moved = sealed === undefined ? bytes : isLarge(sealed) && sealed;
    const isWhole =
      moved instanceof Uint8Array && moved.length > 0 && moved.length === moved.buffer.byteLength;
    return isWhole ? [moved.buffer as ArrayBuffer] : [];
  });
}
