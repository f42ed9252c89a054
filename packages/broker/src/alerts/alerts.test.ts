import { ALERTS_QUEUE, type AlertFormat, type QueueDefinition } from "@sluice/protocol";
import { describe, expect, it, vi } from "vitest";
import { consumer } from "../../test/messages.ts";
import { World } from "../../test/world.ts";
import { alerted, received, told } from "../../test/world-alerts.ts";
import { answered } from "../../test/world-endpoint.ts";
import { ALERTS_NOTE } from "./stored-alerts.ts";

const MINUTE_MS = 60_000;
const failing = { maxBatchSize: 1, maxBatchTimeoutSeconds: 0, maxRetries: 0, deadLetterQueue: "dead" };

function deadLettering(format: AlertFormat = "webhook"): World {
  const world = alerted({ orders: { consumer: consumer(failing) }, dead: {} }, { format, deadLetters: true });
  world.handler = () => ({ outcome: "exception" });
  return world;
}

describe("the alert of a dead-letter queue", () => {
  it("begins with the first dead letter, not with others, and ends when the queue is empty", async () => {
    const world = deadLettering();
    await world.sendAndPass("orders", ["a"]);
    await world.sendAndPass("orders", ["b"]);
    await expect.poll(() => told(world)).toEqual(["alert.begun dead dead_letters"]);
    expect(world.core("dead").describe().alerts).toEqual([
      {
        kind: "dead_letters",
        sinceMs: world.nowMs,
        text: 'the first dead letter has come, from queue "orders"',
        isReported: true,
      },
    ]);

    await world.core("dead").purge();
    await world.pass(0);
    await expect
      .poll(() => told(world))
      .toEqual(["alert.begun dead dead_letters", "alert.ended dead dead_letters"]);
    expect(world.core("dead").describe().alerts).toBeUndefined();

    await world.sendAndPass("orders", ["c"]);
    await expect.poll(() => told(world)).toHaveLength(3);
  });

  it("of a shard names the queues that people know", async () => {
    const world = deadLettering();
    for (const name of ["orders#2", "dead"]) world.maps.set(name, { epoch: 20, open: 3, kept: 3 });
    await world.sendAndPass("orders#2", ["a"]);
    await expect.poll(() => told(world)).toEqual(["alert.begun dead dead_letters"]);
    expect(received(world)[0]?.data.text).toContain('from queue "orders"');
    expect(world.seen[0]?.queue).toBe("orders");
  });

  it("is none of messages that somebody sends there", async () => {
    const world = deadLettering();
    await world.sendAndPass("dead", ["a"]);
    expect(world.posts).toEqual([]);
  });

  it("is sent once if objects crash and answers are lost", async () => {
    const world = deadLettering();
    world.carry = async (target, _transfer, deliver) => {
      const reply = await deliver();
      if (target === ALERTS_QUEUE && world.posts.length === 0) {
        world.crash("dead");
        return new Promise(() => {});
      }
      return reply;
    };
    await world.sendAndPass("orders", ["a"], MINUTE_MS);
    world.restart("dead");
    world.restart(ALERTS_QUEUE);
    await world.sendAndPass("orders", ["b"], MINUTE_MS);
    await expect.poll(() => told(world)).toEqual(["alert.begun dead dead_letters"]);
  });

  it("keeps its id over attempts, and its end waits for its beginning", async () => {
    const world = deadLettering();
    world.answer = () => answered(world.posts.length < 3 ? 500 : 204);
    await world.sendAndPass("orders", ["a"]);
    await world.core("dead").purge();
    await vi.waitFor(async () => {
      await world.pass(MINUTE_MS);
      expect(world.posts).toHaveLength(4);
    });
    const begun = "alert.begun dead dead_letters";
    await expect.poll(() => told(world)).toEqual([begun, begun, begun, "alert.ended dead dead_letters"]);
    const ids = world.posts.map(({ headers }) => headers["webhook-id"]);
    expect(new Set(ids.slice(0, 3)).size).toBe(1);
    expect(ids[3]).not.toBe(ids[0]);
  });

  it("is logged with the reason where it cannot be delivered", async () => {
    const world = deadLettering("slack");
    world.answer = () => answered(500);
    await world.sendAndPass("orders", ["a"], 24 * 60 * MINUTE_MS);
    expect(world.posts).toHaveLength(31);
    const { messages } = world
      .core(ALERTS_QUEUE)
      .messages.look({ max: 10, filter: [{ field: "state", state: "finished" }] });
    expect(messages).toMatchObject([
      { group: "dead_letters dead", end: { kind: "dropped", error: "it answered 500" } },
    ]);
    expect(world.lines.join("\n")).toMatch(
      /Dropped message "\w+" on queue "alerts\/webhook" after 31 failed attempt\(s\): it answered 500/,
    );
  });
});

