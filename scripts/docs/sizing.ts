import { COMMIT_SLOTS } from '../../src/ledger/postgres/fence.ts';

/**
 * A model of many nodes on one PostgreSQL server: the work of each part at a given load, computed from costs
 * measured on two cores of a virtual machine. docs/cluster.md shows its tables.
 */

/**
 * Processor time of the primary for a commit with a synchronous standby; it was 211 µs for 64 answers and 307 µs for
 * 256.
 */
const COMMIT_US = 179;
const ANSWER_US = 0.5;
/** Write-ahead log of a commit; it was 510 bytes for one answer, and 87 bytes an answer for commits of 64. */
const COMMIT_WAL_BYTES = 430;
const ANSWER_WAL_BYTES = 80;
/** Bytes of an answer in its segment, which are stored until retention drops them. */
const ANSWER_STORED_BYTES = 80;
/** p50 of a commit of 64 answers with a standby and four commits in flight, without a network. */
const COMMIT_MS = 1.19;
/** Assumed round trip in one data centre. A commit takes one to the primary, and the primary takes one to its standby. */
const ROUND_TRIP_MS = 0.5;
/** Connections of a node: for its commits, its other calls, its name and the sequencer's lock. */
const CONNECTIONS = COMMIT_SLOTS + 4 + 2;
/** How often a node asks for changes of the directory. */
const POLLS_PER_S = 4;
const POLL_US = 110;
/** Cost of asking for limits in one statement a second, with an assumed 64 active accounts on each node. */
const LIMITS_US_PER_S = 1_240;
/** Rate at which one sequencer adds leaves to the log. */
const LEAVES_PER_S = 70_000;
/** Assumed cores of the primary, of which 70 % are used at most. */
const PRIMARY_CORES = 16;
const PRIMARY_SHARE = 0.7;

const DAY_S = 86_400;

interface Load {
  readonly nodes: number;
  /** Answers that each node gives. */
  readonly perNodePerS: number;
}

interface Sizing extends Load {
  readonly answersPerS: number;
  readonly commitsPerS: number;
  readonly answersPerCommit: number;
  /** How long an answer waits for its commit. */
  readonly commitMs: number;
  readonly primaryCores: number;
  readonly walMbPerS: number;
  readonly storedGbPerDay: number;
  readonly connections: number;
  /** Share of one sequencer's capacity that is used. */
  readonly sequencerShare: number;
}

const LOADS: readonly Load[] = [
  { nodes: 2, perNodePerS: 1_000 },
  { nodes: 2, perNodePerS: 20_000 },
  { nodes: 10, perNodePerS: 1_000 },
  { nodes: 10, perNodePerS: 7_000 },
  { nodes: 10, perNodePerS: 20_000 },
  { nodes: 100, perNodePerS: 100 },
  { nodes: 100, perNodePerS: 700 },
  { nodes: 100, perNodePerS: 7_000 },
];

/**
 * Computes the sizes for a load. A node has one transaction in flight on each slot, and each transaction takes all
 * waiting answers. So a node commits once per answer while it has a free slot, and beyond that as often as its slots
 * become free: an overloaded primary gets larger commits, not more of them.
 */
function sizingOf({ nodes, perNodePerS }: Load): Sizing {
  const answersPerS = nodes * perNodePerS;
  const freeMs = COMMIT_MS + 2 * ROUND_TRIP_MS;
  const backgroundUs = nodes * (POLLS_PER_S * POLL_US + LIMITS_US_PER_S);
  const commitBudgetUs = PRIMARY_CORES * PRIMARY_SHARE * 1e6 - backgroundUs - answersPerS * ANSWER_US;
  const commitsPerS = Math.min(
    answersPerS,
    (nodes * COMMIT_SLOTS * 1e3) / freeMs,
    Math.max(1, commitBudgetUs / COMMIT_US),
  );
  const commitMs = Math.max(
    freeMs,
    answersPerS > commitsPerS ? (nodes * COMMIT_SLOTS * 1e3) / commitsPerS : 0,
  );
  return {
    nodes,
    perNodePerS,
    answersPerS,
    commitsPerS,
    answersPerCommit: answersPerS / commitsPerS,
    commitMs,
    primaryCores: (commitsPerS * COMMIT_US + answersPerS * ANSWER_US + backgroundUs) / 1e6,
    walMbPerS: (commitsPerS * COMMIT_WAL_BYTES + answersPerS * ANSWER_WAL_BYTES) / 1e6,
    storedGbPerDay: (answersPerS * ANSWER_STORED_BYTES * DAY_S) / 1e9,
    connections: nodes * CONNECTIONS,
    sequencerShare: answersPerS / LEAVES_PER_S,
  };
}

const number = (value: number, digits = 0) =>
  value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });

/** Returns the table in docs/cluster.md. A figure beyond the capacity of its part is bold. */
function sizingTable(): string {
  const rows = LOADS.map(sizingOf).map((row) => {
    const share = `${number(100 * row.sequencerShare)} %`;
    return [
      number(row.nodes),
      number(row.perNodePerS),
      number(row.answersPerS),
      number(row.commitsPerS),
      number(row.answersPerCommit, 1),
      number(row.commitMs, 1),
      number(row.primaryCores, 1),
      number(row.walMbPerS, 1),
      number(row.storedGbPerDay),
      number(row.connections),
      row.sequencerShare > 1 ? `**${share}**` : share,
    ];
  });
  const head = [
    ...[
      'Nodes',
      'Answers/s each',
      'Answers/s',
      'Commits/s',
      'Answers a commit',
      'Commit, ms',
      'Primary, cores',
    ],
    ...['WAL, MB/s', 'Stored, GB a day', 'Connections', 'Sequencer'],
  ];
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')).replaceAll(' ', ''), ...rows.map(line)].join('\n');
}

/** Returns the sentences about the assumptions, made from the constants so that the page cannot state others. */
function sizingAssumptions(): string {
  return (
    `Measured: a commit costs the primary ${COMMIT_US} µs and ${ANSWER_US} µs for each answer in it, and ${COMMIT_WAL_BYTES} bytes of write-ahead ` +
    `log and ${ANSWER_WAL_BYTES} for each answer. It takes ${COMMIT_MS} ms with a standby and without a network. A look for changes takes ${POLL_US} µs, limits of 64 accounts ` +
    `${LIMITS_US_PER_S / 1_000} ms, and one sequencer adds ${number(LEAVES_PER_S)} leaves a second. Assumed: a round trip takes ${ROUND_TRIP_MS} ms, ` +
    `64 accounts are active on each node, and the primary has ${PRIMARY_CORES} cores, of which ${100 * PRIMARY_SHARE} % are used.`
  );
}

/** Returns docs/cluster.md with the model's text between its marks. */
export function withSizing(page: string): string {
  const parts = page.split(/(?<=<!-- sizing -->\n)[\s\S]*?(?=\n<!-- end of sizing -->)/);
  if (parts.length !== 2) throw new Error('docs/cluster.md has no marks of the sizing, or several');
  return parts.join(`${sizingAssumptions()}\n\n${sizingTable()}`);
}
