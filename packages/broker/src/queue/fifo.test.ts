import { DEDUPLICATION_MS, type QueueDefinition, VISIBILITY_TIMEOUT_MS_MAX } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { endpoint } from "../../test/messages.ts";
import { only, packToSend, SqsWorld } from "../../test/sqs-world.ts";
import { WORLD_START_MS } from "../../test/world.ts";
import { ATTEMPTS_MAX } from "../receive/attempts.ts";
import { takeDefinitionBefore } from "./definition-change.ts";

const QUEUE = "orders.fifo";
const fifo = (changes = {}) => new SqsWorld({ [QUEUE]: changes });
const message = (body: string, deduplicationId: string, groupId = "g") => ({
  body,
  groupId,
  deduplicationId,
});

describe("sequence numbers (spec sqs 4.4)", () => {
  it("have 20 digits and grow, over crashes and though nothing is left", async () => {
    const queues = fifo();
    const numbers: string[] = [];
    for (let life = 0; life < 3; life++) {
      for (const name of ["g-1", "h-1"]) {
        const { sequenceNumber } = only(await queues.enqueue(QUEUE, name));
        if (sequenceNumber === null) throw new Error("no sequence number");
        numbers.push(sequenceNumber);
      }
      const received = await queues.receive(QUEUE);
      expect(received.map((seen) => seen.sequenceNumber)).toEqual(numbers.slice(-2));
      await queues.delete(QUEUE, ...received);
      queues.crash(QUEUE);
    }
    expect(numbers.every((number) => /^\d{20}$/.test(number))).toBe(true);
    expect(numbers).toEqual([...new Set(numbers)].sort());
  });

  it("are those that the senders were told, when several sends share a commit", async () => {
    const queues = fifo();
    queues.store(QUEUE).hold();
    const sends = ["a", "b", "c", "d"].map((body, i) =>
      queues.enqueue(
        QUEUE,
        { body, groupId: "g", delaySeconds: i === 1 ? 0 : 0 },
        { body: `${body}2`, groupId: "h" },
      ),
    );
    await queues.quiet();
    queues.store(QUEUE).release();
    const told = (await Promise.all(sends))
      .flat()
      .map(({ messageId, sequenceNumber }) => [messageId, sequenceNumber]);
    const seen = [...(await queues.receive(QUEUE)), ...(await queues.receive(QUEUE))];
    expect(new Map(seen.map(({ id, sequenceNumber }) => [id, sequenceNumber]))).toEqual(
      new Map(told as [string, string][]),
    );
  });
});

