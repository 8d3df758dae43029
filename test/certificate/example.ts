import { incarnationText } from '../../src/certificate/incarnation.ts';
import type { KeysDocument } from '../../src/certificate/keys-document.ts';
import { toHex, utf8Bytes } from '../../src/core/bytes.ts';
import type { DataEndpoint, Origin } from '../../src/core/vocabulary.ts';
import { toBase64 } from '../../src/crypto/base64.ts';
import { sha256, sha256Hex } from '../../src/crypto/digest.ts';
import { publishedKey } from '../../src/crypto/key-files.ts';
import { parseProof } from '../../src/crypto/note.ts';
import { SigningKey } from '../../src/crypto/signing.ts';
import type { LotRecord } from '../../src/ledger/records.ts';
import { EntropyReader } from '../../src/values/entropy-reader.ts';
import type { ValueRequest } from '../../src/values/value-request.ts';
import { drawnValues } from '../values/drawn.ts';
import { lotEvidence, lotRecord, lotWithEvidence, sampleLot, TIME_MS, tested } from './fixtures.ts';
import { logKeys } from './log-world.ts';
import { changed, drawnBytes, forged, type Scene, type SceneOptions, scene } from './scene.ts';
import { cosignature, signature, withSignatures } from './signatures.ts';
import { storedVector, type VerificationCase } from './vectors.ts';

function lot(name: string, changes: Partial<LotRecord> = {}): LotRecord {
  const rawSha256 = sha256Hex(Buffer.from(`raw bits of lot ${name}`));
  const processedSha256 = sha256Hex(Buffer.from(`conditioned bytes of lot ${name}`));
  return lotRecord(name, { rawSha256, processedSha256, ...changes });
}

/** Of `/v1/bytes`: 1,024 bytes. */
const BITS_OF_A_CALL = 8_192;

function leafOf(name: string): string {
  return toBase64(sha256(utf8Bytes(`leaf ${name}`)));
}

const DICE = { count: 3, max: 6, min: 1, sort: 'none', unique: false, values: [4, 1, 6] };
/** 4, -1 and 2^31 - 1. */
const INT32 = Uint8Array.of(4, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f);
const FLOATS = { count: 5, precision: null, values: [0.1, 0.30000000000000004, 1e-7, 0, 5e-324] };
const ITEMS = { count: 3, items: ['ada "a" \\ \u20ac', '\u{1f3b2}', 'e\u0301\u0007'] };

/** The worked example of docs/certificates.md: the second of three answers. */
const WORKED_EXAMPLE: SceneOptions = { lots: [lot('a')], data: DICE, answers: 3, at: 1 };

export function workedExample(): Promise<Scene> {
  return scene(WORKED_EXAMPLE);
}

/** A vector: how its answer is made, and what is changed then. What it shows and which checks fail stands in its file. */
type Made = readonly [name: string, options: SceneOptions, change?: (s: Scene) => object];

/** The cases of test/vectors/certificate by their names. */
export async function verificationCases(): Promise<Map<string, VerificationCase>> {
  const cases = new Map<string, VerificationCase>();
  for (const [name, options, change = () => ({})] of [
    ...GENUINE,
    ...LABELLED,
    ...LOGGED,
    ...FIXED,
    ...opened(),
    ...WINDOWS,
    ...CONTRADICTIONS.map(
      ([each, path, to, of = {}]): Made => [`contradicts-${each}`, of, (s) => forged(s, path, to)],
    ),
  ]) {
    const asked = options.mode === 'pure' ? {} : { data: DICE };
    const s = await scene({ ...asked, lots: [lot('a')], ...options });
    const { what, fails } = storedVector(name);
    const { response, document: certificate, keys } = s;
    const each = { what, response, certificate, keys, ...change(s), fails };
    cases.set(name, JSON.parse(JSON.stringify(each)) as VerificationCase);
  }
  return cases;
}

/** A lot whose bits repeat under noise, and what it is credited. */
function dependentLot(claim: 'statistical' | 'calibrated', credited: number, bound = 0.009122): SceneOptions {
  const figures = { autocorrelation: 0.25, autocorrelation_bound: bound, autocorrelation_lag: 65_537 };
  const evidence = lotEvidence(claim, { minEntropyPerBit: credited, figures });
  return { lots: [lotWithEvidence('a', claim, { evidence, minEntropyPerBit: credited })] };
}

