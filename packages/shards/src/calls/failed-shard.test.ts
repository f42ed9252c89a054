import { failedShardOf, type LookRequest, QueueObjects } from "@sluice/protocol";
import { expect, it } from "vitest";
import { queueOf } from "../../test/stub-shards.ts";
import { QUEUE_RULES, type QueueRpc, ShardedQueues } from "../index.ts";

const LOOK = { max: 1 } as LookRequest;
const away = () => Promise.reject(new Error("away"));
const empty = () => ({ messages: [], matched: 0, cursor: null, searched: 0, of: 0 });
const failureOf = (call: Promise<unknown>) =>
  call.then(
    () => null,
    (error: unknown) => error,
  );

it.each([0, 1, 2])("a list of which shard %i has no answer says which", async (shard) => {
  const stubs = [0, 1, 2].map((each) => ({ look: each === shard ? away : empty }));
  const failure = await failureOf(queueOf(...stubs).look("orders", LOOK));
  expect(failure).toMatchObject({ message: "away" });
  expect(failedShardOf(failure)).toBe(shard);
});

it("the first shard of a queue whose shards are not known yet is named too", async () => {
  const objects = new QueueObjects<QueueRpc>({
    namespace: () => ({ getByName: () => ({ look: away }) as unknown as QueueRpc }),
    placeOf: async () => null,
  });
  const failure = await failureOf(new ShardedQueues(objects, QUEUE_RULES).of("orders").look("orders", LOOK));
  expect(failedShardOf(failure)).toBe(0);
});

it.each([null, undefined, "text", new Error("other")])("%s names no shard", (error) => {
  expect(failedShardOf(error)).toBeNull();
});

it("a shard of which nothing can be read is described as one that does not answer", async () => {
  const sound = { ready: 2, delayed: 0, leased: 0, damage: [], nowMs: 1, awakeSinceMs: 1, consumer: null };
  const damage = [{ kind: "unreadable", foundAtMs: 1, messagesLost: null, text: "no file" }];
  const queue = queueOf({ describe: () => sound }, { describe: () => ({ ...sound, ready: 0, damage }) });
  expect(await queue.describe("orders")).toMatchObject({
    ready: 2,
    damage: [
      { kind: "unreadable", text: "shard 1 does not answer, and its messages are counted nowhere: no file" },
    ],
  });
});
