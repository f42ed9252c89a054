import { encodeAttributes } from "@sluice/aws";
import { packMessages, type QueueDefinition, type WorkerDaemonSettings } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { endpoint, testId } from "../../test/messages.ts";
import { answered, WORLD_START_MS, World } from "../../test/world.ts";
import type { EndpointOutcome } from "./endpoint.ts";
import { DRAIN_MS } from "./worker-daemon.ts";

/*
 * The worker daemon on the virtual clock: the sequences of spec sqsd 5 with their times, and the cases of its section 12.
 */

interface Options extends Partial<WorkerDaemonSettings> {
  readonly connections?: number;
  readonly inactivityTimeoutSeconds?: number;
  readonly maxRetries?: number;
  readonly contentType?: string;
  readonly queue?: Partial<QueueDefinition>;
}

function worldWith({
  connections,
  inactivityTimeoutSeconds,
  maxRetries,
  queue,
  contentType,
  ...daemon
}: Options = {}) {
  const consumer = endpoint({
    url: "http://app.example/work",
    format: "sqsd",
    contentType: contentType ?? "application/json",
    maxConcurrency: connections ?? 50,
    responseTimeoutSeconds: inactivityTimeoutSeconds ?? 299,
    maxRetries: (maxRetries ?? 10) - 1,
    deadLetterQueue: maxRetries === undefined ? null : "dead",
    daemon: {
      visibilityTimeoutSeconds: 300,
      errorVisibilityTimeoutSeconds: null,
      retentionSeconds: 345_600,
      ...daemon,
    },
  });
  return new World({ jobs: { ...queue, consumer }, dead: {} });
}

const decoder = new TextDecoder();
const bodiesOf = (world: World) => world.posts.map(({ body }) => decoder.decode(body));
const secondsOf = (world: World) => world.posts.map(({ atMs }) => atMs / 1000);
const countsOf = (world: World) => world.posts.map(({ headers }) => headers["X-Aws-Sqsd-Receive-Count"]);
const isEmpty = (world: World) => world.core("jobs").queue.segments.size === 0;

/** Answers after so many seconds each; what has none is never answered. */
function answersAfter(world: World, answers: readonly [seconds: number, outcome: EndpointOutcome][]) {
  const due: { atMs: number; give: () => void }[] = [];
  const left = [...answers];
  world.answer = () => {
    const next = left.shift();
    if (next === undefined) return new Promise(() => {});
    const [seconds, outcome] = next;
    return new Promise((resolve) =>
      due.push({ atMs: world.nowMs + 1000 * seconds, give: () => resolve(outcome) }),
    );
  };
  return async (seconds: number) => {
    const endMs = world.nowMs + 1000 * seconds;
    for (;;) {
      await world.pass(0);
      const next = due.sort((a, b) => a.atMs - b.atMs)[0];
      const stepMs = Math.min(1_000, endMs - world.nowMs, (next?.atMs ?? Infinity) - world.nowMs);
      if (stepMs > 0) await world.pass(stepMs);
      if (next !== undefined && next.atMs <= world.nowMs) {
        due.shift();
        next.give();
        await world.pass(0);
      } else if (world.nowMs >= endMs) return;
    }
  };
}

