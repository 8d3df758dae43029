import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Provider } from '../../src/backend/provider.ts';
import { systemClock } from '../../src/core/clock.ts';

const KEY = 'qk-71f3.Very-Secret_9b';

it('the key of a provider is not in the error of a request that cannot be made', async () => {
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
