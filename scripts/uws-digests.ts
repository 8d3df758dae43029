import { writeFileSync } from 'node:fs';
import { sha256File, UWS_DIGESTS, uwsBinary, uwsFolder } from '../src/http/uws-digests.ts';

/**
 * Records the SHA-256 of each platform's uWebSockets.js binary for Node 22. Run it after an intended change of the
 * package, and review the difference before you commit it: `node scripts/uws-digests.ts`.
 */
const NODE_22_ABI = '127';
const PLATFORMS = ['darwin_arm64', 'darwin_x64', 'linux_arm64', 'linux_x64', 'win32_x64'];

const folder = uwsFolder();
const digests: Record<string, string> = {};
for (const platform of PLATFORMS) {
  const name = `uws_${platform}_${NODE_22_ABI}.node`;
  const path = uwsBinary(folder, name);
  if (path !== undefined) digests[name] = sha256File(path);
}
writeFileSync(UWS_DIGESTS, `${JSON.stringify(digests, null, 2)}\n`);
