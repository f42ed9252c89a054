import { expect, it } from "vitest";
import { type Run, summarize } from "./summary.ts";

const run = (rate: number, ms: number, cpuMicrosPerMessage: number | null): Run => ({
  cpuMicrosPerMessage,
  measured: {
    messages: 1000,
    sentPerSecond: rate,
    handledPerSecond: rate / 2,
    call: { meanMs: ms, p50Ms: ms, p99Ms: 3 * ms },
    endToEnd: { meanMs: 2 * ms, p50Ms: 2 * ms, p99Ms: 4 * ms },
  },
});

it("takes the median of each figure by itself", () => {
  expect(summarize([run(300, 1, 10), run(100, 2, 30), run(200, 9, 20)])).toEqual({
    messages: 1000,
    sentPerSecond: 200,
    handledPerSecond: 100,
    call: { meanMs: 2, p50Ms: 2, p99Ms: 6 },
    endToEnd: { meanMs: 4, p50Ms: 4, p99Ms: 8 },
    cpuMicrosPerMessage: 20,
  });
});

it("has no CPU time where the system does not tell", () => {
  expect(summarize([run(1, 1, null)]).cpuMicrosPerMessage).toBeNull();
});