/** A lot that cites certificates of another service. */
function citing(ids: readonly string[], origin: Origin, certified = origin): SceneOptions {
  const certificates = ids.map((id) => ({ id: `cert_${id.padEnd(26, '0')}`, leaf: leafOf(id) }));
  const upstream = { log: 'hub.example/log', origin: certified, certificates };
  return { lots: [lot('a', { origin, rawBits: 2 * BITS_OF_A_CALL, upstream })] };
}

const GENUINE: readonly Made[] = [
  ['one-lot', {}],
  ['worked-example', WORKED_EXAMPLE],
  ['several-lots', { lots: [lot('a'), lot('b', { jobId: null, origin: 'replay' })], mode: 'pure' }],
  ['numbers', { data: FLOATS, endpoint: 'floats' }],
  ['unicode', { lots: [lot('a', { device: 'r\u00e9seau \u{1f310}' })], data: ITEMS }],
  ['one-leaf', { answers: 1, at: 0 }],
  ['last-leaf', { at: 20 }],
  ['test-source', { lots: [lot('a', { deterministic: true })] }],
  [
    'evidence',
    { lots: [lotWithEvidence('a', 'calibrated'), lotWithEvidence('b', 'statistical')], mode: 'pure' },
  ],
  ['evidence-of-a-simulator', { lots: [lot('a', { evidence: lotEvidence('calibrated') })] }],
  ['dependent', dependentLot('statistical', 0.406368)],
  ['dependent-calibrated', dependentLot('calibrated', 0.41)],
  ['dependent-credited', dependentLot('statistical', 0.79)],
  ['dependent-bound', dependentLot('calibrated', 0.41, 0.3)],
  ['upstream', citing(['a', 'b'], 'qrng-device')],
  ['upstream-weaker', citing(['a', 'b'], 'simulated', 'qrng-device')],
  ['upstream-origin', citing(['a', 'b'], 'qrng-device', 'replay')],
  ['upstream-twice', citing(['a', 'a'], 'qrng-device')],
  ['upstream-few', citing(['a'], 'qrng-device')],
  ['csprng', { lots: [sampleLot('a')], mode: 'csprng' }],
];

/** What the caller said of an answer: in words, and as commitments that the salt opens. */
const SAID = { purpose: 'raffle of \u{1f3b2} 2026', userData: 'line 1\nline "2"', userDataSha256: undefined };
const UNSAID = { isPublic: false, purpose: undefined, userData: undefined, userDataSha256: undefined };

const LABELLED: readonly Made[] = [
  ['label-public', { label: { request: { isPublic: true, ...SAID }, serial: 7 } }],
  ['label-private', { label: { request: { isPublic: false, ...SAID }, serial: 8 } }],
  ['label-digest', { label: { request: { ...UNSAID, userDataSha256: 'ab'.repeat(32) }, serial: 0 } }],
  [
    'label-not-text',
    { label: { request: { ...UNSAID, userData: '' }, serial: 0 } },
    (s) => ({ response: changed(s.response, 'label.user_data', []) }),
  ],
];

const EARLY = Date.UTC(2020, 0, 1);

/** Its proof, with the log's own signatures or those of other keys. */
const LOGGED: readonly Made[] = [
  ['proof-of-another', {}, (s) => proving(s, proofWithIndex(s, 12))],
  ['octets', { octets: { type: 'int32', body: INT32 } }, () => ({ octets: toHex(INT32) })],
  [
    'backdated',
    {
      lots: [lot('a', { startedAtMs: EARLY - 5_000, finishedAtMs: EARLY - 4_000 })],
      ...{ answers: 1, at: 0, issuedAtMs: EARLY, sealedAtMs: EARLY },
    },
  ],
  ['before-its-lot', { lots: [lot('a', { finishedAtMs: TIME_MS + 60_000 })] }],
  ['checkpoint-older', {}, (s) => proving(s, resigned(s, TIME_MS / 1000 - 60))],
  [
    'key-signs-after-retirement',
    {},
    (s) => ({ keys: rotated(s).keys, ...proving(s, resigned(s, TIME_MS / 1000 + 60)) }),
  ],
  ['key-rotated-in', {}, rotated],
  ['predecessor', {}, (s) => ({ keys: succeeded(s) })],
  ['no-time', {}, (s) => proving(s, s.document.certificate.proof?.replace(/— [^\n]+\n$/, ''))],
];

const ONE = lot('a');
const FORTY = { bits: 320, bytes: hexOf(ONE, 4_064, 40), count: 40, encoding: 'hex' };
const PURE: SceneOptions = {
  lots: [ONE],
  mode: 'pure',
  data: FORTY,
  drawn: [{ lot: 0, offset: 4_064, bytes: 48 }],
};

