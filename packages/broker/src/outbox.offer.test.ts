import { type MessageCopy, PackedIndex } from "@sluice/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { packTexts, testId } from "../test/messages.ts";
import { World } from "../test/world.ts";
import { OFFER_MS_MAX } from "./outbox.ts";

/*
 * What a topic hands over without storing it first: all copies of a publish are for one target, and nothing waits for that.
 */

const TOPIC = "topic/1";
let world: World;

beforeEach(() => {
  world = new World({ mail: {}, audit: {} });
  // There are timers, as in the Durable Object.
  world.sharesCommits = true;
});

const copyOf = (target: string, body: string): MessageCopy => ({
  target,
  packed: packTexts([body]),
  sequenceNumberAt: null,
});
const publish = (body: string, targets: readonly string[] = ["mail"]) =>
  world.core(TOPIC).topic.publish({
    deduplicationScope: null,
    messages: [
      {
        ...{ messageId: testId(), deduplicationId: null, groupId: null },
        copies: targets.map((target) => copyOf(target, body)),
      },
    ],
  });
const intents = () => world.store(TOPIC).outbox().length;

async function bodies(queue = "mail"): Promise<string[]> {
  const reply = await world.core(queue).receivers.receive({ max: 10 });
  if (reply.kind !== "received") return [];
  const index = new PackedIndex(reply.packed);
  return reply.receipts.map((_, i) => new TextDecoder().decode(index.message(i).body));
}

/** The first publish of a life is stored: what follows need not be. */
async function begin(): Promise<void> {
  expect(await publish("first")).toMatchObject({ ok: true });
  await world.pass(0);
  expect(await bodies()).toEqual(["first"]);
}

/** Whether a promise is settled after all that needs no time. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.then(() => {
    settled = true;
  });
  await world.quiet();
  return settled;
}

describe("what is published for one target", () => {
  it("goes there without being stored first, and is answered when it is there", async () => {
    await begin();
    const writes = world.store(TOPIC).rowsWritten;
    const seen: number[] = [];
    world.carry = (_target, _handOver, deliver) => {
      seen.push(intents());
      return deliver();
    };
    expect(await publish("a")).toMatchObject({ ok: true, messages: [{ duplicate: false }] });
    expect(await bodies()).toEqual(["a"]);
    expect(seen).toEqual([0]);
    expect(world.store(TOPIC).rowsWritten).toBe(writes);
    expect(world.core(TOPIC).topic.describe()).toMatchObject({ published: 2, handOvers: [] });
  });

  it("is stored first where there are several targets: none of them may go without it", async () => {
    await begin();
    const seen: number[] = [];
    world.carry = (_target, _handOver, deliver) => {
      seen.push(intents());
      return deliver();
    };
    await publish("a", ["mail", "audit"]);
    await world.pass(0);
    expect(seen[0]).toBe(2);
    expect([await bodies("mail"), await bodies("audit")]).toEqual([["a"], ["a"]]);
  });

  it("arrives in every life of the topic: none begins with the numbers of another that stored nothing", async () => {
    for (const body of ["a", "b", "c"]) {
      await publish(body);
      await world.pass(0);
      world.crash(TOPIC);
    }
    expect(await bodies()).toEqual(["a", "b", "c"]);
  });

  it.each(["call", "answer"])("is kept and arrives once when the %s is lost", async (lost) => {
    await begin();
    world.carry = async (_target, _handOver, deliver) => {
      // Until the topic's object crashes, nothing goes through any more.
      world.carry = () => new Promise(() => {});
      if (lost === "answer") await deliver();
      throw new Error("the connection was lost");
    };
    expect(await publish("a")).toMatchObject({ ok: true });
    expect(intents()).toBe(1);
    world.crash(TOPIC);
    world.carry = (_target, _handOver, deliver) => deliver();
    world.core(TOPIC);
    await world.pass(10_000);
    expect(await bodies()).toEqual(["a"]);
    expect(intents()).toBe(0);
  });

  it("is kept when its target takes long, and arrives once though the first call does in the end", async () => {
    await begin();
    const late = Promise.withResolvers<void>();
    world.carry = async (_target, _handOver, deliver) => {
      world.carry = (_, __, again) => again();
      await late.promise;
      return deliver();
    };
    const answer = publish("a");
    expect(await isSettled(answer)).toBe(false);
    await world.pass(OFFER_MS_MAX - 1);
    expect(await isSettled(answer)).toBe(false);
    await world.pass(1);
    expect(await isSettled(answer)).toBe(true);
    await world.pass(1_000);
    expect(await bodies()).toEqual(["a"]);
    late.resolve();
    await world.pass(10_000);
    expect(await bodies()).toEqual([]);
  });

  it.each(["taken", "lost"])(
    "is not overtaken by what is published meanwhile, for that would look like what was taken before: %s",
    async (fate) => {
      await begin();
      const first = Promise.withResolvers<void>();
      world.carry = async (_target, _handOver, deliver) => {
        world.carry = (_, __, again) => again();
        await first.promise;
        if (fate === "lost") throw new Error("the connection was lost");
        return deliver();
      };
      const answers = [publish("a"), publish("b")];
      await world.pass(0);
      expect(await isSettled(answers[1] as Promise<unknown>)).toBe(true);
      expect(await bodies()).toEqual([]);
      expect(intents()).toBe(1);
      first.resolve();
      await Promise.all(answers);
      await world.pass(1_000);
      expect(await bodies()).toEqual(["a", "b"]);
      expect(intents()).toBe(0);
    },
  );

  it("lets what came meanwhile go on when it is withdrawn", async () => {
    await begin();
    world.carry = () => Promise.reject(new Error("no route"));
    const { outbox } = world.core(TOPIC);
    const open = await outbox.offer("mail", packTexts(["a"]));
    if (open === null) throw new Error("nobody can have taken it");
    await publish("b");
    world.carry = (_target, _handOver, deliver) => deliver();
    outbox.withdraw(open);
    await world.pass(0);
    expect(await bodies()).toEqual(["b"]);
  });
});
