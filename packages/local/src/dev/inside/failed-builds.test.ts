import { mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { type BuildEvent, type DevEnvironment, type WranglerEvent, withRetries } from "./failed-builds.ts";

const FAILED: WranglerEvent = {
  type: "error",
  source: "BundlerController",
  reason: "Failed to construct initial bundle",
};
const BUILT: WranglerEvent = { type: "bundleComplete" };

let folder: string;
let config: string;
const told: BuildEvent[] = [];
const end = vi.fn();
const watch = vi.fn(async (_config: unknown, _sinceMs: number, _onChange: () => void) => end);
const dispatched = vi.fn();

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-failed-builds-"));
  config = join(folder, "wrangler.json");
  writeFileSync(config, "{}");
  utimesSync(config, 0, 0);
});
afterEach(() => {
  told.length = 0;
  vi.clearAllMocks();
  rmSync(folder, { recursive: true });
});

/** Environment of Wrangler's for a Worker. */
function environment(dev: { watch?: boolean } = {}): DevEnvironment {
  const prototype: DevEnvironment = { config: {}, dispatch: dispatched };
  withRetries({ unstable_DevEnv: { prototype } }, { watch, tell: (event) => told.push(event) });
  const latestConfig = { name: "shop", config, entrypoint: "/shop/index.ts", dev };
  return Object.assign(Object.create(prototype), { config: { latestConfig } });
}

it("a build that fails is told, after Wrangler has said why, and a change has the configuration read again", () => {
  const of = environment();
  dispatched.mockImplementationOnce(() => expect(told).toEqual([]));
  of.dispatch(FAILED);
  expect(dispatched).toHaveBeenCalledWith(FAILED);
  expect(told).toEqual([{ kind: "build", worker: "shop", hasFailed: true }]);
  expect(statSync(config).mtimeMs).toBe(0);
  watch.mock.calls[0]?.[2]();
  expect(statSync(config).mtimeMs).toBeGreaterThan(0);
});

it("a build that succeeds ends the watch, and is told once", async () => {
  const of = environment();
  of.dispatch(FAILED);
  of.dispatch(BUILT);
  of.dispatch(BUILT);
  expect(told.slice(1)).toEqual([{ kind: "build", worker: "shop", hasFailed: false }]);
  await vi.waitFor(() => expect(end).toHaveBeenCalledOnce());
});

it("a build that fails again ends the watch of the one before", async () => {
  const of = environment();
  of.dispatch(FAILED);
  of.dispatch(FAILED);
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
  environment().dispatch(event);
  expect(dispatched).toHaveBeenCalledWith(event);
  expect({ told, watches: watch.mock.calls }).toEqual({ told: [], watches: [] });
});

it("nothing is watched where Wrangler is told not to", () => {
  environment({ watch: false }).dispatch(FAILED);
  expect({ told, watches: watch.mock.calls }).toEqual({ told: [], watches: [] });
});

it("a Wrangler without these parts stays as it is", () => {
  expect(() => withRetries({}, { watch, tell: () => {} })).not.toThrow();
});
