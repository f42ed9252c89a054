import fc from "fast-check";
import { it } from "vitest";
import { fifoHistories, runFifo } from "./fifo-queue.ts";

it("a group of a FIFO queue is on one shard and in order, whatever becomes of the map between two calls", async () => {
  await fc.assert(
    fc.asyncProperty(fifoHistories, (history) => runFifo(history, { change: 0.15, step: 0.3, failure: 0 })),
    { numRuns: 100 },
  );
});

it("a FIFO queue of which shards fail, and answers are lost, stores once what its clients repeat", async () => {
  await fc.assert(
    fc.asyncProperty(fifoHistories, (history) => runFifo(history, { change: 0.1, step: 0.3, failure: 0.1 })),
    { numRuns: 100 },
  );
});
