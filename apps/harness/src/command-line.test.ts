import { describe, expect, it } from "vitest";
import { positive, readOptions, UsageError, whole } from "./command-line.ts";

describe("options", () => {
  const options = { seed: { type: "string" }, quick: { type: "boolean" } } as const;

  it("are read behind the dashes that pnpm passes on too", () => {
    const { values } = readOptions(["--", "--seed", "3", "--quick"], options);
    expect(values).toEqual({ seed: "3", quick: true });
  });

  it("have help among them", () => {
    expect(readOptions(["-h"], options).values.help).toBe(true);
  });

  it("stand beside names only where there may be some", () => {
    expect(readOptions(["kills", "--quick"], options, "names").positionals).toEqual(["kills"]);
    expect(() => readOptions(["kills"], options)).toThrow(UsageError);
  });

  it.each([[["--speed", "1"]], [["--seed"]], [["--quick=1"]]])("that are wrong are refused: %j", (args) => {
    expect(() => readOptions(args, options)).toThrow(UsageError);
  });
});

describe("a whole number", () => {
  it("is the fallback where none is given", () => {
    expect([whole("--n", undefined, 7, 1), whole("--n", undefined, null, 1)]).toEqual([7, null]);
  });

  it.each(["1", "63", "64"])("within its limits is taken: %s", (text) => {
    expect(whole("--n", text, 0, 1, 64)).toBe(Number(text));
  });

  it.each(["0", "65", "-1", "1.5", "x", "", " ", "NaN", "1e400"])("is nothing else: %j", (text) => {
    expect(() => whole("--n", text, 0, 1, 64)).toThrow(
      new UsageError(`--n must be a whole number, from 1 to 64, not "${text}".`),
    );
  });
});

describe("a positive number", () => {
  it("is taken, or its fallback", () => {
    expect([positive("--s", "0.5", 1), positive("--s", undefined, 1)]).toEqual([0.5, 1]);
  });

  it.each(["0", "-1", "soon", "", "Infinity"])("is nothing else: %j", (text) => {
    expect(() => positive("--s", text, 1)).toThrow(
      new UsageError(`--s must be a number above 0, not "${text}".`),
    );
  });
});
