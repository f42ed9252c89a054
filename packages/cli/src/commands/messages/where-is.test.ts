import { expect, it } from "vitest";
import type { OnBroker } from "../on-broker.ts";
import { whereIs } from "./where-is.ts";

const [ID, OTHER] = ["1a2b3c4d".padEnd(32, "0"), "1a2b3c4d".padEnd(32, "1")];

/** A broker whose queues have these messages: queue, id and state. */
function broker(...found: readonly (readonly [string, string, string])[]): OnBroker {
  const messages = found.map(([queue, id, state]) => ({ queue, messages: [{ id, state }] }));
  return { client: { admin: async () => ({ messages, gone: [], unfinished: [] }) } } as unknown as OnBroker;
}

it.each([
  [["old", "now"], "now"],
  [["now", "old"], "now"],
  [["old", "older"], "old"],
])("the same id in the queues %j is one message, in %s", async (queues, expected) => {
  const found = queues.map((queue) => [queue, ID, queue === "now" ? "ready" : "finished"] as const);
  expect(await whereIs(broker(...found), ID)).toEqual({ queue: expected, id: ID });
});

it("different ids that begin so are refused, each once", async () => {
  const several = broker(["old", ID, "finished"], ["now", ID, "ready"], ["now", OTHER, "ready"]);
  await expect(whereIs(several, "1a2b3c4d")).rejects.toThrow(
    `Several messages have ids that begin with 1a2b3c4d: now ${ID}, now ${OTHER}.`,
  );
});