/** What was drawn stood in the log before. */
const FIXED: readonly Made[] = [
  ['fixed-bytes', PURE],
  [
    'fixed-two-lots',
    {
      lots: [ONE, lot('b')],
      mode: 'pure',
      drawn: [
        { lot: 0, offset: 8_688, bytes: 16 },
        { lot: 1, offset: 0, bytes: 32 },
      ],
    },
  ],
  [
    'opening-overdrawn',
    {
      ...PURE,
      data: { ...FORTY, bytes: hexOf(ONE, 0, 40) },
      drawn: [{ lot: 0, offset: 0, bytes: 4_096 }],
    },
  ],
  [
    'lot-logged-before-it-ended',
    {},
    (s) => {
      const proof = resigned(s, TIME_MS / 1000 - 60, s.document.lots[0].proof);
      return { certificate: changed(s.document, 'lots.0.proof', proof) };
    },
  ],
  [
    'opening-of-octets',
    { ...PURE, octets: { type: 'int32', body: INT32 } },
    (s) => ({ ...unopened(s), octets: toHex(INT32) }),
  ],
  ['values-not-drawn', { ...PURE, data: { ...FORTY, bytes: '00'.repeat(40) } }],
  ['lot-logged-later', { fixedAtMs: TIME_MS + 30_000, sealedAtMs: TIME_MS + 40_000 }],
];

/** What lay in a window that failed was erased: 4,000 bytes of a window are left, then those behind the erased ones. */
function lotWithGap(): LotRecord {
  return lot('a', {
    assessments: [
      tested('raw'),
      tested('conditioned', { bits: 32_000, passed: 180 }),
      tested('conditioned', { firstBit: 32_000, passed: 11, verified: false }),
      tested('conditioned', { firstBit: 900_000, passed: 185 }),
    ],
  });
}

/** Which windows an answer was drawn from. */
function fromGap(offset: number, bytes: number): SceneOptions {
  return { lots: [lotWithGap()], mode: 'pure', drawn: [{ lot: 0, offset, bytes }] };
}
const IN_GAP = tested('conditioned', { firstBit: 64_000, bits: 8_000, passed: 1 });

const WINDOWS: readonly Made[] = [
  ['windows-seed', { lots: [lotWithGap()] }],
  ['windows-before', fromGap(3_824, 16)],
  ['windows-across', fromGap(3_824, 32)],
  [
    'windows-swallowed',
    { ...fromGap(3_824, 32), lots: [lot('a', { assessments: [...lotWithGap().assessments, IN_GAP] })] },
  ],
  ['windows-behind', fromGap(3_840, 32)],
  [
    'windows-short',
    {
      lots: [
        lot('a', { assessments: [tested('conditioned', { bits: 800_000, passed: 150, verified: false })] }),
      ],
    },
  ],
  ['windows-none', { lots: [lot('a', { assessments: [tested('raw')] })] }],
  ['windows-beside', { lots: [lot('a', { assessments: [tested('conditioned', { firstBit: 320_000 })] })] }],
];

/** Members of an answer beside its values, and what its values are drawn by. */
type Opened = readonly [DataEndpoint, members: Record<string, unknown>, request?: Record<string, unknown>];

const ALPHABET = 'aé\u{1f3b2}-';
const RANGES = [
  { length: 5, min: 1, max: 50, unique: true },
  { length: 2, min: 1, max: 12, unique: true },
];
const TOLD_RANGES = { length: [5, 2], min: [1, 1], max: [50, 12], unique: true, sort: 'ascending' };
const BYTES = { length: 7, encoding: 'base64' };
const DIE = { min: 1, max: 6, unique: false, sort: 'none' };

/** The answers that an opening proves: their values follow from its bytes. Values are drawn by the service's own samplers. */
const OPENED: readonly Opened[] = [
  ['integers', { count: 9, min: -50, max: 1_000, unique: false, sort: 'none' }],
  ['integers', { count: 12, min: 1, max: 2 ** 45, unique: true, sort: 'descending' }],
  ['floats', { count: 4, precision: null }],
  ['floats', { count: 7, precision: 11 }],
  ['uuid', { count: 3, version: 4 }],
  ['bitstring', { length: 131 }],
  ['strings', { count: 5, length: 11, alphabet: ALPHABET }, { alphabet: [...ALPHABET] }],
  ['sequences', { count: 2, ...TOLD_RANGES }, { ranges: RANGES }],
  ['permutations', { count: 2, length: 30 }],
  ['gaussians', { count: 6, mean: 100, stddev: 15, digits: 5 }],
  ['batch', { count: 8, type: 'integers', params: DIE }, { kind: 'integers', ...DIE }],
  ['batch', { count: 3, type: 'bytes', params: BYTES }, { kind: 'bytes', ...BYTES, single: false }],
  ['batch', { count: 2, type: 'uuid', params: {} }, { kind: 'uuid' }],
];

