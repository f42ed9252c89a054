import { expect, it } from "vitest";
import { answersAfter, countsOf, isEmpty, secondsOf, worldWith } from "../../test/worker-daemon-world.ts";
import { answered } from "../../test/world-endpoint.ts";

/* The sequences of spec sqsd 5 on the virtual clock, with their times. */

it("the sequences of a message S1: 200 is one receive, one POST and one delete", async () => {
  const world = worldWith();
  await world.sendAndPass("jobs", ["a"], 3_600_000);
  expect(secondsOf(world)).toEqual([0]);
  expect(countsOf(world)).toEqual(["1"]);
  expect(isEmpty(world)).toBe(true);
});

it("the sequences of a message S2: an error without ErrorVisibilityTimeout is posted again a visibility timeout after the receive", async () => {
  const world = worldWith();
  const pass = answersAfter(world, [
    [60, answered(504)],
    [1, answered(200)],
  ]);
  await world.send("jobs", ["a"]);
  await pass(299);
  expect(secondsOf(world)).toEqual([0]);
  await pass(301);
  expect(secondsOf(world)).toEqual([0, 300]);
  expect(countsOf(world)).toEqual(["1", "2"]);
  expect(isEmpty(world)).toBe(true);
});

it.each([
  [2, 12],
  [0, 10],
  [600, 610],
])(
  "the sequences of a message S3: an error at 10 s with ErrorVisibilityTimeout %i is posted again at %i s",
  async (seconds, againAt) => {
    const world = worldWith({ errorVisibilityTimeoutSeconds: seconds });
    const pass = answersAfter(world, [
      [10, answered(500)],
      [0, answered(200)],
    ]);
    await world.send("jobs", ["a"]);
    await pass(700);
    expect(secondsOf(world)).toEqual([0, againAt]);
  },
);

it.each([
  [null, 2_100],
  [2, 302],
])(
  "the sequences of a message S4: no answer within InactivityTimeout, with ErrorVisibilityTimeout %s: posted again at %i s",
  async (seconds, againAt) => {
    const world = worldWith({
      inactivityTimeoutSeconds: 300,
      visibilityTimeoutSeconds: 2_100,
      errorVisibilityTimeoutSeconds: seconds,
    });
    const pass = answersAfter(world, [
      [300, { kind: "timedOut", reason: "it did not answer within 300 s" }],
      [0, answered(200)],
    ]);
    await world.send("jobs", ["a"]);
    await pass(2_200);
    expect(secondsOf(world)).toEqual([0, againAt]);
    expect(world.posts.map(({ responseTimeoutMs }) => responseTimeoutMs)).toEqual([300_000, 300_000]);
    const [first, second] = world.posts.map(({ headers }) => headers["X-Aws-Sqsd-First-Received-At"]);
    expect(second).toBe(first);
  },
);

it("the sequences of a message S6: an absent application spends a receive", async () => {
  const world = worldWith({ errorVisibilityTimeoutSeconds: 2 });
  world.answer = () =>
    world.posts.length < 3 ? { kind: "unreachable", reason: "it cannot be reached" } : answered(200);
  await world.sendAndPass("jobs", ["a"], 60_000);
  expect(secondsOf(world)).toEqual([0, 2, 4]);
  expect(countsOf(world)).toEqual(["1", "2", "3"]);
});

it("the sequences of a message S7: a connection closed without an answer is tried once more at once, with the same receive", async () => {
  const world = worldWith();
  world.answer = () => ({ kind: "closed", reason: "it closed the connection" });
  await world.sendAndPass("jobs", ["a"], 299_000);
  expect(secondsOf(world)).toEqual([0, 0]);
  await world.pass(1_000);
  expect(secondsOf(world)).toEqual([0, 0, 300, 300]);
  expect(countsOf(world)).toEqual(["1", "1", "2", "2"]);
});

it("the sequences of a message S7: and not a third time, where the request was already made again on a connection of its own", async () => {
  const world = worldWith();
  world.answer = () => ({ kind: "closed", reason: "it closed the connection", isRepeated: true });
  await world.sendAndPass("jobs", ["a"], 300_000);
  expect(secondsOf(world)).toEqual([0, 300]);
  expect(countsOf(world)).toEqual(["1", "2"]);
});

