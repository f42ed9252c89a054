/**
 * Measures the processor time that a function takes, in ms: unlike the time that passes, it is not longer where other
 * processes are busy.
 */
export async function cpuMsOf(run: () => unknown): Promise<number> {
  const before = process.threadCpuUsage();
  await run();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}
