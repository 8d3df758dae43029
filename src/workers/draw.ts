import { certificatePdf } from '../certificate/pdf.ts';
import type { CertificateDocument } from '../certificate/record.ts';

/** Worker entry: draws a certificate as a PDF document. */
export default function draw(document: CertificateDocument): Promise<Uint8Array> {
  return certificatePdf(document);
}
