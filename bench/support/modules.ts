import { existsSync } from 'node:fs';
import type { Subject } from './suite.ts';

/** Imports a module of a subject's own source. Two revisions are two modules, each compiled and optimised by itself. */
async function load<T>({ root }: Subject, path: string): Promise<T> {
  return (await import(new URL(path, root).href)) as T;
}

/** Returns the modules that the suites in this process call. */
export async function modulesOf(subject: Subject) {
  return {
    make: await load<typeof import('../../src/answer/make.ts')>(subject, 'src/answer/make.ts'),
    request: await load<typeof import('../../src/answer/request.ts')>(subject, 'src/answer/request.ts'),
    keystream: await load<typeof import('../../src/pool/supply/keystream.ts')>(
      subject,
      'src/pool/supply/keystream.ts',
    ),
    reader: await load<typeof import('../../src/values/entropy-reader.ts')>(
      subject,
      'src/values/entropy-reader.ts',
    ),
    sample: await load<typeof import('../../src/values/sample.ts')>(subject, 'src/values/sample.ts'),
    requests: await load<typeof import('../../src/values/value-request.ts')>(
      subject,
      'src/values/value-request.ts',
    ),
    digest: await load<typeof import('../../src/crypto/sha256.ts')>(subject, 'src/crypto/sha256.ts'),
    expander: await load<typeof import('../../src/crypto/expander.ts')>(subject, 'src/crypto/expander.ts'),
    dispatch: await load<typeof import('../../src/workers/dispatch.ts')>(subject, 'src/workers/dispatch.ts'),
    lmdb: await load<typeof import('../../src/ledger/lmdb/lmdb-ledger.ts')>(
      subject,
      'src/ledger/lmdb/lmdb-ledger.ts',
    ),
    segment: await load<typeof import('../../src/ledger/segment.ts')>(subject, 'src/ledger/segment.ts'),
    /** Undefined in revisions whose fronts have no journals of their own. */
    journal: existsSync(new URL('src/ledger/front-journal.ts', subject.root))
      ? await load<typeof import('../../src/ledger/front-journal.ts')>(subject, 'src/ledger/front-journal.ts')
      : undefined,
  };
}

export type Modules = Awaited<ReturnType<typeof modulesOf>>;
