import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { superposition } from '../../src/backend/circuit.ts';

test('the canonical text is OpenQASM 3, and the digest is its own', () => {
  const text = `OPENQASM 3.0;
include "stdgates.inc";
qubit[2] q;
bit[2] c;
h q[0];
h q[1];
c[0] = measure q[0];
c[1] = measure q[1];
`;
  assert.deepEqual(superposition(2), {
    name: 'superposition-2',
    text,
    sha256: hash('sha256', text, 'hex'),
  });
});

test('a circuit keeps its text: a change of its hash needs a new name', () => {
  assert.equal(superposition(16).sha256.slice(0, 16), 'e458841c3d7ac297');
});
