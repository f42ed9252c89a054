import { describe, expect, it } from "vitest";
import { noiseFilter } from "./workerd-noise.ts";

const REFUSED =
  "workerd/jsg/util.c++:322: info: exception = rust/worker/ffi.rs:104: disconnected: Connection refused (os error 111)";
const STACK = "stack: /x/workerd@2b5edc0 /x/workerd@3fe4230";
const UNCAUGHT = "workerd/io/worker.c++:2401: info: uncaught exception; exception = Error: boom";

describe("what workerd prints", () => {
  it("is noise where a connection was refused or lost, its stack included", () => {
    const isNoise = noiseFilter();
    expect([REFUSED, STACK, "QUEUE orders 1/1", REFUSED].map(isNoise)).toEqual([true, true, false, true]);
  });

  it("is none where a Worker has thrown, nor is the stack of that", () => {
    const isNoise = noiseFilter();
    expect([UNCAUGHT, STACK, "disconnected: says a Worker", STACK].map(isNoise)).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });
});
