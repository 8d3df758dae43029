import assert from 'node:assert/strict';
import { describeSettings } from '../../../../src/config/config.ts';
import { ConfigError } from '../../../../src/config/parsers.ts';
import { loadConfig } from '../../../../src/config/sources.ts';
import { type FuzzTarget, JSON_WORDS, latin1Of, refusalOf, scratchFile } from './target.ts';

/** Files that a fuzzed variable might name are nobody's to read. */
const NAMES_A_FILE = /_FILE$|^QRN_CONFIG$|^QRN_SOURCES$/;
const HOLDS_A_SECRET = /_(API_KEY|TOKEN)$/;
const SECRET = 'the-secret-of-the-fuzzer';

/** Three parts with empty lines between: the settings file, the sources file, and variables, one a line. */
const config: FuzzTarget = {
  name: 'config',
  words: [
    ...describeSettings().map(({ variable }) => `\n${variable}=`),
    ...JSON_WORDS,
    ...['"path":"/dev/qrandom0"', '"preset":"anu"', 'QRN_SOURCE_LAB_', '\nQRN_BACKEND=lab', '\n\n'],
  ],
  read: (input) => {
    const [settings = '', sources = '', variables = ''] = latin1Of(input).split('\n\n', 3);
    const environment: Record<string, string> = {};
    for (const line of variables.split('\n')) {
      const equals = line.indexOf('=');
      const name = line.slice(0, equals);
      if (equals > 0 && !NAMES_A_FILE.test(name)) environment[name] = line.slice(equals + 1);
    }
    if (settings !== '') environment['QRN_CONFIG'] = filed('settings.json', settings);
    if (sources !== '') environment['QRN_SOURCES'] = filed('sources.json', sources);
    const open = Object.entries(environment).filter(([name]) => !HOLDS_A_SECRET.test(name));
    const isSecret = [settings, sources, ...open.flat()].every((text) => !text.includes(SECRET));
    return outcomeOf(environment, isSecret);
  },
};

function filed(name: string, text: string): string {
  return scratchFile(name, Buffer.from(text, 'latin1'));
}

/** `isSecret`: the secret stands where secrets stand, and nowhere else. */
function outcomeOf(environment: Readonly<Record<string, string>>, isSecret: boolean): string {
  try {
    const loaded = loadConfig(environment);
    assert.ok(Object.isFrozen(loaded));
    assert.ok(Number.isInteger(loaded.port) && loaded.fronts >= 1 && loaded.workers >= 1);
    assert.ok(!(isSecret && JSON.stringify(loaded).includes(SECRET)), 'no secret is printed');
    return `loaded ${loaded.sources.map(({ backend }) => backend.type).join(' ')}`;
  } catch (error) {
    return refusalOf(error, ConfigError, ({ message }: ConfigError) => {
      assert.ok(!(isSecret && message.includes(SECRET)), 'no error holds a secret');
      assert.ok(message.length > 10, 'an error says what is wrong');
      return (
        /is not a setting|is not one of|is not an option|cannot be read as JSON|needs|belong together|not an object|names no source|there is no source|is not/.exec(
          message,
        )?.[0] ?? 'other'
      );
    });
  }
}

export const CONFIG_TARGETS: readonly FuzzTarget[] = [config];
