import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import canonicalize from 'canonicalize';
import { verifyAnswer } from '../../src/certificate/verify.ts';
import { writeWholeVectors } from '../certificate/vectors.ts';
import { SECOND, type Times, witnessed } from '../certificate/witnessed-scene.ts';
import { bytesOf } from '../support/chance.ts';
import { AS_BATCHES, CALLS } from '../support/request-table.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { TestServer } from '../support/server.ts';

/** The Python client as a user has it: its wheel is built and installed, and its tests run against the real service. */
const root = fileURLToPath(new URL('../..', import.meta.url));
const source = join(root, 'clients/python');
const PYTHON = 'python3';
const randomBytes = bytesOf('python');
/** An Ed25519 key in DER, but for its last 32 bytes (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

const found = (command: string, ...args: string[]) => spawnSync(command, args).status === 0;
const noPython = found(PYTHON, '--version') ? false : `${PYTHON} is not installed`;
const noPip = noPython || (found(PYTHON, '-m', 'pip', '--version') ? false : 'pip is not installed');

describe('the Python client', { skip: noPython }, () => {
  let folder: string;
  let installed: string;
  let vectors: string;
  let server: TestServer;

  before(async () => {
    folder = scratchFolder();
    installed = join(folder, 'installed');
    mkdirSync(installed);
    vectors = join(folder, 'vectors');
    mkdirSync(vectors);
    writeWholeVectors(vectors);
    writeFileSync(join(folder, 'node.json'), JSON.stringify(await madeByNode()));
    server = await TestServer.shared();
    const { key } = await server.account('enterprise');
    writeFileSync(join(folder, 'calls.json'), JSON.stringify({ key, calls: CALLS, batches: AS_BATCHES }));
    // a wheel of pure Python is installed by unpacking it; that pip does the same is a test below
    const wheel = (await python([join(source, 'build_wheel.py'), folder])).stdout.trim();
    await python(['-m', 'zipfile', '-e', join(folder, wheel), installed]);
  });

  interface Ended {
    readonly code: number;
    readonly stdout: string;
    readonly stderr: string;
  }

  /** Runs Python in a folder that has nothing of the source, with the installed package in its path. */
  function python(args: readonly string[], expected = 0): Promise<Ended> {
    const env = {
      PATH: process.env['PATH'],
      PYTHONPATH: installed,
      PYTHONDONTWRITEBYTECODE: '1',
      QRN_URL: server.baseUrl,
      QRN_KEY: server.key,
      QRN_TEST_VECTORS: vectors,
      QRN_TEST_CALLS: join(folder, 'calls.json'),
      QRN_TEST_NODE: join(folder, 'node.json'),
      QRN_TEST_ERRORS: join(root, 'docs/errors.md'),
      QRN_TEST_EXAMPLES: join(source, 'examples'),
    };
    return new Promise((resolve, reject) => {
      execFile(PYTHON, args, { cwd: folder, env, maxBuffer: 1 << 24 }, (error, stdout, stderr) => {
        const code = error === null ? 0 : Number(error.code);
        if (code === expected) resolve({ code, stdout, stderr });
        else reject(new Error(`python3 ${args.join(' ')} ended with ${code}:\n${stdout}${stderr}`));
      });
    });
  }

  for (const name of [
    'test_verify',
    'test_transport',
    'test_stream',
    'test_random',
    'test_generator',
    'test_service',
    'test_requests',
    'test_draws',
  ]) {
    it(`passes ${name}.py`, async (context) => {
      const { stderr } = await python([
        '-W',
        'error',
        '-m',
        'unittest',
        'discover',
        '-v',
        '-s',
        join(source, 'tests'),
        '-p',
        `${name}.py`,
      ]);
      const [, ran] = /^Ran (\d+) tests/m.exec(stderr) ?? [];
      assert.ok(Number(ran) >= 3, stderr);
      for (const [line] of stderr.matchAll(/^.*\.\.\. skipped .*$/gm)) context.diagnostic(line);
    });
  }

  it('is found by its wheel with its types and its version', async () => {
    const script =
      "import importlib.metadata as m, qrn_client, pathlib; print(m.version('qrn-client'), qrn_client.__file__, " +
      "pathlib.Path(qrn_client.__file__).with_name('py.typed').exists())";
    const { stdout } = await python(['-c', script]);
    assert.equal(stdout, `0.1.0 ${join(installed, 'qrn_client/__init__.py')} True\n`);
  });

  it('is installed by pip without a download', { skip: noPip }, async () => {
    const target = join(folder, 'by-pip');
    // pip builds in a copy, so that nothing is written into the source
    await python(['-c', `import shutil; shutil.copytree(${JSON.stringify(source)}, 'copy')`]);
    const options = ['--no-index', '--no-deps', '--disable-pip-version-check', '--quiet'];
    await python(['-m', 'pip', 'install', ...options, '--target', target, './copy']);
    const { stdout } = await python([
      '-c',
      `import sys; sys.path.insert(0, ${JSON.stringify(target)}); import qrn_client; print(qrn_client.__file__)`,
    ]);
    assert.equal(stdout, `${join(target, 'qrn_client/__init__.py')}\n`);
  });

  it('imports only the standard library, numpy and cryptography where they are used, and more only for type checkers', async () => {
    const script = [
      'import ast, pathlib, sys, qrn_client',
      'names = set()',
      'for path in pathlib.Path(qrn_client.__file__).parent.glob("*.py"):',
      '    for node in ast.walk(ast.parse(path.read_text())):',
      '        if isinstance(node, ast.Import): names |= {each.name.split(".")[0] for each in node.names}',
      '        if isinstance(node, ast.ImportFrom) and node.level == 0: names.add(node.module.split(".")[0])',
      'standard = getattr(sys, "stdlib_module_names", names - {"numpy", "cryptography", "typing_extensions"})',
      'print(sorted(names - set(standard)), {"numpy", "typing_extensions"} & set(sys.modules))',
    ];
    const { stdout } = await python(['-c', script.join('\n')]);
    assert.equal(stdout, "['cryptography', 'numpy', 'typing_extensions'] set()\n");
  });

  it('has a README whose examples run', async () => {
    const readme = readFileSync(join(source, 'README.md'), 'utf8');
    const blocks = [...readme.matchAll(/```python\n([\s\S]*?)```/g)].map(([, text]) => text);
    assert.ok(blocks.length >= 6);
    if (!found(PYTHON, '-c', 'import numpy')) {
      for (const block of blocks) await python(['-c', `compile(${JSON.stringify(block)}, 'README', 'exec')`]);
      return;
    }
    await python(['-c', blocks.join('\n')]); // one after the other, as in a notebook
  });
});

