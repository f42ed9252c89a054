import { expect, it } from "vitest";
import type { SettingsLine } from "./backup-lines.ts";
import { namesIn, targetsFirst } from "./settings-lines.ts";

const queue = (name: string, deadLetterQueue: unknown = null) =>
  ({ queue: { name, settings: {}, consumer: { settings: { deadLetterQueue } } } }) as unknown as SettingsLine;
const topic = { topic: { arn: "arn:news" } } as unknown as SettingsLine;

const ordered = (lines: readonly SettingsLine[], there: readonly string[] = []) =>
  targetsFirst(
    lines.map((line, i) => ({ line, number: i + 2 })),
    new Set(there),
    "b.jsonl",
  ).map(({ line, number }) => `${number} ${namesIn(line)[0]}`);

it("a queue's settings line comes before those of queues whose dead letters it takes, and all queues before the rest", () => {
  const lines = [topic, queue("a", "b"), queue("x"), queue("b", "c"), queue("c", "gone")];
  const names = ordered(lines);
  expect(names.indexOf("6 c")).toBeLessThan(names.indexOf("5 b"));
  expect(names.indexOf("5 b")).toBeLessThan(names.indexOf("3 a"));
  expect(names).toHaveLength(5);
  expect(names.at(-1)).toBe("2 arn:news");
});

it("settings lines that are in order stay as they are", () => {
  expect(ordered([queue("c"), queue("a"), topic, topic])).toEqual(["2 c", "3 a", "4 arn:news", "5 arn:news"]);
});

it.each([
  [[queue("a", "a")], "b.jsonl:2: dead letters would go in a circle: a -> a."],
  [
    [queue("x"), queue("a", "b"), queue("b", "a")],
    "b.jsonl:3: dead letters would go in a circle: a -> b -> a.",
  ],
  [[queue("a"), queue("b"), queue("a", "b")], "b.jsonl:4: the queue a has a line before this one."],
])("settings lines that cannot be ordered are refused by number: %j", (lines, message) => {
  expect(() => ordered(lines)).toThrow(message);
});

it("settings lines in a circle are accepted where the broker has one of the queues", () => {
  expect(ordered([queue("a", "b"), queue("b", "a")], ["b"])).toHaveLength(2);
});

it.each([
  [{ queue: { name: "a", settings: 7, consumer: "x" } }, ["a"]],
  [{ queue: { name: 7, consumer: { settings: { deadLetterQueue: {} } } } }, []],
  [{ queue: { name: "a", settings: { receive: { redrive: { deadLetterQueue: "dead" } } } } }, ["a", "dead"]],
  [{ subscription: { queue: "a" } }, ["a"]],
  [
    { topicSubscription: { topicArn: "t", protocol: "sqs", target: "a", deadLetterQueue: "b" } },
    ["t", "a", "b"],
  ],
  [{ topicSubscription: { topicArn: "t", protocol: "http", target: "orders" } }, ["t", "orders"]],
])("the settings line %j names %j", (line, names) => {
  expect(namesIn(line as unknown as SettingsLine)).toEqual(names);
});
