// The idiomatic twin on the same HTTP library: one fill of system entropy, an Array, JSON.stringify, writeHeader.

import { App, type HttpResponse } from 'uWebSockets.js';
import { randomUUID } from 'node:crypto';
import {
  answerFields,
  answerText,
  drawFromOneFill,
  orderOf,
  orderOfQuery,
  type ValueOrder,
} from './answers.ts';
import { sayReady } from './say-ready.ts';
import { readBody } from './uws-body.ts';

function answer(response: HttpResponse, order: ValueOrder): void {
  const requestId = randomUUID();
  const text = answerText(order, requestId, drawFromOneFill);
  response.cork(() => {
    response.writeStatus('200 OK');
    for (const [name, value] of Object.entries(answerFields(requestId))) response.writeHeader(name, value);
    response.end(text);
  });
}

App()
  .get('/v1/integers', (response, request) => {
    response.onAborted(() => {});
    answer(response, orderOfQuery(request.getQuery()));
  })
  .post('/v1/batch', (response) => readBody(response, (body) => answer(response, orderOf(body.toString()))))
  .listen('127.0.0.1', 0, (socket) => sayReady(socket));
