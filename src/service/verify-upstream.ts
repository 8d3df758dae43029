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

/**
 * The verifier of certificates as sources of kind `qrn` use it: an answer of another service counts when everything holds
 * that `qrn verify --require-fixed` checks.
 */
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

/** Of a document that was verified: it has its form, and what it says of its lots follows from their leaves. */
function factsOf({ certificate, lots }: CertificateDocument): CertifiedFacts {
  const { origin, evidence, quantum_backend } = certificate.provenance;
  // what shows nothing of a quantum origin has none, whatever it is called
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
