import type { AnswerVerifier, CertifiedFacts, OctetAnswer } from '../backend/definition.ts';
import type { CertificateDocument } from '../certificate/document.ts';
import { responseOfFields } from '../certificate/octet-answer.ts';
import { readProof } from '../certificate/signed-checkpoint.ts';
import { verifyAnswer } from '../certificate/verify.ts';
import { issuedText } from '../certificate/verify-lots.ts';
import { utf8Bytes } from '../core/bytes.ts';
import { ORIGINS } from '../core/vocabulary.ts';
import { toBase64 } from '../crypto/base64.ts';
import { leafHash } from '../crypto/merkle.ts';

/** Verifies an answer of another service for sources of kind `qrn`, with all checks of `qrn verify --require-fixed`. */
export const verifyUpstream: AnswerVerifier = async (
  { fields, octets }: OctetAnswer,
  certificate,
  logKeys,
) => {
  const { ok, checks } = await verifyAnswer({
    response: responseOfFields(fields),
    octets,
    certificate,
    keys: logKeys,
    requireFixed: true,
  });
  if (ok) return factsOf(certificate as CertificateDocument);
  return checks.flatMap((check) => (check.ok ? [] : [`${check.name}: ${check.why}`])).join(' ');
};

/** Returns the facts of a verified document: its form is checked, and its statements on lots follow from their leaves. */
function factsOf({ certificate, lots }: CertificateDocument): CertifiedFacts {
  const { origin, evidence, quantum_backend } = certificate.provenance;
  // Evidence of `simulated` supports no quantum origin, whatever the provenance says.
  const isSimulated = evidence === 'simulated' && ORIGINS.indexOf(origin) < ORIGINS.indexOf('simulated');
  return {
    log: readProof(certificate.proof).checkpoint.origin,
    leaf: toBase64(leafHash(utf8Bytes(issuedText(certificate) ?? ''))),
    endpoint: certificate.endpoint,
    mode: certificate.entropy_mode,
    origin: isSimulated ? 'simulated' : origin,
    isDeclared: lots.some(({ leaf }) => leaf.declared),
    deterministic: lots.some(({ leaf }) => leaf.deterministic),
    quantumBackend: quantum_backend,
    userDataSha256: certificate.label?.user_data_sha256,
  };
}
