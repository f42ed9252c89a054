import { afterEach, expect, it } from "vitest";
import { placeOfCall } from "./call-place.ts";

const { stackTraceLimit } = Error;
afterEach(() => {
  Error.stackTraceLimit = stackTraceLimit;
});

function logger(): string {
  return placeOfCall(logger);
}
function deep(levels: number): string {
  return levels === 0 ? logger() : deep(levels - 1);
}

it("the place of a call begins with who calls, and has four frames at most", () => {
  const frames = deep(10).split("\n");
  expect(frames[0]).toBe("");
  expect(frames.slice(1)).toHaveLength(4);
  expect(frames[1]).toMatch(/^ +at deep \(.*call-place\.test\.ts:\d+:\d+\)$/);
});

it("the limit of stacks stays as it was, and one of 0 does not matter", () => {
  Error.stackTraceLimit = 0;
  expect(deep(1)).toContain("at deep");
  expect(Error.stackTraceLimit).toBe(0);
});

it("an own way to write stacks that throws costs the place alone", () => {
  const before = Error.prepareStackTrace;
  Error.prepareStackTrace = () => {
    throw new Error("no");
  };
  try {
    expect(deep(1)).toBe("");
  } finally {
    Error.prepareStackTrace = before;
  }
});
