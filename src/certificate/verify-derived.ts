import { isObject } from '../core/json.ts';
import type { Schema } from '../core/schema.ts';
import { ENTROPY_MODES, type EntropyMode, isQuantum, ORIGINS } from '../core/vocabulary.ts';
import { PIECE_BYTES } from '../crypto/merkle.ts';
import { allowsEvidence, SEED_BLOCK_BYTES } from '../ledger/records.ts';
import { CERTIFICATE_ROWS, certificateForm, UNSIGNED } from './certificate-members.ts';
import type { DerivedFrom } from './derive.ts';
import { checkForm } from './form.ts';
import { checkFigures } from './lot-figures.ts';
import { LOT_LEAF, type LotLeaf } from './lot-members.ts';
import { member, show } from './members.ts';
import { type Found, found, refuse } from './verdict.ts';
import type { DrawnSpan } from './windows.ts';

/** Bits that one cited certificate covers at most: one answer of `/v1/bytes` has up to 1,024 bytes. */
const BITS_PER_CITATION = 8_192;

/** Returns the leaves of the lots after checking that each has the form of version 1. */
export function formedLots(leaves: readonly unknown[]): readonly LotLeaf[] {
  for (const [i, leaf] of leaves.entries()) requireForm(LOT_LEAF, leaf, `lots[${i}].leaf`);
  return leaves as readonly LotLeaf[];
}

function requireForm(schema: Schema, value: unknown, place: string): void {
  const { refusal } = found(() => checkForm(schema, value, place));
  if (refusal !== undefined) refuse(`The document does not have the form of version 1: ${refusal}`);
}

/**
 * Checks that a certificate says of its lots what follows from their leaves, and nothing else. One that claims more is
 * refused, even if the log has signed it. The certificate names the leaves by their hashes. Runs in browsers.
 */
export function derivedVerdict(certificate: unknown, lotsOf: Found<readonly LotLeaf[]>): string {
  const told = member(certificate, 'entropy_mode');
  const mode = ENTROPY_MODES.find((each) => each === told);
  if (mode === undefined || !isObject(certificate))
    refuse(`entropy_mode is ${show(told)}, not one of ${ENTROPY_MODES.join(', ')}.`);
  const issued = Object.fromEntries(Object.entries(certificate).filter(([name]) => !isElsewhere(name)));
  requireForm(certificateForm(mode), issued, '');
  const lots = lotsOf();
  const from: DerivedFrom = { mode, lots, spans: lots.map((_, i) => spansOf(certificate, mode, i)) };
  for (const lot of lots) checkLot(lot, mode);
  checkDraw(from);
  if (mode === 'pure') checkOrder(certificate, lots);
  const contradictions = CERTIFICATE_ROWS.flatMap(([path, row]) => {
    if (!row.isDerived || !row.modes.includes(mode)) return [];
    const certified = member(certificate, ...path.split('.'));
    const follows = row.of(from as Parameters<typeof row.of>[0]);
    return certified === follows
      ? []
      : [`${path} is ${show(certified)}, but ${show(follows)} follows from the lots.`];
  });
  if (contradictions.length > 0) refuse(contradictions.join(' '));
  return 'Circuit, origin, evidence, test results and hashes follow from the lots.';
}

/** Returns whether the member is not part of this check: unsigned members, and the label (verify-label.ts). */
function isElsewhere(name: string): boolean {
  return name === 'label' || UNSIGNED.some((each) => each === name);
}

/** Returns the bytes of one lot that the certificate says the answer used. */
function spansOf(certificate: unknown, mode: EntropyMode, place: number): DrawnSpan[] {
  const provenance = member(certificate, 'provenance');
  if (mode === 'csprng') return [];
  if (mode === 'quantum-seeded')
    return [
      { offset: Number(member(provenance, 'seed', 'index')) * SEED_BLOCK_BYTES, bytes: SEED_BLOCK_BYTES },
    ];
  const drawn = member(provenance, 'drawn') as readonly (DrawnSpan & { lot: number })[];
  return drawn.filter(({ lot }) => lot === place);
}

