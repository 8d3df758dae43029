import { isQuantum, type Origin } from '../../core/vocabulary.ts';
import { banner } from './certificate-page.ts';
import type { Markup } from './layout.ts';
import type { StatusFacts, StatusSource } from './status-page.ts';

const ORIGIN_WORDS: Readonly<Record<Origin, string>> = {
  'quantum-processor': 'a quantum processor',
  'qrng-device': 'a quantum device',
  simulated: 'simulated',
  replay: 'a replay of recorded bits',
  system: 'the generator of the operating system',
};

export function originWords({ origin, isDeclared }: StatusSource): string {
  return isDeclared ? 'declared to be quantum by its operator' : ORIGIN_WORDS[origin];
}

/** The titles for services whose sources are all of one kind that is not quantum, or not attested to be. */
const TITLES: Readonly<Record<string, string>> = {
  declared: 'DECLARED: the origin of a source is not attested.',
  simulated: 'SIMULATED: no quantum processor is connected.',
  replay: 'REPLAY: no source is live.',
  system: 'SYSTEM: there is no quantum source.',
};

/** Returns the banner on the sources. Sources that are not quantum, or not attested to be, decide its title. */
export function sourceBanner({ sources }: StatusFacts): Markup {
  const others = sources.filter(({ origin, isDeclared }) => isDeclared || !isQuantum(origin));
  if (others.length === 0) {
    const states = sources.map(
      (each) => `${each.backend ?? each.name} is ${originWords(each)}, state: ${each.state}`,
    );
    return banner('good', 'QUANTUM: every source is a quantum source.', `${states.join('; ')}.`);
  }
  const kinds = new Set(others.map(({ origin, isDeclared }) => (isDeclared ? 'declared' : origin)));
  const isMixed = kinds.size > 1 || others.length < sources.length;
  const title = isMixed ? 'MIXED: not every source is a quantum source.' : TITLES[[...kinds][0]];
  const details = others.map((source) => `the source ${source.name} is ${originWords(source)}`).join('; ');
  return banner(
    'wait',
    title,
    `${details[0].toUpperCase()}${details.slice(1)}. Every answer and every certificate states the origin of its entropy.`,
  );
}
