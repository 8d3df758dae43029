import { Reservation } from '../../../src/account/reservation.ts';
import { ApiError } from '../../../src/core/errors.ts';
import type { DataEndpoint } from '../../../src/core/vocabulary.ts';
import type { ParsedDataRequest, RequestContent } from '../../../src/http/endpoint.ts';
import { DATA_ENDPOINT_DEFINITIONS } from '../../../src/http/endpoints/table.ts';
import { forgettingRelease, replaced } from '../planting.ts';
import type { World } from './world.ts';

/** Bugs that are planted in the running service, one at a time: a fuzzer that misses them would miss others. */
export interface Plant {
  readonly bug: string;
  /** The property that must find it. */
  readonly foundBy: string;
  /** Plants the bug; returns what removes it. */
  readonly plant: (world: World) => () => void;
}

export const PLANTS: readonly Plant[] = [
  {
    bug: 'a bound that is one too high',
    foundBy: 'table',
    plant: () =>
      replaced(definitionOf('uuid').parameters[0].schema as { maximum: number }, 'maximum', () => 10_001),
  },
  {
    bug: 'entropy drawn before the parameters are checked',
    foundBy: 'table',
    plant: (world) =>
      parsing('floats', (parse, content) => {
        world.meter.supply.system.u32();
        return parse(content);
      }),
  },
  {
    bug: 'a parser that throws what is no ApiError',
    foundBy: 'table',
    plant: () =>
      parsing('bytes', (parse, content) => {
        decodeURIComponent(content.query);
        return parse(content);
      }),
  },
  {
    bug: 'a refusal that is swallowed and served with defaults',
    foundBy: 'table',
    plant: () =>
      parsing('bitstring', (parse, content) => {
        try {
          return parse(content);
        } catch (error) {
          if (error instanceof ApiError) return parse({ ...content, query: '' });
          throw error;
        }
      }),
  },
  {
    bug: 'an order that is echoed and not kept',
    foundBy: 'table',
    plant: () =>
      parsing('integers', (parse, content) => {
        const parsed = parse(content);
        const { values } = parsed.request;
        if (values.kind !== 'integers') return parsed;
        return { ...parsed, request: { ...parsed.request, values: { ...values, sort: 'none' } } };
      }),
  },
  {
    bug: 'a price that is one too high',
    foundBy: 'table',
    plant: () =>
      replaced(
        Reservation.prototype,
        'takeCredits',
        (takeCredits) =>
          function (this: Reservation, credits) {
            return takeCredits.call(this, credits + 1);
          },
      ),
  },
];

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
  return replaced(definition, 'parse', (parse) => (content) => planted(parse, content));
}
