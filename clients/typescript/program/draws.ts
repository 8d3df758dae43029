import { quicknetRoundFrom } from '../../../src/beacon/drand.ts';
import { listSha256 } from '../../../src/certificate/draw.ts';
import { printable } from '../../../src/certificate/members.ts';
import { listOf, moment, wholeNumber } from '../../../src/cli/arguments.ts';
import {
  action,
  type CommandContext,
  CommandError,
  type Given,
  group,
  type OptionTable,
  type Reader,
  type Report,
  readValue,
  UsageError,
} from '../../../src/cli/command.ts';
import { readInputFile } from '../../../src/cli/documents.ts';
import type { Part } from '../../../src/cli/text.ts';
import { fromHex } from '../../../src/core/bytes.ts';
import type { DrawCreation, DrawDocument, DrawList, DrawSubject, DrawValues } from '../src/draws.ts';
import { connect, SERVICE_OPTIONS, serving } from './service-client.ts';

const DRAW_ID = { name: 'DRAW_ID', meaning: 'draw_ and 26 characters, as draws create prints it' };
const OPTIONS = {
  json: { meaning: 'the document of the draw: keep it, and qrn verify checks it' },
  ...SERVICE_OPTIONS,
} as const;

/** Reads JSON. The service checks its content. */
const request: Reader<DrawValues> = {
  what: 'a JSON object such as {"type":"integers","count":6}',
  read: (text) => {
    try {
      return JSON.parse(text) as DrawValues;
    } catch {
      return undefined;
    }
  },
};

const nonceBytes: Reader<Uint8Array> = {
  what: '1 to 64 bytes in hex, in lower case',
  read: (text) => (/^(?:[0-9a-f]{2}){1,64}$/.test(text) ? fromHex(text) : undefined),
};

const beaconRound: Reader<NonNullable<DrawCreation['beacon']>> = {
  what: 'CHAIN:ROUND such as quicknet:37587412',
  read: (text) => {
    const [, chain, round] = /^([^:]+):([1-9]\d{0,14})$/.exec(text) ?? [];
    return chain === undefined ? undefined : { chain, round: Number(round) };
  },
};

const CREATE_OPTIONS = {
  winners: { value: 'N', meaning: 'how many winners are drawn of a list', read: wholeNumber() },
  list: { value: 'FILE', meaning: 'the list, one item a line; - is stdin. The items become public' },
  listSha256: {
    value: 'HEX',
    meaning: 'instead the SHA-256 of a list that stays with you, as sha256sum gives it; needs --size',
  },
  size: {
    value: 'N',
    meaning: 'how many lines that list has; the winners are line numbers from 1',
    read: wholeNumber(),
  },
  weights: {
    value: 'N,N,...',
    meaning: 'a whole number from 1 on for each item; then one item may be drawn more than once',
    read: listOf(wholeNumber()),
  },
  request: {
    value: 'JSON',
    meaning: 'in place of winners: values as of POST /v1/batch, e.g. {"type":"integers","count":6}',
    read: request,
  },
  purpose: { value: 'TEXT', required: true, meaning: 'what the draw is for; draws under one are numbered' },
  userData: { value: 'TEXT', meaning: 'what the draw is to be bound to, up to 1,000 characters' },
  userDataSha256: { value: 'HEX', meaning: 'its SHA-256 instead' },
  public: { meaning: 'the certificate shows the purpose too; the page of the draw shows it always' },
  nonce: { value: 'HEX', meaning: '1 to 64 bytes that enter the values', read: nonceBytes },
  nonceSha256: { value: 'HEX', meaning: 'its SHA-256 instead; qrn draws reveal opens it later' },
  beacon: {
    value: 'CHAIN:ROUND',
    meaning: 'a round of a public beacon that enters the values',
    read: beaconRound,
  },
  beaconAt: {
    value: 'TIME',
    meaning: 'instead the first round of quicknet that is due then or later, e.g. 2027-03-20T18:00:00Z',
    read: moment,
  },
  at: { value: 'TIME', meaning: 'not revealed before, e.g. 2027-01-31T12:00:00Z', read: moment },
  ...OPTIONS,
} as const satisfies OptionTable;

const create = action({
  path: 'draws create',
  summary:
    'Commits to a draw for 32 credits: the service fixes what is drawn, and its secret bytes, before anybody can know how the\n' +
    'draw ends. Without a beacon, --at and --nonce-sha256 it is revealed a moment later.',
  options: CREATE_OPTIONS,
  run: async (input, context) => {
    const creation = await creationOf(input, context);
    const { client, url } = connect(input, context);
    return reportOf(await serving(url, () => client.draws.create(creation)));
  },
});

const show = action({
  path: 'draws show',
  summary: 'Shows a draw: its state, when it is due, what it is for, and who won. Needs no API key.',
  operands: [DRAW_ID],
  options: OPTIONS,
  run: async (input, context) => {
    const [id] = input.operands;
    const { client, url } = connect(input, context, 'key not needed');
    return reportOf(await serving(url, () => client.draws.get(id)));
  },
});

const reveal = action({
  path: 'draws reveal',
  summary:
    'Opens the nonce of a draw that was made with --nonce-sha256. Do so only when qrn draws show tells that the commitment is\n' +
    'logged: a service that knows the nonce before could choose its bytes.',
  operands: [DRAW_ID, { name: 'NONCE', meaning: 'the bytes whose SHA-256 was given, in hex' }],
  options: OPTIONS,
  run: async (input, context) => {
    const [id, text] = input.operands;
    const nonce = readValue('NONCE', text, nonceBytes);
    const { client, url } = connect(input, context);
    return reportOf(await serving(url, () => client.draws.reveal(id, nonce)));
  },
});

