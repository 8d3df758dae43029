import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { PULSES } from '../../src/backend/braket/device.ts';
import { actionOf, sourceOf } from '../../src/backend/braket/plan.ts';
import { onesProbabilities } from '../support/circuits.ts';
import { readProgram } from '../support/providers/program.ts';

suite('programs in native gates', () => {
  for (const pulse of [...PULSES, null]) {
    test(`turn each qubit into a coin by ${pulse ?? 'h on a simulator'}`, () => {
      const rules = { gates: [pulse ?? 'h'], qubits: [4, 17], isPhysical: pulse !== null };
      const program = readProgram(sourceOf({ pulse, qubits: [17, 4] }), rules);
      assert.deepEqual(program.measured, [17, 4]);
      for (const probability of onesProbabilities(program)) assert.ok(Math.abs(probability - 0.5) < 1e-12);
    });
  }

  test('keep their texts', () => {
    assert.equal(
      sourceOf({ pulse: 'rx', qubits: [3, 9] }),
      `OPENQASM 3.0;
bit[2] b;
#pragma braket verbatim
box{
rx(1.5707963267948966) $3;
rx(1.5707963267948966) $9;
}
b[0] = measure $3;
b[1] = measure $9;
`,
    );
    assert.deepEqual(JSON.parse(actionOf(sourceOf({ pulse: null, qubits: [0] }))), {
      braketSchemaHeader: { name: 'braket.ir.openqasm.program', version: '1' },
      source: 'OPENQASM 3.0;\nbit[1] b;\nqubit[1] q;\nh q[0];\nb[0] = measure q[0];\n',
      inputs: {},
    });
  });
});
