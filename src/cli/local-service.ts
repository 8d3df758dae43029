import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadSettings, localOrigin } from '../config/config.ts';
import type { LocalService } from './command.ts';

/** The service of these settings, whose data folder this machine has. */
export function localService(environment: Readonly<Record<string, string | undefined>>): LocalService {
  const settings = loadSettings(environment);
  const { baseUrl, verifyUrlBase, dataDir } = settings;
  return {
    apiUrl: baseUrl ?? `${localOrigin(settings, settings.port)}/v1`,
    isNamed: baseUrl !== null || verifyUrlBase !== null,
    verifyUrlBase,
    demoKey: () => {
      try {
        return readFileSync(join(dataDir, 'demo-key'), 'utf8').trim();
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
    },
  };
}
