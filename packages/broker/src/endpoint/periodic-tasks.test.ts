import type {
  HttpPushSettings,
  PeriodicTaskSettings,
  QueueDefinition,
  TaskRunSettings,
} from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { endpoint } from "../../test/messages.ts";
import { WORLD_START_MS, World } from "../../test/world.ts";
import { answered } from "../../test/world-endpoint.ts";

/*
 * Periodic tasks of the worker daemon on the virtual clock (spec sqsd 8). The world begins at 2023-11-14T22:13:20Z.
 */

const EVERY_MINUTE = { name: "sweep", url: "/tasks/sweep", schedule: "* * * * *" };

function worldWith(
  periodicTasks: readonly PeriodicTaskSettings[],
  queue: Partial<QueueDefinition> = {},
  taskRuns: TaskRunSettings = {},
  settings: Partial<HttpPushSettings> = {},
): World {
  const consumer = endpoint({
    url: "http://app.example/work",
    format: "sqsd",
    ...settings,
    daemon: {
      visibilityTimeoutSeconds: 300,
      errorVisibilityTimeoutSeconds: null,
      retentionSeconds: 345_600,
      periodicTasks,
      taskRuns,
    },
  });
  return new World({ jobs: { ...queue, consumer }, dead: {} });
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
  ])("a run that was missed for %i s is made up for %i time(s)", async (seconds, runs) => {
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

  it("a new task runs from its first turn on, and a removed one no more", async () => {
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

/** Nothing runs for a while: the machine was off. */
async function sleep(world: World, ms: number): Promise<void> {
  world.crash("jobs");
  world.nowMs += ms;
  await begin(world);
}

const leftOutOf = (world: World) =>
  world.lines.flatMap((line) => / was to run at (\S+), (.*)$/.exec(line)?.slice(1, 3).join(" ") ?? []);

describe("runs that were missed", () => {
  it.each([
    [59_999, 1],
    [60_000, 0],
    [60_001, 0],
  ])(
    'are not made up for with the catch-up "none": one that is %i ms late is made %i time(s)',
    async (late, runs) => {
      const world = worldWith([{ ...EVERY_MINUTE, schedule: "14 22 * * *" }], {}, { catchUp: "none" });
      await begin(world);
      await sleep(world, 40_000 + late);
      await world.pass(1_000);
      expect(runsOf(world)).toHaveLength(runs);
      expect(leftOutOf(world)).toEqual(
        runs === 1 ? [] : ["2023-11-14T22:14:00.000Z which is too long ago: it is left out"],
      );
    },
  );

  it("are made up for as long after their time as is set", async () => {
    for (const [late, runs] of [
      [3_599_999, 1],
      [3_600_000, 0],
    ] as const) {
      const task = { ...EVERY_MINUTE, schedule: "14 22 * * *" };
      const world = worldWith([task], {}, { catchUpSeconds: 3_600 });
      await begin(world);
      await sleep(world, 40_000 + late);
      await world.pass(1_000);
      expect(runsOf(world)).toHaveLength(runs);
    }
  });

  it("are each made up for, in order, where that is set; those before are named in the log", async () => {
    const world = worldWith([EVERY_MINUTE], {}, { catchUp: "all", catchUpSeconds: 180 });
    await begin(world);
    await sleep(world, 600_000);
    await world.pass(1_000);
    expect(runsOf(world)).toEqual(["21", "22", "23"].map((minute) => `2023-11-14T22:${minute}:00Z`));
    expect(leftOutOf(world)).toEqual(["2023-11-14T22:20:00.000Z which is too long ago: it is left out"]);
    // Nothing of it comes again.
    world.crash("jobs");
    await begin(world);
    await world.pass(30_000);
    expect(runsOf(world)).toHaveLength(3);
  });

  it("are named in the log where only the last one is made", async () => {
    const world = worldWith([EVERY_MINUTE]);
    await begin(world);
    await sleep(world, 150_000);
    await world.pass(1_000);
    expect(runsOf(world)).toEqual(["2023-11-14T22:15:00Z"]);
    expect(leftOutOf(world)).toEqual([
      "2023-11-14T22:14:00.000Z only the last missed run is made: it is left out",
    ]);
  });
});

describe("a run whose last one is not done", () => {
  it("is made beside it, as on AWS", async () => {
    const world = worldWith([EVERY_MINUTE]);
    world.answer = () => answered(500);
    await begin(world);
    await world.pass(200_000);
    expect(runsOf(world)).toHaveLength(3);
  });

  it("is left out where that is set, until the last one was answered with 200", async () => {
    const world = worldWith([EVERY_MINUTE, { ...EVERY_MINUTE, name: "other" }], {}, { overlap: "skip" });
    world.answer = ({ headers }) =>
      answered(
        headers["X-Aws-Sqsd-Taskname"] === "other" || world.nowMs > WORLD_START_MS + 300_000 ? 200 : 500,
      );
    await begin(world);
    await world.pass(280_000);
    expect(runsOf(world)).toEqual(["2023-11-14T22:14:00Z"]);
    expect(runsOf(world, "other")).toHaveLength(5);
    expect(leftOutOf(world)[0]).toBe(
      "2023-11-14T22:15:00.000Z its last run is not done yet: this one is left out",
    );
    // It comes again at 22:19 and is done: the next one is that of 22:20.
    await world.pass(130_000);
    expect(runsOf(world)).toEqual(["2023-11-14T22:14:00Z", "2023-11-14T22:14:00Z", "2023-11-14T22:20:00Z"]);
  });

  it("is left out after a crash too, and made once the last one is in the dead-letter queue", async () => {
    const world = worldWith(
      [EVERY_MINUTE],
      {},
      { overlap: "skip" },
      { maxRetries: 0, deadLetterQueue: "dead" },
    );
    world.answer = () => answered(500);
    await begin(world);
    await world.pass(100_000);
    await sleep(world, 1_000);
    await world.pass(180_000);
    expect(runsOf(world)).toEqual(["2023-11-14T22:14:00Z"]);
    // Its visibility timeout ends at 22:19, and it was the only receive that it has.
    await world.pass(120_000);
    expect(runsOf(world)).toEqual(["2023-11-14T22:14:00Z", "2023-11-14T22:20:00Z"]);
  });

  it("is not taken for another message of a queue that was empty when it stopped", async () => {
    const world = worldWith([EVERY_MINUTE], {}, { overlap: "skip" });
    world.answer = ({ headers }) => answered(headers["X-Aws-Sqsd-Taskname"] === "sweep" ? 200 : 500);
    await begin(world);
    await world.pass(60_000);
    world.crash("jobs");
    await begin(world);
    // It would have the number of the run that is done.
    await world.sendAndPass("jobs", ["mine"], 60_000);
    expect(runsOf(world)).toEqual(["2023-11-14T22:14:00Z", "2023-11-14T22:15:00Z"]);
  });

  it("is left out among those that are made up for together", async () => {
    const world = worldWith([EVERY_MINUTE], {}, { overlap: "skip", catchUp: "all" });
    await begin(world);
    await sleep(world, 150_000);
    await world.pass(1_000);
    expect(runsOf(world)).toEqual(["2023-11-14T22:14:00Z"]);
    expect(leftOutOf(world)).toHaveLength(1);
  });
});

it.each([["periodic-tasks"], ["periodic-tasks-last-runs"]])(
  "a damaged note %s is reported once, and the tasks of its queue go on",
  async (key) => {
    const world = worldWith([EVERY_MINUTE], {}, { overlap: "skip" });
    await begin(world);
    await world.pass(60_000);
    world.crash("jobs");
    world.store("jobs").damage(({ notes }) => {
      const note = notes.get(key) as Uint8Array;
      note[note.length - 5] = (note.at(-5) as number) ^ 1;
    });
    await begin(world);
    world.crash("jobs");
    await begin(world);
    await world.pass(120_000);
    expect(runsOf(world)).toEqual(["2023-11-14T22:14:00Z", "2023-11-14T22:15:00Z", "2023-11-14T22:16:00Z"]);
    expect(world.lines.filter((line) => line.includes("damaged and forgotten"))).toHaveLength(1);
  },
);
