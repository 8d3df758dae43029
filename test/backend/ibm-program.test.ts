import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { programOf } from '../../src/backend/ibm/plan.ts';
import { InvariantError } from '../../src/core/assert.ts';
import { onesProbabilities } from '../support/circuits.ts';
import { readProgram } from '../support/providers/program.ts';

/** A processor of four qubits. */
const TARGET = { qubits: [0, 1, 2, 3], gates: ['cz', 'rz', 'sx'], isPhysical: true };
const program = (qubits: readonly number[]) => programOf({ qubits, deviceQubits: TARGET.qubits.length });

test('the program turns each qubit into a coin, and measures the qubit of channel i as bit i', () => {
  const read = readProgram(program([2, 1]), TARGET);
  assert.deepEqual(read.measured, [2, 1]);
  for (const probability of onesProbabilities(read)) assert.ok(Math.abs(probability - 0.5) < 1e-12);
});

test('the program keeps its text: a change needs a new version', () => {
  assert.equal(
    program([3, 1]),
    `OPENQASM 3.0;
include "stdgates.inc";
bit[2] c;
barrier $0, $1, $2, $3;
sx $3;
sx $1;
barrier $3, $1;
c[0] = measure $3;
c[1] = measure $1;
`,
  );
  assert.equal(hash('sha256', program([3, 1]), 'hex').slice(0, 16), 'c9e2e3f8134f03b8');
});

test('no two channels share a qubit, and each qubit is one of the device', () => {
  assert.throws(() => program([1, 1]), InvariantError);
  assert.throws(() => program([1, 4]), InvariantError);
});
