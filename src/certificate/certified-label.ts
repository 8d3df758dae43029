import { assert } from '../core/assert.ts';
import { boolean, count, described, object, type Schema, sha256, text } from '../core/schema.ts';
import type { AnswerLabel } from '../ledger/label-records.ts';

export const LABEL: Schema = object(
  { public: boolean },
  {
    purpose: described(text, 'In a public label.'),
    purpose_commitment: described(sha256, 'In a private label: of a byte 04, the salt and the purpose.'),
    series: described(text, 'Names the account and the purpose together.'),
    serial: described(count, 'Place among all answers of the series, from 1, none left out.'),
    user_data: described(text, 'In a public label.'),
    user_data_sha256: sha256,
    user_data_commitment: described(sha256, 'In a private label: of a byte 05, the salt and the user data.'),
  },
);

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