describe("deduplication (spec sqs 4.3)", () => {
  it("drops no messages of a backup, and remembers none of their ids", async () => {
    const queues = fifo();
    await queues.enqueue(QUEUE, message("a", "a"));
    const packed = packToSend([message("a", "a"), message("b", "b", "h"), message("c", "b", "h")]);
    await queues.core(QUEUE).work({ enqueue: { packed, attempts: [3, 1, 2] } });
    await queues.enqueue(QUEUE, message("d", "b", "h"));
    const { messages } = await queues.core(QUEUE).messages.look({ max: 10 });
    expect(messages.map(({ attempts }) => attempts)).toEqual([0, 3, 1, 2, 0]);
  });

  it("answers a duplicate with the first message's id and number, and stores nothing", async () => {
    const queues = fifo();
    const first = only(await queues.enqueue(QUEUE, message("a", "d")));
    expect(
      await queues.enqueue(QUEUE, message("b", "d"), message("c", "e"), message("f", "e")),
    ).toMatchObject([{ ...first, duplicate: true }, { duplicate: false }, { duplicate: true }]);
    expect(await queues.bodies(QUEUE)).toEqual(["a", "c"]);
  });

  it("remembers ids after the message is deleted, for five minutes from the first send, over crashes", async () => {
    const queues = fifo();
    const first = only(await queues.enqueue(QUEUE, message("a", "d")));
    await queues.delete(QUEUE, ...(await queues.receive(QUEUE)));
    await queues.pass(DEDUPLICATION_MS - 1);
    queues.crash(QUEUE);
    expect(only(await queues.enqueue(QUEUE, message("b", "d")))).toEqual({ ...first, duplicate: true });
    await queues.pass(1);
    expect(only(await queues.enqueue(QUEUE, message("c", "d"))).duplicate).toBe(false);
    expect(await queues.bodies(QUEUE)).toEqual(["c"]);
  });

  it("tells ids of different groups apart where that is the scope", async () => {
    const inQueue = fifo();
    const inGroup = fifo({ fifo: { deduplicationScope: "messageGroup" } });
    const sends = [message("a", "d", "g"), message("b", "d", "h"), message("c", "d", "h")];
    expect((await inQueue.enqueue(QUEUE, ...sends)).map(({ duplicate }) => duplicate)).toEqual([
      false,
      true,
      true,
    ]);
    expect((await inGroup.enqueue(QUEUE, ...sends)).map(({ duplicate }) => duplicate)).toEqual([
      false,
      false,
      true,
    ]);
  });

  it("forgets with a purge, and stores nothing of what has expired", async () => {
    const queues = fifo();
    await queues.enqueue(QUEUE, message("a", "d"));
    await queues.core(QUEUE).purge();
    expect([...queues.store(QUEUE).notes()]).toEqual([]);
    expect(only(await queues.enqueue(QUEUE, message("b", "d"))).duplicate).toBe(false);
    expect([...queues.store(QUEUE).notes()]).toHaveLength(1);
    await queues.pass(DEDUPLICATION_MS);
    expect([...queues.store(QUEUE).notes()]).toEqual([]);
    expect(await queues.core(QUEUE).messageCounts()).toEqual({ visible: 1, notVisible: 0, delayed: 0 });
  });

  it("wakes the queue once for what it remembers, not for each id", async () => {
    const queues = fifo();
    for (let i = 0; i < 20; i++) {
      await queues.enqueue(QUEUE, message("a", `d${i}`));
      await queues.pass(1_000);
    }
    const before = queues.alarms.length;
    await queues.pass(2 * DEDUPLICATION_MS);
    expect([...queues.store(QUEUE).notes()]).toEqual([]);
    expect(queues.alarms.length - before).toBeLessThanOrEqual(3);
  });

  it("holds for Cloudflare's send too", async () => {
    const queues = fifo();
    await queues.enqueue(QUEUE, message("a", "d"));

    const packed = packToSend([message("b", "d"), message("c", "e")]);
    expect(await queues.core(QUEUE).send([{ packed }])).toMatchObject({ ok: true });
    expect(await queues.bodies(QUEUE)).toEqual(["a", "c"]);
  });

  it("that is damaged lets duplicates pass, and says so", async () => {
    const queues = fifo();
    await queues.enqueue(QUEUE, message("a", "d"));
    queues.crash(QUEUE);
    queues.store(QUEUE).damage(({ notes }) => {
      for (const key of notes.keys()) notes.set(key, new Uint8Array(9));
    });
    expect(only(await queues.enqueue(QUEUE, message("b", "d"))).duplicate).toBe(false);
    expect(queues.core(QUEUE).damage.entries).toMatchObject([{ kind: "messagesAgain" }]);
  });

  it("that is damaged does not make the alarm ring all the time while older ids are remembered", async () => {
    const queues = fifo();
    await queues.enqueue(QUEUE, message("a", "a"));
    await queues.enqueue(QUEUE, message("b", "b"));
    queues.crash(QUEUE);
    queues.store(QUEUE).damage(({ notes }) => notes.set([...notes.keys()].at(-1) ?? "", new Uint8Array(9)));
    expect(queues.core(QUEUE).deduplication.forgetAtMs).toBe(queues.nowMs + DEDUPLICATION_MS);
  });
});

describe("a group", () => {
  it("is blocked after a crash as it was before", async () => {
    const queues = fifo();
    await queues.enqueue(QUEUE, "g-1", "g-2", "h-1");
    const held = only(await queues.receive(QUEUE, { max: 1 }));
    queues.crash(QUEUE);
    expect(await queues.bodies(QUEUE)).toEqual(["h-1"]);
    expect(await queues.delete(QUEUE, held)).toEqual(["deleted"]);
    queues.crash(QUEUE);
    expect(await queues.bodies(QUEUE)).toEqual(["g-2"]);
  });

  it("stays in order when its messages die, in both queues", async () => {
    const redrive = { deadLetterQueue: "dead.fifo", maxReceiveCount: 2 };
    const queues = new SqsWorld({ [QUEUE]: { receive: { redrive } }, "dead.fifo": {} });
    await queues.enqueue(QUEUE, message("1", "d1"), message("2", "d2"), message("3", "d3"));
    for (let i = 0; i < 2; i++)
      expect(await queues.bodies(QUEUE, { max: 2, visibilityTimeoutMs: 0 })).toEqual(["1", "2"]);
    expect(await queues.bodies(QUEUE)).toEqual(["3"]);
    await queues.quiet();
    const dead = await queues.receive("dead.fifo");
    expect(dead.map(({ body, receiveCount }) => [body, receiveCount])).toEqual([
      ["1", 3],
      ["2", 3],
    ]);
    // The id takes the place of the deduplication id, so that no two dead letters are duplicates.
    for (const { id, extension } of dead) {
      expect(extension).toEqual({ groupId: "g", deduplicationId: id, deadLetterSource: QUEUE });
    }
  });

  it("that a Cloudflare queue's producer cannot name is one for all its messages", async () => {
    const queues = fifo();
    await queues.send(QUEUE, ["1", "2", "3"]);
    expect(await queues.bodies(QUEUE, { max: 1 })).toEqual(["1"]);
    expect(await queues.bodies(QUEUE)).toEqual([]);
  });
});

