import { type MessageCopy, PackedIndex, type PublishedMessage, packMessages } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { testId } from "../../test/messages.ts";
import { WORLD_START_MS, World } from "../../test/world.ts";

const TOPIC = "topic/1";

function copy(target: string, body: string, sequenceNumberAt: number | null = null): MessageCopy {
  const packed = packMessages([{ id: testId(), contentType: "text", body: new TextEncoder().encode(body) }]);
  return { target, packed, sequenceNumberAt };
}

function message(copies: readonly MessageCopy[], rest: Partial<PublishedMessage> = {}): PublishedMessage {
  return { messageId: testId(), deduplicationId: null, groupId: null, copies, ...rest };
}

function publish(
  world: World,
  messages: readonly PublishedMessage[],
  deduplicationScope: "topic" | "messageGroup" | null = null,
) {
  return world.core(TOPIC).topic.publish({ messages, deduplicationScope });
}

async function bodies(world: World, queue: string, publishedMs = world.nowMs): Promise<string[]> {
  const reply = await world.core(queue).receivers.receive({ max: 10 });
  if (reply.kind !== "received") return [];
  const index = new PackedIndex(reply.packed);
  // Sent when it was published, however long it was on its way.
  expect(index.timestampMs(0)).toBeLessThanOrEqual(publishedMs);
  return reply.receipts.map((_, i) => new TextDecoder().decode(index.message(i).body));
}

describe("what is published", () => {
  it("reaches every target once, in one commit with one intent for each, sent when it was published", async () => {
    const world = new World({ mail: {}, audit: {} });
    const intents: number[] = [];
    world.carry = (_target, _transfer, deliver) => {
      intents.push(world.store(TOPIC).outbox().length);
      world.nowMs += 50;
      return deliver();
    };
    const first = message([copy("mail", "a"), copy("audit", "A")]);
    const reply = await publish(world, [first, message([copy("mail", "b")])]);
    expect(reply).toMatchObject({
      ok: true,
      messages: [{ messageId: first.messageId, sequenceNumber: null, duplicate: false }, {}],
    });
    await world.pass(0);
    expect(intents[0]).toBe(2);
    expect(await bodies(world, "mail", WORLD_START_MS)).toEqual(["a", "b"]);
    expect(await bodies(world, "audit", WORLD_START_MS)).toEqual(["A"]);
    expect(world.store(TOPIC).outbox()).toEqual([]);
  });

  it("arrives once in spite of a crash at any point after the answer", async () => {
    for (const lose of ["call", "answer"] as const) {
      const world = new World({ mail: {} });
      let crashes = 1;
      world.carry = async (_target, _transfer, deliver) => {
        if (lose === "answer" || crashes === 0) await deliver();
        if (crashes-- > 0) {
          world.crash(TOPIC);
          await new Promise(() => {});
        }
      };
      expect(await publish(world, [message([copy("mail", "a")])])).toMatchObject({ ok: true });
      await world.pass(60_000);
      expect(await bodies(world, "mail")).toEqual(["a"]);
      expect(world.store(TOPIC).outbox()).toEqual([]);
    }
  });

  it("waits for a target out of reach without keeping the others waiting", async () => {
    const world = new World({ dead: {}, mail: {} });
    let isReachable = false;
    world.carry = (target, _transfer, deliver) =>
      target === "dead" && !isReachable ? Promise.reject(new Error("no route")) : deliver();
    await publish(world, [message([copy("dead", "a"), copy("mail", "b")])]);
    await world.pass(1_000);
    expect(await bodies(world, "mail")).toEqual(["b"]);
    const { handOvers } = world.core(TOPIC).topic.describe();
    // Tried at once, after 0.5 s, and 1 s after that.
    expect(handOvers).toEqual([{ target: "dead", messages: 1, retryAtMs: WORLD_START_MS + 1_500 }]);
    isReachable = true;
    await world.pass(60_000);
    expect(await bodies(world, "dead")).toEqual(["a"]);
    expect(world.core(TOPIC).topic.describe().handOvers).toEqual([]);
  });

  it("is described as on its way while its target has not answered", async () => {
    const world = new World({ mail: {} });
    world.carry = () => new Promise(() => {});
    await publish(world, [message([copy("mail", "a")]), message([copy("mail", "b")])]);
    await world.pass(0);
    expect(world.core(TOPIC).topic.describe()).toEqual({
      nowMs: WORLD_START_MS,
      awakeSinceMs: WORLD_START_MS,
      published: 2,
      duplicates: 0,
      handOvers: [{ target: "mail", messages: 2, retryAtMs: null }],
      damage: [],
    });
  });

  it("is counted once, with its duplicates apart", async () => {
    const world = new World({ mail: {} });
    const one = message([copy("mail", "a")], { deduplicationId: "1", groupId: "g" });
    await publish(world, [one], "topic");
    await publish(
      world,
      [one, message([copy("mail", "b")], { deduplicationId: "2", groupId: "g" })],
      "topic",
    );
    expect(world.core(TOPIC).topic.describe()).toMatchObject({ published: 2, duplicates: 1 });
  });

  it("is refused when it goes by an older version of the topic than is known, and nothing is taken", async () => {
    const world = new World({ mail: {} });
    const { topic } = world.core(TOPIC);
    const by = (version: number, body: string) =>
      topic.publish({ messages: [message([copy("mail", body)])], deduplicationScope: null, version });
    topic.changed(5);
    expect(await by(4, "a")).toEqual({ ok: "outdated" });
    expect(await by(5, "b")).toMatchObject({ ok: true });
    // A publisher may know a later version from the directory than this object.
    expect(await by(7, "c")).toMatchObject({ ok: true });
    expect(await by(6, "d")).toEqual({ ok: "outdated" });
    topic.changed(6);
    expect(await by(7, "e")).toMatchObject({ ok: true });
    topic.changed(null);
    expect(await by(8, "f")).toEqual({ ok: "outdated" });
    await world.pass(0);
    expect(await bodies(world, "mail")).toEqual(["b", "c", "e"]);
  });

  it("is refused as a whole when a copy cannot be read", async () => {
    const world = new World({ mail: {} });
    const broken = { ...copy("mail", "b"), packed: new Uint8Array(3) };
    expect(await publish(world, [message([copy("mail", "a"), broken])])).toMatchObject({
      ok: false,
      code: 10203,
    });
    const outside = { ...copy("mail", "b"), sequenceNumberAt: 30 };
    expect(await publish(world, [message([outside])])).toMatchObject({ ok: false, code: 10203 });
    await world.pass(1_000);
    expect(await bodies(world, "mail")).toEqual([]);
  });
});

