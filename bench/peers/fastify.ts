// Fastify with randomInt.
import { randomUUID } from 'node:crypto';
import { type FastifyReply, fastify } from 'fastify';
import { answerFields, answerText, drawOneByOne, orderOf, orderOfQuery, type ValueOrder } from './answers.ts';

function answer(reply: FastifyReply, order: ValueOrder): string {
  const requestId = randomUUID();
  reply.headers(answerFields(requestId));
  return answerText(order, requestId, drawOneByOne);
}

const app = fastify();
app.get('/v1/integers', (request, reply) => answer(reply, orderOfQuery(request.url.split('?')[1] ?? '')));
app.post('/v1/batch', (request, reply) => answer(reply, orderOf(JSON.stringify(request.body))));
process.stdout.write(`ready ${await app.listen({ host: '127.0.0.1', port: 0 })}\n`);
