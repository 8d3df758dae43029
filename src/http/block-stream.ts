import type { Ask, Drawn, Keeping, Requester } from '../answer/answer.ts';
import { Idempotency } from '../answer/idempotency.ts';
import type { DataRequest } from '../answer/request.ts';
import { utf8Bytes } from '../core/bytes.ts';
import { periodOf } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';
import { describedHead } from './answer-reply.ts';
import type { StreamPlan } from './endpoint.ts';
import { errorOf } from './error-reply.ts';
import type { Exchange } from './exchange.ts';

/** Takes a block through key, rate, quota and answer, as a request of its own. Rejects where any of them refuses it. */
type DrawBlock = (ask: Ask, request: DataRequest) => Promise<Drawn>;

/**
 * A reply of many answers, a line of JSON each, of which each goes the whole way of a request: key, rate, quota, draw, commit
 * and entry. The next is asked for when the socket has taken the one before it, so a reader that stops is charged for one block
 * beside what its connection buffers. Its deadline is that of any reply, for each block. Never rejects.
 */
export async function sendBlocks(exchange: Exchange, plan: StreamPlan, draw: DrawBlock): Promise<void> {
  let hasBegun = false;
  let block = plan.first;
  try {
    const by = requesterOf(exchange, () => hasBegun);
    for (; block < plan.blocks; block++) {
      const drawn = await draw(askOf(exchange, plan, block, by), requestOf(exchange, plan, block));
      // a replay has no owner: it is counted as any document is
      const owner = drawn.isReplay ? undefined : drawn;
      if (exchange.isAborted || (!hasBegun && exchange.isAnswered)) {
        owner?.release();
        return;
      }
      if (!hasBegun) {
        const { credits } = exchange.account!.meter.left(periodOf(exchange.atMs));
        exchange.beginLines(describedHead(exchange, credits));
        hasBegun = true;
      }
      if (!(await exchange.sendLine(drawn.body, owner)) || exchange.isGone) return;
    }
    const { first, blocks } = plan;
    await sendLast(exchange, { end: { first, blocks: blocks - first, of: blocks } });
  } catch (error) {
    if (hasBegun) await breakOff(exchange, error, block);
    else exchange.refused(error);
  }
}

/** Ends the stream with an error in the place of the block that was refused. */
async function breakOff(exchange: Exchange, thrown: unknown, next: number): Promise<void> {
  const { pipeline } = exchange;
  const error = pipeline.explain(exchange, thrown);
  const { retryAfterS } = error.facts;
  pipeline.record.brokeOff(error.code);
  const retry = retryAfterS === undefined ? {} : { retry_after: Math.max(0, Math.ceil(retryAfterS)) };
  await sendLast(exchange, { ...errorOf(error, exchange), ...retry, next });
}

/** What a client that has it knows to be complete. */
async function sendLast(exchange: Exchange, facts: object): Promise<void> {
  await exchange.sendLine(utf8Bytes(JSON.stringify(facts)), undefined);
  exchange.endLines();
}

/** The front may refuse the request while its first block is made, because that takes too long. */
function requesterOf(exchange: Exchange, hasBegun: () => boolean): Requester {
  return {
    get mode() {
      return exchange.mode;
    },
    set mode(mode) {
      exchange.mode = mode;
    },
    get isGone() {
      return exchange.isGone;
    },
    get isAnswered() {
      return !hasBegun() && exchange.isAnswered;
    },
  };
}

/**
 * Asks for a block, the first by the id and the time of the request itself. The head of the stream tells of ignored parameters,
 * so that no block does.
 */
function askOf(exchange: Exchange, plan: StreamPlan, block: number, by: Requester): Ask {
  const keeping = keepingOf(exchange, plan, block);
  if (block === plan.first) return { ...exchange.asForJson(keeping), by };
  if (exchange.isDraining) throw new ApiError('shutting_down', { retryAfterS: 1 });
  exchange.restartDeadline();
  const { clock } = exchange.pipeline;
  const atMs = clock.wallMs();
  exchange.renameAt(atMs);
  return { ...exchange.asForJson(keeping), atMs, startedMonotonicMs: clock.monotonicMs(), by };
}

/** All blocks have the mode of the first: a tier that changes meanwhile turns no mode into another. */
function requestOf(exchange: Exchange, plan: StreamPlan, block: number): DataRequest {
  const request = plan.requestOf(block);
  return block === plan.first ? request : { ...request, mode: exchange.mode };
}

/** Each block is kept under the stream's key and its own number. Where a resumed stream begins does not matter. */
function keepingOf({ idempotencyKey }: Exchange, plan: StreamPlan, block: number): Keeping | undefined {
  if (idempotencyKey === undefined) return undefined;
  const { values, mode } = plan.requestOf(block);
  const fingerprint = Idempotency.fingerprint(['stream', JSON.stringify([values, mode ?? null])]);
  return { key: `${idempotencyKey}/${block}`, fingerprint };
}
