import { incarnationText } from '../../src/certificate/incarnation.ts';
import type { KeysDocument } from '../../src/certificate/keys-document.ts';
import { toHex, utf8Bytes } from '../../src/core/bytes.ts';
import type { DataEndpoint, Origin } from '../../src/core/vocabulary.ts';
import { fromBase64, toBase64 } from '../../src/crypto/base64.ts';
import { sha256, sha256Hex } from '../../src/crypto/digest.ts';
import type { PublishedKey } from '../../src/crypto/key-files.ts';
import {
  COSIGNATURE_TYPE,
  cosignatureText,
  formatNote,
  formatProof,
  noteKeyId,
  parseNote,
  parseProof,
  timestampedSignature,
  verifierKey,
} from '../../src/crypto/note.ts';
import { SigningKey } from '../../src/crypto/signing.ts';
import type { LotRecord } from '../../src/ledger/records.ts';
import { EntropyReader } from '../../src/values/entropy-reader.ts';
import type { ValueRequest } from '../../src/values/value-request.ts';
import { drawnValues } from '../values/drawn.ts';
import {
  committedBlocks,
  lotEvidence,
  lotRecord,
  lotWithEvidence,
  sampleLot,
  TIME_MS,
  tested,
} from './fixtures.ts';
import { logKeys } from './log-world.ts';
import { changed, drawnBytes, forged, type Scene, type SceneOptions, scene } from './scene.ts';
import type { VerificationCase } from './vectors.ts';

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

