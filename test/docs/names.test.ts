import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { BACKENDS, SOURCE_PRESETS } from '../../src/backend/backends.ts';
import type { OptionDefinition } from '../../src/backend/definition.ts';
import { qrn } from '../../src/cli/commands.ts';
import { readSettings } from '../../src/config/config.ts';
import { sourceVariable } from '../../src/config/parsers.ts';
import { COMMON_OPTIONS } from '../../src/config/sources.ts';
import { runCommand } from '../support/run-command.ts';

/** Settings, options of sources and commands that any page names are there. */
const root = fileURLToPath(new URL('../..', import.meta.url));
const text = globSync(['*.md', 'docs/*.md', 'clients/*/README.md', 'deploy/*.yml'], {
  cwd: root,
  exclude: ['CHANGELOG.md'],
})
  .map((path) => readFileSync(`${root}${path}`, 'utf8'))
  .join('\n');

/** Sources that pages call by a name of their own, and their types. */
const NAMED: Readonly<Record<string, string>> = { 'ibm-fez': 'ibm', hub: 'qrn', 'n1-for-n2': 'qrn', lab: '' };
/** Read by the clients or by a script of the deployment, and the families of the options of sources. */
const OTHERS = ['QRN_URL', 'QRN_KEY', 'QRN_CONFIG', 'QRN_SOURCES', 'QRN_SOURCE', 'QRN_POSTGRES_PASSWORD'];

it('every setting that a page names exists', () => {
  const known = new Set([...OTHERS, ...readSettings({}).map(({ variable }) => variable)]);
  for (const name of [...SOURCE_PRESETS.keys(), ...Object.keys(NAMED)]) {
    const type = SOURCE_PRESETS.get(name)?.type ?? NAMED[name];
    const options = { ...COMMON_OPTIONS, ...BACKENDS.find((backend) => backend.type === type)?.options };
    known.add(sourceVariable(name, 'type'));
    for (const [option, { secret }] of Object.entries<OptionDefinition<unknown>>(options)) {
      known.add(sourceVariable(name, option));
      if (secret === true) known.add(`${sourceVariable(name, option)}_FILE`);
    }
  }
  const named = new Set(text.match(/\bQRN_[A-Z0-9_]*[A-Z0-9]\b(?!_)/g));
  assert.ok(named.size > 60, `${named.size} settings are named`);
  assert.deepEqual([...named].filter((name) => !known.has(name)).sort(), []);
});

it('every command that a page names exists', async () => {
  // "qrn certificate id v1" and the like stand before what is hashed
  const typed = text.replaceAll(/\bqrn [a-z ]+ v\d/g, '');
  const words = typed.matchAll(/\bqrn (?:-- )?([a-z][a-z-]+)(?: ([a-z][a-z-]+))?(?![\w.-])/g);
  const named = new Set(Array.from(words, ([, ...path]) => path.filter((each) => each).join(' ')));
  assert.ok(named.size > 30, `${named.size} commands are named`);
  for (const path of named) {
    const { status, out } = await runCommand(qrn, [...path.split(' '), '--help']);
    // the second word may be an operand, but not where only commands can follow
    const [usage] = out.split('\n', 1);
    const isThere =
      usage.includes(` qrn ${path.split(' ')[0]} `) && (!path.includes(' ') || !/ COMMAND/.test(usage));
    assert.deepEqual([status, isThere], [0, true], `qrn ${path}: ${usage}`);
  }
});

it('the scripts that the compose file mounts exist and are valid', () => {
  const compose = readFileSync(`${root}deploy/compose.cluster.yml`, 'utf8');
  const scripts = [...compose.matchAll(/\.\/(postgres\/\w+\.sh):/g)].map(([, path]) => path);
  assert.equal(scripts.length, 2);
  for (const path of scripts) execFileSync('sh', ['-n', `${root}deploy/${path}`]);
});
