import type { ShardsView, ShardView } from "@sluice/gateway/views";
import { expect, it } from "vitest";
import { remarksOf } from "./shards.ts";

const shard = (failure: string | null, state = "open") => ({ failure, state }) as ShardView;
const view = (wanted: number, ...shards: ShardView[]): ShardsView => ({ wanted, shards });

it.each([
  [view(1, shard(null)), []],
  [view(1, shard("no file")), []],
  [view(2, shard(null), shard("no file")), []],
  [view(2, shard(null)), ["The settings ask for 2 shards. The change is under way."]],
  [
    view(2, shard("no file")),
    ["The first shard alone tells which others there are; the settings ask for 2 shards."],
  ],
  [view(1, shard(null), shard(null, "draining")), ["1 shard will go when empty."]],
])("of %j it says what the table does not show", (shards, remarks) => {
  expect(remarksOf(shards)).toEqual(remarks);
});
