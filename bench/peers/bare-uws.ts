// The upper limits of any front: uWebSockets.js that says hello, and that sends stored answers of the service unchanged.
//   node bench/peers/bare-uws.ts [FOLDER]     FOLDER/NAME.head and FOLDER/NAME.body are served at /NAME, and at /late/NAME
//                                             a turn of the loop later, when every field of the request was read

import { App, type HttpRequest, type HttpResponse } from 'uWebSockets.js';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sayReady } from './say-ready.ts';
import { readBody } from './uws-body.ts';

const app = App();
app.get('/hello', (response) => {
  response.end('hello');
});

const folder = process.argv[2];
const names = folder === undefined ? [] : readdirSync(folder).filter((file) => file.endsWith('.head'));
for (const file of names) {
  const name = file.slice(0, -'.head'.length);
  const head = readFileSync(join(folder, file)); // "200 OK", then the fields
  const body = readFileSync(join(folder, `${name}.body`));
  const answer = (response: HttpResponse) => {
    response.writeStatus(head).end(body);
  };
  app.get(`/${name}`, answer);
  app.get(`/late/${name}`, (response, request) => answerLate(response, request, answer));
  app.post(`/${name}`, (response) => readBody(response, () => response.cork(() => answer(response))));
}
/**
 * Answers that wait for the end of the turn. A front that reads requests and makes answers durable cannot do less than
 * this.
 */
let waiting: (() => void)[] = [];
function answerLate(
  response: HttpResponse,
  request: HttpRequest,
  answer: (response: HttpResponse) => void,
): void {
  request.getUrl();
  request.getQuery();
  request.forEach(ignore); // makes the library create a string of every name and value
  response.onAborted(ignore);
  if (waiting.push(() => response.cork(() => answer(response))) > 1) return;
  setImmediate(() => {
    const due = waiting;
    waiting = [];
    for (const send of due) send();
  });
}

function ignore(): void {}

app.listen('127.0.0.1', 0, (socket) => sayReady(socket));
