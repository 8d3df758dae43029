import assert from 'node:assert/strict';
import canonicalize from 'canonicalize';
import { drawnValues } from '../../src/certificate/draw-kinds.ts';
import { drawKey, drawStream } from '../../src/certificate/draw-stream.ts';
import type { KeysDocument } from '../../src/certificate/keys-document.ts';
import { fromHex, toHex, utf8Bytes } from '../../src/core/bytes.ts';
import { sha256 } from '../../src/crypto/sha256.ts';
import { TestBeacon } from '../support/test-beacon.ts';
import { committedBlocks, lotRecord, TIME_MS } from './fixtures.ts';
import { type Scene, scene } from './scene.ts';

/** A committed draw, as its document says it at its end; the same in every run. */
export interface DrawScene {
  readonly document: Record<string, unknown>;
  readonly keys: KeysDocument;
  /** ISO 8601. */
  readonly dueAt: string;
}

export interface DrawSceneOptions {
  readonly request?: Readonly<Record<string, unknown>>;
  /** The list of the statement; that of ITEMS by default, and null for none. */
  readonly list?: { readonly sha256: string; readonly size: number } | null;
  /** Chances of a weighted pick, as the service shows them. */
  readonly chances?: readonly { readonly item: string; readonly percent: string }[];
  /** Further members of the statement. */
  readonly statement?: Readonly<Record<string, unknown>>;
  /** The nonce that the caller opened, in hex. */
  readonly nonce?: string | null;
  /** Waits for no beacon. */
  readonly hasBeacon?: boolean;
  readonly end?: 'revealed' | 'cancelled' | 'failed' | 'none';
  readonly reason?: string | null;
  readonly isPublic?: boolean;
  /** The clock when the commitment is logged. */
  readonly loggedAtMs?: number;
  /** The time of the end in the outcome, and the clock when that is logged. */
  readonly endedMs?: number;
  readonly endLoggedMs?: number;
}

/** The 32 committed bytes lie across two blocks of the lot. */
const OFFSET = 4_080;
const ROUND = 8;
const ISSUED_MS = TIME_MS + 13;
/** Due 20 s after the commitment. */
const beacon = new TestBeacon(Math.ceil(TIME_MS / 1_000) - 50);

export const ITEMS = ['ada', 'grace', 'barbara', 'é, with a comma'];
const LIST_SHA256 = digestOf(ITEMS.map((item) => `${item}\n`).join(''));

export async function drawScene(options: DrawSceneOptions = {}): Promise<DrawScene> {
  const { hasBeacon = true, end = 'revealed', isPublic = true, nonce = null } = options;
  const lot = lotRecord('a');
  const secret = Buffer.concat(committedBlocks(lot.id)).subarray(OFFSET, OFFSET + 32);
  const dueMs = hasBeacon ? (Number(beacon.info['genesis_time']) + (ROUND - 1) * 10) * 1_000 : ISSUED_MS;
  const due_at = new Date(dueMs).toISOString();
  const statement = {
    type: 'draw_statement',
    version: 1,
    id: `draw_${'0123456789abcdefghjkmnpqrs'}`,
    request: options.request ?? { kind: 'sample', count: 2, items: ITEMS },
    ...(options.list === null ? {} : { list: options.list ?? { sha256: LIST_SHA256, size: ITEMS.length } }),
    purpose: 'spring raffle 2026',
    public: isPublic,
    ...(hasBeacon ? { beacon: { chain: beacon.hash, round: ROUND } } : {}),
    due_at,
    ...(hasBeacon ? { gives_up_at: new Date(dueMs + 86_400_000).toISOString() } : {}),
    ...options.statement,
  };
  const statement_sha256 = digestOf(canonicalOf(statement));
  const { purpose } = statement;
  const request = { isPublic, purpose, userData: undefined, userDataSha256: statement_sha256.slice(7) };
  const world = await scene({
    lots: [lot],
    mode: 'pure',
    drawn: [{ lot: 0, offset: OFFSET, bytes: 32 }],
    data: { bits: 256, bytes: secret.toString('hex'), count: 32, encoding: 'hex' },
    label: { request, serial: 3 },
  });
  const { certificate } = world.document;
  const { gives_up_at } = statement as { gives_up_at?: string };
  const commit = await logged(world, 'commit', options.loggedAtMs ?? TIME_MS + 1_500, {
    type: 'draw_commit',
    version: 1,
    statement_sha256,
    delivered: certificate.hashes.delivered,
    due_at: statement.due_at,
    ...(gives_up_at === undefined ? {} : { gives_up_at }),
  });
  const common = {
    type: 'draw',
    version: 1,
    id: statement.id,
    statement,
    statement_sha256,
    ...(options.chances === undefined ? {} : { chances: options.chances }),
    committed_at: certificate.issued_at,
    certificate_id: certificate.id,
    certificate: world.document,
    commit,
    chain: hasBeacon ? beacon.info : null,
  };
  const { keys } = world;
  if (end === 'none')
    return {
      keys,
      dueAt: due_at,
      document: copy({ ...common, state: 'committed', answer: null, outcome: null, end: null }),
    };
  const round = hasBeacon && end === 'revealed' ? { chain: beacon.hash, ...beacon.signed(ROUND) } : null;
  const isKnown = !hasBeacon || round !== null;
  const stream = drawStream(
    drawKey({
      secret,
      nonce: fromHex(nonce ?? ''),
      randomness: fromHex(round?.randomness ?? ''),
      statementDigest: fromHex(statement_sha256.slice(7)),
    }),
  );
  const endedMs = dueMs + { revealed: 1_000, cancelled: -15_000, failed: 86_400_000 }[end];
  const ended_at = new Date(options.endedMs ?? endedMs).toISOString();
  const outcome = {
    type: 'draw_outcome',
    version: 1,
    statement_sha256,
    state: end,
    reason: options.reason ?? null,
    secret: toHex(secret),
    nonce,
    beacon: round,
    values: isKnown ? drawnValues(statement.request, stream) : null,
    ended_at,
  };
  const ended = await logged(world, 'end', options.endLoggedMs ?? endedMs + 500, {
    type: 'draw_end',
    version: 1,
    statement_sha256,
    state: end,
    outcome_sha256: digestOf(canonicalOf(outcome)),
    ended_at,
  });
  return {
    keys,
    dueAt: due_at,
    document: copy({ ...common, state: end, answer: world.response, outcome, end: ended }),
  };
}

/** Logs a leaf of the draw, and gives it with its proof. */
async function logged({ world, log }: Scene, kind: 'commit' | 'end', atMs: number, leaf: object) {
  world.clock.wall = atMs;
  world.addDrawLeaf({ drawId: 'draw', kind, text: canonicalOf(leaf) });
  await log.seal();
  const found = await log.leafOf(`draw/draw/${kind}`);
  assert(found !== undefined);
  return found;
}

/** Returns the value as it is after a transfer as JSON. */
function copy(value: unknown): Record<string, unknown> {
  return JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
}

function canonicalOf(value: unknown): string {
  const text = canonicalize(value);
  assert(text !== undefined);
  return text;
}

export function digestOf(text: string): string {
  return `sha256:${toHex(sha256(utf8Bytes(text)))}`;
}
