import assert from 'node:assert/strict';
import canonicalize from 'canonicalize';
import { type LabelRequest, labelOf, labelText } from '../../src/answer/label.ts';
import type { CertificateService } from '../../src/certificate/archive.ts';
import type { CertificateDocument } from '../../src/certificate/document.ts';
import { type KeysDocument, keysDocument } from '../../src/certificate/keys-document.ts';
import type { CertificateLog } from '../../src/certificate/log.ts';
import { concatBytes, toHex, utf8Bytes } from '../../src/core/bytes.ts';
import { base32Of, uuidText } from '../../src/core/ids.ts';
import {
  type BareType,
  bareMediaType,
  type DataEndpoint,
  type EntropyMode,
} from '../../src/core/vocabulary.ts';
import { BlockCommitment } from '../../src/crypto/block-commitment.ts';
import { sha256 } from '../../src/crypto/sha256.ts';
import type { AnswerLabel } from '../../src/ledger/label-records.ts';
import { type DrawnRange, type LotRecord, PURE_BLOCK_BYTES } from '../../src/ledger/records.ts';
import { Opening } from '../../src/pool/supply/opening.ts';
import { answerEntry, committedBlocks, lotRecord, POWERED_BY, segmentRecord, TIME_MS } from './fixtures.ts';
import { LogWorld } from './log-world.ts';

/** One answer among others, as a client has it, and the service behind it; the same in every run. */
export interface Scene {
  readonly id: string;
  readonly response: Record<string, unknown>;
  readonly document: CertificateDocument;
  readonly keys: KeysDocument;
  readonly service: CertificateService;
  readonly world: LogWorld;
  readonly log: CertificateLog;
  /** Logs what was not logged yet. */
  seal(): Promise<void>;
}

export interface SceneOptions {
  readonly lots?: readonly LotRecord[];
  readonly mode?: EntropyMode;
  /** The answer's `data` member without its `metadata`; of pure mode the drawn bytes unless given, else a coin. */
  readonly data?: Record<string, unknown>;
  /** The requested endpoint; by default that of the data. */
  readonly endpoint?: DataEndpoint;
  /** The answer in octets of a type, in place of `data`. */
  readonly octets?: { readonly type: BareType; readonly body: Uint8Array };
  /** Why the first lot was withdrawn. */
  readonly revoked?: string;
  /** The label of the caller, and the serial in its series. */
  readonly label?: { readonly request: LabelRequest; readonly serial: number };
  /** Leaves the certificate without a proof. */
  readonly unlogged?: boolean;
  /** Answers in the log. */
  readonly answers?: number;
  /** The place of ours among them. */
  readonly at?: number;
  /** Time at which the first answer was issued. */
  readonly issuedAtMs?: number;
  /** The drawn bytes of the lots, or the drawn seed; by default the first 32 bytes of each lot, or the fourth seed. */
  readonly drawn?: readonly DrawnRange[];
}

const SEGMENT = 4;
const SALT = Uint8Array.from({ length: 32 }, (_, i) => 255 - i);
const COIN = { count: 1, max: 1, min: 0, sort: 'none', unique: false, values: [1] };

export async function scene(options: SceneOptions = {}): Promise<Scene> {
  const {
    lots = [lotRecord('a')],
    mode = 'quantum-seeded',
    answers = 21,
    at = 13,
    issuedAtMs = TIME_MS,
  } = options;
  const world = new LogWorld();
  for (const lot of lots) world.lots.set(lot.id, lot);
  const drawn = options.drawn ?? drawnOf(mode, lots);
  const source = { mode, lotIds: lots.map((lot) => lot.id), drawn };
  const backend = mode === 'csprng' ? 'none' : lots[0].quantumBackend;
  const values = options.data ?? (mode === 'pure' ? bytesOf(lots, drawn) : COIN);
  const data = { ...values, metadata: { entropy_mode: mode, quantum_source: backend } };
  const opening = mode === 'pure' ? openingOf(lots, drawn) : undefined;
  const text = canonicalize(data);
  assert(text !== undefined);
  const { octets } = options;
  const delivered = sha256(concatBytes(SALT, octets?.body ?? utf8Bytes(text)));
  const label = options.label && labelOf(options.label.request, 'acct_scene', SALT);
  const endpoint = options.endpoint ?? ('bytes' in values ? 'bytes' : 'integers');
  const mine = { delivered, octets: octets?.type, endpoint };
  const entries = Array.from({ length: answers }, (_, i) =>
    answerEntry(i, { mode, issuedAtMs: issuedAtMs + i, ...(i === at ? mine : {}) }),
  );
  const log = await world.open();
  world.clock.wall = issuedAtMs - 1_000;
  await log.seal();
  world.clock.wall = TIME_MS + 500;
  const serial = label?.series === undefined ? {} : { serial: options.label?.serial };
  const notes = label && { notes: [{ index: at, label: { ...label, ...serial } as AnswerLabel }] };
  world.commit({ ...segmentRecord(SEGMENT, [source], entries), ...notes });
  if (options.unlogged !== true) await log.seal();
  if (options.revoked !== undefined) {
    world.withdrawn.push({ lotId: lots[0].id, why: options.revoked, atMs: TIME_MS + 60_000 });
  }
  const keys = keysDocument(world.keys);
  const service = world.service(log, keys);
  const id = world.ids.textOf(SEGMENT, at);
  const document = await service.find(id);
  assert(typeof document === 'object');
  return {
    id,
    document,
    keys,
    world,
    log,
    response: {
      ...(octets === undefined
        ? { data }
        : { data: { metadata: data.metadata }, media_type: bareMediaType(octets.type) }),
      meta: { duration_ms: 0, request_id: uuidText(entries[at].requestId) },
      metadata: {
        certificate_id: id,
        certificate_salt: toHex(SALT),
        entropy_consumed_bytes: 1,
        entropy_origin: document.certificate.provenance.origin,
        lang_circuit: document.certificate.provenance.lang_circuit,
        lang_version: document.certificate.provenance.lang_version,
        nist_verified: document.certificate.verification.nist_verified,
        powered_by: POWERED_BY,
        processing_time_ms: 0,
        quantum_backend: document.certificate.provenance.quantum_backend,
        request_id: `req_${base32Of(entries[at].requestId)}`,
        timestamp: document.certificate.issued_at,
      },
      quantum_credits: { remaining: 10_240, total: 10_240, used: 0 },
      ...(options.label === undefined || label === undefined
        ? {}
        : { label: JSON.parse(labelText(options.label.request, label)) }),
      ...(opening === undefined ? {} : { opening }),
    },
    service,
    seal: async () => {
      await log.seal();
    },
  };
}

