import type { CommandContext } from '../../../src/cli/command.ts';
import type { BinaryBatchType } from '../src/answers.ts';
import type { QrnClient, VerifiableAnswer } from '../src/client.ts';
import type { DrawParameters } from '../src/parameters.ts';
import type { StreamBlock } from '../src/stream.ts';
import { checked } from './service-client.ts';

/** The value of the option --verify. */
interface Checking {
  readonly verify?: true | undefined;
}

/** The bytes of a value and the values of a block. A block is 4 MiB and counts as one request of the account's rate. */
const LENGTH = 1_024;
const BLOCK = 4_096;

/**
 * Writes bytes to stdout block by block, no faster than the reader takes them, until the reader closes the pipe.
 * Returns the exit status.
 */
export async function streamBytes(
  total: number,
  common: DrawParameters,
  input: Checking,
  client: QrnClient,
  context: CommandContext,
): Promise<number> {
  const whole = Math.floor(total / LENGTH);
  if (whole > 0) {
    const blocks = client.stream.bytes({ total: whole, length: LENGTH, block: BLOCK, ...common });
    for await (const block of blocks) {
      const { status, isOver } = await passOn(block, block.data.values, input, client, context);
      if (status !== 0 || isOver) return status;
    }
  }
  const rest = total - whole * LENGTH;
  if (rest === 0) return 0;
  const last = await client.bytesBinary({ count: rest, ...common });
  return (await passOn(last, last.data.bytes, input, client, context)).status;
}

/** Writes numbers to stdout in the same way, one to a line. */
export async function streamLines<T extends 'integers' | 'floats'>(
  blocks: AsyncGenerator<StreamBlock<T>>,
  input: Checking,
  client: QrnClient,
  context: CommandContext,
): Promise<number> {
  const encoder = new TextEncoder();
  for await (const block of blocks) {
    const values = block.data.values as Int32Array | Float64Array;
    const text = encoder.encode(`${values.join('\n')}\n`);
    const { status, isOver } = await passOn(block, text, input, client, context);
    if (status !== 0 || isOver) return status;
  }
  return 0;
}

/** Writes a block to stdout, unless --verify is given and the block is not verified. */
async function passOn(
  answer: VerifiableAnswer | StreamBlock<BinaryBatchType>,
  bytes: Uint8Array,
  input: Checking,
  client: QrnClient,
  context: CommandContext,
): Promise<{ readonly status: number; readonly isOver: boolean }> {
  const status = input.verify ? await checked(client, answer, context) : 0;
  if (status !== 0) return { status, isOver: true };
  return { status, isOver: !(await context.write(bytes)) };
}
