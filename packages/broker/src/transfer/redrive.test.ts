import { describe, expect, it } from "vitest";
import { consumer, pullConsumer } from "../../test/messages.ts";
import { only, SqsWorld } from "../../test/sqs-world.ts";
import { WORLD_START_MS } from "../../test/world.ts";
import { rulesOf } from "../turn/rules.ts";

describe("one rule for how often a message is delivered", () => {
  const definition = { deliveryDelaySeconds: 0, messageRetentionSeconds: 60, producers: [], consumer: null };
  const redrive = (maxReceiveCount: number) => ({
    receive: { redrive: { deadLetterQueue: "d", maxReceiveCount } },
  });

  it.each([
    ["max_retries of 3", { consumer: consumer({ maxRetries: 3 }) }, 3],
    ["a maxReceiveCount of 1", redrive(1), 0],
    ["a maxReceiveCount of 1,000", redrive(1_000), 999],
    ["both: the redrive policy", { consumer: consumer({ maxRetries: 3 }), ...redrive(8) }, 7],
    ["settings of SQS without a redrive policy", { receive: { redrive: null } }, Number.POSITIVE_INFINITY],
    ["no settings", {}, Number.POSITIVE_INFINITY],
    ["settings of SQS and a consumer", { receive: {}, consumer: consumer({ maxRetries: 3 }) }, 3],
  ])("the number of retries follows from %s", (_what, changes, maxRetries) => {
    expect(rulesOf({ ...definition, ...changes }).maxRetries).toBe(maxRetries);
  });
});

