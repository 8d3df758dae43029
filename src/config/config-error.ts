/** Says which setting is wrong, where it stands and what it may be. Never holds a secret. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}