describe("the sequences of a message", () => {
  it("S1: 200 is one receive, one POST and one delete", async () => {
    const world = worldWith();
    await world.send("jobs", ["a"]);
    await world.pass(3_600_000);
    expect(secondsOf(world)).toEqual([0]);
    expect(countsOf(world)).toEqual(["1"]);
    expect(isEmpty(world)).toBe(true);
  });

  it("S2: an error without ErrorVisibilityTimeout is posted again when the visibility timeout ends, counted from the receive", async () => {
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
    "S3: an error at 10 s with ErrorVisibilityTimeout %i is posted again at %i s",
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
    "S4: no answer within InactivityTimeout, with ErrorVisibilityTimeout %s: posted again at %i s",
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

  it("S6: nobody there spends a receive", async () => {
    const world = worldWith({ errorVisibilityTimeoutSeconds: 2 });
    world.answer = () =>
      world.posts.length < 3 ? { kind: "unreachable", reason: "it cannot be reached" } : answered(200);
    await world.send("jobs", ["a"]);
    await world.pass(60_000);
    expect(secondsOf(world)).toEqual([0, 2, 4]);
    expect(countsOf(world)).toEqual(["1", "2", "3"]);
  });

  it("S7: a connection that is closed without an answer is tried once more at once, with the same receive", async () => {
    const world = worldWith();
    world.answer = () => ({ kind: "closed", reason: "it closed the connection" });
    await world.send("jobs", ["a"]);
    await world.pass(299_000);
    expect(secondsOf(world)).toEqual([0, 0]);
    await world.pass(1_000);
    expect(secondsOf(world)).toEqual([0, 0, 300, 300]);
    expect(countsOf(world)).toEqual(["1", "1", "2", "2"]);
  });

  it("S8: work that outlasts the visibility timeout runs twice; its late 200 still deletes", async () => {
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

  it("S8: its late failure changes no visibility: somebody else has the message", async () => {
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

  it("S9: a message older than RetentionPeriod since its first receive is deleted without a POST, and is no dead letter", async () => {
    const world = worldWith({ retentionSeconds: 60, visibilityTimeoutSeconds: 50, maxRetries: 10 });
    world.answer = () => answered(500);
    await world.send("jobs", ["a"]);
    await world.pass(99_999);
    expect(secondsOf(world)).toEqual([0, 50]);
    await world.pass(1);
    expect(secondsOf(world)).toEqual([0, 50]);
    expect(isEmpty(world)).toBe(true);
    expect(world.core("dead").describe()).toMatchObject({ ready: 0 });
    expect(world.lines.join("\n")).toContain("expired-msg");
  });

  it("S9: the time before the first receive does not count", async () => {
    const world = worldWith({ retentionSeconds: 60 });
    await world.send("jobs", ["a"], { delaySeconds: 7_200 });
    await world.pass(7_200_000);
    expect(secondsOf(world)).toEqual([7_200]);
  });

  it("S10: MaxRetries receives, then the dead-letter queue has it", async () => {
    const world = worldWith({ maxRetries: 3, errorVisibilityTimeoutSeconds: 2 });
    world.answer = () => answered(500);
    await world.send("jobs", ["a"]);
    await world.pass(60_000);
    expect(secondsOf(world)).toEqual([0, 2, 4]);
    expect(isEmpty(world)).toBe(true);
    expect(world.core("dead").describe()).toMatchObject({ ready: 1 });
  });

  it("is posted for ever where there is no dead-letter queue", async () => {
    const world = worldWith({ errorVisibilityTimeoutSeconds: 10 });
    world.answer = () => answered(500);
    await world.send("jobs", ["a"]);
    await world.pass(1_000_000);
    expect(world.posts).toHaveLength(101);
  });
});

describe("the worker daemon", () => {
  it("says how its requests go: what is open, what failed in a row, whether the application is there", async () => {
    const world = worldWith({ connections: 1, errorVisibilityTimeoutSeconds: 5 });
    const healthOf = () => world.core("jobs").describe().consumer;
    const outcomes: EndpointOutcome[] = [answered(500), { kind: "unreachable", reason: "refused" }];
    world.answer = () => outcomes.shift() ?? answered(200);
    await world.send("jobs", ["a"]);
    await world.pass(0);
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
    await world.send("jobs", ["b"]);
    await world.pass(0);
    expect(nextOf()).toBeNull();
    world.answer = () => answered(500);
    first.resolve(answered(500));
    await world.pass(0);
    expect(nextOf()).toEqual({ waitsFor: "due", atMs: WORLD_START_MS + 300_000 });
  });

  it.each([201, 204, 302])("takes %i for a failure", async (status) => {
    const world = worldWith({ errorVisibilityTimeoutSeconds: 5 });
    world.answer = () => (world.posts.length === 1 ? answered(status) : answered(200));
    await world.send("jobs", ["a"]);
    await world.pass(60_000);
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
    await world.send("jobs", ["a"]);
    await world.pass(300_000);
    expect(secondsOf(world)).toEqual([0, 300]);
  });

  it("sends the content type that is set, word for word", async () => {
    const world = worldWith({ contentType: "Application/X-Www-Form-Urlencoded" });
    await world.send("jobs", ["a=1"]);
    await world.pass(0);
    expect(world.posts[0]?.headers["Content-Type"]).toBe("Application/X-Www-Form-Urlencoded");
  });

  it("passes attributes on as headers", async () => {
    const world = worldWith();
    const attributes = encodeAttributes({
      attributes: { Origin: { DataType: "String", StringValue: "AEJ" } },
      traceHeader: null,
    });
    if (attributes === undefined) throw new Error("there are attributes");
    const body = new TextEncoder().encode("a");
    const packed = packMessages([{ id: testId(), contentType: "text", body, extension: { attributes } }]);
    await world.core("jobs").send([{ packed }]);
    await world.pass(0);
    expect(world.posts[0]?.headers).toMatchObject({
      "X-Aws-Sqsd-Attr-Origin": "AEJ",
      "X-Aws-Sqsd-Queue": "jobs",
    });
  });

  it.each([
    [true, "http://app.example/admin"],
    [false, "http://app.example/work"],
  ])(
    "makes a task of attributes that anybody sends only where they are trusted: %s",
    async (trusted, url) => {
      const world = worldWith({ trustsTaskAttributes: trusted });
      const text = (StringValue: string) => ({ DataType: "String", StringValue });
      const attributes = encodeAttributes({
        attributes: {
          "beanstalk.sqsd.path": text("/admin"),
          "beanstalk.sqsd.task_name": text("admin"),
          "beanstalk.sqsd.scheduled_time": text("2017-03-22 23:10:00 UTC"),
        },
        traceHeader: null,
      });
      if (attributes === undefined) throw new Error("there are attributes");
      const body = new TextEncoder().encode("a");
      const packed = packMessages([{ id: testId(), contentType: "text", body, extension: { attributes } }]);
      await world.core("jobs").send([{ packed }]);
      await world.pass(0);
      expect(world.posts.map((post) => post.url)).toEqual([url]);
    },
  );

  it("posts one message of a group at a time, and the next when the first is done", async () => {
    const world = worldWith({
      errorVisibilityTimeoutSeconds: 5,
      queue: { fifo: { deduplicationScope: "queue" } },
    });
    world.answer = ({ body }) =>
      decoder.decode(body) === "a1" && world.posts.length < 3 ? answered(500) : answered(200);
    await world.send("jobs", ["a1", "a2", "b1"], { groups: ["a", "a", "b"] });
    await world.pass(4_999);
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
    await world.send("jobs", ["a"]);
    await world.pass(60_000);
    expect(secondsOf(world)).toEqual([0, 1]);
    expect(world.core("dead").describe()).toMatchObject({ ready: 1 });
  });

  it("posts a message again after a crash when its visibility timeout ends", async () => {
    const world = worldWith();
    answersAfter(world, []);
    await world.send("jobs", ["a"]);
    await world.pass(100_000);
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
    await world.send("jobs", ["a", "b"]);
    await world.pass(1_000);
    world.crash("jobs");
    world.answer = () => answered(200);
    await world.pass(10_000);
    expect(bodiesOf(world)).toEqual(["a", "b"]);
  });

  it("posts nothing while delivery is paused", async () => {
    const world = worldWith({ queue: { deliveryPaused: true } });
    await world.send("jobs", ["a"]);
    await world.pass(600_000);
    expect(world.posts).toEqual([]);
    // Nothing is due until somebody resumes it: an alarm is a row written.
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
    await world.send("jobs", ["b"], { delaySeconds: 6 });
    await world.pass(5_500);
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
    await world.send("jobs", ["a1", "a2"], { groups: ["a", "a"] });
    await world.pass(1_000);
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
    await world.send("jobs", ["a", "b", "c", "d"]);
    await world.pass(60_000);
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
    await world.send("jobs", ["a"]);
    await world.pass(DRAIN_MS - 1);
    expect(world.posts).toEqual([]);
    await world.pass(1);
    expect(bodiesOf(world)).toEqual(["a"]);
  });
});