describe("the delay of a FIFO queue (spec sqs 4.1)", () => {
  it.each([
    [QUEUE, 1_000],
    ["orders", 10_000],
  ])(
    "of %s counts, when it is changed, for messages that wait already: these come after %i ms",
    async (queue, dueMs) => {
      const queues = new SqsWorld({ [queue]: { deliveryDelaySeconds: 10 } });
      await queues.enqueue(queue, "g-1");
      const changed = { ...queues.queues[queue], deliveryDelaySeconds: 1 } as QueueDefinition;
      await queues.core(queue).reconfigure(
        () => {
          queues.queues[queue] = changed;
        },
        () => {},
      );
      queues.crash(queue);
      await queues.pass(dueMs - 1);
      expect(await queues.bodies(queue)).toEqual([]);
      await queues.pass(1);
      expect(await queues.bodies(queue)).toEqual(["g-1"]);
    },
  );

  it("is that of a new deployment from its start on: what it makes due is delivered then", async () => {
    const queues = fifo({ deliveryDelaySeconds: 900, consumer: endpoint() });
    await queues.enqueue(QUEUE, "g-1");
    queues.crash(QUEUE);
    const before = queues.queues[QUEUE];
    queues.queues[QUEUE] = { ...before, deliveryDelaySeconds: 5 } as QueueDefinition;
    takeDefinitionBefore(queues.core(QUEUE), before);
    await queues.pass(4_999);
    expect(queues.posts).toEqual([]);
    queues.crash(QUEUE);
    await queues.pass(1);
    expect(queues.posts).toHaveLength(1);
  });

  it("wakes a receiver that waits when it is shortened", async () => {
    const queues = fifo({ deliveryDelaySeconds: 900 });
    await queues.enqueue(QUEUE, "g-1");
    const reply = queues.receive(QUEUE, { waitMs: 5_000 });
    await queues.quiet();
    await queues.core(QUEUE).reconfigure(
      () => {
        queues.queues[QUEUE] = { ...queues.queues[QUEUE], deliveryDelaySeconds: 0 } as QueueDefinition;
      },
      () => {},
    );
    expect(only(await reply).body).toBe("g-1");
  });
});

