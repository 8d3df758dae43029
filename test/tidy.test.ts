import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

/** The shape of the house as a test: what may import what, and what must be absent. */
const root = fileURLToPath(new URL('..', import.meta.url));

interface SourceFile {
  /** Path below the project's root. */
  readonly path: string;
  readonly text: string;
  /** The text without comments. */
  readonly code: string;
  readonly imports: readonly string[];
}

function sourceFiles(folder: string): SourceFile[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
    .map((name) => {
      const path = join(folder, name);
      const text = readFileSync(join(root, path), 'utf8');
      const code = text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(^|\s)\/\/.*$/gm, '$1');
      const imports = [...code.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map((match) => match[1]);
      return { path, text, code, imports };
    });
}

const files = sourceFiles('src');

/** Rooms from the ground up; a room imports rooms of a lower floor, and itself. */
const FLOORS: readonly (readonly string[])[] = [
  ['core'],
  ['crypto', 'stats', 'values'],
  ['backend', 'beacon', 'ledger'],
  ['pool/intake', 'pool/supply', 'account', 'certificate'],
  ['fair'],
  ['answer'],
  ['draws'],
  ['workers'],
  ['http'],
  ['observe'],
  ['config'],
  ['service'],
  ['cli'],
  ['main'],
];
const floorOf = new Map(FLOORS.flatMap((rooms, floor) => rooms.map((room) => [room, floor] as const)));
/** The two halves of the pool are rooms of their own: neither imports the other. */
const roomOf = (path: string) => {
  const [room, inner] = relative('src', path).split('/');
  return room === 'pool' ? `pool/${inner}` : room.replace(/\.ts$/, '');
};

/** `where` may hold `pattern`; nobody else may. */
function onlyIn(pattern: RegExp, where: readonly string[], advice: string): void {
  const offenders = files.filter(
    ({ path, code }) => !where.some((prefix) => path.startsWith(prefix)) && pattern.test(code),
  );
  assert.deepEqual(
    offenders.map(({ path }) => path),
    [],
    advice,
  );
}

function onlyImportedIn(packageName: string, where: readonly string[]): void {
  const offenders = files.filter(
    ({ path, imports }) =>
      !where.some((prefix) => path.startsWith(prefix)) &&
      imports.some((name) => name === packageName || name.startsWith(`${packageName}/`)),
  );
  assert.deepEqual(
    offenders.map(({ path }) => path),
    [],
    `${packageName} is imported only in ${where.join(', ')}`,
  );
}

describe('the documents', () => {
  it('name tests that exist', () => {
    const notes = readFileSync(join(root, 'SPEC-NOTES.md'), 'utf8');
    const named = [...notes.matchAll(/test\/[\w/.-]+\.ts/g)].map(([path]) => path);
    assert.ok(named.length > 20);
    assert.deepEqual(
      named.filter((path) => !existsSync(join(root, path)) || path.includes('/long/')),
      [],
      'each is there, and runs in the full tier',
    );
  });

  it('name source files that exist', () => {
    const text = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
    const rooms = readdirSync(join(root, 'src'));
    const named = [...text.matchAll(/`([\w/.-]+\.(?:ts|mjs|wasm))`/g)].map(([, path]) => path);
    const inSource = named.filter((path) => path.includes('/') && rooms.includes(path.split('/')[0]));
    assert.ok(inSource.length > 20);
    assert.deepEqual(
      inSource.filter((path) => !existsSync(join(root, 'src', path))),
      [],
    );
  });

  it('link to files that exist', () => {
    for (const name of ['README.md', 'CONTRIBUTING.md', 'ARCHITECTURE.md', 'SECURITY.md', 'SPEC-NOTES.md']) {
      const text = readFileSync(join(root, name), 'utf8');
      const links = [...text.matchAll(/\]\(([\w./-]+)\)/g)].map(([, path]) => path);
      assert.deepEqual(
        links.filter((path) => !existsSync(join(root, path))),
        [],
        name,
      );
    }
  });
});

