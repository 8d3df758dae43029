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

/**
 * Draws one block as a request of its own: checks key, rate and quota, and makes the answer. Rejects when one of them refuses
 * it.
 */
type DrawBlock = (ask: Ask, request: DataRequest) => Promise<Drawn>;

/**
 * Sends a reply of many answers, one JSON line for each. Each block goes through all steps of a request: key, rate, quota, draw,
 * commit and entry. The next block is drawn when the socket has taken the one before, so a client that stops reading is charged
 * for at most one block beyond what its connection buffers. The deadline of a reply applies to each block. Never rejects.
 */
export async function sendBlocks(exchange: Exchange, plan: StreamPlan, draw: DrawBlock): Promise<void> {
  let hasBegun = false;
  let block = plan.first;
  try {
    const by = requesterOf(exchange, () => hasBegun);
    for (; block < plan.blocks; block++) {
      const drawn = await draw(askOf(exchange, plan, block, by), requestOf(exchange, plan, block));
      // a replay has no owner: its memory is counted like that of a document
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

/** Ends the stream with an error in place of the block that was refused. */
async function breakOff(exchange: Exchange, thrown: unknown, next: number): Promise<void> {
  const { pipeline } = exchange;
  const error = pipeline.explain(exchange, thrown);
  const { retryAfterS } = error.facts;
  pipeline.record.brokeOff(error.code);
  const retry = retryAfterS === undefined ? {} : { retry_after: Math.max(0, Math.ceil(retryAfterS)) };
  await sendLast(exchange, { ...errorOf(error, exchange), ...retry, next });
}

/** Sends the last line. A client that has received it knows how the stream ended. */
async function sendLast(exchange: Exchange, facts: object): Promise<void> {
  await exchange.sendLine(utf8Bytes(JSON.stringify(facts)), undefined);
  exchange.endLines();
}

/**
 * Returns the requester of the blocks. Only before the first block is sent can `isAnswered` mean that the front has refused
 * the request.
 */
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
 * Returns the Ask for a block. The first block has the id and the time of the HTTP request, the others their own. Blocks name no
 * ignored parameters, because the head of the stream does.
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

/** Returns the request for a block. All blocks have the mode of the first, even if the account's tier changes meanwhile. */
function requestOf(exchange: Exchange, plan: StreamPlan, block: number): DataRequest {
  const request = plan.requestOf(block);
  return block === plan.first ? request : { ...request, mode: exchange.mode };
}

/** Returns the key of a block: the stream's key and the block's number. So a resumed stream may begin at any block. */
function keepingOf({ idempotencyKey }: Exchange, plan: StreamPlan, block: number): Keeping | undefined {
  if (idempotencyKey === undefined) return undefined;
  const { values, mode } = plan.requestOf(block);
  const fingerprint = Idempotency.fingerprint(['stream', JSON.stringify([values, mode ?? null])]);
  return { key: `${idempotencyKey}/${block}`, fingerprint };
}