describe("a message that was received too often (spec sqs 6.1)", () => {
  const redrive = { deadLetterQueue: "dead", maxReceiveCount: 2 };

  it("moves at the next receive, which goes on with others, and keeps what it was", async () => {
    const queues = new SqsWorld({ orders: { receive: { redrive } }, dead: {} });
    const sent = only(await queues.enqueue("orders", { body: "m", attributes: new Uint8Array([5]) }));
    await queues.enqueue("orders", "other");
    const first = await queues.receive("orders", { max: 1, visibilityTimeoutMs: 1_000 });
    await queues.pass(1_000);
    await queues.receive("orders", { max: 1, visibilityTimeoutMs: 1_000 });
    // It does not move when its visibility timeout ends.
    await queues.pass(60_000);
    expect(await queues.core("orders").messageCounts()).toMatchObject({ visible: 2 });
    expect(await queues.bodies("orders")).toEqual(["other"]);
    await queues.quiet();
    const letter = only(await queues.receive("dead"));
    expect(letter).toMatchObject({
      id: sent.messageId,
      body: "m",
      receiveCount: 3,
      timestampMs: first[0]?.timestampMs,
      extension: { attributes: new Uint8Array([5]), deadLetterSource: "orders" },
    });
    expect(queues.lines.join()).toContain("it was received 2 times");
  });

  it("is kept for the dead-letter queue's retention from its send on, and that one is the longer one", async () => {
    const queues = new SqsWorld({
      orders: { receive: { redrive } },
      dead: { messageRetentionSeconds: 86_400 },
    });
    await queues.enqueue("orders", "old");
    await queues.pass(3_600_000);
    for (let i = 0; i < 3; i++) await queues.receive("orders", { visibilityTimeoutMs: 0 });
    await queues.pass(82_799_999);
    queues.crash("dead");
    expect(await queues.core("dead").messageCounts()).toMatchObject({ visible: 1 });
    await queues.pass(1);
    expect(await queues.core("dead").messageCounts()).toMatchObject({ visible: 0 });
    expect(queues.lines.join()).toContain(
      'Queue "dead": 1 message is deleted after the retention period of 86400 s',
    );
  });

  it("a message of a FIFO queue begins its retention anew, at the time of its move", async () => {
    const queues = new SqsWorld({
      "orders.fifo": { receive: { redrive: { deadLetterQueue: "dead.fifo", maxReceiveCount: 1 } } },
      "dead.fifo": { messageRetentionSeconds: 86_400 },
    });
    await queues.enqueue("orders.fifo", "g-old");
    await queues.pass(3_600_000);
    for (let i = 0; i < 2; i++) await queues.receive("orders.fifo", { visibilityTimeoutMs: 0 });
    await queues.pass(86_399_999);
    const letter = only(await queues.receive("dead.fifo", { visibilityTimeoutMs: 0 }));
    expect(letter.timestampMs).toBe(WORLD_START_MS + 3_600_000);
    await queues.pass(1);
    expect(await queues.bodies("dead.fifo")).toEqual([]);
  });

  it("goes along a chain of dead-letter queues, each with its own count", async () => {
    const to = (deadLetterQueue: string) => ({
      receive: { redrive: { deadLetterQueue, maxReceiveCount: 2 } },
    });
    const queues = new SqsWorld({ first: to("second"), second: to("third"), third: {} });
    const sent = only(await queues.enqueue("first", "m"));
    for (const queue of ["first", "second"]) {
      for (let i = 0; i < 2; i++) {
        expect(await queues.bodies(queue, { visibilityTimeoutMs: 0 })).toEqual(["m"]);
      }
      expect(await queues.bodies(queue)).toEqual([]);
      await queues.quiet();
    }
    expect(only(await queues.receive("third"))).toMatchObject({
      id: sent.messageId,
      receiveCount: 5,
      extension: { deadLetterSource: "second" },
    });
  });

  it("moves with as many others as fit into memory, and a receive that waits gets what is behind them", async () => {
    const queues = new SqsWorld({
      orders: { receive: { redrive: { ...redrive, maxReceiveCount: 1 } } },
      dead: {},
    });
    const large = "x".repeat(1_000_000);
    for (let i = 0; i < 20; i++) await queues.enqueue("orders", { body: large });
    for (let i = 0; i < 2; i++) await queues.receive("orders", { visibilityTimeoutMs: 60_000 });
    await queues.pass(60_000);
    await queues.enqueue("orders", "behind");
    expect(await queues.ask("orders")).toEqual({ kind: "empty" });
    expect(await queues.core("orders").messageCounts()).toMatchObject({ visible: 21 - 8 });
    const reply = queues.receive("orders", { waitMs: 5_000 });
    expect(only(await reply).body).toBe("behind");
    await queues.quiet();
    expect(await queues.core("dead").messageCounts()).toMatchObject({ visible: 20 });
  });

  it("is received for ever without a redrive policy", async () => {
    const queues = new SqsWorld({ orders: {} });
    await queues.enqueue("orders", "m");
    for (let i = 1; i <= 200; i++) {
      expect(only(await queues.receive("orders", { visibilityTimeoutMs: 0 })).receiveCount).toBe(i);
    }
  });

  it("a message of a Cloudflare queue dies by its consumer's max_retries; without another queue it is deleted", async () => {
    const queues = new SqsWorld({ orders: { consumer: pullConsumer({ maxBatchSize: 10, maxRetries: 1 }) } });
    await queues.enqueue("orders", "m");
    for (let i = 0; i < 2; i++)
      expect(await queues.bodies("orders", { visibilityTimeoutMs: 0 })).toEqual(["m"]);
    expect(await queues.bodies("orders")).toEqual([]);
    expect(queues.lines.join()).toContain("Dropped message");
  });

  it("survives a crash at every write of its move", async () => {
    for (let k = 1; k <= 12; k++) {
      const queues = new SqsWorld({ orders: { receive: { redrive } }, dead: {} });
      await queues.enqueue("orders", "m");
      for (let i = 0; i < 2; i++) await queues.receive("orders", { visibilityTimeoutMs: 0 });
      queues.store("orders").failWrite(k);
      queues.store("dead").failWrite(k);
      for (let i = 0; i < 3; i++) {
        await queues.bodies("orders").catch(() => []);
        await queues.pass(60_000);
      }
      for (const name of ["orders", "dead"]) queues.store(name).failWrite(Number.POSITIVE_INFINITY);
      expect([k, await queues.bodies("orders"), await queues.bodies("dead")]).toEqual([k, [], ["m"]]);
    }
  });
});
