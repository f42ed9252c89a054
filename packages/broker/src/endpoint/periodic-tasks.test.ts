import type { PeriodicTaskSettings, QueueDefinition } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { endpoint } from "../../test/messages.ts";
import { answered, WORLD_START_MS, World } from "../../test/world.ts";

/*
 * Periodic tasks of the worker daemon on the virtual clock (spec sqsd 8). The world begins at 2023-11-14T22:13:20Z.
 */

const EVERY_MINUTE = { name: "sweep", url: "/tasks/sweep", schedule: "* * * * *" };

function worldWith(
  periodicTasks: readonly PeriodicTaskSettings[],
  queue: Partial<QueueDefinition> = {},
): World {
  const consumer = endpoint({
    url: "http://app.example/work",
    format: "sqsd",
    daemon: {
      visibilityTimeoutSeconds: 300,
      errorVisibilityTimeoutSeconds: null,
      retentionSeconds: 345_600,
      periodicTasks,
    },
  });
  return new World({ jobs: { ...queue, consumer } });
}

const runsOf = (world: World, name = "sweep") =>
  world.posts
    .filter(({ headers }) => headers["X-Aws-Sqsd-Taskname"] === name)
    .map(({ headers }) => headers["X-Aws-Sqsd-Scheduled-At"]);
const timesOf = (world: World) =>
  world.posts.map(({ atMs }) => new Date(WORLD_START_MS + atMs).toISOString().slice(11, 19));

/** Starts the queue's object and lets it look at its tasks. */
async function begin(world: World): Promise<void> {
  world.core("jobs");
  await world.pass(0);
}

describe("a periodic task", () => {
  it("is posted to its path when it is due, without a body, with its name and its time", async () => {
    const world = worldWith([EVERY_MINUTE]);
    await begin(world);
    await world.pass(120_000);
    expect(timesOf(world)).toEqual(["22:14:00", "22:15:00"]);
    expect(world.posts[0]).toMatchObject({
      url: "http://app.example/tasks/sweep",
      headers: {
        "X-Aws-Sqsd-Taskname": "sweep",
        "X-Aws-Sqsd-Scheduled-At": "2023-11-14T22:14:00Z",
        "X-Aws-Sqsd-Path": "/tasks/sweep",
        "X-Aws-Sqsd-Receive-Count": "1",
      },
    });
    expect(world.posts[0]?.body).toHaveLength(0);
    expect(Object.keys(world.posts[0]?.headers ?? {}).filter((name) => name.includes("beanstalk"))).toEqual(
      [],
    );
  });

  it("runs for as long as the queue is idle, and each by its own schedule", async () => {
    const world = worldWith([EVERY_MINUTE, { name: "hourly", url: "/hourly", schedule: "0 * * * *" }]);
    await begin(world);
    await world.pass(2 * 3_600_000);
    expect(runsOf(world)).toHaveLength(120);
    expect(runsOf(world, "hourly")).toEqual(["2023-11-14T23:00:00Z", "2023-11-15T00:00:00Z"]);
  });

  it("is retried like any message", async () => {
    const world = worldWith([{ ...EVERY_MINUTE, schedule: "14 22 * * *" }]);
    world.answer = () => answered(500);
    await begin(world);
    await world.pass(400_000);
    expect(timesOf(world)).toEqual(["22:14:00", "22:19:00"]);
    expect(new Set(runsOf(world))).toEqual(new Set(["2023-11-14T22:14:00Z"]));
  });

  it("runs once however often the alarm rings, and over crashes before and after", async () => {
    const world = worldWith([EVERY_MINUTE]);
    await begin(world);
    for (let i = 0; i < 100; i++) {
      world.crash("jobs");
      await begin(world);
      await Promise.all([world.core("jobs").wake(), world.core("jobs").wake()]);
      await world.pass(6_000);
    }
    const runs = runsOf(world);
    expect(runs).toHaveLength(10);
    expect(new Set(runs).size).toBe(10);
  });

  it.each([
    [200, 1],
    [400, 0],
  ])("that was missed for %i s is made up for %i time(s)", async (seconds, runs) => {
    const world = worldWith([{ ...EVERY_MINUTE, schedule: "14 22 * * *" }]);
    await begin(world);
    // Nothing runs meanwhile: the machine was off.
    world.crash("jobs");
    world.nowMs += 1000 * (40 + seconds);
    await begin(world);
    await world.pass(1_000);
    expect(runsOf(world)).toHaveLength(runs);
    expect(world.lines.filter((line) => line.includes("too long ago"))).toHaveLength(1 - runs);
  });

  it("is made up for once, however many runs were missed", async () => {
    const world = worldWith([EVERY_MINUTE]);
    await begin(world);
    world.crash("jobs");
    world.nowMs += 3_600_000;
    await begin(world);
    await world.pass(1_000);
    expect(runsOf(world)).toEqual(["2023-11-14T23:13:00Z"]);
  });

  it("that is new runs from when it is heard of, and one that is taken out no more", async () => {
    const world = worldWith([]);
    await begin(world);
    await world.pass(600_000);
    const { jobs } = worldWith([EVERY_MINUTE]).queues;
    const reconfigure = (definition: QueueDefinition | undefined) =>
      world.core("jobs").reconfigure(
        () => Object.assign(world.queues, { jobs: definition }),
        () => {},
      );
    const before = world.queues.jobs;
    await reconfigure(jobs);
    await world.pass(60_000);
    expect(runsOf(world)).toHaveLength(1);
    await reconfigure(before);
    await world.pass(600_000);
    expect(runsOf(world)).toHaveLength(1);
  });

  it("follows its own earlier runs on a FIFO queue", async () => {
    const world = worldWith([EVERY_MINUTE], { fifo: { deduplicationScope: "queue" } });
    world.answer = () => (world.posts.length === 1 ? answered(500) : answered(200));
    await begin(world);
    await world.pass(300_000);
    // The first run fails at 22:14 and comes again at 22:19; the others wait for it.
    expect(timesOf(world)).toEqual(["22:14:00"]);
    await world.pass(60_000);
    expect(runsOf(world).slice(0, 3)).toEqual([
      "2023-11-14T22:14:00Z",
      "2023-11-14T22:14:00Z",
      "2023-11-14T22:15:00Z",
    ]);
  });
});
