import { systemClock } from '../core/clock.ts';
import { type Command, type CommandContext, CommandError } from './command.ts';

/** What differs between the two programs named `qrn`, that of the service and that of the TypeScript client. */
interface Program extends Pick<CommandContext, 'environment' | 'localService'> {
  readonly command: Command;
  readonly version: () => string;
}

/** Runs a command with the arguments and streams of the process, and sets the exit status. */
export async function runProgram({ command, version, environment, localService }: Program): Promise<void> {
  const context: CommandContext = {
    environment,
    localService,
    clock: systemClock,
    out: (text) => process.stdout.write(text),
    talk: (text) => process.stderr.write(text),
    write: (bytes) =>
      new Promise((resolve) => {
        process.stdout.write(bytes, (error) => resolve(error === null || error === undefined));
      }),
    stdin: readStdin,
    interruption: () => {
      const interruption = new AbortController();
      for (const signal of ['SIGINT', 'SIGTERM'])
        process.once(signal, () => interruption.abort(new CommandError('stopped')));
      return interruption.signal;
    },
    isTerminal: process.stdout.isTTY,
    confirm: process.stdin.isTTY && process.stderr.isTTY ? confirm : undefined,
  };
  const args = process.argv.slice(2);

  // A reader that has enough (`qrn keys list | head`) closes the pipe, which is not a failure. A running service goes
  // on without the lines that it cannot write, for example to a full disk.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' || args[0] === 'serve') return;
    context.talk(`qrn: cannot write to stdout: ${error.message}\n`);
    process.exit(1);
  });
  process.stderr.on('error', () => {}); // there is nobody left to tell

  if (args[0] === '--version') context.out(`${version()}\n`);
  else process.exitCode = await command.run(args.length === 0 ? ['--help'] : args, context);
}

async function readStdin(): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function confirm(question: string): Promise<boolean> {
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`${question} [y/N] `);
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}
