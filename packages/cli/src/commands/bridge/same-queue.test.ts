import { expect, it } from "vitest";
import type { BrokerClient } from "../../client/broker-client.ts";
import { type OtherQueue, sameQueueRefusal } from "./same-queue.ts";

const SECOND = Date.parse("2026-11-28T10:00:00Z") / 1_000;

/** Compares a queue of a broker with another one. Returns the refusal, and the methods of the calls. */
async function compared(other: Partial<OtherQueue>, dryRun: boolean, isThere = false) {
  const calls: string[] = [];
  const own = { queue_id: "own", queue_name: "orders", created_on: "2026-11-28T10:00:00.500Z" };
  const rest = async ({ method = "GET" }: { method?: string }) => {
    calls.push(method);
    return method === "GET" ? [own] : own;
  };
  const client = { url: "http://broker", rest } as unknown as BrokerClient;
  const patience = { tries: 1, note: () => {} };
  const facts = { hasQueue: async () => isThere, ...other };
  const refusal = await sameQueueRefusal(client, "orders", facts, { patience, dryRun });
  return { refusal, calls };
}

it.each([
  [{ id: "own" }, "Both sides are the same queue"],
  [{ id: "another" }, null],
  [{ createdSeconds: SECOND - 1 }, null],
])("facts that tell whether both sides are one queue need no new queue: %j", async (other, refusal) => {
  for (const dryRun of [true, false]) {
    expect(await compared(other, dryRun)).toEqual({
      refusal: refusal === null ? null : expect.stringContaining(refusal),
      calls: ["GET"],
    });
  }
});

it.each([
  [true, "Both sides are the same queue"],
  [false, null],
])(
  "queues of the same second are told apart by a new one, which the other side sees: %s",
  async (isThere, refusal) => {
    expect(await compared({ createdSeconds: SECOND }, false, isThere)).toEqual({
      refusal: refusal === null ? null : expect.stringContaining(refusal),
      calls: ["GET", "POST", "DELETE"],
    });
  },
);

it("a dry run creates no queue, and says that both sides may be one", async () => {
  expect(await compared({ createdSeconds: SECOND }, true)).toEqual({
    refusal: expect.stringContaining("Both sides may be the same queue"),
    calls: ["GET"],
  });
});
