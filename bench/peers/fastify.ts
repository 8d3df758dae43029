// Fastify with randomInt. Needs the package fastify, which the project does not: the bench leaves it out where it is
// not installed.
import { randomUUID } from 'node:crypto';
import { answerFields, answerText, drawOneByOne, orderOf, orderOfQuery, type ValueOrder } from './answers.ts';

/** What is used of it: the package's own types are not there to be had. */
interface FastifyReply {
  headers(fields: Record<string, string>): FastifyReply;
}
interface FastifyRequest {
  readonly url: string;
  readonly body: unknown;
}
interface FastifyInstance {
  get(path: string, handler: (request: FastifyRequest, reply: FastifyReply) => unknown): void;
  post(path: string, handler: (request: FastifyRequest, reply: FastifyReply) => unknown): void;
  listen(options: { host: string; port: number }): Promise<string>;
}

const packageName: string = 'fastify';
const { fastify } = (await import(packageName)) as { fastify: () => FastifyInstance };

function answer(reply: FastifyReply, order: ValueOrder): string {
  const requestId = randomUUID();
  reply.headers(answerFields(requestId));
  return answerText(order, requestId, drawOneByOne);
}

const app = fastify();
app.get('/v1/integers', (request, reply) => answer(reply, orderOfQuery(request.url.split('?')[1] ?? '')));
app.post('/v1/batch', (request, reply) => answer(reply, orderOf(JSON.stringify(request.body))));
process.stdout.write(`ready ${await app.listen({ host: '127.0.0.1', port: 0 })}\n`);
