import { BACKEND_TARGETS } from './backend.ts';
import { CERTIFICATE_TARGETS } from './certificate.ts';
import { CONFIG_TARGETS } from './config.ts';
import { HTTP_TARGETS } from './http.ts';
import { JOB_TARGETS } from './jobs.ts';
import { STORE_TARGETS } from './store.ts';
import type { FuzzTarget } from './target.ts';

/** Every reader of what others wrote. */
export const FUZZ_TARGETS: readonly FuzzTarget[] = [
  ...HTTP_TARGETS,
  ...CERTIFICATE_TARGETS,
  ...STORE_TARGETS,
  ...CONFIG_TARGETS,
  ...BACKEND_TARGETS,
  ...JOB_TARGETS,
];
