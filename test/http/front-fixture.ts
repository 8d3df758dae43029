import { after } from 'node:test';
import { systemClock } from '../../src/core/clock.ts';
import type { ApiError } from '../../src/core/errors.ts';
import { errorReply } from '../../src/http/error-reply.ts';
import type { Exchange } from '../../src/http/exchange.ts';
import { type Front, type FrontOptions, startFront } from '../../src/http/front.ts';
import { headOf } from '../../src/http/head.ts';
import { recordingLog } from '../pool/fixtures.ts';
import { type Conversation, talk } from '../support/http.ts';

export const PLAIN_HEAD = headOf(200, [['Content-Type', 'text/plain']]);

const started: Front[] = [];

/** Closes the fronts that were started: one that stays open keeps the process of its file from ending. */
export const closeFronts = () => Promise.all(started.splice(0).map((front) => front.drain(0)));
after(closeFronts);

/** Answers from a handler, as the router does: not while the engine reads the bytes in which the request came. */
export function sendLater(exchange: Exchange, ...reply: Parameters<Exchange['send']>): void {
  setImmediate(() => exchange.send(...reply));
}

/** Answers what the front refuses, as the router does: at once past the deadline, or the front cuts it. */
function refuse(exchange: Exchange, refused: ApiError, isLate = false): void {
  const { head, body } = errorReply(refused, exchange);
  if (isLate) exchange.send(head, body);
  else sendLater(exchange, head, body);
}

/** A front on a free port. `handle` answers what it serves, and `fail` what it refuses. */
export async function frontWith(
  handle: (exchange: Exchange) => void,
  { fail = refuse, ...options }: Partial<FrontOptions> & { readonly fail?: typeof refuse } = {},
): Promise<{ front: Front; log: ReturnType<typeof recordingLog> }> {
  const log = recordingLog();
  const { clock = systemClock } = options;
  const answer: FrontOptions['handle'] = (exchange, refused, isLate) =>
    refused === undefined ? handle(exchange) : fail(exchange, refused, isLate);
  const address = { host: '127.0.0.1', port: 0, portSetting: 'QRN_PORT', sharePort: false, tls: null };
  const own = { ...address, engine: 'uws', clock, log } as const;
  const front = await startFront({ ...own, handle: answer, ...options });
  started.push(front);
  return { front, log };
}

/** The one reply to these bytes, of which each piece is sent in a packet of its own. */
export async function replyTo(
  { port }: Front,
  pieces: string | readonly string[],
): Promise<Conversation['replies'][number]> {
  return (await talk(port, pieces, { replies: 1 })).replies[0];
}

const UNTIL_LOOKS_MAX = 30_000;

/** Resolves when `condition` holds; throws after 30,000 looks, a minute at least. */
export async function until(condition: () => boolean): Promise<void> {
  for (let looks = 0; !condition(); looks++) {
    if (looks === UNTIL_LOOKS_MAX) throw new Error(`waited in vain for: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