const COIN = { count: 1, max: 1, min: 0, sort: 'none', unique: false } as const;

function opened(): Made[] {
  const seen = new Map<string, number>();
  const made = OPENED.flatMap(([endpoint, members, more]): Made[] => {
    const request = { kind: endpoint, ...members, ...more } as unknown as ValueRequest;
    const valueKey = { uuid: 'uuids', bitstring: 'bitstring' }[endpoint as string] ?? 'values';
    const nth = (seen.get(endpoint) ?? 0) + 1;
    seen.set(endpoint, nth);
    const offset = 48;
    const reader = readerOf(drawnBytes(ONE, { offset, bytes: 4_000 }));
    const values = drawnValues(request, reader);
    const bytes = Math.ceil(reader.consumedBytes / 16) * 16;
    const answer = { lots: [ONE], mode: 'pure', endpoint, drawn: [{ lot: 0, offset, bytes }] } as const;
    const name = nth === 1 ? endpoint : `${endpoint}-${nth}`;
    const invented = Array.isArray(values)
      ? [...values].reverse()
      : values.replace(/^./, (bit) => `${1 - Number(bit)}`);
    return [
      [`opened-${name}`, { ...answer, data: { ...members, [valueKey]: values } }],
      [`invented-${name}`, { ...answer, data: { ...members, [valueKey]: invented } }],
    ];
  });
  const drawn = { lot: 0, offset: 0, bytes: 16 };
  const [value] = drawnValues({ kind: 'integers', ...COIN }, readerOf(drawnBytes(ONE, drawn))) as number[];
  const coin = { lots: [ONE], mode: 'pure', data: { ...COIN, values: [value] }, drawn: [drawn] } as const;
  const other = { ...COIN, values: [1 - value] };
  const sixes = { count: 70, max: 6, min: 1, sort: 'none', unique: false, values: Array(70).fill(6) };
  const dice = { count: 9, type: 'integers', values: Array(9).fill(6) };
  const six = { min: 6, max: 6, unique: false, sort: 'none' };
  const parts = [
    { lot: 0, offset: 8_688, bytes: 16 },
    { lot: 0, offset: 8_192, bytes: 16 },
  ];
  const twice = parts.map(({ offset, bytes }) => hexOf(ONE, offset, bytes)).join('');
  const claimed = [{ ...drawn, bytes: 2_064 }];
  return [
    ...made,
    ['opened-coin', coin],
    ['drawn-too-much', { ...coin, drawn: [{ ...drawn, bytes: 32 }] }],
    ['drawn-skips', { ...coin, drawn: [drawn, { ...drawn, offset: 4_096 }] }],
    ['drawn-twice', { ...coin, data: { bits: 256, bytes: twice, count: 32, encoding: 'hex' }, drawn: parts }],
    ['opening-claimed-too-long', { ...coin, drawn: [{ ...drawn, bytes: 4_096 }] }],
    ['batch-other-range', { ...coin, endpoint: 'batch', data: { ...dice, params: six } }],
    ['batch-without-params', { ...coin, endpoint: 'batch', data: dice }],
    ['claimed-dice', { ...coin, data: sixes, drawn: claimed }, unopened],
    [
      'claimed-stray',
      { ...coin, data: { ...other, bitstring: '0'.repeat(20_000) }, drawn: claimed },
      unopened,
    ],
    ['claimed-endpoint', { ...coin, endpoint: 'weighted', data: other }],
    [
      'bytes-of-no-text',
      { ...coin, data: { bits: 128, bytes: [...drawnBytes(ONE, drawn)], count: 16, encoding: 'hex' } },
    ],
  ];
}

function unopened({ response: { opening: _, ...response } }: Scene) {
  return { response };
}

function hexOf(one: LotRecord, offset: number, bytes: number): string {
  return toHex(drawnBytes(one, { offset, bytes }));
}