describe("the alert of an old message", () => {
  const hour = { oldestMessageSeconds: 3_600 };

  it("begins when the oldest message passes the age, though nothing else wakes the queue, and ends when it is gone", async () => {
    const world = alerted({ orders: {} }, hour);
    await world.sendAndPass("orders", ["a"], 60 * MINUTE_MS - 1);
    expect(world.posts).toEqual([]);
    await world.pass(1);
    await expect.poll(() => told(world)).toEqual(["alert.begun orders oldest_message"]);
    world.restart("orders");
    await world.pass(60 * MINUTE_MS);
    expect(world.posts).toHaveLength(1);
    await world.core("orders").purge();
    await world.pass(0);
    await expect.poll(() => told(world).at(-1)).toBe("alert.ended orders oldest_message");
  });

  it("does not end while an attempt of the message runs", async () => {
    const settings = { ...failing, maxRetries: 100, retryDelaySeconds: 600, deadLetterQueue: null };
    const world = alerted({ orders: { consumer: consumer(settings) } }, hour);
    world.handler = () => ({ outcome: "exception" });
    await world.sendAndPass("orders", ["a"], 60 * MINUTE_MS);
    await expect.poll(() => told(world)).toEqual(["alert.begun orders oldest_message"]);
    await world.pass(60 * MINUTE_MS);
    expect(world.seen.length).toBeGreaterThan(10);
    expect(told(world)).toEqual(["alert.begun orders oldest_message"]);
  });

  it("is none of dead letters, of which another one has told", async () => {
    const world = alerted(
      { orders: { consumer: consumer(failing) }, dead: {} },
      { ...hour, deadLetters: true },
    );
    world.handler = () => ({ outcome: "exception" });
    await world.sendAndPass("orders", ["a"]);
    // A key signs in real time: a report that is being signed for two hours would be sent again.
    await expect.poll(() => told(world)).toEqual(["alert.begun dead dead_letters"]);
    await world.pass(120 * MINUTE_MS);
    expect(told(world)).toEqual(["alert.begun dead dead_letters"]);
  });
});

