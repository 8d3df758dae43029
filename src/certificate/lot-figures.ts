import { show } from './members.ts';
import { refuse } from './verdict.ts';

/** The members of a lot's leaf that its figures must agree with. */
interface ToldOfLot {
  readonly lot_id: string;
  readonly raw_bits: number;
  readonly min_entropy_per_bit: number | null;
  readonly evidence: {
    readonly claim: string;
    readonly min_entropy_per_bit: number | null;
    readonly figures: Readonly<Record<string, number>>;
  };
}

/** The largest lag that the autocorrelation is computed for, in bits, plus one. */
const LAGS_MAX = 2 ** 18;
/** Tolerance of the comparison, since the leaf has its figures to six decimals. */
const ROUNDING = 2e-6;

/**
 * Refuses a lot whose autocorrelation contradicts its claims. The bound must be that of its number of bits. If the
 * correlation is beyond the bound, the lot must not claim `calibrated`, nor more min-entropy than the correlation
 * leaves. A lot without the figure passes. docs/evidence.md has the formulas; this is a second implementation, so that
 * a verifier shares no code with the issuer.
 */
export function checkFigures({ lot_id: id, raw_bits: bits, min_entropy_per_bit, evidence }: ToldOfLot): void {
  const { autocorrelation: r, autocorrelation_bound: bound, autocorrelation_lag: lag } = evidence.figures;
  if (r === undefined || lag === 0) return;
  const lags = Math.min(LAGS_MAX, 2 ** Math.max(0, Math.floor(Math.log2(bits)) - 1));
  const expected = Math.sqrt((2 * (Math.log(2 * (lags - 1)) + 40 * Math.LN2)) / (bits - lag));
  if (!Number.isSafeInteger(lag) || lag < 1 || lag >= lags)
    refuse(
      `Lot ${id} states an autocorrelation at the lag ${show(lag)}, which a lot of its size does not have.`,
    );
  if (!(Math.abs(bound - expected) <= ROUNDING))
    refuse(
      `The autocorrelation of lot ${id} has the bound ${expected.toFixed(6)}, but the lot states ${show(bound)}.`,
    );
  const size = Math.abs(r);
  if (size <= bound) return;
  if (evidence.claim === 'calibrated')
    refuse(
      `Lot ${id} claims "calibrated", but its autocorrelation ${r} is beyond the bound ${bound}: its bits are not independent.`,
    );
  const left = 1 - Math.log2(1 + Math.sqrt(Math.min(1, size + bound)));
  const isLess = (figure: number | null) => figure === null || figure <= left + ROUNDING;
  const told = evidence.min_entropy_per_bit;
  if (!isLess(min_entropy_per_bit) || told === null || !isLess(told))
    refuse(
      `Lot ${id} claims more min-entropy than the ${left.toFixed(6)} that its autocorrelation ${r} leaves.`,
    );
}
