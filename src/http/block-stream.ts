import type { Drawn, Keeping } from '../answer/answer.ts';
import { Idempotency } from '../answer/idempotency.ts';
import type { DataRequest } from '../answer/request.ts';
import { utf8Bytes } from '../core/bytes.ts';
import { periodOf } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';
import { describedHead } from './answer-reply.ts';
import type { StreamPlan } from './endpoint.ts';
import { errorOf, retryAfterOf } from './error-reply.ts';
import type { Exchange } from './exchange.ts';

/**
 * Draws one block as a request of its own: checks key, rate and quota, and makes the answer. Rejects when one of them refuses
 * it.
 */
type DrawBlock = (request: DataRequest, keeping: Keeping | undefined) => Promise<Drawn>;

/**
 * Sends a reply of many answers, one JSON line for each. Each block goes through all steps of a request: key, rate, quota, draw,
 * commit and entry. The next block is drawn when the socket has taken the one before, so a client that stops reading is charged
 * for at most one block beyond what its connection buffers. The deadline of a reply applies to each block. Blocks name no ignored
 * parameters, because the head of the stream does. Never rejects.
 */
export async function sendBlocks(exchange: Exchange, plan: StreamPlan, draw: DrawBlock): Promise<void> {
  const { first, blocks } = plan;
  let block = first;
  exchange.isLate = false; // no block is shed because the request waited
  try {
    for (; block < blocks; block++) {
      let request = plan.requestOf(block);
      const keeping = keepingOf(exchange, request, block);
      if (block > first) {
        if (exchange.isDraining) throw new ApiError('shutting_down', { retryAfterS: 1 });
        exchange.restartDeadline();
        exchange.restart();
        // all blocks have the mode of the first, even if the account's tier changes meanwhile
        request = { ...request, mode: exchange.mode };
      }
      const drawn = await draw(request, keeping);
      // a replay has no owner: its memory is counted like that of a document
      const owner = drawn.isReplay ? undefined : drawn;
      if (exchange.isAborted || exchange.isAnswered) {
        owner?.release();
        return;
      }
      if (!exchange.isInLines) {
        const { credits } = exchange.account!.meter.left(periodOf(exchange.atMs));
        exchange.beginLines(describedHead(exchange, credits));
      }
      if (!(await exchange.sendLine(drawn.body, owner)) || exchange.isGone) return;
    }
    await sendLast(exchange, { end: { first, blocks: blocks - first, of: blocks } });
  } catch (thrown) {
    if (!exchange.isInLines) exchange.refused(thrown);
    else {
      // ends the stream with the error in place of the block that was refused
      const error = exchange.explain(thrown);
      exchange.service.record.recordBreakOff(error.code);
      const refusal = errorOf(error, exchange.requestId);
      await sendLast(exchange, { ...refusal, retry_after: retryAfterOf(error), next: block });
    }
  }
}

/** Sends the last line. A client that has received it knows how the stream ended. */
async function sendLast(exchange: Exchange, facts: object): Promise<void> {
  await exchange.sendLine(utf8Bytes(JSON.stringify(facts)), undefined);
  exchange.endLines();
}

/**
 * Returns the key of a block: the stream's key and the block's number. So a resumed stream may begin at any block. The block is
 * the same request only with the same values, mode and label.
 */
function keepingOf({ idempotencyKey }: Exchange, { values, mode, label }: DataRequest, block: number) {
  if (idempotencyKey === undefined) return undefined;
  const fingerprint = Idempotency.fingerprint(['stream', JSON.stringify([values, mode, label])]);
  return { key: `${idempotencyKey}/${block}`, fingerprint };
}
