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
function originBanner({ origin }: StatusSource, sources: readonly StatusSource[]): Markup {
  const backends = sources.map(({ backend, name }) => backend ?? name).join(', ');
  const [subject, plural] = sources.length === 1 ? ['The source is', ''] : ['The sources are', 's'];
  const isOne = plural === '';
  const article = isOne ? 'a ' : '';
  const quantum = isOne ? 'A quantum' : 'Quantum';
  const verb = isOne ? 'is the source' : 'are the sources';
  const [title, text] = {
    simulated: [
      'SIMULATED: no quantum processor is connected.',
      `${subject} ${backends}, ${article}program${plural} that simulate${isOne ? 's' : ''} one. The statistics are real, the quantum origin is not; every answer and every certificate says so.`,
    ],
    replay: [
      'REPLAY: no source is live.',
      `Bits recorded earlier from ${backends} are played back; every answer says so.`,
    ],
    system: [
      'No quantum source.',
      `${subject} ${backends}, the generator of the operating system; every answer says so.`,
    ],
    'quantum-processor': [`${quantum} processor${plural} ${verb}.`, stateWords(sources)],
    'qrng-device': [`${quantum} device${plural} ${verb}.`, stateWords(sources)],
  }[origin];
  return banner(isQuantum(origin) ? 'good' : 'wait', title, text);
}

function stateWords(sources: readonly StatusSource[]): string {
  return `${sources.map(({ backend, name, state }) => `${backend ?? name}, state: ${state}`).join('; ')}.`;
}
