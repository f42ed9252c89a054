import fc from "fast-check";
import { it } from "vitest";
import { histories, runStandard } from "./standard-queue.ts";

it("a standard queue is one queue, whatever becomes of its map between two calls", async () => {
  await fc.assert(
    fc.asyncProperty(histories, (history) => runStandard(history, { change: 0.15, step: 0.3, failure: 0 })),
    { numRuns: 100 },
  );
});

it("a standard queue of which shards fail, and answers are lost, says nothing that is not so", async () => {
  await fc.assert(
    fc.asyncProperty(histories, (history) => runStandard(history, { change: 0.1, step: 0.3, failure: 0.1 })),
    { numRuns: 100 },
  );
});
