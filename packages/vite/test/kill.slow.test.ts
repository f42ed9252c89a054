import { commandLineOf, descendants, isRunning } from "sluice/test/lab";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ViteProject } from "./vite-project.ts";

let project: ViteProject;
beforeAll(() => {
  project = new ViteProject();
});
afterAll(() => project?.remove());

// Windows ends what a process has started.
it.skipIf(process.platform === "win32")("a killed vite dev leaves no workerd behind", async () => {
  const server = await project.dev();
  const workerds = descendants(server.pid).filter((pid) => commandLineOf(pid).includes("--control-fd="));
  expect(workerds).not.toEqual([]);
  await server.kill();
  await expect.poll(() => workerds.filter(isRunning), { timeout: 60_000 }).toEqual([]);
});
