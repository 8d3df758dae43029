import assert from 'node:assert/strict';
import fc from 'fast-check';
import { HttpClient, type HttpReply, type HttpRequest } from '../../support/http.ts';
import type { Accept } from './cases.ts';
import { ACCEPTS } from './cases.ts';
import type { World } from './world.ts';

/** Stories of retries in pure mode: a few keys, a few requests, some of them sent twice at once. */

interface Step {
  /** Which of the story's own keys; a text is sent as it is, and is no key. */
  readonly key: number | string;
  readonly request: number;
  readonly accept: Accept;
  readonly isTwin: boolean;
}

/** Each with its price. The second is spelled in another way than the first, and so is another request. */
const REQUESTS: readonly (readonly [method: string, target: string, body: string | null, credits: number])[] =
  [
    ['GET', '/v1/bytes?count=5&entropy_mode=pure', null, 5],
    ['GET', '/v1/bytes?entropy_mode=pure&count=5', null, 5],
    ['GET', '/v1/integers?count=3&min=0&max=255&entropy_mode=PURE', null, 3],
    ['POST', '/v1/batch?entropy_mode=pure', '{"type":"bytes","count":2,"params":{"length":4}}', 8],
    ['POST', '/v1/batch?entropy_mode=pure', '{"type":"bytes","count":2,"params":{"length":5}}', 10],
  ];

const step: fc.Arbitrary<Step> = fc.record({
  key: fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: 0, max: 2 }) },
    { weight: 1, arbitrary: fc.constantFrom('', 'with a blank', 'x'.repeat(256), 'a\xe9b', 'tab\there') },
  ),
  request: fc.integer({ min: 0, max: REQUESTS.length - 1 }),
  accept: fc.constantFrom(
    ...ACCEPTS.filter(({ field }) => field === null || field === 'application/msgpack'),
  ),
  isTwin: fc.boolean(),
});

export const retryStory: fc.Arbitrary<readonly Step[]> = fc.array(step, { minLength: 1, maxLength: 8 });

interface First {
  readonly request: number;
  readonly accept: Accept;
  readonly body: Buffer;
}

/** Keys must not meet those of an earlier story. */
let stories = 0;

export async function holdRetries(world: World, story: readonly Step[]): Promise<void> {
  const prefix = `story-${++stories}-${'~'.repeat(stories % 200)}`;
  const firsts = new Map<number | string, First>();
  const other = new HttpClient(world.service.port);
  try {
    for (const { key, request, accept, isTwin } of story) {
      const text = typeof key === 'string' ? key : `${prefix}${key}`;
      const sent = world.as('pure', wireRequest(request, accept, text));
      const before = world.meter.drawnBytes;
      const twins = isTwin ? [world.send(sent), other.send(sent)] : [world.send(sent)];
      const replies = await Promise.all(twins);
      holdStep(
        world,
        replies,
        typeof key === 'string' ? undefined : firsts,
        { key, request, accept },
        before,
      );
    }
  } finally {
    other.close();
  }
}

function wireRequest(index: number, { field }: Accept, key: string): HttpRequest {
  const [method, target, body] = REQUESTS[index];
  const headers: [string, string][] = [['Idempotency-Key', key]];
  if (field !== null) headers.push(['Accept', field]);
  if (body !== null) headers.push(['Content-Type', 'application/json']);
  return { method, target, headers, body: body === null ? null : Buffer.from(body) };
}

function holdStep(
  world: World,
  replies: readonly HttpReply[],
  firsts: Map<number | string, First> | undefined,
  { key, request, accept }: Pick<Step, 'key' | 'request' | 'accept'>,
  drawnBefore: number,
): void {
  const drawn = world.meter.drawnBytes - drawnBefore;
  const first = firsts?.get(key);
  const isSame = first?.request === request && first.accept.field === accept.field;
  const answers = replies.filter(({ status }) => status === 200);
  if (firsts === undefined) {
    for (const reply of replies) holdCode(reply, 400, 'invalid_idempotency_key');
  } else if (first === undefined) {
    assert.ok(answers.length > 0, 'the first request with a key is answered');
    for (const reply of replies) if (reply.status !== 200) holdCode(reply, 409, 'idempotency_in_flight');
    for (const { body } of answers) assert.ok(body.equals(answers[0].body), 'twins get one answer');
    firsts.set(key, { request, accept, body: answers[0].body });
    const [, , , credits] = REQUESTS[request];
    const actor = world.actor('pure');
    actor.answers++;
    actor.credits += credits;
    world.consumedBytes += drawn;
    assert.ok(drawn > 0, 'an answer is drawn');
    return;
  } else if (isSame) {
    for (const { status, body } of replies) {
      if (status === 409) continue; // its twin reads the stored answer at the same moment
      assert.equal(status, 200);
      assert.ok(body.equals(first.body), 'a retry gets the first answer');
    }
  } else {
    for (const reply of replies) holdCode(reply, 422, 'idempotency_mismatch', 'idempotency_in_flight');
  }
  assert.equal(drawn, 0, 'a retry draws nothing');
}

function holdCode({ status, body }: HttpReply, due: number, ...codes: readonly string[]): void {
  const { error } = JSON.parse(body.toString()) as { error: { code: string } };
  assert.ok(codes.includes(error.code), `${codes.join(' or ')} is due: ${status} ${body.toString()}`);
  if (error.code === codes[0]) assert.equal(status, due);
}
