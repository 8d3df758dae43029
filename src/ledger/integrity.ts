/** What the running server knows of the soundness of its records. */
export interface LedgerIntegrity {
  /** The audit after an unclean stop; `none` when the last stop was clean. */
  readonly startAudit: 'none' | 'running' | 'sound' | 'damaged';
  /** Null when the scrub is off. */
  readonly scrub: ScrubState | null;
  /** The database that several nodes share; null when the books are in a folder. */
  readonly database: DatabaseState | null;
}

/** What a node knows of the database that it shares with others. */
export interface DatabaseState {
  /** True when the database does not answer: nothing can be acknowledged. */
  readonly isAway: boolean;
  /** This node's clock minus the database's; 0 when the time of the round trip can explain the difference. */
  readonly skewMs: number;
  /** True when the clocks differ so much that this node must not serve. */
  readonly isSkewed: boolean;
  /** True when commits have waited for a standby for seconds: nothing can be acknowledged until it follows again. */
  readonly isStandbyLate: boolean;
  /** Segments of all nodes that wait to be logged. */
  readonly unsealedSegments: number;
}

/** What the scrub has done since the start. */
export interface ScrubState {
  /** Count of complete walks over all records. */
  readonly passes: number;
  readonly records: number;
  readonly bytes: number;
  /** When the last complete walk ended (Unix ms), and its duration; null before the first. */
  readonly passedAtMs: number | null;
  readonly passMs: number | null;
  /** Count of different problems found since the start, and the problems in words. */
  readonly damaged: number;
  readonly problems: readonly string[];
}
