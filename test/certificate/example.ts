import { sha256Hex } from '../../src/crypto/digest.ts';
import type { LotRecord } from '../../src/ledger/records.ts';
import { lotEvidence, lotRecord } from './fixtures.ts';
import { changed, type Scene, type SceneOptions, scene } from './scene.ts';

/** The cases of test/vectors/certificate: what another verifier is to be held against, and what it must say. */
export interface VerificationCase {
  readonly name: string;
  readonly what: string;
  readonly response: unknown;
  readonly certificate: unknown;
  readonly keys: unknown;
  /** The checks that fail, by the names that docs/certificates.md gives them; none for a true answer. */
  readonly fails: readonly string[];
}

function lot(name: string, changes: Partial<LotRecord> = {}): LotRecord {
  const rawSha256 = sha256Hex(Buffer.from(`raw bits of lot ${name}`));
  const processedSha256 = sha256Hex(Buffer.from(`conditioned bytes of lot ${name}`));
  return lotRecord(name, { rawSha256, processedSha256, ...changes });
}

const DICE = { count: 3, max: 6, min: 1, sort: 'none', unique: false, values: [4, 1, 6] };
const FLOATS = { count: 5, precision: null, values: [0.1, 0.30000000000000004, 1e-7, 0, 5e-324] };
const ITEMS = { count: 3, items: ['ada "a" \\ \u20ac', '\u{1f3b2}', 'e\u0301\u0007'] };

/** The worked example of docs/certificates.md: the second of three answers. */
export function workedExample(): Promise<Scene> {
  return scene({ lots: [lot('a')], data: DICE, answers: 3, at: 1 });
}

export async function verificationCases(): Promise<VerificationCase[]> {
  const cases: VerificationCase[] = [];
  const add = async (
    name: string,
    what: string,
    options: SceneOptions,
    change: (s: Scene) => object = () => ({}),
    fails: readonly string[] = [],
  ) => {
    const s = await scene({ data: DICE, lots: [lot('a')], ...options });
    const { response, document: certificate, keys } = s;
    cases.push({ name, what, response, certificate, keys, ...change(s), fails });
  };
  const two = [lot('a'), lot('b', { jobId: null, origin: 'replay' })];

  cases.push(await exampleCase());
  await add('several-lots', 'a pure answer from two lots: their digests are joined and hashed', {
    lots: two,
    mode: 'pure',
    data: FLOATS,
  });
  await add('unicode', 'texts that canonical JSON escapes, and texts that it does not', {
    lots: [lot('a', { device: 'r\u00e9seau \u{1f310}' })],
    data: ITEMS,
  });
  await add('one-leaf', 'the only answer of its log: a path of no hashes', { answers: 1, at: 0 });
  await add('last-leaf', 'the last of 21: a path that skips levels', { at: 20 });
  await add('test-source', 'a deterministic source: genuine, and said to be a test', {
    lots: [lot('a', { deterministic: true })],
  });
  const bell = lot('a', { origin: 'quantum-processor', evidence: lotEvidence('bell-witness') });
  const tested = lot('b', { origin: 'quantum-processor', evidence: lotEvidence('source-independent') });
  await add('evidence', 'version 2: evidence of two lots, and the weakest claim of both', {
    lots: [bell, tested],
    mode: 'pure',
  });
  await add(
    'evidence-promoted',
    'version 2: the claim of the stronger lot for both',
    { lots: [bell, tested], mode: 'pure' },
    (s) => ({ certificate: changed(s.document, 'certificate.provenance.evidence', 'bell-witness') }),
    ['lots', 'inclusion'],
  );
  await add(
    'evidence-of-a-simulator',
    'version 2, logged as it is: a simulated lot that claims what only a device can',
    { lots: [lot('a', { evidence: lotEvidence('bell-witness') })] },
    () => ({}),
    ['lots'],
  );
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
    ['metadata', 'inclusion'],
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
    ['keys', 'signature'],
  );
  await add('revoked', 'a withdrawn lot', { revoked: 'detector fault' }, () => ({}), ['status']);
  await add('unlogged', 'a certificate that has no proof yet', { unlogged: true }, () => ({}), [
    'inclusion',
    'signature',
  ]);
  return cases.map((each) => JSON.parse(JSON.stringify(each)) as VerificationCase);
}

async function exampleCase(): Promise<VerificationCase> {
  const { response, document: certificate, keys } = await workedExample();
  const what = 'the worked example of docs/certificates.md';
  return { name: 'worked-example', what, response, certificate, keys, fails: [] };
}

function proofWithIndex({ document }: Scene, index: number): string | undefined {
  return document.certificate.proof?.replace(/^index \d+$/m, `index ${index}`);
}
