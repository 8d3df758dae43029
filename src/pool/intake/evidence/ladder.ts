import type { RawRead } from '../../../backend/backend.ts';
import type { Origin } from '../../../core/vocabulary.ts';
import { type LotEvidence, mayClaim } from '../../../ledger/records.ts';
import { bellWitness, calibrated, type Rung, sourceIndependent } from './rungs.ts';

/**
 * How quantum a read is shown to be: the highest claim that its own shots support, with what must be believed for it. A claim
 * is never above what the origin allows, whatever the figures are.
 */
export async function evidenceOf(origin: Origin, read: RawRead): Promise<LotEvidence> {
  const tested = await sourceIndependent(read);
  const rungs: readonly Rung[] = [
    STATISTICAL,
    unlessRefuted(await calibrated(read), tested, read),
    tested,
    await bellWitness(read),
  ];
  const reached = rungs.filter((rung) => rung.reached && mayClaim(origin, rung.claim)) as ReachedRung[];
  const top = reached.at(-1);
  return {
    claim: top?.claim ?? 'simulated',
    minEntropyPerBit: leastOf(reached),
    figures: Object.fromEntries(rungs.flatMap(({ figures }) => Object.entries(figures))),
    method: top?.method ?? 'none: the origin is simulated',
    assumptions: top?.assumptions ?? SIMULATED_ASSUMPTIONS,
    notReached: rungs
      .filter((rung) => !reached.some(({ claim }) => claim === rung.claim))
      .map((rung) => ({ claim: rung.claim, why: rung.reached ? WHY_NOT_MORE[origin] : rung.why })),
  };
}

/** Test shots that leave no entropy refute the pure states that the published errors alone would let one believe in. */
function unlessRefuted(rung: Rung, tested: Rung, { witness }: RawRead): Rung {
  if (!rung.reached || tested.reached || witness?.kind !== 'x-basis') return rung;
  const { claim, figures } = rung;
  return {
    claim,
    figures,
    reached: false,
    why: 'the X-basis test shots refute the pure states that it assumes',
  };
}

type ReachedRung = Extract<Rung, { readonly reached: true }>;

/** The bits are drawn from under every claim that was reached, so a higher claim never raises the figure of a lower one. */
function leastOf(reached: readonly ReachedRung[]): number | null {
  const figures = reached.map((rung) => rung.minEntropyPerBit).filter((figure) => figure !== null);
  return figures.length === 0 ? null : Math.min(...figures);
}

/** Why a claim is not made although its figures would do: the origin does not allow it (`mayClaim`). */
const WHY_NOT_MORE: Readonly<Record<Origin, string>> = {
  'quantum-processor': '',
  'qrng-device': '',
  simulated: 'a program computed the shots',
  replay: 'the shots were recorded earlier: who recorded them knows them',
  system: 'the origin is not quantum',
};

const SIMULATED_ASSUMPTIONS =
  'None is made: a program computed the raw bits. The figures are those that its model of a device gives.';

const STATISTICAL: Rung = {
  claim: 'statistical',
  reached: true,
  minEntropyPerBit: null,
  figures: {},
  method:
    'health tests (SP 800-90B 4.4) on every raw bit; SP 800-22 and SP 800-90B 6.3 where there are bits enough',
  assumptions: 'The source is what its origin says. Tests can refute that it is unpredictable, not show it.',
};
