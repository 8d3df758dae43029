// Loaded into the service with --import, in every thread: tells the test which secrets the service handles, by watching
// the functions of node:crypto and node:fs that they go through. It changes nothing of what these do. A secret is written with every
// bit turned over, so that the watcher leaves no copy of it in the memory that the test searches.
import crypto from 'node:crypto';
import fs, { createWriteStream, openSync, writeFileSync, writeSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { pipeline } from 'node:stream/promises';
import v8 from 'node:v8';
import workerThreads, { isMainThread, threadId } from 'node:worker_threads';
import { isEntropyDevice } from '../support/system-entropy.ts';
import type { SecretKind } from './secret-records.ts';

/** Size of the keys of AES-256-GCM, which seal blocks and answers; of the secrets only a seed has it too. */
const SEED_BYTES = 32;

/** Size of a generator's refill (src/crypto/expander.ts): in the first thread these are those of the seeds. */
const REFILL_BYTES = 4096;

type Tell = (kind: SecretKind, secret: Uint8Array) => void;

const directory = process.env['SECRETS_RECORD_DIR'];
if (directory !== undefined) watch(directory);

function watch(folder: string): void {
  const file = openSync(`${folder}/secrets-${process.pid}-${threadId}`, 'a', 0o600);
  const tell: Tell = (kind, secret) => {
    const turned = Uint8Array.from(secret, (byte) => ~byte);
    writeSync(file, `${kind}\t${Buffer.from(turned).toString('hex')}\n`);
  };
  watchCiphers(tell);
  watchSystemEntropy(tell);
  const dataCanary = plantCanaries(tell);
  if (isMainThread) snapshotOnSignal(folder, dataCanary);
  syncBuiltinESMExports();
}

function watchCiphers(tell: Tell): void {
  const { createCipheriv, createDecipheriv } = crypto;
  crypto.createCipheriv = ((algorithm: string, key: Uint8Array, iv: Uint8Array, options?: object) => {
    const cipher = createCipheriv(algorithm, key, iv, options as never);
    if (algorithm === 'aes-256-gcm') tell('block or answer key', key);
    if (algorithm === 'aes-256-ecb') tell('certificate-id key', key);
    if (algorithm === 'chacha20') {
      const update = cipher.update as (input: Uint8Array) => Uint8Array;
      cipher.update = ((input: Uint8Array) => {
        const isState = isMainThread && input.length === REFILL_BYTES;
        // The key of the self-tests is in their source.
        const isKnown = new Error().stack?.includes('/service/self-tests.ts') === true;
        if (!isKnown) tell(isState ? 'used state of a generator' : 'used one-time key', key);
        return update.call(cipher, input);
      }) as typeof cipher.update;
    }
    return cipher;
  }) as typeof crypto.createCipheriv;
  crypto.createDecipheriv = ((algorithm: string, key: Uint8Array, iv: Uint8Array, options?: object) => {
    const decipher = createDecipheriv(algorithm, key, iv, options as never);
    if (algorithm !== 'aes-256-gcm') return decipher;
    tell('block or answer key', key);
    const update = decipher.update as (input: Uint8Array) => Uint8Array;
    decipher.update = ((input: Uint8Array) => {
      const opened = update.call(decipher, input);
      if (opened.length === SEED_BYTES) tell('quantum seed', opened);
      else tell('claimed pure block', opened.subarray(0, 64));
      return opened;
    }) as typeof decipher.update;
    return decipher;
  }) as typeof crypto.createDecipheriv;
}

function watchSystemEntropy(tell: Tell): void {
  const { readSync } = fs;
  fs.readSync = ((
    fd: number,
    target: Uint8Array,
    offset: number,
    length: number,
    position: number | null,
  ) => {
    const count = readSync(fd, target, offset, length, position);
    if (length === SEED_BYTES && isEntropyDevice(fd)) {
      // The service keeps secrets of key files for as long as it runs; keys of pieces are one-time keys of a cipher.
      const caller = new Error().stack ?? '';
      if (!/key-files\.ts|expandSystemEntropy/.test(caller)) tell('system entropy of a seed', target);
    }
    return count;
  }) as typeof fs.readSync;
}

/**
 * Plants one canary in each place that the test searches, which proves that an otherwise empty search works. Returns
 * the last.
 */
function plantCanaries(tell: Tell): Uint8Array {
  const canary = (kind: SecretKind) => {
    const bytes = crypto.randomBytes(32);
    tell(kind, bytes);
    return bytes;
  };
  const planted = { memory: canary('canary in memory'), heap: canary('canary on the heap').toString('hex') };
  Object.defineProperty(globalThis, Symbol.for('canaries'), { value: planted });
  if (isMainThread) writeSync(2, `{"canary":"${canary('canary in the log').toString('base64')}"}\n`);
  return canary('canary in the data folder');
}

/**
 * SIGUSR2: heap snapshots of this thread and of the two that live as long as the service, the ledger's and the worker's that
 * expands. The others end when they are idle, and Node 22.23 dies (SIGSEGV) of a thread that ends while its snapshot is read.
 */
function snapshotOnSignal(folder: string, dataCanary: Uint8Array): void {
  const lasting: InstanceType<typeof workerThreads.Worker>[] = [];
  workerThreads.Worker = class extends workerThreads.Worker {
    constructor(...args: ConstructorParameters<typeof workerThreads.Worker>) {
      super(...args);
      if (lasting.length < 2) lasting.push(this);
    }
  };
  process.on('SIGUSR2', async () => {
    writeFileSync(`${process.env['QRN_DATA_DIR']}/ledger/canary`, dataCanary, { mode: 0o600 });
    v8.writeHeapSnapshot(`${folder}/main.heapsnapshot`);
    for (const worker of lasting) {
      const path = `${folder}/thread-${worker.threadId}.heapsnapshot`;
      await pipeline(await worker.getHeapSnapshot(), createWriteStream(path));
    }
    writeFileSync(`${folder}/snapshots-done`, '');
  });
}