describe("the alert of failures", () => {
  const half = { failures: { share: 0.5, deliveries: 4 } };
  const single = { maxBatchSize: 1, maxBatchTimeoutSeconds: 0, maxRetries: 0 };

  /** Delivers messages one after the other, with these outcomes: x fails. */
  async function deliver(world: World, outcomes: string): Promise<void> {
    for (const each of outcomes) {
      world.handler = () => ({ outcome: each === "x" ? "exception" : "ok" });
      await world.sendAndPass("orders", [each]);
    }
  }

  it.each([
    ["xxx", 0, "too few deliveries"],
    ["xx..", 0, "half of them, which is not more"],
    ["xxx.", 1, "more than half"],
    [".....xxx", 1, "the last ones count"],
  ])("deliveries %s tell %i time(s): %s", async (outcomes, times) => {
    const world = alerted({ orders: { consumer: consumer(single) } }, half);
    await deliver(world, outcomes);
    await expect.poll(() => told(world)).toEqual(Array(times).fill("alert.begun orders failures"));
  });

  it("quotes nothing of a queue that has come to be in a jurisdiction", async () => {
    const world = alerted({ orders: { consumer: consumer(single) } }, half);
    await world.sendAndPass("orders", ["a"]);
    world.quotesFailures = false;
    await deliver(world, "xxxx");
    await expect.poll(() => received(world)[0]?.data.text).toBe("3 of the last 4 deliveries failed");
  });

  it("ends when enough deliveries go well again, which a restart does not count as", async () => {
    const world = alerted({ orders: { consumer: consumer(single) } }, half);
    await deliver(world, "xxxx");
    await expect
      .poll(() => received(world)[0]?.data.text)
      .toMatch(/^4 of the last 4 deliveries failed, the latest: /);
    world.restart("orders");
    await deliver(world, "...");
    expect(world.posts).toHaveLength(1);
    await deliver(world, ".");
    await expect.poll(() => told(world).at(-1)).toBe("alert.ended orders failures");
  });
});

describe("a silence", () => {
  const until = (world: World, ms: number) =>
    world.core("dead").reconfigure(
      () => {
        world.queues.dead = { ...world.queues.dead, alertsSilentUntilMs: ms } as QueueDefinition;
      },
      () => {},
    );

  it("puts an alert off until its end, also over a crash, and lists it", async () => {
    const world = deadLettering();
    await until(world, world.nowMs + MINUTE_MS);
    await world.sendAndPass("orders", ["a"], MINUTE_MS - 1);
    world.restart("dead");
    expect(world.core("dead").describe().alerts).toMatchObject([{ kind: "dead_letters", isReported: false }]);
    expect(world.posts).toEqual([]);
    await world.pass(1);
    await expect.poll(() => told(world)).toEqual(["alert.begun dead dead_letters"]);
  });

  it("lists an alert that begins anew with its own time and text, not with what was told before", async () => {
    const world = alerted(
      { orders: { consumer: consumer(failing) }, mails: { consumer: consumer(failing) }, dead: {} },
      { deadLetters: true },
    );
    world.handler = () => ({ outcome: "exception" });
    await world.sendAndPass("orders", ["a"]);
    await expect.poll(() => told(world)).toEqual(["alert.begun dead dead_letters"]);
    await world.pass(MINUTE_MS);
    await until(world, world.nowMs + 60 * MINUTE_MS);
    const endedOn = new Date(world.nowMs).toISOString();
    await world.core("dead").purge();
    await world.pass(MINUTE_MS);
    await world.sendAndPass("mails", ["b"], MINUTE_MS);
    const text = 'the first dead letter has come, from queue "mails"';
    const listed = () => world.core("dead").describe().alerts;
    expect(listed()).toMatchObject([{ text, isReported: false }]);
    expect(world.posts).toHaveLength(1);
    await world.pass(60 * MINUTE_MS);
    await expect
      .poll(() => told(world).slice(1))
      .toEqual(["alert.ended dead dead_letters", "alert.begun dead dead_letters"]);
    expect(received(world)[1]?.data.ended).toBe(endedOn);
    expect(received(world)[2]?.data.text).toBe(text);
    expect(listed()).toMatchObject([{ text, isReported: true }]);
  });

  it("has nobody told of an alert that ends before it", async () => {
    const world = deadLettering();
    await until(world, world.nowMs + MINUTE_MS);
    await world.sendAndPass("orders", ["a"]);
    await world.core("dead").purge();
    await world.pass(10 * MINUTE_MS);
    expect(world.posts).toEqual([]);
  });
});

it("an alert that has ended is told in the log by what it was", async () => {
  const world = alerted(
    { orders: { consumer: consumer({ ...failing, deadLetterQueue: null }) } },
    { failures: { share: 0, deliveries: 1 } },
  );
  world.handler = () => ({ outcome: "exception", error: "no card" });
  await world.sendAndPass("orders", ["a"]);
  world.handler = () => ({});
  await world.sendAndPass("orders", ["a"]);
  const text = "1 of the last 1 deliveries failed, the latest: no card";
  expect(world.lines.filter((line) => line.includes(": alert "))).toEqual([
    `warn: Queue "orders": alert failures has begun: ${text}`,
    `info: Queue "orders": alert failures has ended, which was: ${text}`,
  ]);
});