describe("a receive attempt id (spec sqs 4.5)", () => {
  const attempt = { attemptId: "try", visibilityTimeoutMs: 30_000 };

  it("gives the same messages with the same receipts, hidden anew, while nothing has happened to them", async () => {
    const queues = fifo();
    await queues.enqueue(QUEUE, "g-1", "g-2", "h-1");
    const first = await queues.receive(QUEUE, { ...attempt, max: 2 });
    await queues.pass(29_000);
    expect(await queues.receive(QUEUE, { ...attempt, max: 2 })).toEqual(first);
    await queues.pass(29_999);
    expect(await queues.bodies(QUEUE)).toEqual(["h-1"]);
    expect(await queues.delete(QUEUE, ...first)).toEqual(["deleted", "deleted"]);
  });

  it.each([
    ["deleted", (queues: SqsWorld, held: Parameters<SqsWorld["delete"]>[1]) => queues.delete(QUEUE, held)],
    [
      "changed",
      (queues: SqsWorld, held: Parameters<SqsWorld["delete"]>[1]) =>
        queues.setVisibility(QUEUE, held, 31_000),
    ],
  ])("polls as usual once one of them was %s", async (_what, touch) => {
    const queues = fifo();
    await queues.enqueue(QUEUE, "g-1", "h-1");
    const held = only(await queues.receive(QUEUE, { ...attempt, max: 1 }));
    await touch(queues, held);
    expect(await queues.bodies(QUEUE, attempt)).toEqual(["h-1"]);
  });

  it("polls as usual when the messages are visible again, or after an empty answer", async () => {
    const queues = fifo();
    expect(await queues.bodies(QUEUE, attempt)).toEqual([]);
    await queues.enqueue(QUEUE, "g-1");
    const held = only(await queues.receive(QUEUE, attempt));
    await queues.pass(30_000);
    const again = only(await queues.receive(QUEUE, attempt));
    expect([again.receiveCount, again.receipt === held.receipt]).toEqual([2, false]);
  });

  it.each([
    [DEDUPLICATION_MS - 1, 1],
    [DEDUPLICATION_MS, 0],
  ])("is remembered for five minutes: after %i ms %i message(s)", async (ms, count) => {
    const queues = fifo();
    await queues.enqueue(QUEUE, "g-1");
    const request = { attemptId: "try", visibilityTimeoutMs: 600_000 };
    await queues.receive(QUEUE, request);
    await queues.pass(ms);
    expect(await queues.receive(QUEUE, request)).toHaveLength(count);
  });

  it("hides its messages for twelve hours from its first receive at most, and goes on to give them", async () => {
    const queues = fifo();
    await queues.enqueue(QUEUE, "g-1");
    const first = await queues.receive(QUEUE, attempt);
    const longest = { attemptId: "try", visibilityTimeoutMs: VISIBILITY_TIMEOUT_MS_MAX };
    for (let i = 0; i < 2; i++) {
      await queues.pass(10_000);
      expect(await queues.receive(QUEUE, longest)).toEqual(first);
    }
    await queues.pass(VISIBILITY_TIMEOUT_MS_MAX - 20_001);
    expect(await queues.bodies(QUEUE)).toEqual([]);
    await queues.pass(1);
    expect(await queues.bodies(QUEUE)).toEqual(["g-1"]);
  });

  it("outlives the broker, with its five minutes, and costs no row where nobody names one", async () => {
    const queues = fifo();
    await queues.enqueue(QUEUE, "g-1", "h-1");
    const request = { attemptId: "try", visibilityTimeoutMs: 600_000 };
    const first = await queues.receive(QUEUE, { ...request, max: 1 });
    await queues.receive(QUEUE, { visibilityTimeoutMs: 600_000 });
    const notes = () => [...queues.store(QUEUE).notes()].filter(({ key }) => key.startsWith("attempt:"));
    expect(notes()).toHaveLength(1);
    await queues.pass(200_000);
    queues.crash(QUEUE);
    expect(await queues.receive(QUEUE, request)).toEqual(first);
    queues.crash(QUEUE);
    await queues.pass(99_999);
    expect(await queues.receive(QUEUE, request)).toEqual(first);
    await queues.pass(1);
    expect(notes()).toEqual([]);
    expect(await queues.receive(QUEUE, request)).toEqual([]);
  });

  it("that is damaged in the store is forgotten, and the log says so", async () => {
    const queues = fifo();
    await queues.enqueue(QUEUE, "g-1");
    await queues.receive(QUEUE, attempt);
    queues.crash(QUEUE);
    queues.store(QUEUE).damage(({ notes }) => {
      for (const bytes of notes.values()) bytes[8] = 0xff;
    });
    expect(await queues.receive(QUEUE, attempt)).toEqual([]);
    expect(queues.lines.join()).toContain("a receive attempt id is damaged and forgotten");
    await queues.pass(30_000);
    expect(await queues.bodies(QUEUE, attempt)).toEqual(["g-1"]);
  });

  it("is forgotten for newer ones when there are too many", async () => {
    const queues = fifo();
    const { attempts } = queues.core(QUEUE);
    await queues.core(QUEUE).submit(() => {
      for (let i = 0; i <= ATTEMPTS_MAX; i++) {
        attempts.note(`try-${i}`, { receipts: [], receivedMs: WORLD_START_MS, visibleAtMs: Infinity });
      }
    });
    const kept = [...queues.store(QUEUE).notes()].map(({ key }) => key.split(":").at(-1));
    expect([kept.length, kept.includes("try-0"), kept.includes("try-1")]).toEqual([
      ATTEMPTS_MAX,
      false,
      true,
    ]);
  });

  it("means nothing on a standard queue", async () => {
    const queues = new SqsWorld({ orders: {} });
    await queues.enqueue("orders", "a", "b");
    expect(await queues.bodies("orders", { ...attempt, max: 1 })).toEqual(["a"]);
    expect(await queues.bodies("orders", { ...attempt, max: 1 })).toEqual(["b"]);
  });
});
