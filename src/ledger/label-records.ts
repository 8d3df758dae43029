/**
 * What the caller said of an answer, as its certificate repeats it. A private label holds commitments in place of texts
 * (answer/label.ts). Hashes are 64 hex digits.
 */
export interface AnswerLabel {
  readonly isPublic: boolean;
  /** In a public label. */
  readonly purpose?: string;
  /** In a private label. */
  readonly purposeCommitment?: string;
  /** `series_` and 26 base32 characters: one account and one purpose. Present exactly when there is a purpose. */
  readonly series?: string;
  /**
   * Place among the answers of the series, from 1. The ledger gives it in the transaction that stores the segment, so
   * that no number is left out; it is absent before.
   */
  readonly serial?: number;
  /** In a public label. */
  readonly userData?: string;
  /** Of public user data, or what the caller gave in its place. */
  readonly userDataSha256?: string;
  /** In a private label. */
  readonly userDataCommitment?: string;
}

/** What only some entries of a segment have. */
export interface EntryNote {
  /** Of the entry within its segment. */
  readonly index: number;
  readonly label: AnswerLabel;
}

/** An answer of a series. */
export interface SeriesAnswer {
  readonly serial: number;
  /** Where its certificate is. */
  readonly sequence: number;
  readonly index: number;
  readonly issuedAtMs: number;
  readonly isPublic: boolean;
}

/** The series of one public purpose, and some answers of one of them. */
export interface SeriesPage {
  /** Each with how many answers it has had. At most SERIES_LISTED_MAX, in the order of their names. */
  readonly series: readonly { readonly id: string; readonly count: number }[];
  /** In ascending order. Answers whose segments retention dropped are missing at the front. */
  readonly answers: readonly SeriesAnswer[];
}

/** Accounts that can be told apart under one public purpose. */
export const SERIES_LISTED_MAX = 100;