describe("a FIFO topic", () => {
  const HEADER_BYTES = 40;
  const numbered = (deduplicationId: string, groupId = "g", target = "mail") =>
    message([copy(target, "00000000000000000000", HEADER_BYTES)], { deduplicationId, groupId });

  async function publishOne(world: World, one: PublishedMessage, scope: "topic" | "messageGroup" = "topic") {
    const reply = await publish(world, [one], scope);
    if (reply.ok !== true || reply.messages[0] === undefined) throw new Error("refused");
    return reply.messages[0];
  }

  it("numbers its messages, growing over crashes, and puts the number where it belongs", async () => {
    const world = new World({ mail: {} });
    const first = await publishOne(world, numbered("1"));
    const second = await publishOne(world, numbered("2"));
    world.crash(TOPIC);
    const third = await publishOne(world, numbered("3"));
    const numbers = [first, second, third].map(({ sequenceNumber }) => sequenceNumber ?? "");
    expect(numbers).toEqual([...numbers].sort());
    expect(new Set(numbers).size).toBe(3);
    for (const number of numbers) expect(number).toMatch(/^\d{20}$/);
    await world.pass(1_000);
    expect(await bodies(world, "mail")).toEqual(numbers);
  });

  it("drops duplicates for five minutes, over crashes, and answers them as the first one", async () => {
    const world = new World({ mail: {} });
    const first = await publishOne(world, numbered("same"));
    world.crash(TOPIC);
    world.nowMs += 299_999;
    expect(await publishOne(world, numbered("same", "other group"))).toEqual({ ...first, duplicate: true });
    world.nowMs += 1;
    const again = await publishOne(world, numbered("same"));
    expect(again).toMatchObject({ duplicate: false });
    await world.pass(1_000);
    expect(await bodies(world, "mail")).toEqual([first.sequenceNumber, again.sequenceNumber]);
  });

  it("tells duplicates within each group where that is its scope", async () => {
    const world = new World({ mail: {} });
    await publishOne(world, numbered("same", "a"), "messageGroup");
    expect(await publishOne(world, numbered("same", "b"), "messageGroup")).toMatchObject({
      duplicate: false,
    });
    expect(await publishOne(world, numbered("same", "b"), "messageGroup")).toMatchObject({ duplicate: true });
  });
});

describe("messages for a queue that does not exist", () => {
  const packed = packMessages([{ id: testId(), contentType: "text", body: new TextEncoder().encode("a") }]);
  const transfer = { source: TOPIC, id: 7, packed };

  it("go to the dead-letter queue of their subscription, once, although transferred twice", async () => {
    const world = new World({ dead: {} });
    const destination = { kind: "deadLetter", queue: "dead" } as const;
    await world.core("gone").inbox.forward(transfer, destination);
    await world.core("gone").inbox.forward(transfer, destination);
    world.crash("gone");
    await world.core("gone").inbox.forward(transfer, destination);
    await world.pass(1_000);
    expect(await bodies(world, "dead")).toEqual(["a"]);
    expect(world.lines).toContainEqual(expect.stringContaining('goes to the dead-letter queue "dead"'));
  });

  it("are dropped with the reason where there is none", async () => {
    const world = new World({});
    await world
      .core("gone")
      .inbox.forward(transfer, { kind: "dropped", reason: "its subscription has ended" });
    expect(world.lines).toEqual([
      'warn: 1 message of a topic for queue "gone" is dropped: its subscription has ended',
    ]);
    expect(world.core("gone").outbox.isEmpty).toBe(true);
  });
});
