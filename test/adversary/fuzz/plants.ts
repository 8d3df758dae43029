import { Reservation } from '../../../src/account/reservation.ts';
import { ApiError } from '../../../src/core/errors.ts';
import type { DataEndpoint } from '../../../src/core/vocabulary.ts';
import type { ParsedDataRequest, RequestContent } from '../../../src/http/endpoint.ts';
import { DATA_ENDPOINT_DEFINITIONS } from '../../../src/http/endpoints/table.ts';
import { around, forgettingRelease, replaced } from '../planting.ts';
import type { World } from './world.ts';

/**
 * Bugs that are planted in the running service, one at a time, and that the property `table` must find: a fuzzer that misses
 * them would miss others. What a plant returns removes it.
 */
export const PLANTS: Readonly<Record<string, (world: World) => () => void>> = {
  'a bound that is one too high': () =>
    replaced(definitionOf('uuid').parameters[0].schema as { maximum: number }, 'maximum', 10_001),
  'entropy drawn before the parameters are checked': (world) =>
    parsing('floats', (parse, content) => {
      world.meter.supply.system.u32();
      return parse(content);
    }),
  'a parser that throws what is no ApiError': () =>
    parsing('bytes', (parse, content) => {
      decodeURIComponent(content.query);
      return parse(content);
    }),
  'a refusal that is swallowed and served with defaults': () =>
    parsing('bitstring', (parse, content) => {
      try {
        return parse(content);
      } catch (error) {
        if (error instanceof ApiError) return parse({ ...content, query: '' });
        throw error;
      }
    }),
  'an order that is echoed and not kept': () =>
    parsing('integers', (parse, content) => {
      const parsed = parse(content);
      const { values } = parsed.request;
      if (values.kind !== 'integers') return parsed;
      return { ...parsed, request: { ...parsed.request, values: { ...values, sort: 'none' } } };
    }),
  'a price that is one too high': () =>
    around(Reservation.prototype, 'takeCredits', (take, _reservation, credits) => take(credits + 1)),
};

/** Counts a refused request against the quota: no answer shows that, but the books do. */
export const UNRELEASED_QUOTA = (): (() => void) =>
  forgettingRelease((reservation) => (reservation.hasRequest = false));

function definitionOf(name: DataEndpoint) {
  return DATA_ENDPOINT_DEFINITIONS.find((each) => each.name === name)!;
}

type Parse = (content: RequestContent) => ParsedDataRequest;

function parsing(
  name: DataEndpoint,
  planted: (parse: Parse, content: RequestContent) => ParsedDataRequest,
): () => void {
  const definition = definitionOf(name) as { parse: Parse };
  return around(definition, 'parse', (parse, _definition, content) => planted(parse, content));
}
