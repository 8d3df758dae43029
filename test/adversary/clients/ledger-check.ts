import { join } from 'node:path';
import { CertificateIds } from '../../../src/certificate/ids.ts';
import { dayOf, periodOf, systemClock } from '../../../src/core/clock.ts';
import { base32Of } from '../../../src/core/ids.ts';
import { silentLog } from '../../../src/core/log.ts';
import { openSecretFile } from '../../../src/crypto/key-files.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import { openLmdbLedger } from '../../../src/ledger/lmdb/lmdb.ts';
import type { AnswerEntry } from '../../../src/ledger/records.ts';
import { readEntries } from '../../../src/ledger/segment.ts';
import type { Acknowledged } from './acknowledged.ts';
import { PURPOSE } from './mix.ts';

/** What the books of a stopped service hold of one account. */
export interface LedgerFindings {
  /** What does not agree with the client's account, in words. */
  readonly violations: readonly string[];
  readonly entries: number;
  /** Entries that no client got: committed as the service died, or as the client went away. */
  readonly unacknowledged: number;
  readonly creditsBooked: number;
  readonly lots: number;
  readonly seeds: number;
  /** Journals that held commits which the ledger had not stored. */
  readonly recovered: number;
}

export interface Known {
  readonly accountId: string;
  readonly acknowledged: Acknowledged;
  /** Requests that may have been answered. */
  readonly unknown: number;
  /** Places of the answers of PURPOSE, by serial from 1 on, as the last check found them; brought up to date. */
  readonly numbered?: number[];
}

const SEGMENTS_AT_ONCE = 256;
/** Rows of the series that are read at a time. */
const SERIES_LIMIT = 1_000;
/** Entries of a segment, at most: its index in one number with the segment's. */
const INDEX_MAX = 2 ** 20;
const VIOLATIONS_MAX = 20;

/**
 * Holds the books against what clients were told: every acknowledged answer stands where its certificate's id says, as
 * it was given; every other entry is one of the `unknown` requests; sums and counters are those of the entries; and the answers of
 * PURPOSE have the serials from 1 on without a gap, each the one that it had before.
 */
export async function checkLedger(
  dataDir: string,
  { accountId, acknowledged, unknown, numbered = [] }: Known,
): Promise<LedgerFindings> {
  let recovered = 0;
  const warn = (_facts: object, message: string) => {
    if (message.startsWith('ledger: recovered commits')) recovered++;
  };
  const ledger = await openLmdbLedger({
    path: join(dataDir, 'ledger'),
    clock: systemClock,
    log: { ...silentLog, warn },
    role: 'server', // a journal is replayed, as the next service would
    durability: 'fsync',
    growAheadBytes: 0,
  });
  try {
    const { problems } = await ledger.audit();
    const violations = problems.map((problem) => `audit: ${problem}`);
    const say = (what: string) => violations.push(what);
    violations.push(...(await checkSerials(ledger, numbered)));
    const accountNumber = (await ledger.accounts()).find(({ id }) => id === accountId)!.number;
    const places = placesOf(dataDir, acknowledged);
    const walk = new LedgerWalk(acknowledged, places, accountNumber, new Set(numbered));
    await walk.all(ledger);
    violations.push(...walk.violations);
    const balances = await ledger.balances(periodOf(systemClock.wallMs()));
    const balance = balances.find((each) => each.accountNumber === accountNumber);
    const usage = await ledger.usage(accountNumber, dayOf(systemClock.wallMs()) - 1);
    const counted = usage.reduce((sum, { requests }) => sum + requests, 0);
    const { credits = 0, requests = 0 } = balance ?? {};
    if (walk.unacknowledged > unknown)
      say(`${walk.unacknowledged} entries were acknowledged to nobody, and ${unknown} connections were lost`);
    if (credits !== walk.credits) say(`${credits} credits are booked, entries sum to ${walk.credits}`);
    if (requests !== walk.entries || counted !== walk.entries)
      say(`${walk.entries} entries, ${requests} by quota, ${counted} by usage`);
    return {
      violations: violations.slice(0, VIOLATIONS_MAX),
      entries: walk.entries,
      unacknowledged: walk.unacknowledged,
      creditsBooked: walk.credits,
      lots: walk.lots.size,
      seeds: walk.seeds.size,
      recovered,
    };
  } finally {
    await ledger.close();
  }
}

const placeOf = (segment: number, index: number) => segment * INDEX_MAX + index;

