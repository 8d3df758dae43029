import { OptionError, type SourceKind, sourceKind } from '../source-kind.ts';
import { IbmBackend, type IbmOptions } from './ibm-backend.ts';
import { IBM_OPTIONS } from './options.ts';

export const ibmSource: SourceKind<typeof IBM_OPTIONS> = sourceKind({
  type: 'ibm',
  summary: 'Qubits of an IBM Quantum processor, measured one by one: jobs of the sampler on chosen qubits.',
  options: IBM_OPTIONS,
  create(name, options, parts) {
    return new IbmBackend(name, options, claimOf(options), parts);
  },
});

/** Both leave room for gates that fail and for drift since the calibration, which the bounds below know nothing of. */
const CLAIM = { superposition: 0.8, 'x-check': 0.8, 'bell-chsh': 0.5 } as const;

/** The claimed min-entropy per raw bit: not above what the worst qubit that the options let in can have. */
function claimOf({ circuit, min_entropy, max_readout_error, qubits }: IbmOptions): number {
  if (circuit === 'bell-chsh' && qubits < 2) throw new OptionError('qubits: at least 2 with bell-chsh');
  const claim = min_entropy === 'auto' ? CLAIM[circuit] : min_entropy;
  const bound = entropyBound(circuit === 'bell-chsh', max_readout_error);
  if (claim > bound) {
    const most = Math.floor(Math.max(0, bound) * 1000) / 1000;
    throw new OptionError(
      `min_entropy: at most ${most} with ${circuit} and max_readout_error ${max_readout_error}`,
    );
  }
  return claim;
}

/**
 * Against somebody who knows which readouts are replaced by a fixed answer, each with probability f = e01 + e10: an ideal
 * coin is guessed with (1 + f) / 2; the two outcomes of a Bell test, of which the likelier pair has cos²(π/8) / 2, with at most
 * that times (1 + f)² (simulator/entropy-claim.ts has the derivation).
 */
function entropyBound(isBellTest: boolean, f: number): number {
  if (!isBellTest) return 1 - Math.log2(1 + f);
  return -Math.log2((Math.cos(Math.PI / 8) ** 2 / 2) * (1 + f) ** 2) / 2;
}
