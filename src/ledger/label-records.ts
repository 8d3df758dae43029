/**
 * The caller's label of an answer, as its certificate shows it. A private label holds commitments instead of texts
 * (answer/label.ts). Hashes are 64 hex digits.
 */
export interface AnswerLabel {
  readonly isPublic: boolean;
  /** Only in a public label. */
  readonly purpose?: string;
  /** Only in a private label. */
  readonly purposeCommitment?: string;
  /** `series_` and 26 base32 characters, which name the account and the purpose. Present exactly when there is a purpose. */
  readonly series?: string;
  /**
   * The number of the answer in its series, from 1. The transaction that stores the segment gives it, so that no number is
   * skipped; absent before.
   */
  readonly serial?: number;
  /** Only in a public label. */
  readonly userData?: string;
  /** The hash of public user data, or the hash that the caller gave instead of user data. */
  readonly userDataSha256?: string;
  /** Only in a private label. */
  readonly userDataCommitment?: string;
}

/** The label of an entry, for the few entries that have one. */
export interface EntryNote {
  /** The index of the entry in its segment. */
  readonly index: number;
  readonly label: AnswerLabel;
}

/** An answer of a series. */
export interface SeriesAnswer {
  readonly serial: number;
  /** The segment and the index in it that hold the answer's certificate. */
  readonly sequence: number;
  readonly index: number;
  readonly issuedAtMs: number;
  readonly isPublic: boolean;
}

/** The series of one public purpose, and some answers of one of them. */
export interface SeriesPage {
  /** At most SERIES_LISTED_MAX series in the order of their ids, each with the count of all answers it ever had. */
  readonly series: readonly { readonly id: string; readonly count: number }[];
  /** By ascending serial. Retention drops the oldest answers. */
  readonly answers: readonly SeriesAnswer[];
}

/** The most series that a page lists. Each belongs to another account. */
export const SERIES_LISTED_MAX = 100;