function drawnOf(mode: EntropyMode, lots: readonly LotRecord[]): DrawnRange[] {
  // a draw goes on in the next lot at the end of one
  if (mode === 'pure')
    return lots.map((_, lot) =>
      lot < lots.length - 1 ? { lot, offset: 8_688, bytes: 16 } : { lot, offset: 0, bytes: 32 },
    );
  return mode === 'csprng' ? [] : [{ lot: 0, offset: 96, bytes: 32 }];
}

/** An answer of /v1/bytes: the very bytes that were drawn. */
function bytesOf(lots: readonly LotRecord[], drawn: readonly DrawnRange[]): Record<string, unknown> {
  const bytes = Buffer.concat(drawn.map((range) => drawnBytes(lots[range.lot], range)));
  return { bits: 8 * bytes.length, bytes: bytes.toString('hex'), count: bytes.length, encoding: 'hex' };
}

/** Returns the header fields of an answer in octets, as its response in JSON has them. */
export function octetFieldsOf(response: Readonly<Record<string, unknown>>): string[] {
  const { data, meta, metadata, media_type } = response as Readonly<Record<string, Record<string, unknown>>>;
  const { entropy_mode } = data['metadata'] as Record<string, unknown>;
  const own =
    'NIST-Verified Timestamp Entropy-Origin Lang-Circuit Lang-Version Quantum-Backend Certificate-ID';
  const named = `${own} Certificate-Salt`.split(' ').map((name) => {
    return `X-${name}: ${metadata[name.toLowerCase().replace('-', '_')]}`;
  });
  const rest = [`X-Entropy-Mode: ${entropy_mode}`, `X-Request-ID: ${meta['request_id']}`];
  return [`Content-Type: ${media_type}`, ...rest, ...named];
}

/** Pure bytes of a lot of `lotRecord`. */
export function drawnBytes(
  { id }: LotRecord,
  { offset, bytes }: Pick<DrawnRange, 'offset' | 'bytes'>,
): Uint8Array<ArrayBuffer> {
  return concatBytes(...committedBlocks(id)).slice(offset, offset + bytes);
}

/** Returns the opening that an answer carries of the bytes drawn from lots of `lotRecord`. */
function openingOf(lots: readonly LotRecord[], drawn: readonly DrawnRange[]): unknown {
  const held = drawn.flatMap(({ lot, offset, bytes }) => {
    const blocks = committedBlocks(lots[lot].id);
    const first = Math.floor(offset / PURE_BLOCK_BYTES);
    const before = Math.ceil((offset + bytes) / PURE_BLOCK_BYTES);
    return blocks.slice(first, before).map((block, i) => {
      const commitment = lots[lot].commitment && new BlockCommitment(block);
      const left = block.length - Math.max(0, offset - (first + i) * PURE_BLOCK_BYTES);
      return { commitment, size: block.length, bytes: block, left };
    });
  });
  const text = new Opening(held, PURE_BLOCK_BYTES).finish(drawn);
  return text === undefined ? undefined : JSON.parse(text);
}

/** Replaces the member at the path in a copy, or removes it where nothing is to stand there. */
export function changed<T>(value: T, path: string, to: unknown): T {
  const copy = structuredClone(value);
  const names = path.split('.');
  const last = names.pop();
  assert(last !== undefined);
  let at = copy as Record<string, unknown>;
  for (const name of names) at = at[name] as Record<string, unknown>;
  if (to === undefined) delete at[last];
  else at[last] = to;
  return copy;
}