/** The cases of test/vectors/certificate by their names. */
export async function verificationCases(): Promise<Map<string, VerificationCase>> {
  const cases = new Map<string, VerificationCase>();
  const add = async (
    name: string,
    what: string,
    options: SceneOptions,
    fails: readonly string[] = [],
    change: (s: Scene) => object = () => ({}),
  ) => {
    const asked = options.mode === 'pure' ? {} : { data: DICE };
    const s = await scene({ ...asked, lots: [lot('a')], ...options });
    const { response, document: certificate, keys } = s;
    const each = { what, response, certificate, keys, ...change(s), fails };
    cases.set(name, JSON.parse(JSON.stringify(each)) as VerificationCase);
  };
  const two = [lot('a'), lot('b', { jobId: null, origin: 'replay' })];

  await add('one-lot', 'a seeded answer from one lot, the fourteenth of 21 in its log', {});
  await add('worked-example', 'the worked example of docs/certificates.md', WORKED_EXAMPLE);
  await add('several-lots', 'a pure answer from two lots: their digests are joined and hashed', {
    lots: two,
    mode: 'pure',
  });
  await add('numbers', 'numbers as canonical JSON prints them', { data: FLOATS, endpoint: 'floats' });
  await add('unicode', 'texts that canonical JSON escapes, and texts that it does not', {
    lots: [lot('a', { device: 'r\u00e9seau \u{1f310}' })],
    data: ITEMS,
  });
  await add('one-leaf', 'the only answer of its log: a path of no hashes', { answers: 1, at: 0 });
  await add('last-leaf', 'the last of 21: a path that skips levels', { at: 20 });
  await add('test-source', 'a deterministic source: genuine, and said to be a test', {
    lots: [lot('a', { deterministic: true })],
  });
  const calibrated = lotWithEvidence('a', 'calibrated');
  const statistical = lotWithEvidence('b', 'statistical');
  await add('evidence', 'two lots, and the weaker of their claims', {
    lots: [calibrated, statistical],
    mode: 'pure',
  });
  await add(
    'evidence-of-a-simulator',
    'a simulated lot that claims what only a device can, logged as it is',
    { lots: [lot('a', { evidence: lotEvidence('calibrated') })] },
    ['derived'],
  );
  const dependentLot = (claim: 'statistical' | 'calibrated', credited: number, bound = 0.009122) => {
    const figures = { autocorrelation: 0.25, autocorrelation_bound: bound, autocorrelation_lag: 65_537 };
    const evidence = lotEvidence(claim, { minEntropyPerBit: credited, figures });
    return lotWithEvidence('a', claim, { evidence, minEntropyPerBit: credited });
  };
  await add('dependent', 'a lot whose bits repeat under noise, credited what that leaves', {
    lots: [dependentLot('statistical', 0.406368)],
  });
  for (const [name, what, lot] of [
    ['dependent-calibrated', 'a claim that the autocorrelation refutes', dependentLot('calibrated', 0.41)],
    [
      'dependent-credited',
      'more min-entropy than the autocorrelation leaves',
      dependentLot('statistical', 0.79),
    ],
    ['dependent-bound', 'a bound that is not that of so many bits', dependentLot('calibrated', 0.41, 0.3)],
  ] as const) {
    await add(name, `${what}, logged as it is`, { lots: [lot] }, ['derived']);
  }
  const cites = (ids: readonly string[], origin: Origin, certified = origin) => {
    const certificates = ids.map((id) => ({ id: `cert_${id.padEnd(26, '0')}`, leaf: leafOf(id) }));
    const upstream = { log: 'hub.example/log', origin: certified, certificates };
    return { lots: [lot('a', { origin, rawBits: 2 * BITS_OF_A_CALL, upstream })] };
  };
  await add('upstream', 'a lot of bytes of another service, which cites their certificates', {
    ...cites(['a', 'b'], 'qrng-device'),
  });
  await add('upstream-weaker', 'a lot of a weaker origin than the certificates that it cites', {
    ...cites(['a', 'b'], 'simulated', 'qrng-device'),
  });
  for (const [name, what, options] of [
    ['origin', 'a better origin than its certificates name', cites(['a', 'b'], 'qrng-device', 'replay')],
    ['twice', 'a certificate that is cited twice', cites(['a', 'a'], 'qrng-device')],
    ['few', 'more bits than its certificates are of', cites(['a'], 'qrng-device')],
  ] as const) {
    await add(`upstream-${name}`, `${what}, logged as it is`, options, ['derived']);
  }
  await add('csprng', 'an answer of csprng mode, with a sample of the stream', {
    lots: [sampleLot('a')],
    mode: 'csprng',
  });
  await addLabels(add);
  await add(
    'proof-of-another',
    'the proof of another certificate of the same log',
    {},
    ['inclusion'],
    (s) => ({ certificate: changed(s.document, 'certificate.proof', proofWithIndex(s, 12)) }),
  );
  const octets = { octets: { type: 'int32', body: INT32 } } as const;
  const body = (bytes: Uint8Array) => ({ octets: toHex(bytes) });
  await add('octets', 'int32 values as octets: 4, -1, 2^31 - 1', octets, [], () => body(INT32));
  const early = Date.UTC(2020, 0, 1);
  const old = lot('a', { startedAtMs: early - 5_000, finishedAtMs: early - 4_000 });
  const fork = { lots: [old], answers: 1, at: 0, issuedAtMs: early, sealedAtMs: early };
  await add('backdated', 'a fork of one leaf, dated 2020 and signed by a key of 2026', fork, ['dates']);
  await add(
    'before-its-lot',
    'issued before its lot ended, and logged so',
    { lots: [lot('a', { finishedAtMs: TIME_MS + 60_000 })] },
    ['dates', 'fixed'],
  );
  await add('checkpoint-older', 'signed with a time before that of the certificate', {}, ['dates'], (s) => ({
    certificate: changed(
      s.document,
      'certificate.proof',
      resigned(s, s.document.certificate.proof, TIME_MS / 1000 - 60),
    ),
  }));
  await add(
    'key-signs-after-retirement',
    'a retired key that states a time after its retirement',
    {},
    ['dates'],
    (s) => ({ keys: rotated(s).keys, certificate: signedAt(s, TIME_MS / 1000 + 60) }),
  );
  await add(
    'key-rotated-in',
    'a checkpoint that the next key has signed too, after the first one was retired',
    {},
    [],
    (s) => rotated(s),
  );
  await add('predecessor', 'of a log that another one has succeeded', {}, [], (s) => ({
    keys: succeeded(s),
  }));
  await add('no-time', 'signed without the time, by a key that always gives one', {}, ['signature'], (s) => ({
    certificate: changed(s.document, 'certificate.proof', untimed(s)),
  }));
  await addFixed(add);
  await addOpened(add);
  await addWindows(add);
  await addContradictions(add);
  return cases;
}

type Add = (
  name: string,
  what: string,
  options: SceneOptions,
  fails?: readonly string[],
  change?: (s: Scene) => object,
) => Promise<void>;

