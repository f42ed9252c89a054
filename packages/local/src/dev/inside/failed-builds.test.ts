import { AsyncLocalStorage } from "node:async_hooks";
import { afterEach, expect, it, vi } from "vitest";
import { type BuildEvent, retries } from "./failed-builds.ts";
import type { DevEnvironment, WranglerEvent } from "./wrangler-events.ts";

const FAILED: WranglerEvent = {
  type: "error",
  source: "BundlerController",
  reason: "Failed to construct initial bundle",
};
const BEGUN: WranglerEvent = { type: "bundleStart" };
const BUILT: WranglerEvent = { type: "bundleComplete" };

const told: BuildEvent[] = [];
const end = vi.fn();
const watch = vi.fn(async (_config: unknown, _sinceMs: number, _onChange: () => void) => end);
const patch = vi.fn(async (_changes: object) => {});

afterEach(() => {
  told.length = 0;
  vi.clearAllMocks();
});

/** Passes events of a Worker on, whose environment is as Wrangler's. */
function worker(dev: { watch?: boolean } = {}): (event: WranglerEvent) => void {
  const listener = retries({ watch, tell: (event) => told.push(event) });
  const latestConfig = { name: "shop", entrypoint: "/shop/index.ts", dev };
  const environment: DevEnvironment = { config: { latestConfig, patch }, dispatch() {} };
  return (event) => listener(environment, event);
}

it("a build that fails is told, and a change has the configuration read again, with Wrangler's flags", () => {
  const flags = new AsyncLocalStorage<string>();
  const seen: unknown[] = [];
  patch.mockImplementationOnce(async () => void seen.push(flags.getStore()));
  const dispatch = worker();
  flags.run("flags", () => dispatch(FAILED));
  expect(told).toEqual([{ kind: "build", worker: "shop", state: "failed" }]);
  expect(patch).not.toHaveBeenCalled();
  watch.mock.calls[0]?.[2]();
  expect(patch.mock.calls).toEqual([[{}]]);
  expect(seen).toEqual(["flags"]);
});

it("a build that succeeds ends the watch, and is told once", async () => {
  const dispatch = worker();
  dispatch(FAILED);
  dispatch(BUILT);
  dispatch(BUILT);
  expect(told.slice(1)).toEqual([{ kind: "build", worker: "shop", state: "done" }]);
  await vi.waitFor(() => expect(end).toHaveBeenCalledOnce());
});

it("sources that cannot be watched, as with a wrong tsconfig, end nothing", async () => {
  const dispatch = worker();
  watch.mockRejectedValueOnce(new Error("Cannot find tsconfig file"));
  dispatch(FAILED);
  // A promise that nobody handles fails the test by now.
  await new Promise((resolve) => setImmediate(resolve));
  dispatch(BUILT);
  expect(told.map(({ state }) => state)).toEqual(["failed", "done"]);
});

it("the first build is told when it begins and when it is done, and no later one", () => {
  const dispatch = worker();
  for (const event of [BEGUN, BUILT, BEGUN, BUILT]) dispatch(event);
  expect(told.map(({ state }) => state)).toEqual(["begun", "done"]);
});

it("a first build that fails is over once the Worker builds", () => {
  const dispatch = worker();
  for (const event of [BEGUN, FAILED, BEGUN, FAILED, BEGUN, BUILT]) dispatch(event);
  expect(told.map(({ state }) => state)).toEqual(["begun", "failed", "failed", "done"]);
});

it("a build that fails again ends the watch of the one before", async () => {
  const dispatch = worker();
  dispatch(FAILED);
  dispatch(FAILED);
  expect(watch).toHaveBeenCalledTimes(2);
  await vi.waitFor(() => expect(end).toHaveBeenCalledOnce());
});

it.each<[string, WranglerEvent]>([
  [
    "of a build after which Wrangler watches by itself",
    { ...FAILED, reason: "Failed to rebuild the Worker" },
  ],
  ["of another part", { ...FAILED, source: "ProxyController" }],
])("an error %s is left to Wrangler", (_, event) => {
  worker()(event);
  expect({ told, watches: watch.mock.calls }).toEqual({ told: [], watches: [] });
});

it("nothing is watched where Wrangler is told not to", () => {
  worker({ watch: false })(FAILED);
  expect({ told, watches: watch.mock.calls }).toEqual({ told: [], watches: [] });
});
