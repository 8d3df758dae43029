import { publish, talk } from './reporter.ts';
import type { BenchRun, Suite } from './suite.ts';

/**
 * Runs the suites one after the other. Reports a suite that fails and continues with the others; returns how many
 * failed.
 */
export async function runSuites(suites: readonly Suite[], run: BenchRun): Promise<number> {
  let failures = 0;
  for (const suite of suites) {
    const startedMs = performance.now();
    const seconds = () => (performance.now() - startedMs) / 1000;
    talk(`\n${suite.name}: ${suite.summary}`);
    try {
      const report = await suite.run(run);
      if (report !== undefined) publish(suite, run, report, seconds());
      const missed = report?.missed ?? [];
      for (const target of missed) talk(`${suite.name}: missed: ${target}`);
      if (missed.length > 0) failures++;
      talk(`${suite.name}: ${seconds().toFixed(0)} s`);
    } catch (error) {
      failures++;
      talk(`${suite.name} failed: ${error instanceof Error ? error.stack : String(error)}`);
    }
  }
  return failures;
}
