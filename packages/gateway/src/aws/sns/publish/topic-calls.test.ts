import type {
  MessageCopy,
  PublishedMessage,
  PublishReply,
  PublishRequest,
  TopicSnapshot,
} from "@sluice/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { CALL_WEIGHT_MAX, TopicCalls } from "./topic-calls.ts";

/** A call under way, for the test to answer. */
interface Call<Asked, Reply> {
  readonly asked: Asked;
  answer(answer: Reply): void;
}

let finds: Call<string, TopicSnapshot | null>[];
let publishes: Call<PublishRequest, PublishReply>[];
let calls: TopicCalls;
const kept: Promise<unknown>[] = [];
const keepAlive = (promise: Promise<unknown>) => void kept.push(promise);
/** Lets everything happen that waits for nothing. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

beforeEach(() => {
  finds = [];
  publishes = [];
  kept.length = 0;
  calls = new TopicCalls({
    topics: { findTopic: (asked) => new Promise((resolve) => finds.push({ asked, answer: resolve })) },
    topic: () => ({
      publish: (_, asked) => new Promise((resolve) => publishes.push({ asked, answer: resolve })),
    }),
    now: () => 0,
  });
});

const snapshot = (revision: number): TopicSnapshot => ({
  topic: {
    topicId: "1",
    arn: "a",
    createdOnMs: 0,
    revision,
    isFifo: false,
    attributes: {},
    tags: {},
    endedSubscriptions: 0,
  },
  version: revision,
  subscriptions: [],
});

function message(messageId: string, bytes = 1): PublishedMessage {
  const copy: MessageCopy = { target: "mail", packed: new Uint8Array(bytes), sequenceNumberAt: null };
  return { messageId, deduplicationId: null, groupId: null, copies: [copy] };
}

const publish = (messages: readonly PublishedMessage[], scope: PublishRequest["deduplicationScope"] = null) =>
  calls.publish("topic/1", { messages, deduplicationScope: scope }, keepAlive);

const taken = ({ messages }: PublishRequest): PublishReply => ({
  ok: true,
  messages: messages.map(({ messageId }) => ({ messageId, sequenceNumber: null, duplicate: false })),
});

const idsOf = (reply: PublishReply) =>
  reply.ok === true ? reply.messages.map(({ messageId }) => messageId) : null;

describe("the directory", () => {
  it("is asked once for all publishes that wait, and again by those that came while it was being asked", async () => {
    const first = calls.find("a", keepAlive);
    const later = ["b", "c"].map(() => calls.find("a", keepAlive));
    expect(finds).toHaveLength(1);
    finds[0]?.answer(snapshot(1));
    expect((await first)?.topic.revision).toBe(1);
    await settle();
    expect(finds).toHaveLength(2);
    // What it says by now: a change that was answered before they came must be seen by them.
    finds[1]?.answer(snapshot(2));
    expect((await Promise.all(later)).map((found) => found?.topic.revision)).toEqual([2, 2]);
  });

  it("is remembered with what it said last", async () => {
    const found = calls.find("a", keepAlive);
    expect(calls.known.find("a")).toBeUndefined();
    finds[0]?.answer(snapshot(1));
    await found;
    expect(calls.known.find("a")?.version).toBe(1);
  });

  it("is asked for each topic by itself", async () => {
    const found = ["a", "b"].map((arn) => calls.find(arn, keepAlive));
    expect(finds.map(({ asked }) => asked)).toEqual(["a", "b"]);
    finds[0]?.answer(snapshot(1));
    finds[1]?.answer(null);
    expect((await Promise.all(found)).map((one) => one?.topic.revision ?? null)).toEqual([1, null]);
  });
});

describe("a topic's object", () => {
  it("takes in one call what comes while one is under way, and each request learns of its own messages", async () => {
    const first = publish([message("1")]);
    const later = [publish([message("2"), message("3")]), publish([message("4")])];
    publishes[0]?.answer(taken(publishes[0].asked));
    expect(idsOf(await first)).toEqual(["1"]);
    await settle();
    expect(publishes).toHaveLength(2);
    publishes[1]?.answer(taken(publishes[1].asked));
    expect((await Promise.all(later)).map(idsOf)).toEqual([["2", "3"], ["4"]]);
  });

  it("refuses all of a call alike", async () => {
    const first = publish([message("1")]);
    const later = [publish([message("2")]), publish([message("3")])];
    publishes[0]?.answer(taken(publishes[0].asked));
    await first;
    await settle();
    const refusal = { ok: false, code: 10_250, cause: "Queue is overloaded. Please back off." } as const;
    publishes[1]?.answer(refusal);
    expect(await Promise.all(later)).toEqual([refusal, refusal]);
  });

  it.each([
    [-1, [["1"], ["2", "3"]]],
    [0, [["1"], ["2", "3"]]],
    [1, [["1"], ["2"], ["3"]]],
  ])("is given %i bytes more than a call takes: %j", async (bytesMore, expected) => {
    const replies = [
      publish([message("1")]),
      publish([message("2", CALL_WEIGHT_MAX - 1)]),
      publish([message("3", 1 + bytesMore)]),
    ];
    for (let i = 0; i < expected.length; i++) {
      await settle();
      const call = publishes[i];
      call?.answer(taken(call.asked));
    }
    await Promise.all(replies);
    const ids = publishes.map(({ asked }) => asked.messages.map(({ messageId }) => messageId));
    expect(ids).toEqual(expected);
  });

  it("is not told of two versions in one call, and all who go by an older one are told so", async () => {
    const by = (id: string, version: number) =>
      calls.publish("topic/1", { messages: [message(id)], deduplicationScope: null, version }, keepAlive);
    const replies = [by("1", 1), by("2", 2)];
    expect(publishes.map(({ asked }) => asked.version)).toEqual([1, 2]);
    publishes[0]?.answer({ ok: "outdated" });
    publishes[1]?.answer(taken((publishes[1] as Call<PublishRequest, PublishReply>).asked));
    expect(await replies[0]).toEqual({ ok: "outdated" });
    expect(idsOf((await replies[1]) as PublishReply)).toEqual(["2"]);
  });

  it("is not told of two scopes in one call", async () => {
    const replies = [publish([message("1")], "topic"), publish([message("2")], "messageGroup")];
    expect(publishes.map(({ asked }) => asked.deduplicationScope)).toEqual(["topic", "messageGroup"]);
    for (const call of publishes) call.answer(taken(call.asked));
    await Promise.all(replies);
  });
});

it("no request ends before its answer", async () => {
  const found = calls.find("a", keepAlive);
  const published = publish([message("1")]);
  expect(kept).toHaveLength(2);
  finds[0]?.answer(null);
  publishes[0]?.answer(taken(publishes[0].asked));
  await Promise.all([found, published, ...kept]);
});