it("an alert has its form for Slack, unsigned, with Slack's markup escaped", async () => {
  const world = alerted(
    { "a-queue": { consumer: consumer({ ...failing, deadLetterQueue: null }) } },
    { format: "slack", failures: { share: 0, deliveries: 1 } },
  );
  world.handler = () => ({ outcome: "exception", error: "<!channel> & more\nat handler" });
  await world.sendAndPass("a-queue", ["a"]);
  world.handler = () => ({});
  await world.sendAndPass("a-queue", ["a"]);
  const texts = () => world.posts.map(({ body }) => JSON.parse(new TextDecoder().decode(body)).text);
  const text = "1 of the last 1 deliveries failed, the latest: &lt;!channel&gt; &amp; more";
  await expect
    .poll(texts)
    .toEqual([
      `:red_circle: *a-queue*: ${text}`,
      expect.stringMatching(
        /^:large_green_circle: \*a-queue\*: failures since 2023-\S+ has ended, which was: 1 of/,
      ),
    ]);
  expect(world.posts[0]?.headers).not.toHaveProperty("webhook-signature");
});

it("alerts cost nothing that is not set, and rows only when one begins or ends", async () => {
  const queues = { orders: { consumer: consumer(failing) }, dead: {} };
  const all = {
    deadLetters: true,
    oldestMessageSeconds: 3_600,
    stalledSeconds: 300,
    failures: { share: 0.5, deliveries: 4 },
  };
  const [without, silent] = [new World(queues), alerted(queues, all)];
  for (const world of [without, silent]) {
    for (let i = 0; i < 10; i++) await world.sendAndPass("orders", ["a"], 1_000);
  }
  expect(silent.posts).toEqual([]);
  expect(silent.store("orders").rowsWritten).toBe(without.store("orders").rowsWritten);
  expect(silent.alarms).toEqual(without.alarms);
  expect([...silent.store("orders").notes()].filter(({ key }) => key === ALERTS_NOTE)).toEqual([]);
});

it("an alert that begins writes two rows and deletes one in its queue, and one more in that of the webhook", async () => {
  const rows: number[] = [];
  for (const deadLetters of [false, true]) {
    const world = alerted({ orders: { consumer: consumer(failing) }, dead: {} }, { deadLetters });
    world.handler = () => ({ outcome: "exception" });
    await world.sendAndPass("orders", ["a"]);
    if (deadLetters) await expect.poll(() => world.posts.length).toBe(1);
    await world.pass(0);
    rows.push(world.store("dead").rowsWritten);
    if (!deadLetters) continue;
    const before = world.store(ALERTS_QUEUE).rowsWritten;
    await world.core("dead").purge();
    await expect.poll(() => world.posts.length).toBe(2);
    await world.pass(0);
    expect(world.store(ALERTS_QUEUE).rowsWritten - before).toBe(4);
  }
  expect((rows[1] ?? 0) - (rows[0] ?? 0)).toBe(3);
});

it("a silence costs an alarm at its end, and only where something waits for that", async () => {
  const silenced = async (bodies: string[]) => {
    const world = deadLettering();
    const endMs = world.nowMs + MINUTE_MS;
    world.queues.dead = { ...world.queues.dead, alertsSilentUntilMs: endMs } as QueueDefinition;
    for (const body of bodies) await world.sendAndPass("orders", [body]);
    return world.alarms.filter(([queue, atMs]) => queue === "dead" && atMs === MINUTE_MS);
  };
  expect(await silenced([])).toEqual([]);
  expect((await silenced(["a"])).length).toBeGreaterThan(0);
});
