import { expect, it } from "vitest";
import { ASK_DIRECTORY_MS, KnownQueues, QUEUES_KNOWN_MAX } from "./known-queues.ts";

const map = (epoch: number, open = 2) => ({ epoch, open, kept: open });

it("a queue is known by its latest map, until it is whole or forgotten", () => {
  const known = new KnownQueues(() => 0);
  known.learn("q", map(5));
  known.learn("q", map(4, 3));
  expect(known.get("q")?.map).toEqual(map(5));
  known.learn("q", map(6, 1));
  expect(known.get("q")).toBeUndefined();
  known.learn("q", map(7));
  known.forget("q");
  expect(known.get("q")).toBeUndefined();
});

it.each([-1, 0, 1])("so many queues are known: the limit and %i", (more) => {
  const known = new KnownQueues(() => 0);
  const count = QUEUES_KNOWN_MAX + more;
  for (let i = 0; i < count; i++) known.learn(`q${i}`, map(1));
  const kept = Array.from({ length: count }, (_, i) => known.get(`q${i}`)).filter((one) => one !== undefined);
  expect(kept).toHaveLength(Math.min(count, QUEUES_KNOWN_MAX));
  expect(known.get(`q${count - 1}`)).toBeDefined();
});

it.each([0, 0.49, 0.5, 0.999_999])("a shard to send to is one that is open: %d", (random) => {
  const known = new KnownQueues(() => random);
  known.learn("q", { epoch: 1, open: 2, kept: 8 });
  expect(known.get("q")?.sendTo).toBe(random < 0.5 ? 0 : 1);
});

it("the directory is asked about each queue again after a while, and about one that was forgotten at once", () => {
  const known = new KnownQueues(() => 0);
  expect([known.noteQuestion("q0", 0), known.noteQuestion("q0", ASK_DIRECTORY_MS - 1)]).toEqual([
    true,
    false,
  ]);
  for (let i = 1; i < QUEUES_KNOWN_MAX; i++) known.noteQuestion(`q${i}`, 0);
  expect(known.noteQuestion("q0", ASK_DIRECTORY_MS - 1)).toBe(false);
  known.noteQuestion("more", 0);
  expect(known.noteQuestion("q0", ASK_DIRECTORY_MS - 1)).toBe(true);
  expect(known.noteQuestion("more", ASK_DIRECTORY_MS)).toBe(true);
});
