import { encodeAttributes } from "@sluice/aws";
import { encodeTrace, packMessages } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { bodiesOf, decoder } from "../../test/endpoint-world.ts";
import { testId } from "../../test/messages.ts";
import { answersAfter, countsOf, isEmpty, secondsOf, worldWith } from "../../test/worker-daemon-world.ts";
import { WORLD_START_MS, type World } from "../../test/world.ts";
import { answered } from "../../test/world-endpoint.ts";
import type { EndpointOutcome } from "./endpoint.ts";
import { DRAIN_MS } from "./worker-daemon.ts";

/* The worker daemon on the virtual clock: the cases of spec sqsd 12. */

/** Sends a message with attributes that are texts. */
async function sendWithAttributes(world: World, texts: Record<string, string>): Promise<void> {
  const entries = Object.entries(texts).map(
    ([name, StringValue]) => [name, { DataType: "String", StringValue }] as const,
  );
  const attributes = encodeAttributes({ attributes: Object.fromEntries(entries), traceHeader: null });
  if (attributes === undefined) throw new Error("there are attributes");
  const body = new TextEncoder().encode("a");
  const packed = packMessages([{ id: testId(), contentType: "text", body, extension: { attributes } }]);
  await world.core("jobs").send([{ packed }]);
  await world.pass(0);
}

it("the worker daemon posts the trace context of a message as headers", async () => {
  const world = worldWith();
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const trace = encodeTrace(traceparent, "a=1") ?? new Uint8Array();
  const body = new TextEncoder().encode("a");
  const packed = packMessages([{ id: testId(), contentType: "text", body, extension: { trace } }]);
  await world.core("jobs").send([{ packed }]);
  await world.sendAndPass("jobs", ["b"]);
  expect(world.posts.map(({ headers }) => [headers.traceparent, headers.tracestate])).toEqual([
    [traceparent, "a=1"],
    [undefined, undefined],
  ]);
});

