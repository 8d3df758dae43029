import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { removeWithUs } from './children.ts';
import { programInPath } from './closed-loop.ts';
import { type Server, startPeer } from './server.ts';

const peerPath = (file: string) => fileURLToPath(new URL(`../peers/${file}`, import.meta.url));

/** An answer of the service, which a bare server sends again. */
export interface StoredAnswer {
  readonly name: string;
  readonly response: Response;
}

/** Header fields that the HTTP library adds itself. */
const FIELDS_OF_THE_CONNECTION = new Set([
  'content-length',
  'date',
  'uwebsockets',
  'connection',
  'keep-alive',
]);

/** Starts bare uWebSockets.js with /hello, and with each stored answer and all its header fields at /NAME. */
export async function startBare(answers: readonly StoredAnswer[]): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'qrn-bench-'));
  removeWithUs(folder);
  for (const { name, response } of answers) {
    if (response.status !== 200) throw new Error(`${name}: ${response.status} ${await response.text()}`);
    const fields = [...response.headers].filter(([field]) => !FIELDS_OF_THE_CONNECTION.has(field));
    const head = ['200 OK', ...fields.map(([field, value]) => `${field}: ${value}`)].join('\r\n');
    writeFileSync(join(folder, `${name}.head`), head);
    writeFileSync(join(folder, `${name}.body`), new Uint8Array(await response.arrayBuffer()));
  }
  return startPeer(process.execPath, [peerPath('bare-uws.ts'), folder]);
}

interface Peer {
  readonly name: string;
  readonly start: () => Promise<Server>;
}

const onNode = (name: string, file: string): Peer => ({
  name,
  start: () => startPeer(process.execPath, [peerPath(file)]),
});

/** Makes the same values on the same HTTP library with an Array and JSON.stringify. */
export const JSON_TWIN = onNode('uWS + JSON.stringify', 'uws-json.ts');

/**
 * Starts the twin and the other stacks that are installed and can be built here. It tells `talk` which ones it skips
 * and why, and hands each server to `keep` as soon as it runs.
 */
export async function startPeers(
  talk: (line: string) => void,
  keep: (server: Server) => void,
): Promise<readonly { readonly name: string; readonly server: Server }[]> {
  const started = [];
  for (const { name, start } of [JSON_TWIN, ...installedPeers(talk)]) {
    talk(`starting ${name}`);
    try {
      const server = await start();
      keep(server);
      started.push({ name, server });
    } catch (error) {
      talk(
        `${name}: skipped, it cannot be started: ${error instanceof Error ? error.message.trim() : error}`,
      );
    }
  }
  return started;
}

function installedPeers(skip: (line: string) => void): readonly Peer[] {
  const peers = [
    onNode('node:http + randomInt', 'node-http.ts'),
    onNode('Fastify + randomInt', 'fastify.ts'),
  ];
  const bun = programInPath('bun');
  if (bun !== undefined) {
    peers.push({ name: 'Bun.serve + randomInt', start: () => startPeer(bun, [peerPath('bun-serve.ts')]) });
  } else skip('Bun.serve: skipped, no bun in PATH (npm install --global bun)');
  const go = programInPath('go');
  if (go !== undefined) {
    peers.push({ name: 'Go net/http + crypto/rand', start: () => startGo(go) });
  } else skip('Go net/http: skipped, no go in PATH (apt install golang-go)');
  const cargo = programInPath('cargo');
  if (
    cargo !== undefined &&
    existsSync(CRATES) &&
    readdirSync(CRATES).some((crate) => /^hyper-0/.test(crate))
  ) {
    peers.push({ name: 'Rust hyper + rand', start: () => startHyper(cargo) });
  } else skip('Rust hyper: skipped, no cargo in PATH or no hyper of Debian (bench/peers/hyper/Cargo.toml)');
  return peers;
}

/** The sources of Debian's librust-*-dev packages, which cargo uses instead of crates.io. */
const CRATES = '/usr/share/cargo/registry';

/** Builds offline into bench/out, which is kept: the first build takes about a minute of CPU. */
function startHyper(cargo: string): Promise<Server> {
  const folder = fileURLToPath(new URL('../out/hyper', import.meta.url));
  cpSync(peerPath('hyper'), folder, { recursive: true });
  const fromDebian = [
    ['--config', 'source.crates-io.replace-with="debian"'],
    ['--config', `source.debian.directory="${CRATES}"`],
  ].flat();
  execFileSync(cargo, ['build', '--release', '--offline', '--quiet', ...fromDebian], {
    cwd: folder,
    env: { ...process.env, CARGO_TARGET_DIR: join(folder, 'target') },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return startPeer(join(folder, 'target', 'release', 'hyper-peer'), []);
}

/** Builds first, because `go run` would be a process between the bench and the server. */
function startGo(go: string): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'qrn-bench-'));
  removeWithUs(folder);
  const program = join(folder, 'server');
  execFileSync(go, ['build', '-o', program, peerPath('server.go')], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return startPeer(program, []);
}