/**
 * Returns results of another implementation: signatures of several keys, the canonical form of many numbers and texts,
 * and checks of witnessed certificates.
 */
async function madeByNode(): Promise<object> {
  const signatures = Array.from({ length: 8 }, (_, i) => {
    const der = Buffer.concat([PKCS8, randomBytes(32)]);
    const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    const message = randomBytes(i * 20);
    const raw = createPublicKey(privateKey).export({ type: 'spki', format: 'der' }).subarray(-32);
    return [raw, message, sign(null, message, privateKey)].map((part) => part.toString('hex'));
  });
  const numbers = [
    0,
    -0,
    1e21,
    1e-6,
    1e-7,
    123e-20,
    5e-324,
    1.7976931348623157e308,
    2 ** 53,
    1e20,
    0.1,
    -1.5,
  ];
  const bits = new DataView(new ArrayBuffer(8));
  while (numbers.length < 1_000) {
    bits.setBigUint64(0, randomBytes(8).readBigUInt64LE());
    const number = bits.getFloat64(0);
    if (Number.isFinite(number))
      numbers.push(number, Math.trunc(number), number % 1e6, Math.round(number % 1e18));
  }
  const texts = ['', 'é€🎲', '\u0000\u001f\u007f"\\/\b\f\n\r\t\u2028', '\ud7ff\ue000'];
  const objects = [
    { '€': 1, '\r': 2, 1: 3, '🎲': 4, '\ufb33': 5 },
    [],
    {},
    [null, true, false, { b: [1.0], a: {} }],
  ];
  const canonical = [...numbers, ...texts, ...objects].map((value) => [
    JSON.stringify(value),
    canonicalize(value),
  ]);
  return { signatures, canonical, witnessed: await checkedWitnesses() };
}

/** Certificates with what the TypeScript verifier says of those who saw them. */
async function checkedWitnesses(): Promise<object[]> {
  const [after, before, early] = [SECOND + 5, SECOND - 20, SECOND - 61];
  const both = (atS: number): Times => [1, 2].map((seed) => [seed, atS]);
  const inputs = [
    await witnessed(both(before), both(after), 2),
    await witnessed([[1, before]], both(after), 2),
    await witnessed(both(before), both(after), 3),
    await witnessed(both(before), both(after), 2, [1, 1]),
    await witnessed(both(before), [[1, early]], 1, [1]),
    await witnessed(both(before), both(after), 4),
    await witnessed(both(SECOND + 61), both(after), 2),
    await witnessed(both(before), [...both(after), [1, before]], 2),
  ];
  const [{ witnesses }] = inputs;
  const other = { ...witnesses, keys: witnesses.keys.map((key) => key.replace(/.$/, 'A')) };
  const cut = { ...inputs[0], witnesses: other };
  return Promise.all(
    [...inputs, cut].map(async (input) => ({ input, checks: (await verifyAnswer(input)).checks })),
  );
}
