import type { TopicSnapshot, TopicSubscription } from "@sluice/protocol";
import { beforeEach, expect, it } from "vitest";
import { KNOWN_TOPICS_WEIGHT_MAX, KnownTopics } from "./known-topics.ts";

let known: KnownTopics;
beforeEach(() => {
  known = new KnownTopics();
});

function snapshot(arn: string, version = 1, subscriptions = 0, topicId = arn): TopicSnapshot {
  return {
    topic: {
      topicId,
      arn,
      createdOnMs: 0,
      revision: 1,
      isFifo: false,
      attributes: {},
      tags: {},
      endedSubscriptions: 0,
    },
    version,
    // The test does not read them.
    subscriptions: Array.from({ length: subscriptions }, () => ({}) as TopicSubscription),
  };
}

it("topics that are remembered are those that were noted and not forgotten", () => {
  known.note(snapshot("a"));
  expect(known.find("a")?.version).toBe(1);
  expect(known.find("b")).toBeUndefined();
  known.forget("a");
  known.forget("b");
  expect(known.find("a")).toBeUndefined();
});

it("topics that are remembered are remembered as they were last, whichever answer came last; one that was created anew is another", () => {
  known.note(snapshot("a", 2));
  known.note(snapshot("a", 1));
  expect(known.find("a")?.version).toBe(2);
  known.note(snapshot("a", 3));
  expect(known.find("a")?.version).toBe(3);
  known.note(snapshot("a", 1, 0, "created again"));
  expect(known.find("a")?.version).toBe(1);
});

it("topics that are remembered have a limit, over which the oldest are forgotten", () => {
  const half = KNOWN_TOPICS_WEIGHT_MAX / 2 - 1;
  known.note(snapshot("a", 1, half));
  known.note(snapshot("b", 1, half));
  expect(["a", "b"].map((arn) => known.find(arn)?.version)).toEqual([1, 1]);
  known.note(snapshot("c"));
  expect(["a", "b", "c"].map((arn) => known.find(arn)?.version)).toEqual([undefined, 1, 1]);
  // What is noted again takes its own place.
  for (let version = 2; version < 10; version++) known.note(snapshot("b", version, half));
  expect(known.find("c")?.version).toBe(1);
});