/** Where each row's certificate lies. */
function placesOf(dataDir: string, acknowledged: Acknowledged): Float64Array {
  const ids = new CertificateIds(openSecretFile(join(dataDir, 'keys', 'certificate-ids')));
  return Float64Array.from({ length: acknowledged.count }, (_, row) => {
    const place = ids.placeOf(`cert_${base32Of(acknowledged.certificateId(row))}`);
    return typeof place === 'string' ? Number.NaN : placeOf(place.segment, place.index);
  });
}

/** Whether the serials of PURPOSE are those from 1 on, each of one answer, and of the same one as before. */
async function checkSerials(ledger: Pick<Ledger, 'seriesPage'>, numbered: number[]): Promise<string[]> {
  const places: number[] = [];
  for (;;) {
    const from = places.length + 1;
    const { answers } = await ledger.seriesPage(PURPOSE, { series: undefined, from, limit: SERIES_LIMIT });
    for (const { serial, sequence, index } of answers) {
      if (serial !== places.length + 1)
        return [`serial ${serial} of the purpose follows serial ${places.length}`];
      places.push(placeOf(sequence, index));
    }
    if (answers.length < SERIES_LIMIT) break;
  }
  const changed = numbered.findIndex((place, i) => places.at(i) !== place);
  if (changed >= 0)
    return [`serial ${changed + 1} of the purpose was that of another answer before the crash`];
  if (new Set(places).size < places.length) return ['an answer has two serials of the purpose'];
  numbered.push(...places.slice(numbered.length));
  return [];
}

class LedgerWalk {
  readonly violations: string[] = [];
  readonly lots = new Set<string>();
  readonly seeds = new Set<string>();
  entries = 0;
  unacknowledged = 0;
  credits = 0;
  readonly #acknowledged: Acknowledged;
  readonly #places: Float64Array;
  readonly #accountNumber: number;
  readonly #numbered: ReadonlySet<number>;
  /** Rows by place. */
  readonly #order: Uint32Array;
  /** Of the next row that must come. */
  #next = 0;

  constructor(
    acknowledged: Acknowledged,
    places: Float64Array,
    accountNumber: number,
    numbered: ReadonlySet<number>,
  ) {
    this.#acknowledged = acknowledged;
    this.#places = places;
    this.#accountNumber = accountNumber;
    this.#numbered = numbered;
    this.#order = Uint32Array.from(places, (_, row) => row).sort((a, b) => places[a] - places[b]);
    if (places.some(Number.isNaN)) this.#say('certificate ids that are none');
  }

  async all(ledger: Pick<Ledger, 'segmentsFrom'>): Promise<void> {
    for (let from = 0; ; ) {
      const segments = await ledger.segmentsFrom(from, SEGMENTS_AT_ONCE);
      if (segments.length === 0) break;
      for (const { sequence, sources, entries } of segments) {
        for (const { mode, lotIds, drawn } of sources) {
          for (const id of lotIds) this.lots.add(id);
          if (mode === 'quantum-seeded') this.seeds.add(`${lotIds[0]} ${drawn[0].offset}`);
        }
        let index = 0;
        for (const entry of readEntries(entries)) this.#entry(placeOf(sequence, index++), entry);
      }
      from = segments[segments.length - 1].sequence + 1;
    }
    const lost = this.#order.length - this.#next;
    if (lost > 0) this.#say(`${lost} acknowledged certificates are lost or given twice`);
  }

  #entry(place: number, entry: AnswerEntry): void {
    if (entry.accountNumber !== this.#accountNumber) return;
    this.entries++;
    this.credits += entry.credits;
    const row = this.#order[this.#next];
    if (this.#next >= this.#order.length || this.#places[row] !== place) {
      this.unacknowledged++;
      return;
    }
    this.#next++;
    const { mode, values, credits, isNumbered } = this.#acknowledged.facts(row);
    const isSame =
      Buffer.from(entry.requestId).equals(this.#acknowledged.requestId(row)) &&
      entry.mode === mode &&
      entry.valueCount === values &&
      entry.credits === credits;
    if (!isSame) this.#say(`certificate ${place} is not what its client was told`);
    if (isNumbered !== this.#numbered.has(place))
      this.#say(
        `certificate ${place} was asked for ${isNumbered ? 'with' : 'without'} a purpose, unlike its serial`,
      );
  }

  #say(what: string): void {
    this.violations.push(what);
  }
}
