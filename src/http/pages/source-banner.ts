import { isQuantum, type Origin } from '../../core/vocabulary.ts';
import { banner } from './certificate-page.ts';
import type { Markup } from './layout.ts';
import type { StatusFacts, StatusSource } from './status-page.ts';

/** The one source, or the loudest of several: what is not quantum is said before what is. */
export function sourceBanner({ sources }: StatusFacts): Markup {
  const [first] = sources;
  const declared = sources.filter(({ isDeclared }) => isDeclared);
  if (declared.length > 0 && sources.every(({ origin }) => isQuantum(origin))) {
    return banner(
      'wait',
      'DECLARED: the origin of a source is not attested.',
      `The operator says that ${declared.map(({ name }) => name).join(', ')} ${declared.length === 1 ? 'is quantum' : 'are quantum'}; nothing attests it, and every answer of it says so. ${stateWords(sources)}`,
    );
  }
  if (sources.every(({ origin }) => origin === first.origin)) return originBanner(first, sources);
  const others = sources.filter(({ origin, isDeclared }) => isDeclared || !isQuantum(origin));
  if (others.length === 0) {
    return banner('good', 'Quantum processors and devices are the sources.', stateWords(sources));
  }
  return banner(
    'wait',
    'MIXED: not every source is a quantum one.',
    `${others.map((source) => `${source.name} is ${originWords(source)}`).join('; ')}. Every answer names the origin of what it drew on.`,
  );
}

const ORIGIN_WORDS: Readonly<Record<Origin, string>> = {
  'quantum-processor': 'a quantum processor',
  'qrng-device': 'a quantum device',
  simulated: 'simulated',
  replay: 'a replay of bits recorded earlier',
  system: 'the generator of the operating system',
};

export function originWords({ origin, isDeclared }: StatusSource): string {
  return isDeclared ? 'declared to be quantum by its operator' : ORIGIN_WORDS[origin];
}

/** All sources have the origin of `first`. */
function originBanner(first: StatusSource, sources: readonly StatusSource[]): Markup {
  const backends = sources.map(({ backend, name }) => backend ?? name).join(', ');
  const [is, several] = sources.length === 1 ? ['The source is', false] : ['The sources are', true];
  switch (first.origin) {
    case 'simulated':
      return banner(
        'wait',
        'SIMULATED: no quantum processor is connected.',
        `${is} ${backends}, ${several ? 'programs that simulate one' : 'a program that simulates one'}. The statistics are real, the quantum origin is not; every answer and every certificate says so.`,
      );
    case 'replay':
      return banner(
        'wait',
        'REPLAY: no source is live.',
        `Bits recorded earlier from ${backends} are played back; every answer says so.`,
      );
    case 'system':
      return banner(
        'wait',
        'No quantum source.',
        `${is} ${backends}, the generator of the operating system; every answer says so.`,
      );
    case 'quantum-processor':
      return banner(
        'good',
        several ? 'Quantum processors are the sources.' : 'A quantum processor is the source.',
        stateWords(sources),
      );
    case 'qrng-device':
      return banner(
        'good',
        several ? 'Quantum devices are the sources.' : 'A quantum device is the source.',
        stateWords(sources),
      );
  }
}

function stateWords(sources: readonly StatusSource[]): string {
  return `${sources.map(({ backend, name, state }) => `${backend ?? name}, state: ${state}`).join('; ')}.`;
}
