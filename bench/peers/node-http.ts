// node:http with randomInt, and node:http that says hello.
import { randomUUID } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerFields, answerText, drawOneByOne, orderOf, orderOfQuery, type ValueOrder } from './answers.ts';

function answer(response: ServerResponse, order: ValueOrder): void {
  const requestId = randomUUID();
  const text = answerText(order, requestId, drawOneByOne);
  response.writeHead(200, { ...answerFields(requestId), 'Content-Length': Buffer.byteLength(text) });
  response.end(text);
}

const server = createServer((request, response) => {
  const [path, query = ''] = request.url!.split('?');
  if (path === '/hello') response.end('hello');
  else if (path === '/v1/integers') answer(response, orderOfQuery(query));
  else {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => answer(response, orderOf(body)));
  }
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`ready http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
