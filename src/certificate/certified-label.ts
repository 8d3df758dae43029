import { assert } from '../core/assert.ts';
import { boolean, count, described, object, type Schema, sha256, text } from '../core/schema.ts';
import type { AnswerLabel } from '../ledger/label-records.ts';

/**
 * The members of a certified label, one row each: the member's form, and how it is made from the ledger's label. A
 * private label has commitments in place of texts. Hashes are `sha256:` and 64 hex digits.
 */
const ROWS = {
  purpose: row(text, 'The purpose of the answer. Only a public label contains it.', ({ purpose }) => purpose),
  purpose_commitment: row(
    sha256,
    'The SHA-256 hash of the byte 04, the salt and the purpose. Only a private label contains it.',
    ({ purposeCommitment }) => digest(purposeCommitment),
  ),
  series: row(
    text,
    'The identifier of the series: all answers of one account under one purpose.',
    ({ series }) => series,
  ),
  serial: row(
    count,
    'The serial number of the answer in its series. Numbers start at 1 and have no gaps.',
    ({ serial }) => serial,
  ),
  user_data: row(
    text,
    'The user data that the answer is bound to. Only a public label contains it.',
    ({ userData }) => userData,
  ),
  user_data_sha256: row(
    sha256,
    'The SHA-256 hash of the user data that the answer is bound to.',
    ({ userDataSha256 }) => digest(userDataSha256),
  ),
  user_data_commitment: row(
    sha256,
    'The SHA-256 hash of the byte 05, the salt and the user data. Only a private label contains it.',
    ({ userDataCommitment }) => digest(userDataCommitment),
  ),
};

export type CertifiedLabel = { readonly public: boolean } & {
  readonly [Name in keyof typeof ROWS]?: NonNullable<ReturnType<(typeof ROWS)[Name]['of']>>;
};

export const LABEL: Schema = object(
  { public: described(boolean, 'Whether the certificate shows `purpose` and `user_data` to everyone.') },
  Object.fromEntries(Object.entries(ROWS).map(([name, { schema }]) => [name, schema])),
);

function row<T>(schema: Schema, meaning: string, of: (label: AnswerLabel) => T) {
  return { schema: described(schema, meaning), of };
}

function digest(hex: string | undefined): string | undefined {
  return hex === undefined ? undefined : `sha256:${hex}`;
}

/** Returns the certificate's form of a label that the ledger has numbered. */
export function certifiedLabel(label: AnswerLabel): CertifiedLabel {
  const { series, serial, isPublic } = label;
  assert(
    (series === undefined) === (serial === undefined),
    'the ledger has numbered an answer before it is certified',
  );
  const told = Object.entries(ROWS).flatMap(([name, { of }]) => {
    const value = of(label);
    return value === undefined ? [] : [[name, value]];
  });
  return { public: isPublic, ...Object.fromEntries(told) };
}
