import { QueueObjects } from "@sluice/protocol";
import { expect, it } from "vitest";
import { objectsOf } from "../../test/stub-shards.ts";
import type { QueueRpc } from "../calls/queue-rpc.ts";
import { describeShards } from "./describe-shards.ts";

it("each shard is described apart, also beside one that does not answer", async () => {
  const away = new Error("away");
  const objects = objectsOf(
    { describe: () => ({ ready: 1 }) },
    { describe: () => Promise.reject(away) },
    { describe: () => ({ ready: 3 }) },
  );
  expect(await describeShards(objects, "orders")).toEqual({
    map: { epoch: 1, open: 3, kept: 3 },
    shards: [{ ready: 1 }, { failure: away }, { ready: 3 }],
  });
});

it("a queue without shards is described as one, in one call", async () => {
  const called: string[] = [];
  const describe = async (queue: string) => {
    called.push(queue);
    return { ready: 2 };
  };
  const objects = new QueueObjects<QueueRpc>({
    namespace: () => ({ getByName: () => ({ describe }) as unknown as QueueRpc }),
    placeOf: async () => null,
  });
  expect(await describeShards(objects, "orders")).toMatchObject({
    map: { open: 1, kept: 1 },
    shards: [{ ready: 2 }],
  });
  expect(called).toEqual(["orders"]);
});
