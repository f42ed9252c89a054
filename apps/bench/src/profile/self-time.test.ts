import { expect, it } from "vitest";
import type { CpuProfile } from "../lab/inspector.ts";
import { busyTime, type FindSource, topSelfTimes } from "./self-time.ts";

const node = (id: number, functionName: string, url = "file:///bundle/broker.js", lineNumber = 9) => ({
  id,
  callFrame: { functionName, url, lineNumber, columnNumber: 0 },
});

const PROFILE: CpuProfile = {
  nodes: [
    node(1, "(root)", ""),
    node(2, "(program)", ""),
    node(3, "send"),
    node(4, "commit", undefined, 19),
    node(5, "send"),
    node(6, "", undefined, 29),
    node(7, "(garbage collector)", ""),
  ],
  samples: [3, 4, 4, 5, 2, 6, 7, 2],
  timeDeltas: [500, 1000, 2000, 3000, 1500, 9000, 500, 100],
  startTime: 0,
  endTime: 17_600,
};

/** Sources stand a line lower than the bundle; of the last function nothing is known. */
const findSource: FindSource = (line) => (line === 29 ? null : { file: "../src/queue.ts", line: line + 1 });

it("adds up the self time of a function over all its callers, a sample lasting until the next", () => {
  expect(topSelfTimes(PROFILE, 2, findSource)).toEqual([
    { name: "commit", place: "queue.ts:21", selfMs: 5, share: expect.closeTo(5 / 8.1, 9) },
    { name: "send", place: "queue.ts:11", selfMs: 2.5, share: expect.closeTo(2.5 / 8.1, 9) },
  ]);
});

it("names what has no name, and what is V8's own", () => {
  const names = topSelfTimes(PROFILE, 9, findSource).map(({ name, place }) => [name, place]);
  expect(names).toContainEqual(["(anonymous)", "broker.js:30"]);
  expect(names).toContainEqual(["(garbage collector)", "native"]);
});

it("leaves out the time in which the isolate did not run", () => {
  expect(topSelfTimes(PROFILE, 9, findSource).map(({ name }) => name)).not.toContain("(program)");
  const { runningMs, otherMs } = busyTime(PROFILE);
  expect(runningMs).toBeCloseTo(8.1, 9);
  expect(otherMs).toBeCloseTo(9, 9);
});