describe('the house', () => {
  it('imports go strictly downward', () => {
    const wrong: string[] = [];
    for (const { path, imports } of files) {
      const room = roomOf(path);
      assert.ok(floorOf.has(room), `${path}: no floor is given for the room ${room}`);
      for (const name of imports.filter((each) => each.startsWith('.'))) {
        const target = roomOf(relative(root, resolve(root, dirname(path), name)));
        if (target === room) continue;
        if (room === 'cli' && name.includes('/clients/typescript/program/')) continue; // a caller of the service, as any
        const below = floorOf.get(target);
        if (below === undefined || below >= floorOf.get(room)!) wrong.push(`${path} imports ${name}`);
      }
    }
    assert.deepEqual(wrong, [], 'a file imports its own room or a lower floor (ARCHITECTURE.md)');
  });

  it("the client's program asks the service from outside, and imports only the rooms that a client needs", () => {
    const rooms = ['core', 'beacon', 'certificate', 'observe', 'cli'];
    const named = sourceFiles('clients/typescript').flatMap(({ path, imports }) =>
      imports.map((name) => relative(root, resolve(root, dirname(path), name))),
    );
    const ofService = named.filter((name) => name.startsWith('src/'));
    assert.ok(ofService.length > 20);
    assert.deepEqual(
      ofService.filter((name) => !rooms.includes(roomOf(name))),
      [],
    );
  });

  it('the bench imports what tests share, tests import nothing of the bench, and scripts nothing of either', () => {
    const forbidden = { test: /^bench\//, scripts: /^(bench|test)\//, bench: /^test\/(?!support\/)/ };
    const others = Object.entries(forbidden).flatMap(([folder, pattern]) =>
      sourceFiles(folder).flatMap(({ path, imports }) => {
        const named = imports.map((name) => relative(root, resolve(root, dirname(path), name)));
        return named.filter((name) => pattern.test(name)).map((name) => `${path} imports ${name}`);
      }),
    );
    assert.deepEqual(others, [], 'the bench runs on what tests have: share it in test/support');
  });

  it('a worker reaches no account, backend or http', () => {
    const inWorkers = (path: string) => roomOf(path) === 'workers' || path === 'src/answer/make.ts';
    const wrong = files.filter(
      ({ path, imports }) =>
        inWorkers(path) && imports.some((name) => /\/(account|backend|http)\//.test(name)),
    );
    assert.deepEqual(
      wrong.map(({ path }) => path),
      [],
    );
  });

  it('the front never sees raw noise', () => {
    const wrong = files.filter(
      ({ path, imports }) =>
        roomOf(path) === 'http' &&
        imports.some((name) => /\/(backend|crypto\/expander|pool\/intake)/.test(name)),
    );
    assert.deepEqual(
      wrong.map(({ path }) => path),
      [],
    );
  });

  it('no ledger is opened so that a commit returns before it is on the disk', () => {
    onlyIn(/\b(noSync|noMetaSync|mapAsync)\b/, [], 'a power cut would take what was acknowledged');
  });

  it('time, environment, console and weak randomness each have one home or none', () => {
    onlyIn(/\bMath\.random\b/, [], 'there is no use for Math.random');
    onlyIn(
      /\b(randomFill|randomFillSync|randomBytes|randomInt|generateKeyPairSync|getRandomValues)\b/,
      [
        'src/crypto/system-entropy.ts',
        'src/http/request-id.ts', // public, and one for every request
        'src/backend/simulator/coins.ts', // noise of a model, which nobody takes for entropy
      ],
      "OpenSSL's generator is in the memory of the process: take crypto/system-entropy.ts",
    );
    onlyIn(
      /\bDate\.now\b|\bperformance\.now\b|new Date\(\)/,
      ['src/core/clock.ts', 'src/http/pages/client/'],
      'take a Clock (core/clock.ts)',
    );
    onlyIn(/\bprocess\.env\b/, ['src/main.ts', 'src/http/front.ts'], 'take the Config (config/config.ts)');
    onlyIn(
      /\bconsole\.|process\.stdout/,
      ['src/main.ts', 'src/cli/', 'src/http/pages/code-samples.ts' /* in an example that it shows */],
      'take a Log (core/log.ts)',
    );
  });

  it('each heavy package is imported in one room', () => {
    onlyImportedIn('uWebSockets.js', ['src/http/uws-engine.ts']);
    onlyImportedIn('piscina', ['src/workers/']);
    onlyImportedIn('lmdb', ['src/ledger/lmdb/']);
    onlyImportedIn('pino', ['src/core/log.ts']);
  });

  it('files are short, and none only re-exports', () => {
    for (const { path, text, code } of files) {
      const lines = text.split('\n').length;
      assert.ok(lines <= 700, `${path} has ${lines} lines; is there a second room hiding in it?`);
      assert.ok(
        !/^export (\*|\{[^}]*\}) from/m.test(code),
        `${path} re-exports: import from where a thing is made`,
      );
    }
  });

  it('only worker entries have default exports', () => {
    onlyIn(/^export default/m, ['src/workers/expand.ts', 'src/workers/assess.ts'], 'name what you export');
  });

  it('no file has any, enum or parameter properties', () => {
    onlyIn(/: any\b|\bas any\b|<any>/, [], 'name the type, or unknown');
    onlyIn(/^\s*(export )?(const )?enum /m, [], 'use a union of literals');
  });

  it('holds the text that each planted bug changes, once', () => {
    const place = /\[?(['`])((?:src|\$\{POSTGRES\})\/[^'`]+)\1\]?:\s*\[\s*(["'])(.*?)\3,/g;
    const bugs = sourceFiles('test').flatMap(({ text }) =>
      /= planted\(|: planted\(/.test(text) ? [...text.matchAll(place)] : [],
    );
    assert.ok(bugs.length >= 8);
    for (const [, , path, , from] of bugs) {
      const source = readFileSync(join(root, path.replace(/^\$\{POSTGRES\}/, 'src/ledger/postgres')), 'utf8');
      assert.equal(source.split(from).length, 2, `${path}: ${from}`);
    }
  });
});
