import { format } from "node:util";
import type { LogLevel } from "@sluice/protocol";
import fc from "fast-check";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ConsoleWatch } from "./watch-console.ts";

const own = { ...console };
const printed = vi.fn();
beforeEach(() => {
  for (const level of ["debug", "info", "log", "warn", "error"] as const) {
    console[level] = (...args: unknown[]) => printed(level, ...args);
  }
});
afterEach(() => {
  Object.assign(console, own);
  printed.mockReset();
});

function watching(name: string | null = null) {
  const taken: [LogLevel, ...unknown[]][] = [];
  const watch = new ConsoleWatch();
  watch.begin((level, args) => {
    taken.push([level, ...args]);
    return name;
  });
  return { watch, taken };
}

it("calls are taken and print as before", () => {
  const { taken } = watching();
  for (const level of ["debug", "info", "log", "warn", "error"] as const) console[level](level, 1);
  expect(taken).toEqual(["debug", "info", "log", "warn", "error"].map((level) => [level, level, 1]));
  expect(printed.mock.calls).toEqual(taken.map(([level, ...args]) => [level, ...args]));
});

it("a method is watched once, however often it begins, and again when it was replaced", () => {
  const { watch, taken } = watching();
  watch.begin();
  const watched = console.log;
  console.log = (...args: unknown[]) => watched("prefix", ...args);
  watch.begin();
  console.log("x");
  expect(taken).toEqual([["log", "x"]]);
  expect(printed.mock.calls).toEqual([["log", "prefix", "x"]]);
  // A library restores what it has found.
  console.log = watched;
  watch.begin();
  expect(console.log).toBe(watched);
});

it("a spy on the console stays one", () => {
  const spy = vi.spyOn(console, "error").mockImplementation(() => {});
  watching();
  console.error("x");
  expect(console.error).toHaveBeenCalledWith("x");
  expect(spy).toHaveBeenCalledTimes(1);
});

it("calls that a call makes are part of it, and what a method throws reaches its caller", () => {
  console.warn = () => {
    console.log("inside");
    throw new Error("printer on fire");
  };
  const { taken } = watching();
  expect(() => console.warn("x")).toThrow("printer on fire");
  console.info("after");
  expect(taken).toEqual([
    ["warn", "x"],
    ["info", "after"],
  ]);
});

it("a console that cannot be changed stays as it is", () => {
  const before = console.log;
  Object.defineProperty(console, "log", { value: before, writable: false, configurable: true });
  const { taken } = watching();
  expect(console.log).toBe(before);
  console.log("x");
  console.info("y");
  expect(taken).toEqual([["info", "y"]]);
  Object.defineProperty(console, "log", { value: before, writable: true, configurable: true });
});

it("a method that was taken before anybody listens is watched from then on", () => {
  const watch = new ConsoleWatch();
  watch.begin();
  const { error } = console;
  error("early");
  const taken: string[] = [];
  watch.begin((_, args) => {
    taken.push(String(args));
    return null;
  });
  error("later");
  expect(taken).toEqual(["later"]);
  expect(printed.mock.calls).toEqual([
    ["error", "early"],
    ["error", "later"],
  ]);
});

it("methods that a console makes anew for each read stay as they are", () => {
  const plain = console;
  const methods = { ...plain };
  const anew = new Proxy(methods, {
    get: (target, name, receiver) => {
      if (name !== "log") return Reflect.get(target, name, receiver);
      return (...args: unknown[]) => Reflect.get(target, name, receiver)("[shop]", ...args);
    },
  });
  Reflect.set(globalThis, "console", anew);
  try {
    const { taken } = watching();
    console.log("x");
    console.error("y");
    expect(printed.mock.calls).toEqual([
      ["log", "[shop]", "x"],
      ["error", "y"],
    ]);
    expect(taken).toEqual([["error", "y"]]);
  } finally {
    Reflect.set(globalThis, "console", plain);
  }
});

it("a line is printed behind the name of its delivery, and taken without it", () => {
  const { watch, taken } = watching("[orders 5f1c52a0]");
  watch.printNames();
  const anything = fc.oneof(fc.string({ unit: fc.constantFrom("%", "s", "d", "o", "x") }), fc.anything());
  fc.assert(
    fc.property(
      fc.constantFrom("debug", "info", "log", "warn", "error"),
      fc.array(anything),
      (level, args) => {
        printed.mockClear();
        taken.length = 0;
        console[level](...args);
        expect(taken).toEqual([[level, ...args]]);
        const [[method, ...shown] = []] = printed.mock.calls;
        expect(method).toBe(level);
        expect(format(...shown)).toBe(args.length === 0 ? "" : `[orders 5f1c52a0] ${format(...args)}`);
      },
    ),
  );
});

it("a line is printed as it is where names are not asked for, or its delivery is not known", () => {
  watching("[orders 5f1c52a0]");
  console.log("x");
  watching(null).watch.printNames();
  console.log("y");
  expect(printed.mock.calls).toEqual([
    ["log", "x"],
    ["log", "y"],
  ]);
});

it("a library that takes a method's place gets no name, and what it prints has one", () => {
  const { watch, taken } = watching("[orders 5f1c52a0]");
  watch.printNames();
  const { log } = console;
  const seen: unknown[] = [];
  console.log = (...args: unknown[]) => {
    seen.push(args);
    log(...args, "traced");
  };
  watch.begin();
  console.log("x");
  expect(seen).toEqual([["x"]]);
  expect(taken).toEqual([["log", "x"]]);
  expect(printed.mock.calls).toEqual([["log", "[orders 5f1c52a0] x", "traced"]]);
});
