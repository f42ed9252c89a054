import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { LOOK_EVERY_MS, type OwnProcess, watchNpmShell } from "./npm-shell.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Watches a shell with a command line that ends a moment later, and counts how often that is told. */
async function ends(args: string | null, own: Partial<OwnProcess> = {}): Promise<number> {
  let parent = 7;
  let told = 0;
  const argsOf = async (pid: number) => {
    if (args === null || pid !== 7) throw new Error("no such process");
    return args;
  };
  const options = { env: { npm_command: "exec" }, platform: "linux", parent: () => parent, argsOf } as const;
  const close = watchNpmShell(() => told++, { ...options, ...own });
  await vi.advanceTimersByTimeAsync(3 * LOOK_EVERY_MS);
  expect(told).toBe(0);
  parent = 1;
  await vi.advanceTimersByTimeAsync(3 * LOOK_EVERY_MS);
  close();
  expect(vi.getTimerCount()).toBe(0);
  return told;
}

it.each([
  "sh -c 'sluice' dev --port 8787",
  "sh -c sluice dev",
  "/bin/bash -c node build.js && sluice dev 2>&1 | tee log",
])("the end of %j, which waits for its command, is told once", async (args) => {
  expect(await ends(args)).toBe(1);
});

it.each([
  "sh -c sluice dev &",
  "sh -c sluice dev & vite",
  "sh -c sluice dev > log 2>&1 &",
  "sh -c nohup sluice dev",
  "sh -c setsid sluice dev",
  "sh ./start.sh",
  "-bash",
  "npm exec sluice dev",
  "/usr/lib/systemd/systemd --user",
  null,
])("the end of %j is not told: this process may have been left behind on purpose", async (args) => {
  expect(await ends(args)).toBe(0);
});

it("nothing is watched without npm, or on Windows", async () => {
  expect(await ends("sh -c sluice dev", { env: {} })).toBe(0);
  expect(await ends("sh -c sluice dev", { platform: "win32" })).toBe(0);
});

it("an end is not told after the watch has ended", async () => {
  let parent = 7;
  const onEnd = vi.fn();
  const close = watchNpmShell(onEnd, {
    env: { npm_command: "exec" },
    platform: "linux",
    parent: () => parent,
    argsOf: async () => "sh -c sluice dev",
  });
  close();
  parent = 1;
  await vi.advanceTimersByTimeAsync(3 * LOOK_EVERY_MS);
  expect(onEnd).not.toHaveBeenCalled();
});
