import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fuzzReader } from './reading.ts';
import { corpusOf, FUZZ_TARGETS } from './targets/table.ts';

/** The short form of `node test/adversary/fuzz/readers.ts`: the initial inputs and a few hundred changes of them. */
const SEED = 20_261_121;
const EXECUTIONS = 300;

describe('a reader of what others wrote', () => {
  for (const target of FUZZ_TARGETS) {
    it(`reads anything without an unexpected fault: ${target.name}`, async () => {
      const seeds = corpusOf(target);
      assert.ok(seeds.length > 0, 'there is something to begin with');
      const { executions, finding, outcomes } = await fuzzReader(target, {
        seed: SEED,
        seeds,
        isDone: (outcome) => outcome.executions >= EXECUTIONS,
      });
      const replay = `node test/adversary/fuzz/readers.ts --seed ${SEED} ${target.name}`;
      assert.equal(
        finding,
        undefined,
        finding && `${finding.why}\n${hexOf(finding.input)}\nreplay: ${replay}`,
      );
      assert.ok(executions >= EXECUTIONS);
      assert.ok(outcomes.size >= 2, 'it takes some inputs and refuses others');
    });
  }
});

function hexOf(input: Uint8Array): string {
  return Buffer.from(input).toString('hex');
}
