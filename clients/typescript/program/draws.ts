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

const DRAW_ID = {
  name: 'DRAW_ID',
  meaning: 'identifier of the draw: draw_ and 26 characters, as draws create prints it',
};
const OPTIONS = {
  json: { meaning: 'print the document of the draw, so that you can save it for qrn verify' },
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
  what: '1 to 64 bytes in lower-case hex',
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
  winners: { value: 'N', meaning: 'number of winners to draw from a list', read: wholeNumber() },
  list: {
    value: 'FILE',
    meaning: 'file with the list, one item per line; - is stdin; the items become public',
  },
  listSha256: {
    value: 'HEX',
    meaning:
      'SHA-256 hash of a list that you keep, as sha256sum prints it, instead of --list; requires --size',
  },
  size: {
    value: 'N',
    meaning: 'number of lines of that list; the winners are line numbers from 1',
    read: wholeNumber(),
  },
  weights: {
    value: 'N,N,...',
    meaning:
      'weights of the items: one whole number of at least 1 per item; an item may then be drawn more than once',
    read: listOf(wholeNumber()),
  },
  request: {
    value: 'JSON',
    meaning:
      'request for values as in POST /v1/batch, instead of --winners, e.g. {"type":"integers","count":6}',
    read: request,
  },
  purpose: {
    value: 'TEXT',
    required: true,
    meaning: 'purpose of the draw; draws with the same purpose are numbered',
  },
  userData: { value: 'TEXT', meaning: 'text that the draw is bound to, up to 1,000 characters' },
  userDataSha256: { value: 'HEX', meaning: 'SHA-256 hash of the user data, instead of --user-data' },
  public: { meaning: 'show the purpose in the certificate too; the page of the draw always shows it' },
  nonce: { value: 'HEX', meaning: 'nonce that the values depend on: 1 to 64 bytes', read: nonceBytes },
  nonceSha256: {
    value: 'HEX',
    meaning: 'SHA-256 hash of the nonce, instead of --nonce; qrn draws reveal reveals the nonce later',
  },
  beacon: {
    value: 'CHAIN:ROUND',
    meaning: 'round of a public beacon that the values depend on',
    read: beaconRound,
  },
  beaconAt: {
    value: 'TIME',
    meaning:
      'use the first round of quicknet that is due at this time or later, instead of --beacon, e.g. 2027-03-20T18:00:00Z',
    read: moment,
  },
  at: {
    value: 'TIME',
    meaning: 'earliest time at which the draw is revealed, e.g. 2027-01-31T12:00:00Z',
    read: moment,
  },
  ...OPTIONS,
} as const satisfies OptionTable;

const create = action({
  path: 'draws create',
  summary:
    'Commits to a draw, which costs 32 credits. The service fixes the request and its secret bytes before anyone can know the outcome.\n' +
    'Without --beacon, --at and --nonce-sha256 the draw is revealed immediately.',
  options: CREATE_OPTIONS,
  run: async (input, context) => {
    const creation = await creationOf(input, context);
    const { client, url } = connect(input, context);
    return reportOf(await serving(url, () => client.draws.create(creation)));
  },
});

const show = action({
  path: 'draws show',
  summary:
    'Shows a draw: its state, its purpose, the time at which it is due, and the winners. Needs no API key.',
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
    'Reveals the nonce of a draw that was created with --nonce-sha256. Do so only after qrn draws show states that the commitment is\n' +
    'logged, because a service that knows the nonce earlier could choose its bytes accordingly.',
  operands: [DRAW_ID, { name: 'NONCE', meaning: 'the nonce in hex, whose SHA-256 hash was given' }],
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
    'Cancels a draw that is not yet due. The service reveals the secret bytes, and the public log records the cancellation.',
  operands: [DRAW_ID],
  options: OPTIONS,
  irreversible: (input, context) => {
    const [id] = input.operands;
    const { client, url } = connect(input, context);
    return serving(url, async () => {
      const { state, statement } = await client.draws.get(id);
      if (state !== 'committed')
        throw new CommandError(`the draw ${id} has already ended; its state is ${state}`);
      if (Date.parse(statement.due_at) <= context.clock.wallMs())
        throw new CommandError(`the draw ${id} was due at ${statement.due_at} and cannot be cancelled`);
      return `This cancels the draw ${id} (${printable(statement.purpose)}): the service reveals its secret bytes, and the public log records the cancellation permanently.`;
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
  'Creates, shows, reveals and cancels committed draws, which are fixed before anyone can know the outcome.',
  [create, show, reveal, cancel],
);

async function creationOf(
  input: Given<typeof CREATE_OPTIONS>,
  context: CommandContext,
): Promise<DrawCreation> {
  const { at, beacon, beaconAt, purpose, userData, userDataSha256, nonce, nonceSha256 } = input;
  if (beacon !== undefined && beaconAt !== undefined)
    throw new UsageError('--beacon and --beacon-at must not both be given');
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
    throw new UsageError('either --winners with a list or --request is required');
  if (values !== undefined) {
    const ofWinners = { list: file, 'list-sha256': sha256, size, weights };
    const stray = Object.entries(ofWinners).find(([, given]) => given !== undefined)?.[0];
    if (stray !== undefined)
      throw new UsageError(`--${stray} must be used with --winners and not with --request`);
    return { request: values };
  }
  if ((file === undefined) === (sha256 === undefined))
    throw new UsageError('--winners requires --list, or --list-sha256 with --size');
  if ((sha256 === undefined) !== (size === undefined))
    throw new UsageError('--list-sha256 and --size must be given together');
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
      ? 'Publish the identifier and the leaf before the draw is due. qrn draws show shows the outcome.'
      : `To verify the draw, run: qrn draws show ${id} --json > DRAW.json && qrn verify DRAW.json`;
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
    ...(nonceSha256 === undefined ? {} : { nonce: outcome?.nonce ?? `not revealed yet, ${nonceSha256}` }),
    origin: certificate?.certificate.provenance.origin ?? 'not known until the certificate is available',
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
    : 'winners, as line numbers of the list from 1';
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? printable(value) : JSON.stringify(value);
}
