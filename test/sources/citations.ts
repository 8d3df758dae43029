import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { CertificateDocument } from '../../src/certificate/document.ts';
import { verifyAnswer } from '../../src/certificate/verify.ts';

/** The hash of the certificate's leaf in its log, in base64: made as docs/certificates.md says, with nothing of src. */
export function leafOf({ certificate }: CertificateDocument): string {
  const { status: _, verify_url: __, proof: ___, ...issued } = certificate;
  return createHash('sha256').update(Buffer.of(0)).update(canonicalize(issued)!).digest('base64');
}

/**
 * Follows what the lots of a certificate cite, as a stranger does: each cited certificate, which `shown` gives by its id,
 * holds by the keys of the log that it was issued under, and is the one that was cited. Gives their ids.
 */
export async function followCitations(
  { lots }: CertificateDocument,
  shown: (id: string) => Promise<CertificateDocument>,
  keys: unknown,
): Promise<string[]> {
  const followed: string[] = [];
  for (const { leaf } of lots) {
    const { upstream, lot_id: lotId } = leaf;
    assert.ok(upstream !== null, `${lotId} cites certificates`);
    for (const cited of upstream.certificates) {
      const certificate = await shown(cited.id);
      const { ok, checks } = await verifyAnswer({ certificate, keys, requireFixed: true });
      assert.ok(ok, JSON.stringify(checks));
      assert.equal(cited.leaf, leafOf(certificate));
      assert.equal(certificate.certificate.provenance.origin, upstream.origin);
      followed.push(cited.id);
    }
  }
  return followed;
}