it("the sequences of a message S7: nor at once where an answer had begun, for its work had too", async () => {
  const world = worldWith();
  world.answer = () => ({ kind: "closed", reason: "its answer breaks off", isBegun: true });
  await world.sendAndPass("jobs", ["a"], 300_000);
  expect(secondsOf(world)).toEqual([0, 300]);
});

it.each([
  [300, 299, 300_000],
  [0, 299, 299_000],
])(
  "an answer counts when it has ended: with a visibility timeout of %i s, %i s for each part, within %i ms",
  async (visibilityTimeoutSeconds, inactivityTimeoutSeconds, wholeAnswerTimeoutMs) => {
    const world = worldWith({ visibilityTimeoutSeconds, inactivityTimeoutSeconds });
    await world.sendAndPass("jobs", ["a"]);
    const responseTimeoutMs = 1000 * inactivityTimeoutSeconds;
    expect(world.posts[0]).toMatchObject({ responseTimeoutMs, wholeAnswerTimeoutMs });
  },
);

it("the sequences of a message S8: work that outlasts the visibility timeout runs twice; its late 200 still deletes", async () => {
  const world = worldWith({ visibilityTimeoutSeconds: 30 });
  const pass = answersAfter(world, [
    [40, answered(200)],
    [5, answered(500)],
  ]);
  await world.send("jobs", ["a"]);
  await pass(39);
  expect(secondsOf(world)).toEqual([0, 30]);
  await pass(600);
  expect(secondsOf(world)).toEqual([0, 30]);
  expect(isEmpty(world)).toBe(true);
});

it("the sequences of a message S8: its late failure changes no visibility, because another request has the message", async () => {
  const world = worldWith({ visibilityTimeoutSeconds: 30, errorVisibilityTimeoutSeconds: 500 });
  const pass = answersAfter(world, [
    [40, answered(500)],
    [60, answered(500)],
  ]);
  await world.send("jobs", ["a"]);
  await pass(59);
  expect(secondsOf(world)).toEqual([0, 30]);
  await pass(1);
  // The second delivery ends by its own timeout at 60, not 500 s after the first one failed.
  expect(secondsOf(world)).toEqual([0, 30, 60]);
});

it("the sequences of a message S9: a message past RetentionPeriod since its first receive is deleted: no POST, no dead letter", async () => {
  const world = worldWith({ retentionSeconds: 60, visibilityTimeoutSeconds: 50, maxRetries: 10 });
  world.answer = () => answered(500);
  await world.sendAndPass("jobs", ["a"], 99_999);
  expect(secondsOf(world)).toEqual([0, 50]);
  await world.pass(1);
  expect(secondsOf(world)).toEqual([0, 50]);
  expect(isEmpty(world)).toBe(true);
  expect(world.core("dead").describe()).toMatchObject({ ready: 0 });
  expect(world.lines.join("\n")).toContain("expired-msg");
});

it("the sequences of a message S9: the time before the first receive does not count", async () => {
  const world = worldWith({ retentionSeconds: 60 });
  await world.sendAndPass("jobs", ["a"], 7_200_000, { delaySeconds: 7_200 });
  expect(secondsOf(world)).toEqual([7_200]);
});

it("the sequences of a message S10: MaxRetries receives, then the dead-letter queue has it", async () => {
  const world = worldWith({ maxRetries: 3, errorVisibilityTimeoutSeconds: 2 });
  world.answer = () => answered(500);
  await world.sendAndPass("jobs", ["a"], 60_000);
  expect(secondsOf(world)).toEqual([0, 2, 4]);
  expect(isEmpty(world)).toBe(true);
  expect(world.core("dead").describe()).toMatchObject({ ready: 1 });
});

it("the sequences of a message is posted for ever where there is no dead-letter queue", async () => {
  const world = worldWith({ errorVisibilityTimeoutSeconds: 10 });
  world.answer = () => answered(500);
  await world.sendAndPass("jobs", ["a"], 1_000_000);
  expect(world.posts).toHaveLength(101);
});
