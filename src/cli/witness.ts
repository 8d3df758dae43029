import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { ADD_CHECKPOINT_BYTES_MAX, parseLogs, Witness, type WitnessReply } from '../certificate/witness.ts';
import { openSigningKey } from '../crypto/key-files.ts';
import { isKeyName } from '../crypto/note.ts';
import { port } from './arguments.ts';
import { action, type Reader, stopped } from './command.ts';
import { requireFolder } from './data-folder.ts';
import { readInputFile } from './documents.ts';
import { listen } from './listen.ts';

const keyName: Reader<string> = {
  what: 'a name without spaces and +',
  read: (text) => (isKeyName(text) ? text : undefined),
};

/** A request is small, so a connection that takes longer to send one is closed. */
const REQUEST_DEADLINE_MS = 10_000;
const CONNECTIONS_MAX = 256;
const CHECKPOINT_PATH = /^\/([0-9a-f]{64})\/checkpoint$/;

export const witness = action({
  path: 'witness',
  summary:
    'Runs a witness of transparency logs (c2sp.org/tlog-witness) until SIGTERM or SIGINT. The witness cosigns a checkpoint of a known\n' +
    'log only if it extends the last checkpoint that the witness cosigned. The state of a witness must never be set back or copied.\n' +
    'If the state is lost, retire the witness and its key.',
  options: {
    name: {
      value: 'NAME',
      required: true,
      meaning: 'name of the witness, e.g. witness.example/w1',
      read: keyName,
    },
    logs: {
      value: 'FILE',
      required: true,
      meaning:
        'file with the verifier keys of the logs, one per line: verifier_key in /.well-known/qrn-keys.json',
    },
    state: { value: 'DIRECTORY', required: true, meaning: 'folder for the key and the state of the witness' },
    host: { value: 'ADDRESS', meaning: 'address to listen on; default: 127.0.0.1' },
    port: {
      value: 'PORT',
      meaning: 'port to listen on; default: 3080; with 0 the operating system chooses one',
      read: port,
    },
  },
  run: async ({ name, logs, state, host = '127.0.0.1', port: wanted = 3080 }, context) => {
    requireFolder(state, '--state');
    const served = new Witness({
      name,
      key: openSigningKey(join(state, 'witness.pem')),
      logs: parseLogs(readInputFile(logs).toString('utf8')),
      directory: state,
      clock: context.clock,
    });
    const server = createServer({ requestTimeout: REQUEST_DEADLINE_MS }, (request, response) => {
      answer(served, request, response).catch(() => response.destroy());
    });
    server.maxConnections = CONNECTIONS_MAX;
    const stopping = stopped(context.interruption());
    const advice = 'set --port to a free port, or --host to an address of this machine';
    context.out(`ready ${await listen(server, host, wanted, advice)}\nkey ${served.verifierKey}\n`);
    await stopping;
    server.close();
    server.closeAllConnections();
  },
});

async function answer(served: Witness, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = request.url ?? '';
  const hash = CHECKPOINT_PATH.exec(path)?.[1];
  if (request.method === 'GET' && hash !== undefined) return send(response, served.checkpoint(hash));
  if (request.method !== 'POST' || path !== '/add-checkpoint') {
    response.writeHead(404).end();
    return;
  }
  const body = await bodyOf(request);
  if (body === undefined) {
    response.writeHead(413, { connection: 'close' }).end();
    return;
  }
  send(response, served.addCheckpoint(body));
}

function send(response: ServerResponse, { status, contentType, body }: WitnessReply): void {
  response.writeHead(status, { 'content-type': contentType }).end(body);
}

/** Reads the body of a request; undefined when it is too long. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > ADD_CHECKPOINT_BYTES_MAX) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
