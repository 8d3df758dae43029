import type { AnswerVerifier, CertifiedFacts, OctetAnswer } from '../backend/definition.ts';
import { member, text } from '../certificate/members.ts';
import { responseOfFields } from '../certificate/octet-answer.ts';
import { readProof } from '../certificate/signed-checkpoint.ts';
import { verifyAnswer } from '../certificate/verify.ts';
import { issuedText } from '../certificate/verify-lots.ts';
import { utf8Bytes } from '../core/bytes.ts';
import { isObject } from '../core/json.ts';
import { ORIGINS, type Origin } from '../core/vocabulary.ts';
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
  if (ok) return factsOf(certificate);
  return checks.flatMap((check) => (check.ok ? [] : [`${check.name}: ${check.why}`])).join(' ');
};

/** Of a document that was verified. */
function factsOf(document: unknown): CertifiedFacts | string {
  const certificate = member(document, 'certificate');
  const provenance = member(certificate, 'provenance');
  const lots = member(provenance, 'lots');
  const leaves = member(document, 'lots');
  // what is said of a lot stands in its leaf where the document has that as an object, else in the certificate
  const listed: readonly unknown[] = (Array.isArray(lots) ? lots : []).map((lot, i) => {
    const leaf = Array.isArray(leaves) ? member(leaves[i], 'leaf') : undefined;
    return isObject(leaf) ? leaf : lot;
  });
  const named = [member(provenance, 'origin'), ...listed.map((lot) => member(lot, 'origin'))];
  const ranks = named.map((origin) => ORIGINS.indexOf(origin as Origin));
  if (ranks.includes(-1)) return 'It names an origin that is none.';
  // what shows nothing of a quantum origin has none, whatever it is called
  if (member(provenance, 'evidence') === 'simulated') ranks.push(ORIGINS.indexOf('simulated'));
  return {
    log: readProof(member(certificate, 'proof')).checkpoint.origin,
    leaf: toBase64(leafHash(utf8Bytes(issuedText(certificate) ?? ''))),
    endpoint: text(member(certificate, 'endpoint')) ?? '',
    mode: text(member(certificate, 'entropy_mode')) ?? '',
    origin: ORIGINS[Math.max(...ranks)],
    isDeclared: listed.some((lot) => member(lot, 'declared') === true),
    deterministic: listed.some((lot) => member(lot, 'deterministic') === true),
    quantumBackend: text(member(provenance, 'quantum_backend')) ?? '',
    userDataSha256: text(member(certificate, 'label', 'user_data_sha256')),
  };
}
