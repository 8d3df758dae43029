import canonicalize from 'canonicalize';
import { incarnationText } from '../../src/certificate/incarnation.ts';
import type { KeysDocument } from '../../src/certificate/keys-document.ts';
import { toHex, utf8Bytes } from '../../src/core/bytes.ts';
import { bareMediaType, type DataEndpoint, type Origin } from '../../src/core/vocabulary.ts';
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
    change: (s: Scene) => object = () => ({}),
    fails: readonly string[] = [],
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
    () => ({}),
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
    await add(name, `${what}, logged as it is`, { lots: [lot] }, () => ({}), ['derived']);
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
    await add(`upstream-${name}`, `${what}, logged as it is`, options, () => ({}), ['derived']);
  }
  await add('csprng', 'an answer of csprng mode, with a sample of the stream', {
    lots: [sampleLot('a')],
    mode: 'csprng',
  });
  await addLabels(add);
  const flip = (path: string, to: unknown) => (s: Scene) => ({ response: changed(s.response, path, to) });
  await add('value-changed', 'a value', {}, flip('data.values.0', 5), ['delivered']);
  await add('salt-changed', 'the salt', {}, flip('metadata.certificate_salt', '0'.repeat(64)), ['delivered']);
  await add(
    'time-changed',
    'the time in the answer',
    {},
    flip('metadata.timestamp', '2026-11-21T08:30:00.999Z'),
    ['metadata'],
  );
  await add(
    'origin-forged',
    'the origin in the certificate',
    {},
    (s) => ({ certificate: changed(s.document, 'certificate.provenance.origin', 'quantum-processor') }),
    ['metadata', 'derived', 'inclusion'],
  );
  await add(
    'proof-of-another',
    'the proof of another certificate of the same log',
    {},
    (s) => ({ certificate: changed(s.document, 'certificate.proof', proofWithIndex(s, 12)) }),
    ['inclusion'],
  );
  await add(
    'key-unknown',
    'keys of another log under the same name',
    {},
    (s) => ({ keys: changed(s.keys, 'keys.0.public_key', Buffer.alloc(32, 7).toString('base64')) }),
    ['keys', 'signature', 'fixed'],
  );
  const octets = { octets: { type: 'int32', body: INT32 } } as const;
  const body = (bytes: Uint8Array) => ({ octets: toHex(bytes) });
  await add('octets', 'int32 values as octets: 4, -1, 2^31 - 1', octets, () => body(INT32));
  await add('octets-changed', 'a bit of the octets', octets, () => body(INT32.with(0, 5)), ['delivered']);
  await add('octets-missing', 'octets are certified, and none are given', octets, () => ({}), ['delivered']);
  await add(
    'octets-retyped',
    'the media type in the certificate',
    octets,
    (s) => ({
      ...body(INT32),
      certificate: changed(s.document, 'certificate.media_type', bareMediaType('csv')),
    }),
    ['metadata', 'inclusion'],
  );
  await add(
    'octets-for-json',
    'the text that a certificate of JSON commits to, given as octets',
    {},
    (s) => body(utf8Bytes(canonicalize(s.response['data'])!)),
    ['delivered'],
  );
  await add('revoked', 'a withdrawn lot', { revoked: 'detector fault' }, () => ({}), ['status']);
  await add('unlogged', 'a certificate that has no proof yet', { unlogged: true }, () => ({}), [
    'inclusion',
    'signature',
  ]);
  const early = Date.UTC(2020, 0, 1);
  const old = lot('a', { startedAtMs: early - 5_000, finishedAtMs: early - 4_000 });
  const fork = { lots: [old], answers: 1, at: 0, issuedAtMs: early, sealedAtMs: early };
  await add('backdated', 'a fork of one leaf, dated 2020 and signed by a key of 2026', fork, () => ({}), [
    'dates',
  ]);
  await add(
    'before-its-lot',
    'issued before its lot ended, and logged so',
    { lots: [lot('a', { finishedAtMs: TIME_MS + 60_000 })] },
    () => ({}),
    ['dates', 'fixed'],
  );
  await add(
    'checkpoint-older',
    'signed with a time before that of the certificate',
    {},
    (s) => ({
      certificate: changed(
        s.document,
        'certificate.proof',
        resigned(s, s.document.certificate.proof, TIME_MS / 1000 - 60),
      ),
    }),
    ['dates'],
  );
  await add(
    'key-retired',
    'signed by a key after it was retired',
    {},
    (s) => ({ keys: changed(s.keys, 'keys.0.retired_at', '2026-11-21T08:29:00.000Z') }),
    ['dates', 'fixed'],
  );
  await add(
    'key-signs-after-retirement',
    'a retired key that states a time after its retirement',
    {},
    (s) => ({ keys: rotated(s).keys, certificate: signedAt(s, TIME_MS / 1000 + 60) }),
    ['dates'],
  );
  await add(
    'key-rotated-in',
    'a checkpoint that the next key has signed too, after the first one was retired',
    {},
    (s) => rotated(s),
    [],
  );
  await add(
    'key-of-no-day',
    'a key that is said to have begun on 31 June',
    {},
    (s) => ({ keys: changed(s.keys, 'keys.0.created_at', '2026-06-31T00:00:00.000Z') }),
    ['dates'],
  );
  await add('predecessor', 'of a log that another one has succeeded', {}, (s) => ({ keys: succeeded(s) }));
  await add(
    'predecessor-left-out',
    'of a log that another one has succeeded, and whose keys do not name it',
    {},
    (s) => ({ keys: { ...succeeded(s), predecessors: [] } }),
    ['signature', 'fixed'],
  );
  await add(
    'no-time',
    'signed without the time, by a key that always gives one',
    {},
    (s) => ({ certificate: changed(s.document, 'certificate.proof', untimed(s)) }),
    ['signature'],
  );
  await add('no-time-yet', 'by a release whose checkpoints had no times', {}, (s) => ({
    certificate: changed(s.document, 'certificate.proof', untimed(s)),
    keys: changed(s.keys, 'keys.0.cosigner_key', null),
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
  change?: (s: Scene) => object,
  fails?: readonly string[],
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
  const required = () => ({ require_fixed: true });
  await add('required', 'the proof that its seed was fixed before is required', seeded, required);
  await add(
    'required-of-csprng',
    'values of csprng mode, which come from no lot, and that proof is required',
    { lots: [sampleLot('a')], mode: 'csprng' },
    required,
    ['fixed'],
  );
  const inOpening = (name: string, to: unknown) => (s: Scene) => ({
    response: changed(s.response, `opening.${name}`, to),
  });
  const zeros = Buffer.alloc(48).toString('base64');
  await add('opening-bytes', 'other bytes in the opening', pure, inOpening('bytes', zeros), ['fixed']);
  await add('opening-salts', 'other salts in the opening', pure, inOpening('salts', zeros), ['fixed']);
  await add('opening-path', 'a path that is cut short', pure, inOpening('path', ''), ['fixed']);
  await add(
    'opening-missing',
    'no opening in a short answer',
    pure,
    ({ response: { opening: _, ...response } }) => ({ response }),
    ['fixed'],
  );
  await add(
    'opening-overdrawn',
    'no opening in a short answer of bytes, and a certificate that draws far more for it',
    {
      ...pure,
      data: { ...data, bytes: Buffer.concat(committedBlocks(one.id)).subarray(0, 40).toString('hex') },
      drawn: [{ lot: 0, offset: 0, bytes: 4_096 }],
    },
    () => ({}),
    ['fixed'],
  );
  await add(
    'seed-for-pure',
    'a seed of the lot for an answer that says it is pure',
    seeded,
    (s) => ({
      response: changed(s.response, 'data.metadata.entropy_mode', 'pure'),
      certificate: changed(s.document, 'certificate.entropy_mode', 'pure'),
    }),
    ['delivered', 'derived', 'inclusion', 'fixed'],
  );
  await add(
    'lot-logged-before-it-ended',
    'a lot whose leaf was signed with a time before the lot ended',
    seeded,
    (s) => ({
      certificate: changed(
        s.document,
        'lots.0.proof',
        resigned(s, s.document.lots[0].proof, TIME_MS / 1000 - 60),
      ),
    }),
    ['fixed'],
  );
  await add(
    'opening-null',
    'an opening of null in an answer whose certificate is not of octets',
    pure,
    (s) => ({ response: changed(s.response, 'opening', null) }),
    ['fixed'],
  );
  await add(
    'opening-of-octets',
    'an answer that was sent as octets: it had no place for an opening',
    { ...pure, octets: { type: 'int32', body: INT32 } },
    ({ response: { opening: _, ...response } }) => ({ response, octets: toHex(INT32) }),
  );
  await add(
    'values-not-drawn',
    'certified values that are not the bytes that were drawn',
    { ...pure, data: { ...data, bytes: '00'.repeat(40) } },
    () => ({}),
    ['fixed'],
  );
  await add(
    'seed-of-another',
    'the path of another seed',
    seeded,
    (s) => ({ certificate: changed(s.document, 'lots.0.runs.0.first', 2) }),
    ['fixed'],
  );
  const unread = ['lots', 'derived', 'status', 'dates', 'fixed'];
  await add(
    'lot-facts',
    'a lot of which the file says something else than the log',
    seeded,
    (s) => ({ certificate: changed(s.document, 'lots.0.leaf.health.apt_failures', 1) }),
    unread,
  );
  await add(
    'lot-of-another',
    'another lot in the place of the one that was drawn from',
    seeded,
    (s) => ({ certificate: changed(s.document, 'lots.0.leaf.lot_id', two.id) }),
    unread,
  );
  await add(
    'lot-missing',
    'a file without the lots',
    seeded,
    (s) => ({ certificate: changed(s.document, 'lots', []) }),
    unread,
  );
  await add(
    'lot-unproven',
    'a lot without the proof that the log held it',
    seeded,
    (s) => ({ certificate: changed(s.document, 'lots.0.proof', null) }),
    ['fixed'],
  );
  await add(
    'lot-logged-later',
    'issued before the log held the lot',
    { ...seeded, fixedAtMs: TIME_MS + 30_000, sealedAtMs: TIME_MS + 40_000 },
    () => ({}),
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

/** The answers that an opening proves: their values follow from its bytes. Values are drawn by the service's own samplers. */
const OPENED: readonly (readonly [
  endpoint: DataEndpoint,
  request: ValueRequest,
  valueKey: string,
  members: Record<string, unknown>,
])[] = [
  [
    'integers',
    { kind: 'integers', count: 9, min: -50, max: 1_000, unique: false, sort: 'none' },
    'values',
    { count: 9, min: -50, max: 1_000, unique: false, sort: 'none' },
  ],
  [
    'integers',
    { kind: 'integers', count: 12, min: 1, max: 2 ** 45, unique: true, sort: 'descending' },
    'values',
    { count: 12, min: 1, max: 2 ** 45, unique: true, sort: 'descending' },
  ],
  ['floats', { kind: 'floats', count: 4, precision: null }, 'values', { count: 4, precision: null }],
  ['floats', { kind: 'floats', count: 7, precision: 11 }, 'values', { count: 7, precision: 11 }],
  ['uuid', { kind: 'uuid', count: 3 }, 'uuids', { count: 3, version: 4 }],
  ['bitstring', { kind: 'bitstring', length: 131 }, 'bitstring', { length: 131 }],
  [
    'strings',
    { kind: 'strings', count: 5, length: 11, alphabet: [...'aé\u{1f3b2}-'] },
    'values',
    { count: 5, length: 11, alphabet: 'aé\u{1f3b2}-' },
  ],
  [
    'sequences',
    {
      kind: 'sequences',
      count: 2,
      ranges: [
        { length: 5, min: 1, max: 50, unique: true },
        { length: 2, min: 1, max: 12, unique: true },
      ],
      sort: 'ascending',
    },
    'values',
    { count: 2, length: [5, 2], min: [1, 1], max: [50, 12], unique: true, sort: 'ascending' },
  ],
  ['permutations', { kind: 'permutations', count: 2, length: 30 }, 'values', { count: 2, length: 30 }],
  [
    'gaussians',
    { kind: 'gaussians', count: 6, mean: 100, stddev: 15, digits: 5 },
    'values',
    { count: 6, mean: 100, stddev: 15, digits: 5 },
  ],
  [
    'batch',
    { kind: 'integers', count: 8, min: 1, max: 6, unique: false, sort: 'none' },
    'values',
    { count: 8, type: 'integers', params: { min: 1, max: 6, unique: false, sort: 'none' } },
  ],
  [
    'batch',
    { kind: 'bytes', count: 3, length: 7, encoding: 'base64', single: false },
    'values',
    { count: 3, type: 'bytes', params: { encoding: 'base64', length: 7 } },
  ],
  ['batch', { kind: 'uuid', count: 2 }, 'values', { count: 2, type: 'uuid', params: {} }],
];

async function addOpened(add: Add): Promise<void> {
  const one = lot('a');
  const seen = new Map<string, number>();
  for (const [endpoint, request, valueKey, members] of OPENED) {
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
      () => ({}),
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
    fails: readonly string[],
    change?: (s: Scene) => object,
  ) => add(name, what, { ...pure, ...options }, change ?? (() => ({})), fails);
  await refused(
    'drawn-too-much',
    'a coin for which two pieces were drawn',
    { drawn: [{ ...drawn, bytes: 32 }] },
    ['fixed'],
  );
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
    ['fixed'],
  );
  const sixes = { count: 70, max: 6, min: 1, sort: 'none', unique: false, values: Array(70).fill(6) };
  const unopened = ({ response: { opening: _, ...response } }: Scene) => ({ response });
  const dice = { count: 9, type: 'integers', values: Array(9).fill(6) };
  const six = { min: 6, max: 6, unique: false, sort: 'none' };
  await refused(
    'batch-other-range',
    'a batch whose params name a range that leaves no choice',
    { endpoint: 'batch', data: { ...dice, params: six } },
    ['fixed'],
  );
  await refused(
    'batch-without-params',
    'a batch that does not say which range its values were drawn from',
    { endpoint: 'batch', data: dice },
    ['fixed'],
  );
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
    ['fixed'],
  );
  await refused(
    'bytes-of-no-text',
    'a pure answer whose bytes are a list',
    { data: { bits: 128, bytes: [...drawnBytes(one, drawn)], count: 16, encoding: 'hex' } },
    ['fixed'],
  );
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

/** Certificates that the log has signed, and that say something else than what follows from their lots. */
async function addContradictions(add: Add): Promise<void> {
  const contradiction = (name: string, what: string, options: SceneOptions, path: string, to: unknown) =>
    add(`contradicts-${name}`, what, options, (s) => forged(s, path, to), ['derived']);
  const seeded: SceneOptions = {};
  const replay = { lots: [lot('a', { origin: 'replay' })] };
  const device = { lots: [lotWithEvidence('a', 'statistical')] };
  const gap = { lots: [lotWithGap()] };
  const short = {
    lots: [lot('a', { assessments: [tested('conditioned', { bits: 800_000, verified: false })] })],
  };
  await contradiction(
    'origin',
    'origin quantum-processor over a replayed lot',
    replay,
    'provenance.origin',
    'quantum-processor',
  );
  await contradiction('circuit', 'another circuit', seeded, 'provenance.lang_circuit', 'ghz-16');
  await contradiction('compiler', 'another compiler', seeded, 'provenance.lang_version', '2.0.0');
  await contradiction('backend', 'another backend', seeded, 'provenance.quantum_backend', 'ibm_fez');
  await contradiction('qubits', 'more qubits', seeded, 'provenance.qubits_used', 156);
  await contradiction('depth', 'a deeper circuit', seeded, 'provenance.circuit_depth', 7);
  await contradiction(
    'shots',
    'a member for shots, which no certificate has',
    seeded,
    'provenance.shots',
    1_000_000,
  );
  await contradiction(
    'meaning',
    'a sentence, which no certificate has',
    seeded,
    'provenance.meaning',
    'Measured.',
  );
  await contradiction('evidence', 'a claim that no lot makes', device, 'provenance.evidence', 'calibrated');
  await contradiction(
    'nist-result',
    'a result of no window',
    seeded,
    'verification.nist_sp800_22',
    '188/188 passed',
  );
  await contradiction(
    'nist-window',
    'the result of a window that the seed does not lie in',
    gap,
    'verification.nist_sp800_22',
    '185/188 passed',
  );
  await contradiction(
    'nist-verified',
    'verified, over a window that is not',
    short,
    'verification.nist_verified',
    true,
  );
  await contradiction(
    'dieharder',
    'a test that is not implemented',
    seeded,
    'verification.dieharder',
    '114/114 passed',
  );
  await contradiction(
    'min-entropy',
    'full min-entropy over a lot at 0.01',
    { lots: [lot('a', { minEntropyPerBit: 0.01 })] },
    'verification.min_entropy_per_bit',
    1,
  );
  await contradiction(
    'raw-output',
    'the hash of other raw bits',
    seeded,
    'hashes.raw_output',
    `sha256:${'0'.repeat(64)}`,
  );
  await contradiction(
    'processed',
    'the hash of other conditioned bytes',
    seeded,
    'hashes.processed',
    `sha256:${'0'.repeat(64)}`,
  );
  await contradiction('version', 'a version that is no number', seeded, 'version', '1');
  await add(
    'contradicts-seed',
    'a seed that the lot does not have',
    seeded,
    (s) => forged(s, 'provenance.seed.index', 5),
    ['derived', 'fixed'],
  );
  await add(
    'contradicts-drawn',
    'bytes beyond the end of the lot',
    { mode: 'pure' },
    (s) => forged(s, 'provenance.drawn.0.offset', 8_688),
    ['derived', 'fixed'],
  );
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
  await add('label-other-purpose', 'another purpose', shown, told('label.purpose', 'a test'), ['label']);
  await add('label-other-secret', 'another private purpose', hidden, told('label.purpose', 'a test'), [
    'label',
  ]);
  await add('label-other-data', 'other user data', hidden, told('label.user_data', 'line 1'), ['label']);
  const ofNothing = { isPublic: false, purpose: undefined, userData: undefined, userDataSha256: undefined };
  const empty = { label: { request: { ...ofNothing, userData: '' }, serial: 0 } };
  await add(
    'label-not-text',
    'an empty list for user data of no characters',
    empty,
    told('label.user_data', []),
    ['label'],
  );
  await add('label-other-series', 'another series', shown, told('label.series', 'series_0'), ['label']);
  await add(
    'label-missing',
    'an answer whose label was taken off',
    hidden,
    ({ response: { label: _, ...response } }) => ({ response }),
    ['label'],
  );
  await add(
    'label-added',
    'a label that the certificate does not have',
    {},
    (s) => ({ response: { ...s.response, label: { public: true, purpose: 'a test', series: 'series_0' } } }),
    ['label'],
  );
  await add(
    'label-renumbered',
    'another serial in the certificate',
    shown,
    (s) => ({ certificate: changed(s.document, 'certificate.label.serial', 1) }),
    ['inclusion'],
  );
  await add(
    'label-serial-as-text',
    'a serial that is no number',
    shown,
    (s) => ({ certificate: changed(s.document, 'certificate.label.serial', '7') }),
    ['label', 'inclusion'],
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
