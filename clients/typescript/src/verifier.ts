/**
 * Loads the service's verifier, which needs no network. In the source tree it is at this path. In the package,
 * scripts/build-client.ts replaces this file by the bundled verifier.
 */
const SERVICE_VERIFIER: string = '../../../src/certificate/verify.ts';

export interface VerificationInput {
  /**
   * The answer's JSON body, or what the header fields of an answer in octets say. Leave it out to check only a
   * certificate.
   */
  readonly response?: unknown;
  /** The octets that the certificate commits to, when it names their `media_type`. */
  readonly octets?: Uint8Array;
  /** The result of `certificate()`. */
  readonly certificate: unknown;
  /** /.well-known/qrn-keys.json: the anchor of trust. Best obtained long before, or from someone else. */
  readonly keys: unknown;
  /** The verifier keys of witnesses that you trust, and how many of them must have signed the log. */
  readonly witnesses?: { readonly keys: readonly string[]; readonly quorum: number };
  /** Fails an answer whose certificate does not show that the bytes it was drawn from were fixed before. */
  readonly requireFixed?: boolean;
}

export interface Verification {
  /** True when every check holds. */
  readonly ok: boolean;
  readonly checks: readonly Check[];
  /** Members of the answer that no certificate covers, such as durations and credits. */
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
  /** The finding, in a sentence. */
  readonly why: string;
}

/** Checks an answer. Never rejects because of its input: input that cannot be read is a failed check. */
export async function verifyAnswer(input: VerificationInput): Promise<Verification> {
  const service = (await import(SERVICE_VERIFIER)) as { verifyAnswer: typeof verifyAnswer };
  return service.verifyAnswer(input);
}
