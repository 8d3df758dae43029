import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { describeSettings } from '../../src/config/config.ts';
import { LIMITS } from '../../src/core/limits.ts';
import { fetchWhole } from '../support/http.ts';
import { DocumentSchemas } from '../support/openapi.ts';
import { bearer } from '../support/replies.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { STRIPPED, TestServer } from '../support/server.ts';

/** README.md does what it says, against the real service. */
const root = fileURLToPath(new URL('../..', import.meta.url));
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const folder = scratchFolder();
const hasNumpy = spawnSync('python3', ['-c', 'import numpy']).status === 0;

const blocks = (language: string) =>
  [...readme.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, name, text]) =>
    name === language ? [text] : [],
  );

let server: TestServer;
let key: string;
before(async () => {
  server = await TestServer.shared();
  ({ key } = await server.account('pro'));
});

/** Runs lines of the README as a reader would, who has exported key and URL. */
function shell(script: string): Promise<{ status: number; out: string; talk: string }> {
  const main = ['"$NODE"', ...STRIPPED.map((each) => `"${each}"`), `"${root}src/main.ts"`].join(' ');
  // \`npm run -s qrn --\` changes into the folder of the software, which holds no answer.json
  const npm = `npm() { shift 4; ${main} "$@"; }`;
  const env = {
    PATH: process.env['PATH'],
    NODE: process.execPath,
    QRN_KEY: key,
    QRN_URL: server.baseUrl,
    QRN_DATA_DIR: folder,
  };
  return new Promise((resolve) => {
    const args = ['-e', '-o', 'pipefail', '-c', `${npm}\n${script}`];
    execFile('bash', args, { cwd: folder, env }, (error, out, talk) =>
      resolve({ status: error === null ? 0 : Number(error.code), out, talk }),
    );
  });
}

/** The shape of JSON: its members, all the way down, and the types of what they hold. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return [shapeOf(value[0])];
  if (typeof value !== 'object' || value === null) return typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shapeOf(each)]));
}

describe('README.md', () => {
  it('has at most 100 lines', () => {
    assert.ok(readme.trimEnd().split('\n').length <= 100);
  });

  it('shows the complete response to the request above it', async () => {
    const [ask] = blocks('sh').filter((each) => each.includes('/integers?'));
    const [, ...lines] = ask.split('\n'); // the first reads the key of the demo account
    const { status, out, talk } = await shell(lines.join('\n'));
    assert.equal(status, 0, talk);
    const [given, shown] = [JSON.parse(out), JSON.parse(blocks('json')[0])];
    assert.deepEqual(shapeOf(shown), shapeOf(given));
    const document = await (await fetchWhole(`${server.origin}/openapi.json`)).json();
    const schema = { $ref: '#/components/schemas/IntegersAnswer' };
    assert.equal(new DocumentSchemas(document as never).complaint(schema, shown), '');
    const { data, metadata } = shown as { data: object; metadata: Record<string, string> };
    assert.ok(metadata['verify_url'].endsWith(`/verify/${metadata['certificate_id']}`));
    const parameters = ({ values: _, ...rest }: Record<string, unknown>) => rest;
    assert.deepEqual(parameters(data as never), parameters(given.data));
  });

  it('has recipes that run unchanged', async () => {
    const recipes = blocks('sh').slice(2);
    assert.equal(recipes.length, 4, 'and the fifth needs an account at a provider');
    for (const recipe of recipes) {
      const isOfNumpy = recipe.includes('import numpy');
      const lines = recipe.split('\n').filter((line) => hasNumpy || !line.includes('import numpy'));
      const { status, out, talk } = await shell(lines.join('\n'));
      assert.equal(status, 0, `${recipe}${out}${talk}`);
      if (recipe.includes('qrn -- verify')) assert.match(out, /answer\.json: verified\n$/);
      if (isOfNumpy && hasNumpy) assert.ok(Math.abs(Number(out) - 0.5) < 0.01, out);
    }
    const forged = readFileSync(join(folder, 'answer.json'), 'utf8').replace('"ada"', '"eve"');
    const { status } = await shell(
      `cat > forged.json <<'END'\n${forged}\nEND\nnpm run -s qrn -- verify forged.json`,
    );
    assert.equal(status, 1, 'a byte was changed');
    const draw = JSON.parse(readFileSync(join(folder, 'draw.json'), 'utf8'));
    assert.equal(draw.type, 'draw');
  });

  it('names the largest batch, and files that exist', () => {
    assert.ok(
      readme
        .replaceAll('\n', ' ')
        .includes(`batches of up to ${LIMITS.batchCountMax.toLocaleString('en')} values`),
    );
    const links = [...readme.matchAll(/\]\(([^)#]+)\)/g)].map(([, path]) => path);
    assert.ok(links.length > 15);
    for (const path of links) assert.ok(existsSync(join(root, path)), path);
  });
});

it('docs/settings.md has every setting of the service, and no other', () => {
  const page = readFileSync(join(root, 'docs/settings.md'), 'utf8');
  const rows = page.split('\n').filter((line) => line.startsWith('| `QRN_'));
  const named = rows.flatMap((row) => row.split('|')[1].match(/QRN_[A-Z_]+(<[A-Z]+>_<[A-Z]+>)?(?=`)/g) ?? []);
  // read by the clients; families of options of sources; and where the settings themselves are
  const others = ['QRN_URL', 'QRN_KEY', 'QRN_CONFIG', 'QRN_SOURCES'];
  const variables = describeSettings(2).map(({ variable }) => variable);
  assert.deepEqual(
    [...new Set([...named, ...others])].sort(),
    [...new Set([...variables, ...others])].sort(),
  );
});

it('docs/formats.md names the forms that an answer has', async () => {
  const page = readFileSync(join(root, 'docs/formats.md'), 'utf8');
  const headers = bearer(key);
  for (const [type, path] of [
    ['text/plain', '/integers?count=2&format=plain'],
    ['text/csv', '/integers?count=2&format=csv'],
  ]) {
    const response = await fetchWhole(`${server.baseUrl}${path}`, { headers });
    assert.ok(response.headers.get('content-type')?.startsWith(type));
  }
  for (const accept of page.matchAll(/`Accept: ([a-z/-]+)`/g)) {
    const response = await server.batch({ type: 'integers', count: 2 }, { ...headers, accept: accept[1] });
    assert.deepEqual(
      [response.status, response.headers.get('content-type')?.split(';')[0]],
      [200, accept[1]],
    );
  }
});
