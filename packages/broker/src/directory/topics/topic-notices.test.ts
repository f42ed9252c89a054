import type { TopicRecord } from "@sluice/protocol";
import { beforeEach, expect, it } from "vitest";
import { nodeSql } from "../../../test/node-sql.ts";
import { TopicNotices } from "./topic-notices.ts";
import { TopicRegistry } from "./topic-registry.ts";
import { TopicRows } from "./topic-rows.ts";
import { TopicVersions } from "./topic-versions.ts";

const topic = (topicId: string): TopicRecord => ({
  topicId,
  arn: `arn:aws:sns:us-east-1:000000000000:${topicId}`,
  createdOnMs: 1_000,
  revision: 1,
  isFifo: false,
  attributes: {},
  tags: {},
  endedSubscriptions: 0,
});

let registry: TopicRegistry;
let calls: [topicObject: string, version: number | null][];
let lines: string[];
let answer: (topicObject: string) => Promise<void>;
let notices: TopicNotices;

beforeEach(() => {
  const sql = nodeSql();
  registry = new TopicRegistry(new TopicRows(sql), new TopicVersions(sql, () => 1_000));
  calls = [];
  lines = [];
  answer = async () => {};
  notices = new TopicNotices(registry, {
    topicChanged: (topicObject, version) => {
      calls.push([topicObject, version]);
      return answer(topicObject);
    },
    transaction: (write) => write(),
    warn: (line) => lines.push(line),
  });
  for (const topicId of ["news", "gone"]) registry.putTopic(topic(topicId));
});

it("notices of topics tell objects the version of their topic, or that it is no more, once", async () => {
  registry.putTopic({ ...topic("news"), revision: 2 });
  registry.eraseTopic(topic("gone"));
  expect(await notices.notifyAll()).toBe(true);
  expect(calls).toEqual([
    ["topic/news", registry.versions.versionOf("news")],
    ["topic/gone", null],
  ]);
  expect(await notices.notifyAll()).toBe(true);
  expect(calls).toHaveLength(2);
});

it("notices of topics are sent again when they did not arrive, and do not hold up others", async () => {
  for (const topicId of ["news", "gone"]) registry.putTopic({ ...topic(topicId), revision: 2 });
  answer = async (topicObject) => {
    if (topicObject === "topic/gone") throw new Error("out of reach");
  };
  expect(await notices.notifyAll()).toBe(false);
  expect(lines).toEqual([
    '"topic/gone" does not know the change of its topic yet, and is notified again: Error: out of reach',
  ]);
  expect(registry.versions.pending().map(({ topicId }) => topicId)).toEqual(["gone"]);
  answer = async () => {};
  expect(await notices.notifyAll()).toBe(true);
  expect(calls.map(([topicObject]) => topicObject)).toEqual(["topic/news", "topic/gone", "topic/gone"]);
});

it("notices of topics stay pending when their topic changes while its object is notified", async () => {
  registry.putTopic({ ...topic("news"), revision: 2 });
  answer = async () => {
    if (calls.length === 1) registry.putTopic({ ...topic("news"), revision: 3 });
  };
  expect(await notices.notifyAll()).toBe(false);
  expect(await notices.notifyAll()).toBe(true);
  expect(calls.at(-1)).toEqual(["topic/news", registry.versions.versionOf("news")]);
});
