/**
 * Verifies an answer without asking anyone: the service's own verifier. In the source tree it is loaded from there; in
 * the package, scripts/build-client.ts puts it here as one file, in the place of this one.
 */
const SERVICE_VERIFIER: string = '../../../src/certificate/verify.ts';

export interface VerificationInput {
  /** The answer's JSON body, or what came beside its octets; leave it out to check a certificate alone. */
  readonly response?: unknown;
  /** The octets that the certificate commits to, where it names their `media_type`. */
  readonly octets?: Uint8Array;
  /** What `certificate()` gave. */
  readonly certificate: unknown;
  /** /.well-known/qrn-keys.json: the anchor of trust, best had long before or from someone else. */
  readonly keys: unknown;
  /** Verifier keys of witnesses that you trust, and how many of them must have seen the log. */
  readonly witnesses?: { readonly keys: readonly string[]; readonly quorum: number };
  /** Fails an answer whose certificate does not show that what it was drawn from was fixed before. */
  readonly requireFixed?: boolean;
}

export interface Verification {
  /** True when every check holds. */
  readonly ok: boolean;
  readonly checks: readonly Check[];
  /** Members of the answer that no certificate speaks of, such as durations and credits. */
  readonly notCovered: readonly string[];
}

export interface Check {
  readonly name:
    | 'certificate id'
    | 'request id'
    | 'metadata'
    | 'delivered'
    | 'label'
    | 'lots'
    | 'derived'
    | 'status'
    | 'keys'
    | 'inclusion'
    | 'signature'
    | 'dates'
    | 'fixed'
    | 'witnesses';
  readonly ok: boolean;
  /** What was found, in a sentence. */
  readonly why: string;
}

/** Never rejects for what it is given: what cannot be read is a check that failed. */
export async function verifyAnswer(input: VerificationInput): Promise<Verification> {
  const service = (await import(SERVICE_VERIFIER)) as { verifyAnswer: typeof verifyAnswer };
  return service.verifyAnswer(input);
}
