import { describe, expect, it } from "vitest";
import { consumer } from "../../test/messages.ts";
import { only, SqsWorld } from "../../test/sqs-world.ts";
import { WORLD_START_MS, World } from "../../test/world.ts";

const one = { maxBatchSize: 1, maxBatchTimeoutSeconds: 0, maxConcurrency: 1 };

const messagesOf = (world: World, queue = "orders") => world.core(queue).messages.look({ max: 100 }).messages;

function refOf(world: World, body: string): string {
  return only(messagesOf(world).filter((message) => new TextDecoder().decode(message.body) === body)).ref;
}

const makeDue = (world: World, body: string) => world.core("orders").messages.makeDue([refOf(world, body)]);

/** A world whose consumer answers when a test says so. */
function held(settings: Parameters<typeof consumer>[0] = one) {
  const world = new World({ orders: { consumer: consumer(settings) } });
  const ends: ((result: object) => void)[] = [];
  world.handler = () => new Promise((end) => ends.push(end));
  return { world, ends };
}

describe("a message that is made due by hand", () => {
  it("is delivered at once though it was delayed, over a crash too", async () => {
    const { world } = held();
    await world.send("orders", ["m"], { delaySeconds: 600 });
    world.running = false;
    expect(await makeDue(world, "m")).toEqual(["due"]);
    // The consumer was not there, so the message is released, uncounted and due.
    await world.quiet();
    world.crash("orders");
    world.running = true;
    await world.pass(60_000);
    expect(world.seen.flatMap(({ messages }) => messages)).toMatchObject([{ body: "m", attempts: 1 }]);
  });

  it("is delivered again while its consumer works on it, whose answer changes nothing", async () => {
    const { world, ends } = held({ ...one, maxConcurrency: 2, maxRetries: 0 });
    world.core("orders").queue.push.target = 2;
    await world.send("orders", ["m"]);
    await world.quiet();
    expect(await makeDue(world, "m")).toEqual(["due"]);
    await world.quiet();
    expect(world.seen.map(({ messages }) => messages[0]?.attempts)).toEqual([1, 2]);
    ends[0]?.({});
    await world.quiet();
    expect(messagesOf(world)).toMatchObject([{ state: "leased", attempts: 2 }]);
    expect(world.core("orders").queue.push.inFlight).toBe(1);
    ends[1]?.({});
    await world.quiet();
    expect(messagesOf(world)).toEqual([]);
  });

  it("is due though its retry waits, and a message that is ready stays where it is", async () => {
    const { world, ends } = held({ ...one, retryDelaySeconds: 600 });
    await world.send("orders", ["m", "other"]);
    await world.quiet();
    ends[0]?.({ retryBatch: { retry: true } });
    await world.quiet();
    expect(await makeDue(world, "m")).toEqual(["due"]);
    expect(await makeDue(world, "m")).toEqual(["wasDue"]);
    ends[1]?.({});
    await world.quiet();
    expect(world.seen.map(({ messages }) => messages[0]?.body)).toEqual(["m", "other", "m"]);
  });

  it("is visible to clients again", async () => {
    const world = new SqsWorld({ orders: {} });
    await world.enqueue("orders", "m");
    const [first] = await world.receive("orders");
    if (first === undefined) throw new Error("it was sent");
    expect(await makeDue(world, "m")).toEqual(["due"]);
    expect(only(await world.receive("orders")).receiveCount).toBe(2);
    // A client that had the message has done the work: on a standard queue any receipt counts.
    expect(await world.delete("orders", first)).toEqual(["deleted"]);
  });

  it("has to be there", async () => {
    const { world } = held();
    await world.send("orders", ["m"], { delaySeconds: 600 });
    const ref = refOf(world, "m");
    await world.core("orders").deleteByRefs([ref]);
    expect(await world.core("orders").messages.makeDue([ref, "nonsense"])).toEqual(["gone", "gone"]);
  });
});

it.each([
  ["acknowledges", {}],
  ["retries", { retryBatch: { retry: true } }],
  ["fails", { outcome: "exception" }],
])(
  "a message that is deleted while a consumer works on it is gone, and the consumer that then %s it frees its slot and changes nothing",
  async (_what, result) => {
    const { world, ends } = held();
    await world.send("orders", ["m", "next"]);
    await world.quiet();
    expect(await world.core("orders").deleteByRefs([refOf(world, "m")])).toEqual({
      deleted: 1,
      warnings: [],
    });
    ends[0]?.(result);
    await world.pass(1_000);
    expect(world.seen.map(({ messages }) => messages[0]?.body)).toEqual(["m", "next"]);
    ends[1]?.({});
    await world.pass(WORLD_START_MS);
    expect(world.seen).toHaveLength(2);
    expect(world.core("orders").describe()).toMatchObject({ ready: 0, delayed: 0, leased: 0 });
    expect(world.broken).toEqual([]);
  },
);
