import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it, vi } from "vitest";
import { failedLoads } from "./failed-load.ts";
import { type DevEnvironment, listenToWrangler, type WranglerEvent } from "./wrangler-events.ts";

const ROOT = join(import.meta.dirname, "shop");
const BUNDLE = join(ROOT, ".sluice/tmp/entry.js");
const OWN_SOURCES = join(ROOT, "node_modules/sluice");
const BUILT: WranglerEvent = { type: "bundleComplete", bundle: { path: BUNDLE } };
const RELOADED: WranglerEvent = { type: "reloadComplete" };

function failure(...messages: string[]): WranglerEvent {
  const lines = messages.map(
    (message) => `  ${JSON.stringify({ level: "error", message, context_depth: 0 })}`,
  );
  const message = `The Workers runtime failed to start.\nRuntime stderr:\n${lines.join("\n")}`;
  const cause = Object.assign(new Error(message), { isUserError: () => false });
  return {
    type: "error",
    source: "MultiworkerRuntimeController",
    reason: "Error reloading local server",
    cause,
  };
}

const THROWN = failure(
  "service core:user:shop: Uncaught Error: at load\n  at entry.js:35:7\n  at entry.js:40:1",
  'Worker "core:user:sluice"\'s binding "CONSUMER_SHOP" refers to service "core:user:shop" with a named entrypoint',
);

function world() {
  const told = vi.fn();
  const dispatched = vi.fn();
  class Environment implements DevEnvironment {
    readonly config = { latestConfig: { name: "shop", entrypoint: join(ROOT, "index.ts") } };
    dispatch(event: WranglerEvent) {
      dispatched(event);
    }
  }
  const find = (url: string, row: number, column: number) => {
    if (url !== pathToFileURL(BUNDLE).href) return null;
    if (row === 20)
      return { file: join(OWN_SOURCES, "packages/protocol/src/rpc/consumer.ts"), row: 31, column };
    return row === 35 ? { file: join(ROOT, "src/index.ts"), row: 10, column } : null;
  };
  const heard = vi.fn();
  const loads = failedLoads({ root: ROOT, ownSources: [OWN_SOURCES], tell: told, find });
  listenToWrangler({ unstable_DevEnv: Environment }, [loads], heard);
  const environment = new Environment();
  const run = (...events: WranglerEvent[]) => events.forEach((event) => void environment.dispatch(event));
  return { told, dispatched, heard, run };
}

it("a changed Worker that throws while it is loaded is told with its place, and Wrangler never hears of it", () => {
  const { told, dispatched, heard, run } = world();
  run(BUILT, RELOADED, BUILT, THROWN);
  expect(told.mock.calls).toEqual([
    [{ kind: "failed-load", worker: "shop", error: "Error: at load", place: join("src/index.ts:10:7") }],
  ]);
  expect(
    [dispatched, heard].map(({ mock }) => mock.calls.flat()).map((events) => events.includes(THROWN)),
  ).toEqual([false, false]);
});

it("one that throws again is told again, and a later reload is Wrangler's", () => {
  const { told, dispatched, run } = world();
  run(BUILT, RELOADED, THROWN, THROWN, BUILT, RELOADED);
  expect(told).toHaveBeenCalledTimes(2);
  expect(dispatched).toHaveBeenCalledTimes(4);
});

it("a place that no source map knows is left out", () => {
  const { told, run } = world();
  run(RELOADED, BUILT, failure("service core:user:shop: Uncaught TypeError: x\n  at entry.js:9:9"));
  expect(told.mock.calls).toEqual([
    [{ kind: "failed-load", worker: "shop", error: "TypeError: x", place: null }],
  ]);
});

it.each<[string, string | null]>([
  ["  at entry.js:20:1\n  at entry.js:35:7", join("src/index.ts:10:7")],
  ["  at entry.js:20:1", null],
])("a place in our own sources is passed over: %j", (stack, place) => {
  const { told, run } = world();
  run(BUILT, RELOADED, failure(`service core:user:shop: Uncaught SyntaxError: x\n${stack}`));
  expect(told.mock.calls).toEqual([
    [{ kind: "failed-load", worker: "shop", error: "SyntaxError: x", place }],
  ]);
});

it("the first one ends Wrangler with an error of the user's that names the place", () => {
  const { told, dispatched, run } = world();
  const thrown = failure("service core:user:shop: Uncaught Error: at load\n  at entry.js:35:7");
  run(BUILT, thrown);
  expect(told).not.toHaveBeenCalled();
  expect(dispatched).toHaveBeenLastCalledWith(thrown);
  const [first, second] = thrown.cause?.message.split("\n") ?? [];
  expect(first).toBe(`shop throws while it is loaded, at ${join("src/index.ts:10:7")}: Error: at load`);
  expect(second).toContain("sluice dev ends");
  expect((thrown.cause as unknown as { isUserError(): boolean }).isUserError()).toBe(true);
});

it.each<[string, WranglerEvent]>([
  ["of another part", { ...THROWN, source: "BundlerController" }],
  ["of workerd itself", failure("service core:entry: cannot be started")],
  ["without a cause", { type: "error", source: "LocalRuntimeController" }],
])("an error %s stays Wrangler's", (_, event) => {
  const { told, dispatched, run } = world();
  run(BUILT, RELOADED, event);
  expect(told).not.toHaveBeenCalled();
  expect(dispatched).toHaveBeenLastCalledWith(event);
});
