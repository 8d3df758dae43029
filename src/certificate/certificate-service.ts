import type { MessagePort } from 'node:worker_threads';
import type { CertificateArchive } from './archive.ts';
import type { CertificateDocument } from './certificate.ts';
import type { CertificateLog, KeysDocument } from './log.ts';

/** What the fronts ask of certificates and their log. Lives in the ledger thread, so that none of it delays a reply. */
export interface CertificateService {
  /** `malformed`: 400 `invalid_id`. `unknown`: 404 `cert_not_found`. */
  find(id: string): Promise<CertificateDocument | 'malformed' | 'unknown'>;
  /** Every public key that ever signed for this log. */
  keys(): Promise<KeysDocument>;
  /** The newest checkpoint: a signed note. */
  checkpoint(): Promise<string>;
  /** A tile of the newest checkpoint's tree (c2sp.org/tlog-tiles); undefined where there is none. */
  tile(level: number, index: number): Promise<Uint8Array | undefined>;
  /** The hashes from one size to another (RFC 9162 §2.1.4); undefined for sizes that the log does not have. */
  consistencyProof(from: number, to: number): Promise<Uint8Array[] | undefined>;
}

export function certificateService(
  archive: CertificateArchive,
  log: CertificateLog,
  keys: KeysDocument,
): CertificateService {
  return {
    find: (id) => archive.find(id),
    keys: async () => keys,
    checkpoint: async () => log.checkpoint,
    tile: (level, index) => log.tile(level, index),
    async consistencyProof(from, to) {
      if (!(from >= 1 && from <= to && to <= log.size)) return undefined;
      return log.consistencyProof(from, to);
    },
  };
}

interface Call {
  readonly id: number;
  readonly method: keyof CertificateService;
  readonly args: readonly unknown[];
}

type Reply =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly fault: string };

/** Answers the calls that arrive on the port. */
export function serveCertificates(service: CertificateService, port: MessagePort): void {
  port.on('message', ({ id, method, args }: Call) => {
    // the compiler checked name and arguments where the call was made
    const call = service[method] as (...args: readonly unknown[]) => Promise<unknown>;
    call.apply(service, [...args]).then(
      (value) => port.postMessage({ id, value } satisfies Reply),
      (error: unknown) => {
        const fault = error instanceof Error ? (error.stack ?? error.message) : String(error);
        port.postMessage({ id, fault } satisfies Reply);
      },
    );
  });
}

/** The certificates behind the port. A fault there rejects here; a closed port rejects what waits. */
export function connectCertificates(port: MessagePort): CertificateService {
  const waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>();
  let nextId = 1;
  port.on('message', (reply: Reply) => {
    const call = waiting.get(reply.id);
    waiting.delete(reply.id);
    if ('fault' in reply) call?.reject(new Error(`certificates: ${reply.fault}`));
    else call?.resolve(reply.value as never);
  });
  port.on('close', () => {
    for (const { reject } of waiting.values()) reject(new Error('certificates: the ledger thread is gone'));
    waiting.clear();
  });
  const ask = <T>(method: keyof CertificateService, ...args: readonly unknown[]): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      waiting.set(nextId, { resolve, reject });
      port.postMessage({ id: nextId++, method, args } satisfies Call);
    });
  return {
    find: (id) => ask('find', id),
    keys: () => ask('keys'),
    checkpoint: () => ask('checkpoint'),
    tile: (level, index) => ask('tile', level, index),
    consistencyProof: (from, to) => ask('consistencyProof', from, to),
  };
}
