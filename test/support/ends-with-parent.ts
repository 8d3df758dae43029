import { fstatSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

// Preloaded into a service that a test starts: its stdin ends with the process that holds the other end, however that ended. What the
// service itself starts has no such stdin.
if (isMainThread && fstatSync(0).isSocket())
  process.stdin
    .on('end', () => process.exit(1))
    .resume()
    .unref();
