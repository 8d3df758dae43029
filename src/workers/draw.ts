import type { CertificateDocument } from '../certificate/certificate.ts';
import { certificatePdf } from '../certificate/pdf.ts';

/** Worker entry: draws a certificate as a PDF document. */
export default function draw(document: CertificateDocument): Promise<Uint8Array> {
  return certificatePdf(document);
}
