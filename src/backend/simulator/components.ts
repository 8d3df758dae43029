import type { Circuit, Gate, TwoQubitGate } from '../circuit.ts';

/**
 * A part of a circuit that no gate joins to the rest: its state factors out of the whole. Gates and qubits
 * are renumbered from 0. H on 156 qubits is 156 components of one qubit, which cost nothing.
 */
export interface Component {
  readonly qubits: number;
  readonly gates: readonly Gate[];
  /** The measured qubits (renumbered) and, beside each, the channel of the shot that it gives. */
  readonly measured: readonly number[];
  readonly channels: readonly number[];
}

/** The connected components of a circuit that are measured, in the order of their lowest qubit. */
export function componentsOf(circuit: Circuit): Component[] {
  const rootOf = connectedRoots(circuit);
  const members = new Map<number, number[]>();
  rootOf.forEach((root, qubit) => {
    const found = members.get(root);
    if (found) found.push(qubit);
    else members.set(root, [qubit]);
  });
  const gatesOf = new Map<number, Gate[]>();
  for (const gate of circuit.gates) {
    const root = rootOf[gate.qubits[0]];
    const found = gatesOf.get(root);
    if (found) found.push(gate);
    else gatesOf.set(root, [gate]);
  }
  const channelOf = new Map(circuit.measured.map((qubit, channel) => [qubit, channel]));

  const components: Component[] = [];
  for (const [root, qubits] of members) {
    const localOf = new Map(qubits.map((qubit, local) => [qubit, local]));
    const measured = qubits.filter((qubit) => channelOf.has(qubit));
    if (measured.length === 0) continue;
    components.push({
      qubits: qubits.length,
      gates: (gatesOf.get(root) ?? []).map((gate) => renumbered(gate, localOf)),
      measured: measured.map((qubit) => localOf.get(qubit)!),
      channels: measured.map((qubit) => channelOf.get(qubit)!),
    });
  }
  return components;
}

function renumbered(gate: Gate, localOf: ReadonlyMap<number, number>): Gate {
  const first = localOf.get(gate.qubits[0])!;
  if (joinsQubits(gate)) return { ...gate, qubits: [first, localOf.get(gate.qubits[1])!] };
  return { ...gate, qubits: [first] };
}

function joinsQubits(gate: Gate): gate is Extract<Gate, { readonly gate: TwoQubitGate }> {
  return gate.qubits.length === 2;
}

/** Union-find over the two-qubit gates, then every qubit's root. */
function connectedRoots(circuit: Circuit): number[] {
  const parent = Array.from({ length: circuit.qubits }, (_, qubit) => qubit);
  const find = (qubit: number): number => {
    while (parent[qubit] !== qubit) qubit = parent[qubit] = parent[parent[qubit]];
    return qubit;
  };
  for (const { qubits } of circuit.gates) {
    if (qubits.length === 2) parent[find(qubits[1])] = find(qubits[0]);
  }
  return parent.map((_, qubit) => find(qubit));
}
