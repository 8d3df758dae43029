import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { LimitNodes, type LimitStore } from '../support/limit-nodes.ts';

const NODES = 3;

type Step =
  | { readonly do: 'enter'; readonly node: number; readonly credits: number; readonly isKept: boolean }
  | { readonly do: 'together'; readonly credits: number }
  | { readonly do: 'look' | 'crash' | 'lose' | 'late'; readonly node: number };

const node = fc.nat({ max: NODES - 1 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('enter' as const),
      node,
      credits: fc.nat({ max: 40 }),
      isKept: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('together' as const), credits: fc.nat({ max: 9 }) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('look', 'crash', 'lose', 'late'), node }) },
);

/** The promises of the limits of accounts that several nodes serve, for every store of the limits. */
export function sharedLimitsContract(name: string, store: () => Promise<LimitStore>, runs: number): void {
  describe(`the limits of an account that nodes share, kept by ${name}`, () => {
    it('are never exceeded, and can be spent to the last request and credit, whatever happens to nodes and replies', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { minLength: 5, maxLength: 40 }),
          fc.integer({ min: 1, max: 60 }),
          fc.nat({ max: 200 }),
          async (steps, requests, credits) => {
            const nodes = await LimitNodes.start(await store(), NODES, requests, credits);
            for (const each of steps) {
              await take(nodes, each);
              requireWithin(nodes, requests, credits);
            }
            await nodes.spendAll(0, 1);
            const { requests: requestsOfCredits, credits: spent } = nodes.spent();
            assert.ok(spent === credits || requestsOfCredits === requests, `${spent} of ${credits} credits`);
            await nodes.spendAll(1, 0);
            requireWithin(nodes, requests, credits);
            assert.equal(nodes.spent().requests, requests);
          },
        ),
        { numRuns: runs, interruptAfterTimeLimit: 30_000 },
      );
    });

    it('gives a node the credits that it asks for and no more, so that all nodes report the same rest', async () => {
      const nodes = await LimitNodes.start(await store(), 2, 100, 1_000);
      const [a, b] = nodes.nodes;
      const first = await a.enter(300);
      assert.equal(first?.creditsRemaining, 700);
      assert.equal((await b.enter(500))?.creditsRemaining, 200);
      assert.equal(await a.enter(201), undefined);
      assert.equal((await a.enter(200))?.creditsRemaining, 0);
    });

    it('gives a node within three seconds what a resting node holds', async () => {
      const nodes = await LimitNodes.start(await store(), 2, 160, 0);
      const [a, b] = nodes.nodes;
      await a.enter(0); // this grants more than one
      assert.ok(a.meter.share().requestsGranted > 1);
      await nodes.spendAll(1, 0);
      assert.deepEqual(nodes.spent(), { requests: 160, credits: 0 });
      assert.equal(b.meter.share().requestsUsed, 159);
    });

    it('lets a node keep little more than it uses between two looks once everything is granted', async () => {
      const nodes = await LimitNodes.start(await store(), 2, 160, 0);
      const [a, b] = nodes.nodes;
      const unused = () => a.meter.share().requestsGranted - a.meter.share().requestsUsed;
      for (let looks = 0; unused() > 3; looks++) {
        assert.ok(looks < 40, `${unused()} are held`);
        while (await b.enter(0));
        await a.enter(0);
        await nodes.look();
      }
      await nodes.look();
      assert.ok(await b.enter(0), 'the rest is there for the other');
    });

    it('gives each of two nodes half of the rate', async () => {
      const nodes = await LimitNodes.startRate(await store(), 2, 10);
      await nodes.look();
      let admitted = 0;
      for (let i = 0; i < 40; i++) if (await nodes.nodes[i % 2].enter(0)) admitted++;
      assert.equal(admitted, 14, 'two halves of a burst of 15');
    });

    it('grants nothing more of a limit that was lowered below what is already granted', async () => {
      const nodes = await LimitNodes.start(await store(), 2, 1_000, 0);
      const [a, b] = nodes.nodes;
      await a.enter(0);
      const { requestsGranted } = a.meter.share();
      for (const { meter } of nodes.nodes) meter.configure({ ...nodes.allowance, requestsPerMonth: 2 });
      for (let looks = 0; looks < 2; looks++) await nodes.look();
      assert.ok((await b.enter(0)) === undefined || requestsGranted < 2);
      for (const { meter } of nodes.nodes) meter.configure({ ...nodes.allowance, requestsPerMonth: 200 });
      await nodes.look();
      assert.ok(await b.enter(0));
    });
  });
}

async function take(nodes: LimitNodes, step: Step): Promise<void> {
  switch (step.do) {
    case 'enter': {
      const reservation = await nodes.nodes[step.node].enter(step.credits);
      if (!step.isKept) reservation?.release();
      return;
    }
    case 'together':
      await Promise.all(nodes.nodes.map((each) => each.enter(step.credits)));
      return;
    case 'look':
      await nodes.look();
      return;
    case 'crash':
      await nodes.restart(step.node);
      return;
    case 'lose': {
      const each = nodes.nodes[step.node];
      each.losesReplies = true;
      await each.enter(1);
      await each.shared.look();
      each.losesReplies = false;
      return;
    }
    case 'late':
      await nodes.nodes[step.node].repeatCalls();
  }
}

function requireWithin(nodes: LimitNodes, requests: number, credits: number): void {
  const spent = nodes.spent();
  assert.ok(spent.requests <= requests, `${spent.requests} of ${requests} requests spent`);
  assert.ok(spent.credits <= credits, `${spent.credits} of ${credits} credits spent`);
}
