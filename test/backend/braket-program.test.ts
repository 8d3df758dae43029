import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import {
  actionOf,
  type NativeGates,
  simulatorProgram,
  verbatimSource,
} from '../../src/backend/braket/plan.ts';
import { superposition } from '../../src/backend/circuit.ts';
import { circuitOf, type Part } from '../../src/backend/parts.ts';
import { StateVector } from '../../src/backend/simulator/state-vector.ts';
import { parseProgram } from '../support/providers/braket-program.ts';

const MACHINES: readonly NativeGates[] = [
  { pulse: 'prx', entangler: 'cz' },
  { pulse: 'prx', entangler: 'xx' },
  { pulse: 'gpi2', entangler: 'zz' },
  { pulse: 'gpi2', entangler: 'ms' },
  { pulse: 'rx-rz', entangler: 'iswap' },
  { pulse: 'rx-rz', entangler: 'cz' },
];

/** Exact probabilities of the outcomes, bit i of an outcome being channel i, by the program as it is sent. */
function outcomes(part: Part, natives: NativeGates): Float64Array {
  const source = verbatimSource(circuitOf(part, 2, natives.entangler), [17, 4], natives);
  const nativeGates = [
    ...(natives.pulse === 'rx-rz' ? ['rx', 'rz'] : [natives.pulse]),
    String(natives.entangler),
  ];
  const rules = { nativeGates, qubits: [4, 17], pairs: new Set(['4-17']) };
  const { circuit, measuredQubits } = parseProgram(source, rules);
  assert.deepEqual(measuredQubits, [17, 4]);
  const state = new StateVector(circuit.qubits);
  for (const gate of circuit.gates) state.apply(gate);
  return state.probabilities(circuit.measured);
}

const near = (actual: number, expected: number) =>
  assert.ok(Math.abs(actual - expected) < 1e-12, `${actual} is ${expected}`);

suite('programs in native gates', () => {
  for (const natives of MACHINES) {
    const name = `${natives.pulse} and ${natives.entangler}`;

    test(`makes a coin of a pulse on ${name}, and its test is always 0`, () => {
      for (const probability of outcomes('bits', natives)) near(probability, 0.25);
      near(outcomes('x-test', natives)[0], 1);
    });

    test(`reaches S = 2√2 with the four settings of a Bell test on ${name}`, () => {
      const [e00, e01, e10, e11] = ([0, 1, 2, 3] as const).map((setting) => {
        const [p00, p10, p01, p11] = outcomes(setting, natives);
        near(p00 + p10, 0.5);
        near(p00 + p01, 0.5);
        return p00 + p11 - p01 - p10;
      });
      for (const correlation of [e00, e01, e10, -e11]) near(correlation, Math.SQRT1_2);
    });
  }

  test('keeps the text of a verbatim program', () => {
    assert.equal(
      verbatimSource(circuitOf('x-test', 2, null), [3, 9], { pulse: 'rx-rz', entangler: null }),
      `OPENQASM 3.0;
bit[2] b;
#pragma braket verbatim
box{
rx(1.5707963267948966) $3;
rx(1.5707963267948966) $9;
rx(-1.5707963267948966) $3;
rx(-1.5707963267948966) $9;
}
b[0] = measure $3;
b[1] = measure $9;
`,
    );
  });

  test('the action is one program or a program set', () => {
    const source = simulatorProgram(superposition(1));
    const program = {
      braketSchemaHeader: { name: 'braket.ir.openqasm.program', version: '1' },
      source: 'OPENQASM 3.0;\nbit[1] b;\nqubit[1] q;\nh q[0];\nb[0] = measure q[0];\n',
      inputs: {},
    };
    assert.deepEqual(JSON.parse(actionOf([source])), program);
    assert.deepEqual(JSON.parse(actionOf([source, source])), {
      braketSchemaHeader: { name: 'braket.ir.openqasm.program_set', version: '1' },
      programs: [program, program],
    });
  });
});
