import { type Config, type Environment, loadSettings } from './config.ts';
import { readSources } from './sources.ts';

/**
 * The whole configuration. Apart from `loadSettings`, because it reads the code of every kind of source. Throws a ConfigError
 * that names the setting, or the option of a source.
 */
export function loadConfig(environment: Environment, cores = 2): Config {
  const settings = loadSettings(environment, cores);
  const sources = readSources(environment, settings.backend, settings.sourcesFile);
  return Object.freeze({ ...settings, sources });
}
