import assert from 'node:assert/strict';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TestServer } from '../../support/server.ts';
import type { AbuseCase, Arena, Finding } from './arena.ts';

/** What goes wrong around a service, on its machine. */

const root = fileURLToPath(new URL('../../..', import.meta.url));
function inFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'qrn-abuse-'));
  return use(folder).finally(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
}

const becomesReady = (server: TestServer) => server.ready().then(Boolean, () => false);

/** The native binary is exchanged in a copy of the program. */
async function loadsNoOtherBinary({ engine, environment }: Arena): Promise<Finding> {
  return inFolder(async (folder) => {
    for (const name of ['src', 'scripts', 'clients', 'dist'])
      cpSync(join(root, name), join(folder, name), { recursive: true });
    cpSync(join(root, 'package.json'), join(folder, 'package.json'));
    const modules = join(folder, 'node_modules');
    mkdirSync(modules);
    for (const name of readdirSync(join(root, 'node_modules')))
      if (name !== 'uWebSockets.js') symlinkSync(join(root, 'node_modules', name), join(modules, name));
    const installed = join(root, 'node_modules/uWebSockets.js');
    const binary = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
    cpSync(installed, join(modules, 'uWebSockets.js'), {
      recursive: true,
      filter: (path) => !path.endsWith('.node') || path.endsWith(binary),
    });
    const path = join(modules, 'uWebSockets.js/dist/bin', binary);
    const sound = readFileSync(path);
    const tampered = Buffer.from(sound);
    tampered[tampered.length >> 1] ^= 1;
    const found: string[] = [];
    const start = async (what: string, content: Buffer): Promise<boolean> => {
      writeFileSync(path, content);
      const dataDir = join(folder, `data-${found.length}`);
      mkdirSync(dataDir, { mode: 0o700 });
      const server = TestServer.spawn(environment, dataDir, { shell: `cd ${folder} && exec "$0" "$@"` });
      const isReady = await becomesReady(server);
      const refusal = server.output().includes('is not the reviewed binary');
      server.process.kill('SIGKILL');
      await server.ended;
      found.push(`${what}: ${isReady ? 'serves' : refusal ? 'refused' : 'fails'}`);
      return isReady ? true : refusal ? false : assert.fail(server.output().slice(-300));
    };
    const ready = [
      await start('sound', sound),
      await start('a bit changed', tampered),
      await start('cut short', sound.subarray(0, sound.length - 4096)),
    ];
    const expected = engine === 'uws' ? [true, false, false] : [true, true, true]; // node:http does not load it
    return { figure: found.join(', '), isMet: String(ready) === String(expected) };
  });
}

export const OPERATORS: readonly AbuseCase[] = [
  { name: 'an exchanged binary', bound: 'is not loaded', run: loadsNoOtherBinary },
];
