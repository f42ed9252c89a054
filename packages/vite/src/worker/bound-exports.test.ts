import { expect, it, vi } from "vitest";
import { boundExport, boundExports } from "./bound-exports.ts";

vi.mock("cloudflare:workers", () => {
  class Base {
    readonly ctx: unknown;
    readonly env: unknown;
    constructor(ctx: unknown, env: unknown) {
      this.ctx = ctx;
      this.env = env;
    }
  }
  return {
    DurableObject: class DurableObject extends Base {},
    WorkerEntrypoint: class WorkerEntrypoint extends Base {},
    WorkflowEntrypoint: class WorkflowEntrypoint extends Base {},
  };
});

type Class = new (ctx: unknown, env: unknown) => { env: unknown; method(): string };
const bind = (env: unknown) => Object.assign(env as object, { queue: "ours" });

it("handlers get a bound env, with their own event, context and this", () => {
  class App {
    #name = "app";
    queue(...args: unknown[]) {
      return [this.#name, ...args];
    }
    fetch = (...args: unknown[]) => args;
    helper(env: unknown) {
      return env;
    }
  }
  const bound = boundExport(new App(), bind) as App;
  expect(bound.queue("batch", {}, "ctx")).toEqual(["app", "batch", { queue: "ours" }, "ctx"]);
  expect(bound.fetch("request", {}, "ctx")).toEqual(["request", { queue: "ours" }, "ctx"]);
  expect(bound.helper({})).toEqual({});
});

it("classes get a bound env before their constructors run, and keep their names and methods", async () => {
  const { WorkerEntrypoint } = await import("cloudflare:workers");
  class Office extends WorkerEntrypoint {
    readonly seen = { ...(this.env as object) };
    method() {
      return "method";
    }
  }
  const Bound = boundExport(Office, bind) as unknown as new (...args: unknown[]) => Office;
  const office = new Bound("ctx", {});
  expect([Bound.name, office.method(), office.seen]).toEqual(["Office", "method", { queue: "ours" }]);
  expect(office).toBeInstanceOf(WorkerEntrypoint);
});

it("a Durable Object of the old kind, which extends nothing, is bound", () => {
  class Counter {
    readonly env: unknown;
    constructor(_state: unknown, env: unknown) {
      this.env = env;
    }
    method() {
      return "method";
    }
  }
  const Bound = boundExport(Counter, bind) as Class;
  expect(new Bound("state", {}).env).toEqual({ queue: "ours" });
});

it.each([[undefined], [null], ["text"], [7]])("an export %o is unchanged", (exported) => {
  expect(boundExport(exported, bind)).toBe(exported);
});

it("an exported function is unchanged", () => {
  const helper = () => 1;
  expect(boundExport(helper, bind)).toBe(helper);
});

it("every named export is bound once, and looked up when it is used", () => {
  class First {}
  class Second {}
  const module: Record<string, unknown> = { default: {}, Counter: First, LIMIT: 3 };
  const exported = boundExports(module, bind) as Record<string, unknown>;
  expect(Object.keys(exported)).toEqual(["Counter", "LIMIT"]);
  expect(exported.LIMIT).toBe(3);
  expect(exported.Counter).toBe(exported.Counter);
  const before = exported.Counter;
  module.Counter = Second;
  expect(exported.Counter).not.toBe(before);
});
