import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { CertificateDocument } from '../../src/certificate/document.ts';
import type { LotLeaf } from '../../src/certificate/lot-members.ts';
import { verifyAnswer } from '../../src/certificate/verify.ts';
import type { Origin } from '../../src/core/vocabulary.ts';
import type { EvidenceLevel } from '../../src/ledger/records.ts';
import type { TestServer } from '../support/server.ts';

/** A read as the provider's side of the test knows it. */
export interface GivenRead {
  /** The operator's name of the source. */
  readonly source: string;
  readonly origin: Origin;
  readonly quantumBackend: string;
  readonly provider: string;
  readonly device: string;
  readonly jobId: string | null;
  readonly circuit: string;
  readonly circuitVersion: string;
  readonly circuitSha256: string | null;
  readonly qubits: number;
  readonly depth: number;
  readonly shots: number;
  /** The complete calibration, of which the certificate has the id, the date and a digest. */
  readonly calibration: Readonly<Record<string, unknown>> | null;
  readonly evidence: EvidenceLevel;
  /** What the provider sent, verbatim: the raw result is one of these. */
  readonly sent: readonly Uint8Array[];
}

/** What is fetched from the service before it is stopped; verification asks nobody. */
interface TakenAnswer {
  readonly headers: Headers;
  readonly response: AnswerBody;
  readonly certificate: CertificateDocument;
  readonly keys: unknown;
}

interface AnswerBody {
  readonly data: { readonly values: readonly string[]; readonly metadata: { readonly entropy_mode: string } };
  readonly metadata: Readonly<Record<string, unknown>> & { readonly certificate_id: string };
}

const MODES = ['pure', 'quantum-seeded'] as const;

/**
 * Fetches an answer of both quantum modes with its certificate, stops the service, and compares header, body and
 * certificate with what the provider gave.
 */
export async function assertNamed(service: TestServer, given: GivenRead): Promise<void> {
  const taken: TakenAnswer[] = [];
  for (const mode of MODES) taken.push(await takeAnswer(service, mode));
  const end = await service.stop();
  const isLate = service.output().includes('not stopped in time'); // the machine's doing, which is tested elsewhere
  assert.ok(end === 0 || isLate, `ended with ${end}:\n${service.output()}`);
  for (const [index, answer] of taken.entries()) await assertAnswer(answer, MODES[index], given);
}

async function takeAnswer(service: TestServer, mode: string): Promise<TakenAnswer> {
  const reply = await service.get(`/bytes?count=24&encoding=hex&entropy_mode=${mode}`);
  const response = (await reply.json()) as AnswerBody;
  assert.equal(reply.status, 200, JSON.stringify(response));
  const path = `/certificate?id=${response.metadata.certificate_id}`;
  let certificate: CertificateDocument | undefined;
  await service.until('the certificate is logged', async () => {
    certificate = (await (await service.get(path)).json()) as CertificateDocument;
    return certificate.certificate.proof !== null;
  });
  return { headers: reply.headers, response, certificate: certificate!, keys: await service.keys() };
}

async function assertAnswer(
  { headers, response, certificate: document, keys }: TakenAnswer,
  mode: string,
  given: GivenRead,
): Promise<void> {
  const { certificate } = document;
  const { provenance } = certificate;
  const lot = document.lots[0].leaf;
  const digests = given.sent.map((body) => `sha256:${sha256Hex(body)}`);
  assert.ok(digests.includes(lot.raw_output), 'the raw result is one that the provider sent');
  assert.deepEqual(headersOf(headers), headersFor(given, mode));
  assert.deepEqual(
    [response.metadata['quantum_backend'], response.metadata['entropy_origin']],
    [given.quantumBackend, given.origin],
  );
  assert.deepEqual(
    [response.metadata['lang_circuit'], response.metadata['lang_version']],
    [given.circuit, given.circuitVersion],
  );
  assert.equal(certificate.status, 'valid');
  assert.equal(provenance.lots.length, 1);
  // pure bytes come from the hardware alone; a seed is mixed with the system's entropy
  const mixed = mode === 'quantum-seeded' ? { system_entropy: 'kernel' } : {};
  assert.deepEqual(provenanceOf(provenance), { ...provenanceFor(given), ...mixed });
  // which bytes of the lot: those of pure, or the seed
  const isPure = mode === 'pure';
  assert.deepEqual([Array.isArray(provenance.drawn), provenance.seed === undefined], [isPure, isPure]);
  for (const [name, value] of Object.entries(readFor(given)))
    assert.deepEqual(lot[name as keyof LotLeaf], value, name);
  assert.deepEqual(
    [lot.origin, lot.quantum_backend, lot.job_id, lot.deterministic],
    [given.origin, given.quantumBackend, given.jobId, false],
  );
  assert.equal(lot.evidence?.claim, given.evidence, JSON.stringify(lot.evidence));
  const { ok, checks } = await verifyAnswer({ response, certificate: document, keys });
  assert.ok(ok, JSON.stringify(checks));
  const forged = structuredClone(document) as unknown as { lots: { leaf: { device: string } }[] };
  forged.lots[0].leaf.device = 'another';
  assert.equal((await verifyAnswer({ response, certificate: forged, keys })).ok, false);
}

const NAMING_HEADERS = [
  'x-entropy-mode',
  'x-entropy-origin',
  'x-quantum-backend',
  'x-lang-circuit',
  'x-lang-version',
];

function headersOf(headers: Headers): (string | null)[] {
  return NAMING_HEADERS.map((name) => headers.get(name));
}

function headersFor({ origin, quantumBackend, circuit, circuitVersion }: GivenRead, mode: string): string[] {
  return [mode, origin, quantumBackend, circuit, circuitVersion];
}

type Provenance = CertificateDocument['certificate']['provenance'];

/** Returns what the certificate states once for all of its lots. */
function provenanceOf({ lots: _, seed: __, drawn: ___, ...named }: Provenance): object {
  return named;
}

function provenanceFor(given: GivenRead): object {
  return {
    lang_circuit: given.circuit,
    lang_version: given.circuitVersion,
    quantum_backend: given.quantumBackend,
    qubits_used: given.qubits,
    circuit_depth: given.depth,
    origin: given.origin,
    evidence: given.evidence,
  };
}

/** Returns what the lot's leaf states of the read. */
function readFor(given: GivenRead): Partial<LotLeaf> {
  const { calibration } = given;
  return {
    source: given.source,
    provider: given.provider,
    device: given.device,
    lang_circuit: given.circuit,
    lang_version: given.circuitVersion,
    circuit_sha256: given.circuitSha256 === null ? null : `sha256:${given.circuitSha256}`,
    qubits_used: given.qubits,
    circuit_depth: given.depth,
    shots: given.shots,
    calibration:
      calibration === null
        ? null
        : {
            id: (calibration['id'] ?? null) as string | null,
            date: (calibration['date'] ?? null) as string | null,
            digest: `sha256:${sha256Hex(canonicalize(calibration)!)}`,
          },
  };
}

export function sha256Hex(content: string | Uint8Array): string {
  return hash('sha256', content, 'hex');
}