const cancel = action({
  path: 'draws cancel',
  summary:
    'Cancels a draw that is not due yet: its secret bytes are opened, and the public log says that it was cancelled.',
  operands: [DRAW_ID],
  options: OPTIONS,
  irreversible: (input, context) => {
    const [id] = input.operands;
    const { client, url } = connect(input, context);
    return serving(url, async () => {
      const { state, statement } = await client.draws.get(id);
      if (state !== 'committed') throw new CommandError(`the draw ${id} has ended: it is ${state}`);
      if (Date.parse(statement.due_at) <= context.clock.wallMs())
        throw new CommandError(`the draw ${id} was due at ${statement.due_at} and cannot be cancelled`);
      return `This cancels the draw ${id} (${printable(statement.purpose)}): its secret bytes are opened, and the log says forever that it was cancelled.`;
    });
  },
  run: async (input, context) => {
    const [id] = input.operands;
    const { client, url } = connect(input, context);
    return reportOf(await serving(url, () => client.draws.cancel(id)));
  },
});

export const draws = group(
  'qrn draws',
  'Committed draws, which are fixed before anybody can know how they end.',
  [create, show, reveal, cancel],
);

async function creationOf(
  input: Given<typeof CREATE_OPTIONS>,
  context: CommandContext,
): Promise<DrawCreation> {
  const { at, beacon, beaconAt, purpose, userData, userDataSha256, nonce, nonceSha256 } = input;
  if (beacon !== undefined && beaconAt !== undefined)
    throw new UsageError('give --beacon or --beacon-at, not both');
  return {
    ...(await subjectOf(input, context)),
    purpose,
    userData,
    userDataSha256,
    public: input.public,
    nonce,
    nonceSha256,
    beacon: beaconAt === undefined ? beacon : { chain: 'quicknet', round: quicknetRoundFrom(beaconAt) },
    revealAt: at === undefined ? undefined : new Date(at),
  };
}

async function subjectOf(input: Given<typeof CREATE_OPTIONS>, context: CommandContext): Promise<DrawSubject> {
  const { request: values, winners: count, weights, list: file, listSha256: sha256, size } = input;
  if ((values === undefined) === (count === undefined))
    throw new UsageError('give --winners with a list, or --request');
  if (values !== undefined) {
    const ofWinners = { list: file, 'list-sha256': sha256, size, weights };
    const stray = Object.entries(ofWinners).find(([, given]) => given !== undefined)?.[0];
    if (stray !== undefined) throw new UsageError(`--${stray} goes with --winners, not with --request`);
    return { request: values };
  }
  if ((file === undefined) === (sha256 === undefined))
    throw new UsageError('--winners needs --list, or --list-sha256 with --size');
  if ((sha256 === undefined) !== (size === undefined))
    throw new UsageError('--list-sha256 and --size go together');
  const list: DrawList =
    file === undefined
      ? { sha256: sha256!, size: size! }
      : { items: linesOf(file, file === '-' ? await context.stdin() : readInputFile(file)) };
  return { winners: { count: count!, list, weights } };
}

/**
 * Splits the file into lines without changing a byte, so that the list has the hash that sha256sum prints of the file.
 */
function linesOf(file: string, bytes: Uint8Array): string[] {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new CommandError(`the list ${file} is not UTF-8`);
  }
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function reportOf(draw: DrawDocument): Report {
  const { outcome, state, id } = draw;
  const shown: Part[] = [factsOf(draw)];
  if (outcome?.values != null) {
    const unlike = outcome.state === 'failed' ? ', had it not failed' : ', had it not been cancelled';
    const title = `${titleOf(draw)}${outcome.state === 'revealed' ? '' : unlike}`;
    shown.push(`${title}:\n${outcome.values.map((value) => `${textOf(value)}\n`).join('')}`);
  }
  const note =
    state === 'committed'
      ? 'Publish the id and the leaf before the draw is due. qrn draws show tells how it ended.'
      : `To check it: qrn draws show ${id} --json > DRAW.json, then qrn verify DRAW.json`;
  return { data: draw, shown, note };
}

function factsOf({ id, state, statement, committed_at, certificate, commit, end, outcome }: DrawDocument) {
  const { purpose, list, beacon, nonce_sha256: nonceSha256, due_at, gives_up_at } = statement;
  const reason = outcome?.reason ?? state;
  const isLogged = (end ?? commit).proof !== null;
  return {
    draw: id,
    state: reason === state ? state : `${state}: ${reason}`,
    purpose,
    ...(list === undefined ? {} : { list: `${list.size} items, ${list.sha256}` }),
    ...(beacon === undefined ? {} : { beacon: `round ${beacon.round} of ${beacon.chain}` }),
    ...(nonceSha256 === undefined ? {} : { nonce: outcome?.nonce ?? `to be opened, ${nonceSha256}` }),
    origin: certificate?.certificate.provenance.origin ?? 'not known until the certificate can be read',
    committed: committed_at,
    due: due_at,
    ...(gives_up_at === undefined || outcome !== null ? {} : { 'fails after': gives_up_at }),
    ...(outcome === null ? {} : { ended: outcome.ended_at }),
    log: `${outcome === null ? 'the commitment' : 'the end'} ${isLogged ? 'is logged' : 'is not logged yet'}`,
    ...(outcome === null ? { leaf: commit.leaf } : {}),
  };
}

/** Returns the heading of the values. For a list that the organiser keeps, the values are line numbers. */
function titleOf({ statement: { list, request } }: DrawDocument): string {
  if (list === undefined) return 'values';
  const items = request['items'] as readonly string[] | undefined;
  return items !== undefined && listSha256(items) === list.sha256
    ? 'winners'
    : 'winners, as lines of the list from 1';
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? printable(value) : JSON.stringify(value);
}