/** What was drawn stood in the log before. */
async function addFixed(add: Add): Promise<void> {
  const [one, two] = [lot('a'), lot('b')];
  const bytes = Buffer.concat(committedBlocks(one.id)).subarray(4_064, 4_064 + 40);
  const data = { bits: 320, bytes: bytes.toString('hex'), count: 40, encoding: 'hex' };
  const pure: SceneOptions = {
    lots: [one],
    mode: 'pure',
    data,
    drawn: [{ lot: 0, offset: 4_064, bytes: 48 }],
  };
  const seeded: SceneOptions = { lots: [one] };
  await add('fixed-bytes', 'bytes of two blocks of a lot', pure);
  await add('fixed-two-lots', 'values of the end of one lot and the beginning of the next', {
    lots: [one, two],
    mode: 'pure',
    drawn: [
      { lot: 0, offset: 8_688, bytes: 16 },
      { lot: 1, offset: 0, bytes: 32 },
    ],
  });
  await add(
    'opening-overdrawn',
    'no opening in a short answer of bytes, and a certificate that draws far more for it',
    {
      ...pure,
      data: { ...data, bytes: Buffer.concat(committedBlocks(one.id)).subarray(0, 40).toString('hex') },
      drawn: [{ lot: 0, offset: 0, bytes: 4_096 }],
    },
    ['fixed'],
  );
  await add(
    'lot-logged-before-it-ended',
    'a lot whose leaf was signed with a time before the lot ended',
    seeded,
    ['fixed'],
    (s) => ({
      certificate: changed(
        s.document,
        'lots.0.proof',
        resigned(s, s.document.lots[0].proof, TIME_MS / 1000 - 60),
      ),
    }),
  );
  await add(
    'opening-of-octets',
    'an answer that was sent as octets: it had no place for an opening',
    { ...pure, octets: { type: 'int32', body: INT32 } },
    [],
    ({ response: { opening: _, ...response } }) => ({ response, octets: toHex(INT32) }),
  );
  await add(
    'values-not-drawn',
    'certified values that are not the bytes that were drawn',
    { ...pure, data: { ...data, bytes: '00'.repeat(40) } },
    ['fixed'],
  );
  await add(
    'lot-logged-later',
    'issued before the log held the lot',
    { ...seeded, fixedAtMs: TIME_MS + 30_000, sealedAtMs: TIME_MS + 40_000 },
    ['fixed'],
  );
}

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
async function addWindows(add: Add): Promise<void> {
  const pure: SceneOptions = { lots: [lotWithGap()], mode: 'pure' };
  const from = (offset: number, bytes: number) => ({ ...pure, drawn: [{ lot: 0, offset, bytes }] });
  await add('windows-seed', 'a seed, which lies in the first window', { lots: [lotWithGap()] });
  await add('windows-before', 'the last bytes of the first window', from(3_824, 16));
  await add('windows-across', 'bytes on both sides of a window that failed and was erased', from(3_824, 32));
  const inGap = tested('conditioned', { firstBit: 64_000, bits: 8_000, passed: 1 });
  const swallowed = lot('a', { assessments: [...lotWithGap().assessments, inGap] });
  await add('windows-swallowed', 'a window of which nothing was left, between the bytes drawn', {
    ...from(3_824, 32),
    lots: [swallowed],
  });
  await add('windows-behind', 'bytes behind the window that was erased', from(3_840, 32));
  const short = lot('a', {
    assessments: [tested('conditioned', { bits: 800_000, passed: 150, verified: false })],
  });
  await add('windows-short', 'a lot of too few bits for a verdict: not verified', { lots: [short] });
  await add('windows-none', 'a lot that was not tested', {
    lots: [lot('a', { assessments: [tested('raw')] })],
  });
  const beside = lot('a', { assessments: [tested('conditioned', { firstBit: 320_000 })] });
  await add('windows-beside', 'a window in which the seed does not lie', { lots: [beside] });
}

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