describe("the worker daemon", () => {
  it("says how its requests go: what is open, what failed in a row, whether the application is there", async () => {
    const world = worldWith({ connections: 1, errorVisibilityTimeoutSeconds: 5 });
    const healthOf = () => world.core("jobs").describe().consumer;
    const outcomes: EndpointOutcome[] = [answered(500), { kind: "unreachable", reason: "refused" }];
    world.answer = () => outcomes.shift() ?? answered(200);
    await world.sendAndPass("jobs", ["a"]);
    expect(healthOf()).toMatchObject({
      isPresent: true,
      inFlight: 0,
      consecutiveFailures: 1,
      next: { waitsFor: "due", atMs: WORLD_START_MS + 5_000 },
    });
    expect(healthOf()?.lastDelivery?.failure).toBe("it answered 500");
    await world.pass(5_000);
    expect(healthOf()).toMatchObject({
      isPresent: false,
      consecutiveFailures: 2,
      lastDelivery: { failure: "refused" },
    });
    await world.pass(5_000);
    expect(healthOf()).toMatchObject({
      isPresent: true,
      consecutiveFailures: 0,
      lastDelivery: { failure: null },
      next: null,
    });
  });

  it("says when a message that failed is visible again, and nothing while every connection is taken", async () => {
    const world = worldWith({ connections: 1, visibilityTimeoutSeconds: 300 });
    const nextOf = () => world.core("jobs").describe().consumer?.next;
    const first = Promise.withResolvers<EndpointOutcome>();
    world.answer = () => first.promise;
    await world.send("jobs", ["a"]);
    await world.sendAndPass("jobs", ["b"]);
    expect(nextOf()).toBeNull();
    world.answer = () => answered(500);
    first.resolve(answered(500));
    await world.pass(0);
    expect(nextOf()).toEqual({ waitsFor: "due", atMs: WORLD_START_MS + 300_000 });
  });

  it.each([201, 204, 302])("takes %i for a failure", async (status) => {
    const world = worldWith({ errorVisibilityTimeoutSeconds: 5 });
    world.answer = () => (world.posts.length === 1 ? answered(status) : answered(200));
    await world.sendAndPass("jobs", ["a"], 60_000);
    expect(secondsOf(world)).toEqual([0, 5]);
  });

  it("never has more requests open than HttpConnections, and receives no more than it posts", async () => {
    const world = worldWith({ connections: 2 });
    const pass = answersAfter(
      world,
      Array.from({ length: 5 }, () => [10, answered(200)] as const).map(([s, o]) => [s, o]),
    );
    await world.send("jobs", ["a", "b", "c", "d", "e"]);
    await pass(0);
    expect(bodiesOf(world)).toEqual(["a", "b"]);
    expect(world.core("jobs").queue.leasedCount).toBe(2);
    await pass(10);
    expect(bodiesOf(world)).toEqual(["a", "b", "c", "d"]);
    await pass(20);
    expect(secondsOf(world)).toEqual([0, 0, 10, 10, 20]);
  });

  it("receives with its own VisibilityTimeout, whatever the queue's", async () => {
    const world = worldWith({ queue: { receive: { visibilityTimeoutMs: 30_000 } } });
    world.answer = () => answered(500);
    await world.sendAndPass("jobs", ["a"], 300_000);
    expect(secondsOf(world)).toEqual([0, 300]);
  });

  it("sends the content type that is set, word for word", async () => {
    const world = worldWith({ contentType: "Application/X-Www-Form-Urlencoded" });
    await world.sendAndPass("jobs", ["a=1"]);
    expect(world.posts[0]?.headers["Content-Type"]).toBe("Application/X-Www-Form-Urlencoded");
  });

  it.each([
    [undefined, "000000000000"],
    ["", "000000000000"],
    ["123456789012", "123456789012"],
  ])("of a broker with the account %j names %s as the sender", async (account, senderId) => {
    const world = worldWith();
    world.account = account;
    await world.sendAndPass("jobs", ["a"]);
    expect(world.posts[0]?.headers["X-Aws-Sqsd-Sender-Id"]).toBe(senderId);
  });

  it("passes attributes on as headers", async () => {
    const world = worldWith();
    await sendWithAttributes(world, { Origin: "AEJ" });
    expect(world.posts[0]?.headers).toMatchObject({
      "X-Aws-Sqsd-Attr-Origin": "AEJ",
      "X-Aws-Sqsd-Queue": "jobs",
    });
  });

  it.each([
    [true, "http://app.example/admin"],
    [false, "http://app.example/work"],
  ])("makes a task of attributes from any sender only where they are trusted: %s", async (trusted, url) => {
    const world = worldWith({ trustsTaskAttributes: trusted });
    await sendWithAttributes(world, {
      "beanstalk.sqsd.path": "/admin",
      "beanstalk.sqsd.task_name": "admin",
      "beanstalk.sqsd.scheduled_time": "2017-03-22 23:10:00 UTC",
    });
    expect(world.posts.map((post) => post.url)).toEqual([url]);
  });

  it("posts one message of a group at a time, and the next when the first is done", async () => {
    const world = worldWith({
      errorVisibilityTimeoutSeconds: 5,
      queue: { fifo: { deduplicationScope: "queue" } },
    });
    world.answer = ({ body }) =>
      decoder.decode(body) === "a1" && world.posts.length < 3 ? answered(500) : answered(200);
    await world.sendAndPass("jobs", ["a1", "a2", "b1"], 4_999, { groups: ["a", "a", "b"] });
    expect(bodiesOf(world)).toEqual(["a1", "b1"]);
    await world.pass(1);
    expect(bodiesOf(world)).toEqual(["a1", "b1", "a1", "a2"]);
  });

  it("leaves messages to clients of SQS that wait, and counts their receives", async () => {
    const world = worldWith();
    const waiting = world
      .core("jobs")
      .receivers.receive({ max: 1, waitMs: 20_000, visibilityTimeoutMs: 10_000 });
    await world.send("jobs", ["a"]);
    expect((await waiting).kind).toBe("received");
    await world.pass(10_000);
    expect(countsOf(world)).toEqual(["2"]);
  });

  it("shares what a queue's own redrive policy says", async () => {
    const redrive = { deadLetterQueue: "dead", maxReceiveCount: 2 };
    const world = worldWith({ errorVisibilityTimeoutSeconds: 1, queue: { receive: { redrive } } });
    world.answer = () => answered(500);
    await world.sendAndPass("jobs", ["a"], 60_000);
    expect(secondsOf(world)).toEqual([0, 1]);
    expect(world.core("dead").describe()).toMatchObject({ ready: 1 });
  });

  it("posts a message again after a crash when its visibility timeout ends", async () => {
    const world = worldWith();
    answersAfter(world, []);
    await world.sendAndPass("jobs", ["a"], 100_000);
    world.crash("jobs");
    await world.pass(199_999);
    expect(secondsOf(world)).toEqual([0]);
    await world.pass(1);
    expect(secondsOf(world)).toEqual([0, 300]);
    expect(countsOf(world)).toEqual(["1", "2"]);
  });

  it("goes on after a crash with what waited for a connection", async () => {
    const world = worldWith({ connections: 1 });
    answersAfter(world, []);
    await world.sendAndPass("jobs", ["a", "b"], 1_000);
    world.crash("jobs");
    world.answer = () => answered(200);
    await world.pass(10_000);
    expect(bodiesOf(world)).toEqual(["a", "b"]);
  });

  it("posts what becomes visible on a free connection at once, while another request is open", async () => {
    const world = worldWith({ connections: 2 });
    answersAfter(world, []);
    await world.sendAndPass("jobs", ["now"]);
    await world.sendAndPass("jobs", ["later"], 10_000, { delaySeconds: 1 });
    expect(bodiesOf(world)).toEqual(["now", "later"]);
    expect(secondsOf(world)).toEqual([0, 1]);
  });

  it("keeps to max_receives_per_second, also while requests are open", async () => {
    const world = worldWith({ queue: { maxReceivesPerSecond: 2 } });
    answersAfter(world, []);
    await world.sendAndPass("jobs", ["a", "b", "c"], 60_000);
    expect(secondsOf(world)).toEqual([0, 0.5, 1]);
  });

  it("posts nothing while delivery is paused", async () => {
    const world = worldWith({ queue: { deliveryPaused: true } });
    await world.sendAndPass("jobs", ["a"], 600_000);
    expect(world.posts).toEqual([]);
    // Nothing is due until it is resumed, since an alarm is a row written.
    expect(world.alarms.length).toBeLessThan(10);
    await world.core("jobs").reconfigure(
      () => Object.assign(world.queues, { jobs: { ...world.queues.jobs, deliveryPaused: false } }),
      () => {},
    );
    await world.pass(0);
    expect(bodiesOf(world)).toEqual(["a"]);
  });

  it("does not ring for messages that a throttle keeps, also after a crash", async () => {
    const world = worldWith({ queue: { maxReceivesPerSecond: 2 } });
    await world.send("jobs", ["a"], { delaySeconds: 5 });
    await world.sendAndPass("jobs", ["b"], 5_500, { delaySeconds: 6 });
    world.crash("jobs");
    await world.pass(499);
    world.core("jobs");
    world.alarms.length = 0;
    await world.pass(5_000);
    expect(bodiesOf(world)).toEqual(["a", "b"]);
    expect(world.alarms.length).toBeLessThan(20);
  });

  it("waits for what keeps a group without ringing all the time", async () => {
    const world = worldWith({ queue: { fifo: { deduplicationScope: "queue" } } });
    answersAfter(world, []);
    await world.sendAndPass("jobs", ["a1", "a2"], 1_000, { groups: ["a", "a"] });
    world.crash("jobs");
    world.answer = () => answered(200);
    world.alarms.length = 0;
    await world.pass(298_999);
    expect(bodiesOf(world)).toEqual(["a1"]);
    expect(world.alarms.length).toBeLessThan(10);
    await world.pass(1);
    expect(bodiesOf(world)).toEqual(["a1", "a1", "a2"]);
  });

  it("keeps to max_receives_per_second", async () => {
    const world = worldWith({ queue: { maxReceivesPerSecond: 2 } });
    await world.sendAndPass("jobs", ["a", "b", "c", "d"], 60_000);
    expect(secondsOf(world)).toEqual([0, 0.5, 1, 1.5]);
  });

  it("takes what is visible at once, with a visibility timeout of 0, no more than once in a turn", async () => {
    const world = worldWith({ visibilityTimeoutSeconds: 0, connections: 3 });
    const pass = answersAfter(world, [[1, answered(200)]]);
    await world.send("jobs", ["a"]);
    await pass(5);
    expect(isEmpty(world)).toBe(true);
    expect(world.posts.length).toBeLessThanOrEqual(3);
  });

  it("begins nothing while the broker is being stopped, and lets what it has posted end (S11)", async () => {
    const world = worldWith({ connections: 2 });
    const pass = answersAfter(world, [
      [10, answered(200)],
      [15, answered(200)],
      [0, answered(200)],
    ]);
    await world.send("jobs", ["a", "b", "c"]);
    await pass(5);
    expect(await world.core("jobs").drain()).toEqual({ requests: 2 });
    await pass(6);
    expect(await world.core("jobs").drain()).toEqual({ requests: 1 });
    await pass(5);
    expect(await world.core("jobs").drain()).toEqual({ requests: 0 });
    expect(bodiesOf(world)).toEqual(["a", "b"]);
    expect(world.core("jobs").describe()).toMatchObject({ ready: 1, leased: 0 });
  });

  it("goes on 10 s after it was asked to begin nothing, unless it is asked again", async () => {
    const world = worldWith();
    expect(await world.core("jobs").drain()).toEqual({ requests: 0 });
    await world.sendAndPass("jobs", ["a"], DRAIN_MS - 1);
    expect(world.posts).toEqual([]);
    await world.pass(1);
    expect(bodiesOf(world)).toEqual(["a"]);
  });
});
