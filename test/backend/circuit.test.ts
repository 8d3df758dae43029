import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import {
  bellChsh,
  CHSH_SETTINGS,
  type Circuit,
  circuitDepth,
  circuitSha256,
  circuitText,
  superposition,
  xCheck,
} from '../../src/backend/circuit.ts';
import { ghzParity } from '../support/circuits.ts';

const BELL_01 = `OPENQASM 3.0;
include "stdgates.inc";
qubit[2] q;
bit[2] c;
h q[0];
cx q[0], q[1];
ry(0) q[0];
ry(0.7853981633974483) q[1];
c[0] = measure q[0];
c[1] = measure q[1];
`;

test('the canonical text is OpenQASM 3, and a zero angle has one spelling', () => {
  assert.equal(circuitText(bellChsh([0, 1]).circuit), BELL_01);
  assert.equal(circuitSha256(bellChsh([0, 1]).circuit), hash('sha256', BELL_01, 'hex'));
});

test('named circuits keep their text: another hash needs another name', () => {
  const pinned = [superposition(16), xCheck(16), ghzParity(4), ...CHSH_SETTINGS.map(bellChsh)].map(
    ({ name, circuit }) => [name, circuitSha256(circuit).slice(0, 16)].join(' '),
  );
  assert.deepEqual(pinned, [
    'superposition-16 e458841c3d7ac297',
    'x-check-16 e81119a44b36945b',
    'ghz-parity-4 f07b64da14ca0745',
    'bell-chsh-00 e31b2d07844dfae5',
    'bell-chsh-01 f8a100aff31b3ca9',
    'bell-chsh-10 ecf127a2dd1161aa',
    'bell-chsh-11 6ff68e902afe7666',
  ]);
});

test('depth counts the longest path with its measurement', () => {
  assert.equal(circuitDepth(superposition(156).circuit), 2);
  assert.equal(circuitDepth(xCheck(3).circuit), 3);
  assert.equal(circuitDepth(bellChsh([0, 0]).circuit), 4);
  assert.equal(circuitDepth(ghzParity(5).circuit), 7); // H, four CX in a chain, H, measurement
  const unmeasuredIsLonger: Circuit = {
    qubits: 2,
    gates: [
      { gate: 'x', qubits: [1] },
      { gate: 'x', qubits: [1] },
      { gate: 'x', qubits: [1] },
    ],
    measured: [0],
  };
  assert.equal(circuitDepth(unmeasuredIsLonger), 3);
});
