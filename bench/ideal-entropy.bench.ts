/**
 * What a perfect source scores in SP 800-90B: the least of ten estimators on blocks of 10^6 ChaCha20 bits. These are the
 * figures of docs/evidence.md and of the floor in src/pool/intake/lots.ts.
 *   node bench/ideal-entropy.bench.ts [--blocks 400]     0.4 s a block; table on stdout, JSON in bench/out/
 */
import { createCipheriv } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { assessBits } from '../src/stats/sp800-90b/assess.ts';

const BITS = 1_000_000;

const { values } = parseArgs({ options: { blocks: { type: 'string', default: '400' } } });
const blocks = Number(values.blocks);

// consecutive blocks of one keystream: key 0, nonce [102, 0 ...], counter 0
const iv = Buffer.alloc(16);
iv[4] = 102;
const cipher = createCipheriv('chacha20', Buffer.alloc(32), iv);

const scores: number[] = [];
const mostCommonValues: number[] = [];
const deciders: Record<string, number> = {};
for (let i = 0; i < blocks; i++) {
  const { estimators, minEntropyPerBit } = assessBits(cipher.update(Buffer.alloc(BITS / 8)), BITS);
  scores.push(minEntropyPerBit);
  mostCommonValues.push(estimators['Most Common Value'] ?? Number.NaN);
  for (const [name, estimate] of Object.entries(estimators)) {
    if (estimate === minEntropyPerBit) deciders[name] = (deciders[name] ?? 0) + 1;
  }
}

function quantiles(all: readonly number[]): Record<string, number> {
  const sorted = [...all].sort((a, b) => a - b);
  const at = (q: number) => Number(sorted[Math.min(blocks - 1, Math.floor(q * blocks))].toFixed(4));
  return { least: at(0), '5 %': at(0.05), median: at(0.5), '95 %': at(0.95), greatest: at(1) };
}

const rows = { 'least of ten': quantiles(scores), 'Most Common Value': quantiles(mostCommonValues) };
console.log(`${blocks} blocks of ${BITS} bits; bits of min-entropy per bit`);
console.table(rows);
console.log('decided by', deciders);
mkdirSync(new URL('out/', import.meta.url), { recursive: true });
const report = JSON.stringify({ blocks, bits: BITS, rows, deciders, scores }, null, 2);
writeFileSync(new URL('out/ideal-entropy.json', import.meta.url), `${report}\n`);
