import { assert } from '../core/assert.ts';
import type { AnswerLabel } from '../ledger/label-records.ts';

/** A private label has commitments in place of texts. Hashes are `sha256:` and 64 hex digits. */
export interface CertifiedLabel {
  readonly public: boolean;
  readonly purpose?: string;
  /** SHA-256 of a byte 04, the answer's salt and the purpose. */
  readonly purpose_commitment?: string;
  /** With a purpose: names the account and the purpose together. */
  readonly series?: string;
  /** With a purpose: place among all answers of the series, from 1, none left out. */
  readonly serial?: number;
  readonly user_data?: string;
  readonly user_data_sha256?: string;
  /** SHA-256 of a byte 05, the answer's salt and the user data. */
  readonly user_data_commitment?: string;
}

/** What a certificate says of a label that the ledger has numbered. */
export function certifiedLabel(label: AnswerLabel): CertifiedLabel {
  const { isPublic, purpose, purposeCommitment, series, serial } = label;
  const { userData, userDataSha256, userDataCommitment } = label;
  assert(
    (series === undefined) === (serial === undefined),
    'the ledger has numbered an answer before it is certified',
  );
  return {
    public: isPublic,
    ...(purpose === undefined ? {} : { purpose }),
    ...(purposeCommitment === undefined ? {} : { purpose_commitment: `sha256:${purposeCommitment}` }),
    ...(series === undefined ? {} : { series, serial: serial! }),
    ...(userData === undefined ? {} : { user_data: userData }),
    ...(userDataSha256 === undefined ? {} : { user_data_sha256: `sha256:${userDataSha256}` }),
    ...(userDataCommitment === undefined ? {} : { user_data_commitment: `sha256:${userDataCommitment}` }),
  };
}