async function addOpened(add: Add): Promise<void> {
  const one = lot('a');
  const seen = new Map<string, number>();
  for (const [endpoint, members, more] of OPENED) {
    const request = { kind: endpoint, ...members, ...more } as unknown as ValueRequest;
    const valueKey = { uuid: 'uuids', bitstring: 'bitstring' }[endpoint as string] ?? 'values';
    const nth = (seen.get(endpoint) ?? 0) + 1;
    seen.set(endpoint, nth);
    const offset = 48;
    const reader = readerOf(drawnBytes(one, { offset, bytes: 4_000 }));
    const values = drawnValues(request, reader);
    const bytes = Math.ceil(reader.consumedBytes / 16) * 16;
    const answer = { lots: [one], mode: 'pure', endpoint, drawn: [{ lot: 0, offset, bytes }] } as const;
    const name = nth === 1 ? endpoint : `${endpoint}-${nth}`;
    const what = `${endpoint} that follow from the bytes of the opening`;
    await add(`opened-${name}`, what, { ...answer, data: { ...members, [valueKey]: values } });
    const invented = Array.isArray(values)
      ? [...values].reverse()
      : values.replace(/^./, (bit) => `${1 - Number(bit)}`);
    await add(
      `invented-${name}`,
      `${endpoint} that do not follow from the bytes of the opening`,
      { ...answer, data: { ...members, [valueKey]: invented } },
      ['fixed'],
    );
  }
  const coin = { count: 1, max: 1, min: 0, sort: 'none', unique: false };
  const [value] = drawnValues(
    { kind: 'integers', ...coin, sort: 'none' },
    readerOf(drawnBytes(one, { offset: 0, bytes: 16 })),
  ) as number[];
  const drawn = { lot: 0, offset: 0, bytes: 16 };
  const pure: SceneOptions = {
    lots: [one],
    mode: 'pure',
    data: { ...coin, values: [value] },
    drawn: [drawn],
  };
  await add('opened-coin', 'a coin from the first piece of a lot', pure);
  const refused = (
    name: string,
    what: string,
    options: SceneOptions,
    fails: readonly string[] = ['fixed'],
    change?: (s: Scene) => object,
  ) => add(name, what, { ...pure, ...options }, fails, change);
  await refused('drawn-too-much', 'a coin for which two pieces were drawn', {
    drawn: [{ ...drawn, bytes: 32 }],
  });
  await refused(
    'drawn-skips',
    'a coin whose first piece did not suit: the rest of its block was skipped',
    { drawn: [drawn, { ...drawn, offset: 4_096 }] },
    ['derived', 'fixed'],
  );
  await refused(
    'drawn-twice',
    'bytes of which one block was drawn from twice',
    {
      data: { bits: 256, bytes: hexOf(one, 8_688, 16) + hexOf(one, 8_192, 16), count: 32, encoding: 'hex' },
      drawn: [
        { lot: 0, offset: 8_688, bytes: 16 },
        { lot: 0, offset: 8_192, bytes: 16 },
      ],
    },
    ['derived'],
  );
  await refused(
    'opening-claimed-too-long',
    'no opening, and a certificate that claims to have drawn more for a coin than an opening holds',
    { drawn: [{ ...drawn, bytes: 4_096 }] },
  );
  const sixes = { count: 70, max: 6, min: 1, sort: 'none', unique: false, values: Array(70).fill(6) };
  const unopened = ({ response: { opening: _, ...response } }: Scene) => ({ response });
  const dice = { count: 9, type: 'integers', values: Array(9).fill(6) };
  const six = { min: 6, max: 6, unique: false, sort: 'none' };
  await refused('batch-other-range', 'a batch whose params name a range that leaves no choice', {
    endpoint: 'batch',
    data: { ...dice, params: six },
  });
  await refused('batch-without-params', 'a batch that does not say which range its values were drawn from', {
    endpoint: 'batch',
    data: dice,
  });
  await refused(
    'claimed-dice',
    'seventy invented dice without an opening, for which 2,064 bytes are said to be drawn',
    { data: sixes, drawn: [{ ...drawn, bytes: 2_064 }] },
    ['fixed'],
    unopened,
  );
  await refused(
    'claimed-stray',
    'a member of another kind of answer, long enough to need no opening, beside an invented coin',
    {
      data: { ...coin, values: [1 - value], bitstring: '0'.repeat(20_000) },
      drawn: [{ ...drawn, bytes: 2_064 }],
    },
    ['fixed'],
    unopened,
  );
  await refused(
    'claimed-endpoint',
    'an invented coin that is said to be a weighted pick, whose values nobody can draw again',
    { endpoint: 'weighted', data: { ...coin, values: [1 - value] } },
  );
  await refused('bytes-of-no-text', 'a pure answer whose bytes are a list', {
    data: { bits: 128, bytes: [...drawnBytes(one, drawn)], count: 16, encoding: 'hex' },
  });
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

/** Certificates that the log has signed, and that say something else than what follows from their lots. */
async function addContradictions(add: Add): Promise<void> {
  for (const [name, path, to, options = {}] of CONTRADICTIONS) {
    const fails = ['seed', 'drawn'].includes(name) ? ['derived', 'fixed'] : ['derived'];
    const what = `signed by the log, and ${path} does not follow from the lots`;
    await add(`contradicts-${name}`, what, options, fails, (s) => forged(s, path, to));
  }
}

/** What the caller said of an answer: in words, and as commitments that the salt opens. */
async function addLabels(add: Add): Promise<void> {
  const said = {
    purpose: 'raffle of \u{1f3b2} 2026',
    userData: 'line 1\nline "2"',
    userDataSha256: undefined,
  };
  const shown = { label: { request: { isPublic: true, ...said }, serial: 7 } };
  const hidden = { label: { request: { isPublic: false, ...said }, serial: 8 } };
  const digest = {
    isPublic: false,
    purpose: undefined,
    userData: undefined,
    userDataSha256: 'ab'.repeat(32),
  };
  await add('label-public', 'a public label: purpose and user data in words', shown);
  await add('label-private', 'a private label: commitments that the salt of the answer opens', hidden);
  await add('label-digest', 'the hash of user data alone, and so no serial', {
    label: { request: digest, serial: 0 },
  });
  const told = (path: string, to: unknown) => (s: Scene) => ({ response: changed(s.response, path, to) });
  const ofNothing = { isPublic: false, purpose: undefined, userData: undefined, userDataSha256: undefined };
  const empty = { label: { request: { ...ofNothing, userData: '' }, serial: 0 } };
  await add(
    'label-not-text',
    'an empty list for user data of no characters',
    empty,
    ['label'],
    told('label.user_data', []),
  );
}

/** The keys of a log that succeeded the one of the scene. */
function succeeded({ keys, document }: Scene): KeysDocument {
  const origin = `${keys.origin}/1`;
  const { publicKey } = SigningKey.fromSeed(new Uint8Array(32).fill(2));
  const checkpoint = parseProof(document.certificate.proof ?? '')?.note ?? '';
  const predecessor = { origin: keys.origin, checkpoint, keys: keys.keys };
  const begunAt = new Date(TIME_MS + 3_600_000).toISOString();
  const key: PublishedKey = {
    key_id: noteKeyId(sha256, origin, publicKey),
    algorithm: 'ed25519',
    public_key: Buffer.from(publicKey).toString('base64'),
    verifier_key: verifierKey(sha256, origin, publicKey),
    cosigner_key: verifierKey(sha256, origin, publicKey, COSIGNATURE_TYPE),
    created_at: begunAt,
    retired_at: null,
  };
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
function resigned({ world }: Scene, proof: string | null | undefined, atS: number): string | undefined {
  const parsed = parseProof(proof ?? '');
  const note = parseNote(parsed?.note ?? '');
  if (parsed === undefined || note === undefined) return undefined;
  const { name, current } = world.keys;
  const [plain, timed] = note.signatures;
  const signature = current.sign(Buffer.from(cosignatureText(Math.floor(atS), note.text)));
  const signatures = [plain, { ...timed, name, signature: timestampedSignature(Math.floor(atS), signature) }];
  return formatProof({ ...parsed, note: formatNote({ text: note.text, signatures }) });
}

function signedAt(scene: Scene, atS: number) {
  return changed(scene.document, 'certificate.proof', resigned(scene, scene.document.certificate.proof, atS));
}

/** The next key of the log, which has signed the checkpoint of the scene a minute after the certificate. */
function rotated({ keys, document }: Scene) {
  const { current, published } = logKeys(2);
  const parsed = parseProof(document.certificate.proof ?? '');
  const note = parseNote(parsed?.note ?? '');
  if (parsed === undefined || note === undefined) throw new Error('the scene has no proof');
  const [{ key_id: keyId, public_key: publicKey }] = published;
  const atS = Math.floor(TIME_MS / 1000) + 60;
  const timedId = noteKeyId(sha256, keys.origin, fromBase64(publicKey)!, COSIGNATURE_TYPE);
  const timed = timestampedSignature(atS, current.sign(Buffer.from(cosignatureText(atS, note.text))));
  const signatures = [
    ...note.signatures,
    { name: keys.origin, keyId, signature: current.sign(Buffer.from(note.text)) },
    { name: keys.origin, keyId: timedId, signature: timed },
  ];
  const turnedAt = new Date(TIME_MS + 30_000).toISOString();
  return {
    certificate: changed(
      document,
      'certificate.proof',
      formatProof({ ...parsed, note: formatNote({ text: note.text, signatures }) }),
    ),
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

/** The proof without its last line, the signature that says when. */
function untimed({ document }: Scene): string | undefined {
  return document.certificate.proof?.replace(/— [^\n]+\n$/, '');
}

function proofWithIndex({ document }: Scene, index: number): string | undefined {
  return document.certificate.proof?.replace(/^index \d+$/m, `index ${index}`);
}
