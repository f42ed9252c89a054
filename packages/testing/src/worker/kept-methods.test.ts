import { afterEach, expect, it, vi } from "vitest";
import { keepMethodsOfConsole } from "./kept-methods.ts";

const plain = console;
afterEach(() => void Reflect.set(globalThis, "console", plain));

function madeAnew() {
  const printed = vi.fn();
  const behind = {
    error: (...args: unknown[]) => printed("error", ...args),
    info: (...args: unknown[]) => printed("info", ...args),
    table: () => {},
  };
  const anew = new Proxy(behind, {
    get: (target, key) => (key === "error" ? target.error.bind(target) : Reflect.get(target, key)),
  });
  Reflect.set(globalThis, "console", anew);
  return { printed, behind };
}

it("methods that a console makes anew are kept, and can be replaced", () => {
  const { printed, behind } = madeAnew();
  expect(console.error).not.toBe(console.error);
  keepMethodsOfConsole();
  const { error } = console;
  expect(console.error).toBe(error);
  console.error("x");
  const spy = vi.fn();
  console.error = spy;
  console.error("y");
  expect(console.error).toBe(spy);
  console.error = error;
  console.error("z");
  expect(printed.mock.calls).toEqual([
    ["error", "x"],
    ["error", "z"],
  ]);
  expect(spy).toHaveBeenCalledWith("y");
  expect(console.table).toBe(behind.table);
  console.info = spy;
  expect(behind.info).toBe(spy);
});

it("a spy is called, and behind a console that is put in front of it again", () => {
  const { printed } = madeAnew();
  keepMethodsOfConsole();
  const spy = vi.spyOn(console, "error").mockImplementation(() => {});
  console.error("x");
  keepMethodsOfConsole();
  console.error("y");
  expect(spy.mock.calls).toEqual([["x"], ["y"]]);
  spy.mockRestore();
  console.error("z");
  expect(printed.mock.calls).toEqual([["error", "z"]]);
});

it("a console that keeps its methods stays, and one in front is not put there twice", () => {
  keepMethodsOfConsole();
  expect(console).toBe(plain);
  madeAnew();
  keepMethodsOfConsole();
  const front = console;
  keepMethodsOfConsole();
  expect(console).toBe(front);
});
