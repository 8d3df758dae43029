import { sha256Hex } from '../../src/crypto/digest.ts';
import type { LotRecord } from '../../src/ledger/records.ts';
import { lotEvidence, lotRecord, lotWithEvidence, sampleLot } from './fixtures.ts';
import { drawnBytes, type Scene, type SceneOptions, scene } from './scene.ts';

/**
 * Answers that the service makes, one of each mode and form. The vectors that differ from them in a forged, withheld or
 * changed member are files (test/vectors/certificate): what a verifier must say to each does not depend on this program.
 */

function lot(name: string, changes: Partial<LotRecord> = {}): LotRecord {
  const rawSha256 = sha256Hex(Buffer.from(`raw bits of lot ${name}`));
  const processedSha256 = sha256Hex(Buffer.from(`conditioned bytes of lot ${name}`));
  return lotRecord(name, { rawSha256, processedSha256, ...changes });
}

const ONE = lot('a');
const DICE = { count: 3, max: 6, min: 1, sort: 'none', unique: false, values: [4, 1, 6] };
const SAID = { purpose: 'raffle of \u{1f3b2} 2026', userData: 'line 1\nline "2"', userDataSha256: undefined };
const FORTY = { lot: 0, offset: 4_064, bytes: 40 };
const PURE = {
  mode: 'pure',
  data: {
    bits: 320,
    bytes: Buffer.from(drawnBytes(ONE, FORTY)).toString('hex'),
    count: 40,
    encoding: 'hex',
  },
  drawn: [{ ...FORTY, bytes: 48 }],
} as const;

const ANSWERS = {
  /** The worked example of docs/certificates.md: the second of three answers. */
  'worked-example': { data: DICE, answers: 3, at: 1 },
  'several-lots': { lots: [ONE, lot('b', { jobId: null, origin: 'replay' })], mode: 'pure' },
  evidence: {
    lots: [lotWithEvidence('a', 'calibrated'), lotWithEvidence('b', 'statistical')],
    mode: 'pure',
  },
  'evidence-of-a-simulator': { data: DICE, lots: [lot('a', { evidence: lotEvidence('calibrated') })] },
  csprng: { data: DICE, lots: [sampleLot('a')], mode: 'csprng' },
  'fixed-bytes': PURE,
  'label-public': { data: DICE, label: { request: { isPublic: true, ...SAID }, serial: 7 } },
  'label-private': { data: DICE, label: { request: { isPublic: false, ...SAID }, serial: 8 } },
} as const satisfies Readonly<Record<string, SceneOptions>>;

export const ANSWER_NAMES = Object.keys(ANSWERS) as (keyof typeof ANSWERS)[];

export function answerScene(name: keyof typeof ANSWERS): Promise<Scene> {
  return scene({ lots: [ONE], ...ANSWERS[name] });
}
