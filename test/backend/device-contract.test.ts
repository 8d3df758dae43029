import { rmSync } from 'node:fs';
import { type StreamSubject, streamBackendContract } from '../support/backend-contract.ts';
import { FifoGenerator } from '../support/providers/device-fifo.ts';

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
    {
      what: 'nothing comes',
      kind: 'retryable',
      message: /fifo: nothing came for 1000 ms, after 0 of 10001 bytes/,
      arrange: ({ generator }) => void generator.silence(),
    },
    {
      what: 'the writer goes away in the middle',
      kind: 'retryable',
      message: /fifo: nobody wrote to it for 1000 ms, after 5000 of 10001 bytes/,
      arrange: ({ generator }) => generator.breakOff(),
    },
    {
      what: 'the same bytes again',
      kind: 'permanent',
      message: /the same 80008 bits came before/,
      arrange: async ({ generator, backend }) => {
        await backend.read(BITS, new AbortController().signal);
        generator.repeat();
      },
    },
    {
      what: 'the same bytes again after a restart',
      kind: 'permanent',
      message: /the same 80008 bits came before/,
      arrange: async ({ generator }) => {
        await generator.source().read(BITS, new AbortController().signal);
        generator.repeat();
      },
    },
    {
      what: 'unplugged',
      kind: 'retryable',
      message: /fifo does not exist/,
      lasting: 'the node is gone',
      arrange: ({ generator }) => rmSync(generator.path),
    },
  ],
);
