import { expect, it } from "vitest";
import { BatchState } from "./batch-state.ts";
import { UNFINISHED_MAX, UnfinishedDeliveries } from "./unfinished.ts";

function stateWithAck(id: string): BatchState {
  const state = new BatchState(() => {});
  state.ack(id);
  return state;
}

it("tells once what the handler of a delivery has called so far, and nothing of one that has ended", () => {
  const unfinished = new UnfinishedDeliveries();
  const state = stateWithAck("m1");
  unfinished.begin("1", state);
  unfinished.begin("2", stateWithAck("other"));
  unfinished.end("2");
  state.retryAll(5);
  expect(unfinished.take("1")).toEqual({
    ackAll: false,
    retryBatch: { retry: true, delaySeconds: 5 },
    explicitAcks: ["m1"],
    retryMessages: [],
  });
  expect([unfinished.take("1"), unfinished.take("2"), unfinished.take("unknown")]).toEqual([
    null,
    null,
    null,
  ]);
});

it.each([
  [UNFINISHED_MAX - 1, true],
  [UNFINISHED_MAX, true],
  [UNFINISHED_MAX + 1, false],
])("of %i that never ended the first one is known: %s", (count, isKnown) => {
  const unfinished = new UnfinishedDeliveries();
  for (let i = 0; i < count; i++) unfinished.begin(`${i}`, stateWithAck(`m${i}`));
  expect(unfinished.take("0") !== null).toBe(isKnown);
  expect(unfinished.take(`${count - 1}`)?.explicitAcks).toEqual([`m${count - 1}`]);
});
