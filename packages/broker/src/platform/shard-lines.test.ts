import { expect, it } from "vitest";
import { droppedLine, shardsLine } from "./shard-lines.ts";

const map = (open: number, kept = open) => ({ epoch: 1, open, kept });

it.each([
  ["orders", undefined, map(4), 'Queue "orders" has 4 shards now'],
  ["orders", map(4), map(1, 4), 'Queue "orders" goes to 1 shard: 3 are draining'],
  ["orders", map(4), map(3, 4), 'Queue "orders" goes to 3 shards: 1 is draining'],
  ["orders", map(1, 4), map(1, 2), null],
  ["orders", map(1, 4), map(2, 4), 'Queue "orders" has 2 shards now'],
  ["orders", undefined, undefined, null],
  ["orders#3", undefined, map(4), null],
])("%s, with %j before and %j after, says %j", (object, before, after, line) => {
  expect(shardsLine(object, before, after)).toBe(line);
});

it.each([
  ["orders", 0, 'Queue "orders" is deleted'],
  ["orders", 2, 'Queue "orders" is deleted, with 2 messages'],
  ["orders#3", 0, 'Shard 3 of queue "orders" is gone'],
  ["orders#3", 1, 'Shard 3 of queue "orders" is gone, with 1 message'],
])("%s with %i message(s) is dropped: %s", (object, messages, line) => {
  expect(droppedLine(object, messages)).toBe(line);
});
