// Bun.serve with randomInt. Run by `bun`; the bench leaves it out where Bun is not installed.
import { randomUUID } from 'node:crypto';
import { answerFields, answerText, drawOneByOne, orderOf, orderOfQuery, type ValueOrder } from './answers.ts';

declare const Bun: {
  serve(options: {
    hostname: string;
    port: number;
    fetch: (request: Request) => Response | Promise<Response>;
  }): { readonly port: number };
};

function answer(order: ValueOrder): Response {
  const requestId = randomUUID();
  return new Response(answerText(order, requestId, drawOneByOne), { headers: answerFields(requestId) });
}

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    const { pathname, search } = new URL(request.url);
    if (pathname === '/v1/integers') return answer(orderOfQuery(search));
    return answer(orderOf(await request.text()));
  },
});
process.stdout.write(`ready http://127.0.0.1:${server.port}\n`);
