import { grouped, rounded, roundedDown } from '../core/figures.ts';
import type { EvidenceLevel } from '../ledger/records.ts';
import { type CertificateDocument, drawnText } from './document.ts';

/** A line of a certificate as people read it, a label and a value. Its page and its PDF show the same lines. */
export type Fact = readonly [label: string, value: string, is?: 'code' | 'time'];

type Certificate = CertificateDocument['certificate'];
type Lot = CertificateDocument['lots'][number]['leaf'];

export function answerFacts(certificate: Certificate): Fact[] {
  return [
    ['Issued', certificate.issued_at, 'time'],
    ['Request', certificate.request_id, 'code'],
    ['Endpoint', certificate.endpoint],
    ['Entropy mode', certificate.entropy_mode],
    ...(certificate.media_type === undefined ? [] : [['Octets', certificate.media_type] as const]),
    ['Drawn', drawnText(certificate)],
    ...labelFacts(certificate.label),
  ];
}

const PRIVATE = 'a private text';

/** Returns what the caller said of the answer: purpose, serial and user data. */
function labelFacts(label: Certificate['label']): Fact[] {
  if (label === undefined) return [];
  const { purpose, serial, user_data: userData, user_data_sha256: digest } = label;
  const said = userData?.replaceAll(/\s+/g, ' ') ?? digest ?? (label.user_data_commitment && PRIVATE);
  return [
    ...(serial === undefined
      ? []
      : [['Purpose', `no. ${grouped(serial)} of ${purpose ?? PRIVATE}`] as const]),
    ...(said === undefined ? [] : [['User data', said] as const]),
  ];
}

export function sourceFacts({ certificate: { provenance }, lots }: CertificateDocument): Fact[] {
  const { qubits_used: qubits, circuit_depth: depth } = provenance;
  const shots = lots.reduce((sum, { leaf }) => sum + leaf.shots, 0);
  const [{ leaf: first }] = lots;
  return [
    ['Origin', provenance.origin],
    ['Backend', provenance.quantum_backend],
    ['Circuit', qubits === 0 ? 'none' : `${provenance.lang_circuit}, compiler ${provenance.lang_version}`],
    ['Size', qubits === 0 ? 'none' : `${qubits} qubits, depth ${depth}, ${grouped(shots)} shots`],
    ['Device', `${first.provider} / ${first.device}`],
    ['Job', first.job_id ?? 'none'],
    ...citationFacts(lots.flatMap(({ leaf }) => leaf.upstream ?? [])),
  ];
}

/** Returns which logs of other services fed the lots. Only the JSON lists their certificates. */
function citationFacts(cited: readonly NonNullable<Lot['upstream']>[]): Fact[] {
  if (cited.length === 0) return [];
  const certificates = cited.reduce((sum, each) => sum + each.certificates.length, 0);
  const logs = [...new Set(cited.map(({ log }) => log))].join(', ');
  return [['Cites', `${grouped(certificates)} certificates of ${logs}`]];
}

/** Returns the test results. With `hasSequences` it lists the SP 800-22 runs of each tested sequence too. */
export function testFacts({ certificate, lots: proven }: CertificateDocument, hasSequences: boolean): Fact[] {
  const lots = proven.map(({ leaf }) => leaf);
  const { nist_sp800_22: result, nist_verified, min_entropy_per_bit: entropy } = certificate.verification;
  const total = (count: (lot: Lot) => number) => lots.reduce((sum, lot) => sum + count(lot), 0);
  const failures = total((lot) => lot.health.rct_failures + lot.health.apt_failures);
  return [
    ['SP 800-22', `${result}${nist_verified ? ', verified' : ', not verified'}`],
    ...(hasSequences ? sequenceFacts(lots) : []),
    ['Min-entropy', entropy === null ? 'not assessed' : `${rounded(entropy)} per raw bit`],
    ['Health tests', `${grouped(total((lot) => lot.health.samples))} samples, ${grouped(failures)} alarms`],
    ['Dieharder', certificate.verification.dieharder],
    ...evidenceFacts(lots, certificate.provenance.evidence),
  ];
}

function sequenceFacts(lots: readonly Lot[]): Fact[] {
  const runs = lots.flatMap(({ tested }) => tested);
  return [...new Set(runs.map(({ of }) => of))].map((sequence) => [
    SEQUENCES[sequence] ?? sequence,
    runs
      .filter(({ of }) => of === sequence)
      .map(({ passed, total }) => `${passed}/${total}`)
      .join(', '),
  ]);
}

const SEQUENCES: Readonly<Record<string, string>> = {
  raw: 'Raw bits',
  conditioned: 'Conditioned',
  system: 'Sample of the stream',
};

/** Returns the claim and, if every lot has a figure, the least of the figures. Answers in csprng mode have no claim. */
function evidenceFacts(lots: readonly Lot[], claim: EvidenceLevel | undefined): Fact[] {
  if (claim === undefined) return [];
  const figures = lots
    .map((lot) => lot.evidence?.min_entropy_per_bit)
    .filter((each) => each !== null && each !== undefined);
  const figure = figures.length < lots.length ? '' : `, ${roundedDown(Math.min(...figures))} per raw bit`;
  return [['Evidence', `${claim}${figure}`]];
}

export function lotsTitle(count: number): string {
  return count === 1 ? 'The lot of this answer' : `The ${grouped(count)} lots of this answer`;
}

/** Returns each hash with a description of what was hashed. */
export function hashFacts({ hashes, provenance }: Certificate): [name: string, of: string, hash: string][] {
  const joined = provenance.lots.length > 1 ? ', concatenated over all lots' : '';
  return [
    ['raw_output', `the raw bits as the source delivered them${joined}`, hashes.raw_output],
    ['processed', `the bytes after conditioning${joined}`, hashes.processed],
    ['delivered', 'the salt and the data of the answer; only the answer contains the salt', hashes.delivered],
  ];
}
