import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { Secret } from '../../src/backend/definition.ts';
import { Provider } from '../../src/backend/provider.ts';
import { loadConfig } from '../../src/config/sources.ts';
import { systemClock } from '../../src/core/clock.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const KEY = 'qk-71f3.Very-Secret_9b';

function keyFile(content: string): string {
  const path = join(scratchFolder(), 'key');
  writeFileSync(path, content, { mode: 0o600 });
  return path;
}

/** What is said of a configuration that is refused. */
function refusal(environment: Record<string, string>): string {
  try {
    loadConfig({ QRN_BACKEND: 'anu', ...environment });
  } catch (error) {
    assert.ok(error instanceof Error);
    return `${error.message} ${error.stack} ${inspect(error, { depth: 9 })}`;
  }
  assert.fail('the configuration was taken');
}

describe('the key of a provider', () => {
  it('prints as [secret], however it is printed', () => {
    const secret = new Secret(KEY);
    const config = { options: { key: secret }, list: [secret] };
    const printed = [
      String(secret),
      `${secret}`,
      JSON.stringify(config),
      inspect(config, { depth: 9, showHidden: true, getters: true }),
      Object.entries(secret).join(),
    ];
    for (const text of printed) assert.ok(!text.includes(KEY), text);
    assert.equal(secret.reveal(), KEY);
  });

  it('is not repeated by the configuration that holds it, nor by one that is refused', () => {
    const config = loadConfig({ QRN_BACKEND: 'anu', QRN_SOURCE_ANU_API_KEY: KEY });
    assert.ok(!inspect(config, { depth: 20, showHidden: true }).includes(KEY));
    assert.ok(!JSON.stringify(config).includes(KEY));
    const refusals = [
      { QRN_SOURCE_ANU_API_KEY: KEY, QRN_SOURCE_ANU_API_KEY_FILE: keyFile(KEY) },
      { QRN_SOURCE_ANU_API_KEY: KEY, QRN_SOURCE_ANU_CALLS: 'x' },
      { QRN_SOURCE_ANU_API_KEY_FILE: keyFile(`${KEY}\n${KEY}\n`) },
    ];
    for (const each of refusals) assert.ok(!refusal(each).includes(KEY));
  });

  it('is refused, unrepeated, when it holds what no header may hold', () => {
    // two lines in a variable, a zero-width space from a web page, a control character
    for (const key of [`${KEY}\n${KEY}`, `${KEY}\u200b`, `${KEY}\u0001`, `${KEY}\r`]) {
      const said = refusal({ QRN_SOURCE_ANU_API_KEY: key });
      assert.match(said, /QRN_SOURCE_ANU_API_KEY: the secret of anu is not one line of printable ASCII/);
      assert.ok(!said.includes(KEY));
    }
    const said = refusal({ QRN_SOURCE_ANU_API_KEY_FILE: keyFile(`${KEY}\u200b\n`) });
    assert.match(said, /QRN_SOURCE_ANU_API_KEY_FILE: the secret of anu is not one line/);
    assert.ok(!said.includes(KEY));
  });

  it('is not in the error of a request that cannot be made', async () => {
    const signal = new AbortController().signal;
    const call = { method: 'GET', url: 'http://127.0.0.1:9/', replyBytesMax: 1, signal } as const;
    const provider = new Provider(call.url, systemClock, () => []);
    for (const value of [`Bearer ${KEY}\n${KEY}`, `${KEY}\u200b`, `${KEY}\0`]) {
      await assert.rejects(provider.call({ ...call, headers: { authorization: value } }), {
        name: 'BackendError',
        message: '127.0.0.1:9: the request cannot be made (TypeError)',
      });
    }
  });
});
