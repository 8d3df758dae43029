const PREFIX = 'QRN_SOURCE_';

/** True for the name of a variable that belongs to some source, known or not. */
export function isSourceVariable(variable: string): boolean {
  return variable.startsWith(PREFIX) && variable !== POLICY_VARIABLE;
}

/** The variable of a source's option: `QRN_SOURCE_<NAME>_<OPTION>`. */
export function sourceVariable(source: string, option: string): string {
  return `${PREFIX}${source.replaceAll('-', '_')}_${option}`.toUpperCase();
}

/** A setting of all sources together, which begins like an option of one. */
export const POLICY_VARIABLE = `${PREFIX}POLICY`;