function readerOf(bytes: Uint8Array<ArrayBuffer>): EntropyReader {
  let isGiven = false;
  return new EntropyReader(() => {
    if (isGiven) throw new Error('the vector draws more than it was given');
    isGiven = true;
    return bytes;
  });
}

const SHORT = lot('a', { assessments: [tested('conditioned', { bits: 800_000, verified: false })] });
const NOTHING_HASHED = `sha256:${'0'.repeat(64)}`;

/** What a certificate says that does not follow from its lots: [name, member, what stands there, the scene]. */
const CONTRADICTIONS: readonly (readonly [string, string, unknown, SceneOptions?])[] = [
  ['origin', 'provenance.origin', 'quantum-processor', { lots: [lot('a', { origin: 'replay' })] }],
  ['circuit', 'provenance.lang_circuit', 'ghz-16'],
  ['compiler', 'provenance.lang_version', '2.0.0'],
  ['backend', 'provenance.quantum_backend', 'ibm_fez'],
  ['qubits', 'provenance.qubits_used', 156],
  ['depth', 'provenance.circuit_depth', 7],
  ['shots', 'provenance.shots', 1_000_000],
  ['meaning', 'provenance.meaning', 'Measured.'],
  ['evidence', 'provenance.evidence', 'calibrated', { lots: [lotWithEvidence('a', 'statistical')] }],
  ['nist-result', 'verification.nist_sp800_22', '188/188 passed'],
  ['nist-window', 'verification.nist_sp800_22', '185/188 passed', { lots: [lotWithGap()] }],
  ['nist-verified', 'verification.nist_verified', true, { lots: [SHORT] }],
  ['dieharder', 'verification.dieharder', '114/114 passed'],
  ['min-entropy', 'verification.min_entropy_per_bit', 1, { lots: [lot('a', { minEntropyPerBit: 0.01 })] }],
  ['raw-output', 'hashes.raw_output', NOTHING_HASHED],
  ['processed', 'hashes.processed', NOTHING_HASHED],
  ['version', 'version', '1'],
  ['seed', 'provenance.seed.index', 5],
  ['drawn', 'provenance.drawn.0.offset', 8_688, { mode: 'pure' }],
];

/** The keys of a log that succeeded the one of the scene. */
function succeeded({ keys, document }: Scene): KeysDocument {
  const origin = `${keys.origin}/1`;
  const { publicKey } = SigningKey.fromSeed(new Uint8Array(32).fill(2));
  const checkpoint = parseProof(document.certificate.proof ?? '')?.note ?? '';
  const predecessor = { origin: keys.origin, checkpoint, keys: keys.keys };
  const begunAt = new Date(TIME_MS + 3_600_000).toISOString();
  const key = publishedKey(origin, publicKey, begunAt);
  const incarnation = { number: 1, origin, firstSegment: 5, begunAt, predecessor };
  return {
    origin,
    current_key_id: key.key_id,
    keys: [key],
    predecessors: [predecessor],
    first_leaf: incarnationText(incarnation),
  };
}

/** The proof with the log's true signatures of another time. */
function resigned({ world, document }: Scene, atS: number, proof = document.certificate.proof): string {
  const { name, current: key } = world.keys;
  return withSignatures(proof, ({ text, signatures: [plain] }) => [
    plain,
    cosignature({ name, key }, text, Math.floor(atS)),
  ]);
}

function proving({ document }: Scene, proof: string | undefined) {
  return { certificate: changed(document, 'certificate.proof', proof) };
}

/** The next key of the log, which has signed the checkpoint of the scene a minute after the certificate. */
function rotated({ keys, document }: Scene) {
  const { current: key, published } = logKeys(2);
  const [{ key_id: keyId }] = published;
  const next = { name: keys.origin, key };
  const proof = withSignatures(document.certificate.proof, ({ text, signatures }) => [
    ...signatures,
    signature(next, text),
    cosignature(next, text, Math.floor(TIME_MS / 1000) + 60),
  ]);
  const turnedAt = new Date(TIME_MS + 30_000).toISOString();
  return {
    certificate: changed(document, 'certificate.proof', proof),
    keys: {
      ...keys,
      current_key_id: keyId,
      keys: [
        { ...keys.keys[0], retired_at: turnedAt },
        { ...published[0], created_at: turnedAt },
      ],
    },
  };
}

function proofWithIndex({ document }: Scene, index: number): string | undefined {
  return document.certificate.proof?.replace(/^index \d+$/m, `index ${index}`);
}
