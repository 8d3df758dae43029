import canonicalize from 'canonicalize';
import { concatBytes, utf8Bytes } from '../core/bytes.ts';
import { base32Of } from '../core/ids.ts';
import { hkdfSha256, sha256Hex } from '../crypto/digest.ts';
import type { AnswerLabel } from '../ledger/label-records.ts';

/** The label that a request gives its answer: the parameters purpose, user_data, user_data_sha256 and public. */
export interface LabelRequest {
  readonly isPublic: boolean;
  readonly purpose: string | undefined;
  readonly userData: string | undefined;
  /** 64 hex digits, if the caller keeps the user data to itself. */
  readonly userDataSha256: string | undefined;
}

/** First bytes of the commitments, so that none can be confused with another hash of certificates (docs/certificates.md). */
const PURPOSE_BYTE = 0x04;
const USER_DATA_BYTE = 0x05;

/**
 * Returns the label of one answer as the ledger keeps it. `salt` is the answer's salt: without it nobody can find a private
 * text by guessing and comparing commitments.
 */
export function labelOf(request: LabelRequest, accountId: string, salt: Uint8Array): AnswerLabel {
  const { isPublic, purpose, userData, userDataSha256 } = request;
  const commitment = (byte: number, text: string) =>
    sha256Hex(concatBytes(Uint8Array.of(byte), salt, utf8Bytes(text)));
  return {
    isPublic,
    ...(purpose === undefined
      ? {}
      : {
          ...(isPublic ? { purpose } : { purposeCommitment: commitment(PURPOSE_BYTE, purpose) }),
          series: seriesOf(accountId, purpose),
        }),
    ...(userDataSha256 === undefined ? {} : { userDataSha256 }),
    ...(userData === undefined
      ? {}
      : isPublic
        ? { userData, userDataSha256: sha256Hex(utf8Bytes(userData)) }
        : { userDataCommitment: commitment(USER_DATA_BYTE, userData) }),
  };
}

/**
 * Returns a name for the pair of an account and a purpose. The name does not reveal the account, because an account id has 128
 * random bits; the holder of the account can prove that a series is its own by its id.
 */
function seriesOf(accountId: string, purpose: string): string {
  const id = hkdfSha256(utf8Bytes(accountId), new Uint8Array(), utf8Bytes(`qrn series v1\n${purpose}`), 16);
  return `series_${base32Of(id)}`;
}

/** Returns the label as the answer prints it: canonical JSON with the texts that the certificate commits to. */
export function labelText(request: LabelRequest, { series }: AnswerLabel): string {
  const { isPublic, purpose, userData, userDataSha256 } = request;
  return canonicalize({
    public: isPublic,
    ...(purpose === undefined ? {} : { purpose, series }),
    ...(userData === undefined ? {} : { user_data: userData }),
    ...(userDataSha256 === undefined ? {} : { user_data_sha256: `sha256:${userDataSha256}` }),
  })!;
}
