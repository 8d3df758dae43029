import type { Answer } from '../../clients/typescript/src/answers.ts';
import type { QrnClient } from '../../clients/typescript/src/client.ts';
import type { RawResponse } from '../../clients/typescript/src/error.ts';
import { type CommandContext, CommandError, type Input } from './command.ts';
import { checked, provenanceText } from './service-client.ts';

/** Values as they are printed: each on a line of its own, or for people as words in lines. */
export type ShownValues = { readonly lines: readonly string[] } | { readonly words: readonly string[] };

const LINE_WIDTH = 80;

/** Prints an answer as the options ask for; one that is not true is not printed. Gives the exit status. */
export async function printValues(
  { answer, response }: { readonly answer: Answer<unknown>; readonly response: RawResponse },
  shown: ShownValues,
  input: Input,
  client: QrnClient,
  context: CommandContext,
): Promise<number> {
  if (input.has('verify')) {
    const status = await checked(client, answer, context);
    if (status !== 0) return status;
  }
  if (input.has('json')) {
    context.out(`${new TextDecoder().decode(response.body)}\n`);
    return 0;
  }
  const texts = 'lines' in shown ? shown.lines : shown.words;
  if (input.has('raw')) {
    if (texts.some((text) => text.includes('\n')))
      throw new CommandError(
        'a value holds a line break, so --raw cannot print one value to a line; use --json',
      );
    context.out(`${texts.join('\n')}\n`);
    return 0;
  }
  context.out('lines' in shown ? `${texts.join('\n')}\n` : wrapped(texts));
  context.talk(provenanceText(answer));
  return 0;
}

/** Words with blanks between them, in lines of LINE_WIDTH. */
function wrapped(words: readonly string[]): string {
  const lines: string[] = [];
  let line = '';
  for (const word of words) {
    if (line !== '' && line.length + 1 + word.length > LINE_WIDTH) {
      lines.push(line);
      line = '';
    }
    line += line === '' ? word : ` ${word}`;
  }
  return `${[...lines, line].join('\n')}\n`;
}
