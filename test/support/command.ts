import { spawnSync } from 'node:child_process';

/** Why tests with a program of another project cannot run here; false when it is installed. */
export function missing(program: string, packageName: string): string | false {
  const { error } = spawnSync(program, ['--version'], { stdio: 'ignore' });
  return error === undefined ? false : `${program} is not installed: apt-get install ${packageName}`;
}