/** Checks that answers of this mode can come from such a lot, and that the lot's leaf does not contradict itself. */
function checkLot(lot: LotLeaf, mode: EntropyMode): void {
  const { lot_id: id, origin, evidence, tested } = lot;
  if (mode === 'csprng') {
    const isSample =
      origin === 'system' && evidence === null && lot.pure.bytes === 0 && lot.seeds.count === 0;
    if (!isSample)
      refuse(`The certificate is of csprng mode, but lot ${id} is not a sample of the csprng stream.`);
    return;
  }
  if (evidence === null) refuse(`Lot ${id} has no evidence.`);
  if (!allowsEvidence(origin, evidence.claim))
    refuse(`Lot ${id} claims ${show(evidence.claim)}, which a lot of origin ${show(origin)} cannot.`);
  checkFigures({ ...lot, evidence });
  checkCitations(lot);
  if (lot.declared && !isQuantum(origin))
    refuse(`Lot ${id} is declared quantum, but its origin is ${show(origin)}.`);
  const isWhole = tested.every(
    ({ of, bits, first_bit: first, passed, total }) =>
      passed <= total && bits > 0 && (of !== 'conditioned' || (bits % 8 === 0 && first % 8 === 0)),
  );
  if (!isWhole) refuse(`Lot ${id} lists a window of its tests that cannot exist.`);
}

/** Checks, as far as the leaf alone shows it, that the bits of a lot can be those of the certificates that it cites. */
function checkCitations({ lot_id: id, origin, raw_bits: bits, upstream }: LotLeaf): void {
  if (upstream === null) return;
  const { certificates, origin: certified } = upstream;
  if (new Set(certificates.map((each) => each.id)).size < certificates.length)
    refuse(`Lot ${id} cites a certificate twice.`);
  if (bits > certificates.length * BITS_PER_CITATION)
    refuse(
      `Lot ${id} has ${bits} raw bits, more than the ${certificates.length} certificates that it cites can cover.`,
    );
  if (ORIGINS.indexOf(origin) < ORIGINS.indexOf(certified))
    refuse(
      `Lot ${id} has the origin ${show(origin)}, better than the origin ${show(certified)} of the certificates that it cites.`,
    );
}

/** Checks that the lots hold what the certificate says was drawn from them. */
function checkDraw({ mode, lots, spans }: DerivedFrom): void {
  if (mode !== 'pure' && lots.length !== 1)
    refuse(`A certificate of mode ${show(mode)} has one lot, not ${lots.length}.`);
  if (mode === 'csprng') return;
  for (const [i, { lot_id: id, pure, seeds }] of lots.entries()) {
    const size = mode === 'pure' ? pure.bytes : seeds.count * SEED_BLOCK_BYTES;
    const isWithin = ({ offset, bytes }: DrawnSpan) =>
      bytes > 0 && bytes % PIECE_BYTES === 0 && offset % PIECE_BYTES === 0 && offset + bytes <= size;
    if (spans[i].length === 0) refuse(`The certificate names lot ${id}, but draws nothing from it.`);
    if (!spans[i].every(isWithin))
      refuse(`The certificate draws bytes from lot ${id} that the lot does not have.`);
  }
}

/**
 * Checks that a pure answer drew the pieces that came next. An answer uses up a block before it goes on with another:
 * else the operator could skip pieces until the values suit.
 */
function checkOrder(certificate: unknown, lots: readonly LotLeaf[]): void {
  const drawn = member(certificate, 'provenance', 'drawn') as readonly (DrawnSpan & { lot: number })[];
  const other = drawn.find(({ lot }) => lot >= lots.length);
  if (other !== undefined)
    refuse(`The certificate draws from lot ${other.lot + 1}, but names only ${lots.length}.`);
  for (const { lot, offset, bytes } of drawn.slice(0, -1)) {
    const { lot_id: id, pure } = lots[lot];
    const end = offset + bytes;
    if (end % pure.block_bytes !== 0 && end !== pure.bytes)
      refuse(`The certificate leaves a block of lot ${id} at byte ${end}, before the block was used up.`);
  }
  for (const [i, { lot_id: id, pure }] of lots.entries()) {
    const ranges = drawn.filter(({ lot }) => lot === i).sort((a, b) => a.offset - b.offset);
    let drawnTo = 0;
    for (const { offset, bytes } of ranges) {
      if (Math.floor(offset / pure.block_bytes) < drawnTo)
        refuse(`The certificate goes back to a block of lot ${id} that it had left.`);
      drawnTo = Math.ceil((offset + bytes) / pure.block_bytes);
    }
  }
}
