/**
 * Calls every function of `opened`, the last one first: each closes what one step has opened. A failure does not stop
 * the others; at the end the first failure is thrown.
 */
export async function closeAll(opened: readonly (() => unknown)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const close of opened.toReversed()) {
    try {
      await close();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
