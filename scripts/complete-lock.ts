import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Adds to package-lock.json the optional packages that npm leaves out because the registry in use lacks them: native
 * code for other platforms. Without them `npm ci` refuses the lock file. An entry has the exact version that its
 * dependant names, its licence, and the platform that its own name states. It has no hash, which only a registry can
 * tell. Run this after a change of the dependencies; test/supply-chain.test.ts fails until then.
 */

export interface LockedPackage {
  readonly version?: string;
  readonly cpu?: string | readonly string[];
  readonly dev?: boolean;
  readonly libc?: readonly string[];
  readonly license?: string;
  readonly optional?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly os?: string | readonly string[];
}

export type LockedPackages = Readonly<Record<string, LockedPackage>>;

/** Returns the optional packages that a locked package names and the lock file lacks, by their place in the file. */
export function missingPackages(packages: LockedPackages): Record<string, LockedPackage> {
  const missing: Record<string, LockedPackage> = {};
  for (const [path, { dev, license, optionalDependencies = {} }] of Object.entries(packages)) {
    for (const [name, version] of Object.entries(optionalDependencies)) {
      const place = `node_modules/${name}`;
      if (packages[place] !== undefined || packages[`${path}/${place}`] !== undefined) continue;
      const { cpu, libc, os } = platformOf(name);
      // The order of the members is npm's own, so that its next install changes nothing.
      missing[place] = {
        version,
        cpu,
        ...(dev && { dev }),
        ...(libc && { libc }),
        ...(license && { license }),
        optional: true,
        os,
      };
    }
  }
  return missing;
}

const CPUS = /-(x64|arm64|arm|ia32|ppc64|riscv64|s390x)(-|$)/;
const SYSTEMS = /-(android|darwin|freebsd|linux|openharmony|win32)-/;

/** Returns the platform of a package by the naming convention of native packages. */
function platformOf(name: string) {
  const cpu = CPUS.exec(name)?.[1];
  const os = SYSTEMS.exec(name)?.[1];
  if (cpu === undefined || os === undefined) throw new Error(`${name} does not name its platform`);
  const libc = /-(musl|gnu)(eabihf)?$/.exec(name)?.[1];
  const isTold = os === 'linux' && libc !== undefined;
  return { cpu: [cpu], libc: isTold ? [libc === 'gnu' ? 'glibc' : libc] : undefined, os: [os] };
}

if (import.meta.main) {
  const path = fileURLToPath(new URL('../package-lock.json', import.meta.url));
  const lock = JSON.parse(readFileSync(path, 'utf8')) as { packages: LockedPackages };
  const packages = { ...lock.packages, ...missingPackages(lock.packages) };
  const sorted = Object.entries(packages).sort(([a], [b]) => a.localeCompare(b, 'en'));
  writeFileSync(path, `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, null, 2)}\n`);
}
