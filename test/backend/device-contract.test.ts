import { rmSync } from 'node:fs';
import { type StreamSubject, streamBackendContract } from './backend-contract.ts';
import { FifoGenerator } from './providers/device-fifo.ts';

const BITS = 80_008; // several pieces, the last one short

interface FifoSubject extends StreamSubject {
  readonly generator: FifoGenerator;
}

streamBackendContract<FifoSubject>(
  'device',
  async (t) => {
    const generator = new FifoGenerator(t, BITS / 8);
    return {
      generator,
      backend: generator.source(),
      bits: BITS,
      secrets: [],
      sent: () => ({ verbatim: [generator.lastBytes], bits: generator.lastBytes }),
      calls: () => generator.readers,
      stall: () => generator.silence(),
    };
  },
  [
    [
      'nothing comes',
      'retryable',
      ({ generator }) => void generator.silence(),
      { message: /fifo: nothing came for 1000 ms, after 0 of 10001 bytes/ },
    ],
    [
      'the writer goes away in the middle',
      'retryable',
      ({ generator }) => generator.breakOff(),
      { message: /fifo: nobody wrote to it for 1000 ms, after 5000 of 10001 bytes/ },
    ],
    [
      'unplugged',
      'retryable',
      ({ generator }) => rmSync(generator.path),
      { message: /fifo does not exist/, lasting: 'the node is gone' },
    ],
  ],
);
