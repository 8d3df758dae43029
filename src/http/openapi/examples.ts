import { readFileSync } from 'node:fs';
import { MEDIA_TYPES } from '../representation.ts';

/** A call and its answer, for people to read. */
interface Example {
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly body?: object;
  readonly answer?: object | string;
}

/**
 * By operation, recorded from a service with the simulator, each value as it came. test/http/openapi.test.ts holds them
 * against the schemas, test/browser/docs.test.ts against what the service draws.
 */
export const EXAMPLES: Readonly<Record<string, Example>> = JSON.parse(
  readFileSync(new URL('examples.json', import.meta.url), 'utf8'),
);

type Content = Readonly<Record<string, object>>;
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content: Content }>>;
}

/** The same paths, whose operations have their examples: of parameters, of the body and of the answer. */
export function withExamples(paths: Readonly<Record<string, object>>): object {
  const items = Object.entries(paths).map(([path, item]) => {
    const operations = Object.entries<Operation>(item as Record<string, Operation>);
    return [path, Object.fromEntries(operations.map(([method, each]) => [method, withExample(each)]))];
  });
  return Object.fromEntries(items);
}

function withExample(operation: Operation): Operation {
  const { operationId, parameters, requestBody, responses } = operation;
  const { parameters: given = {}, body, answer } = EXAMPLES[operationId.replace(/OfBody$/, '')] ?? {};
  // a new resource is answered 201
  const success = responses[201] === undefined ? 200 : 201;
  return {
    ...operation,
    ...(parameters && {
      parameters: parameters.map((each) =>
        Object.hasOwn(given, each.name) ? { ...each, example: given[each.name] } : each,
      ),
    }),
    ...(requestBody && { requestBody: shown(requestBody, body) }),
    responses: { ...responses, [success]: shown(responses[success], answer) },
  };
}

/** Text is an example of the first form that there is, anything else of JSON. */
function shown<T extends { readonly content: Content }>(message: T, example: object | string | undefined): T {
  if (example === undefined) return message;
  const type = typeof example === 'string' ? Object.keys(message.content)[0] : MEDIA_TYPES.json;
  return { ...message, content: { ...message.content, [type]: { ...message.content[type], example } } };
}
