import { type ConsumerPort, failedResult } from "@sluice/broker";
import {
  type Delivery,
  type DeliveryResult,
  packMessages,
  type QueueTopology,
  unpackMessages,
} from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import type { Fault } from "../api.ts";
import { FaultyConsumers } from "./faulty-consumers.ts";
import type { InterruptibleDelivery, Interruption } from "./interruptions.ts";
import { Recorder } from "./recorder.ts";

const idOf = (number: number) => `${number}`.padStart(32, "0");

/** Makes a batch of the messages 1 to `count`, with a consumer that acknowledges by default. */
function batchOf(count: number, faults: readonly Fault[], { isFifo = false, attempt = 1 } = {}) {
  const recorder = new Recorder();
  const numbers = Array.from({ length: count }, (_, i) => i + 1);
  recorder.noted("orders", { kind: "accepted", count, ids: numbers.map(idOf).join("") }, 0);
  const settings = { maxRetries: 3 };
  const definition = { consumer: { type: "worker", settings }, ...(isFifo ? { fifo: {} } : {}) };
  const topology = { queues: { orders: definition } } as unknown as QueueTopology;
  const consumers = new FaultyConsumers(topology, recorder);
  consumers.plan(faults);
  const got: string[] = [];
  const interruptions: Interruption[] = [];
  const answers: Awaited<ReturnType<ConsumerPort["deliver"]>>[] = [];
  const consumer: ConsumerPort = {
    name: "mailer",
    deliver: async ({ packed, interruption }: InterruptibleDelivery) => {
      if (interruption !== undefined) interruptions.push(interruption);
      got.push(
        unpackMessages(packed)
          .map(({ id }) => Number(id))
          .join(" "),
      );
      return answers.shift() ?? "acknowledged";
    },
    callsOf: async () => null,
    ping: async () => "pong",
  };
  const messages = numbers.map((number) => ({
    id: idOf(number),
    timestampMs: 1,
    contentType: "text" as const,
    body: new TextEncoder().encode(`${number}`),
  }));
  const metrics = { backlogCount: 0, backlogBytes: 0, oldestMessageTimestampMs: 0 };
  const packed = packMessages(messages as never);
  const delivery: Delivery = { id: "1", queue: "orders", packed, attempts: attempt, metrics };
  const deliver = async () => {
    const answer = await consumers.wrap("orders", consumer).deliver(delivery);
    if (typeof answer === "string" || "rejected" in answer) return answer;
    const { explicitAcks, retryMessages } = answer;
    return {
      acked: explicitAcks.map(Number),
      retried: retryMessages.map(({ msgId, delaySeconds }) => [Number(msgId), delaySeconds]),
    };
  };
  const came = () => recorder.after(0).flatMap((entry) => (entry.kind === "fault" ? entry.fault.kind : []));
  const due = () => recorder.after(0).flatMap((entry) => (entry.kind === "due" ? entry.faults : []));
  return { deliver, got, came, due, answers, interruptions };
}

const fault = (kind: Fault["kind"], message: number, arg?: number): Fault => ({
  kind,
  message,
  attempt: 1,
  ...(arg === undefined ? {} : { arg }),
});

describe("a consumer with faults", () => {
  it("is unchanged without faults", async () => {
    const { deliver, got, came } = batchOf(2, [fault("lostAck", 9)]);
    expect([await deliver(), got, came()]).toEqual(["acknowledged", ["1 2"], []]);
  });

  it("notes each fault whose delivery begins and that can come in it, whether it comes or not", async () => {
    const planned = [fault("lateRetry", 1), fault("duplicate", 2), fault("duplicate", 3)];
    const first = batchOf(2, planned);
    await first.deliver();
    expect([first.due(), first.came()]).toEqual([planned.slice(0, 2), ["duplicate"]]);
    const last = batchOf(1, [fault("crash", 1), fault("reorder", 1), fault("split", 1)], {
      isFifo: true,
      attempt: 4,
    });
    await last.deliver();
    expect(last.due()).toEqual([fault("split", 1)]);
  });

  it("gets the message once more by duplicate", async () => {
    const { deliver, got } = batchOf(3, [fault("duplicate", 2)]);
    expect(await deliver()).toEqual({ acked: [1, 2, 3], retried: [] });
    expect(got).toEqual(["1 2 3", "2"]);
  });

  it("gets the message last, or later, by reorder", async () => {
    const last = batchOf(3, [fault("reorder", 1, 0)]);
    expect([await last.deliver(), last.got]).toEqual([{ acked: [2, 3, 1], retried: [] }, ["2 3 1"]]);
    const later = batchOf(3, [fault("reorder", 1, 60)]);
    expect([await later.deliver(), later.got]).toEqual([{ acked: [2, 3], retried: [[1, 60]] }, ["2 3"]]);
    const alone = batchOf(1, [fault("reorder", 1)]);
    expect([await alone.deliver(), alone.got]).toEqual([{ acked: [], retried: [[1, 1]] }, []]);
  });

  it("ignores reorder in a FIFO queue, which keeps the order", async () => {
    const { deliver, got, came } = batchOf(2, [fault("reorder", 1)], { isFifo: true });
    expect([await deliver(), got, came()]).toEqual(["acknowledged", ["1 2"], []]);
  });

  it("gets the batch in two parts by split", async () => {
    const second = batchOf(3, [fault("split", 2)]);
    expect([await second.deliver(), second.got]).toEqual([{ acked: [1, 2, 3], retried: [] }, ["1", "2 3"]]);
    const first = batchOf(3, [fault("split", 1)]);
    await first.deliver();
    expect(first.got).toEqual(["1", "2 3"]);
  });

  it("loses the acknowledgement of that message only by lostAck", async () => {
    const { deliver, got } = batchOf(2, [fault("lostAck", 1)]);
    expect(await deliver()).toEqual({ acked: [2], retried: [[1, undefined]] });
    expect(got).toEqual(["1 2"]);
  });

  it("gets the message later by lateRetry if it retries it, and not at all otherwise", async () => {
    const { deliver, answers, came } = batchOf(2, [fault("lateRetry", 1, 3_600), fault("lateRetry", 2, 60)]);
    const retried: DeliveryResult = {
      ...failedResult(""),
      outcome: "ok",
      retryMessages: [{ msgId: idOf(1), delaySeconds: 10 }],
    };
    answers.push(retried);
    expect(await deliver()).toEqual({ acked: [2], retried: [[1, 3_610]] });
    expect(came()).toEqual(["lateRetry"]);
  });

  it.each(["endBefore", "endAfter"] as const)("ignores %s at the last attempt", async (kind) => {
    const last = batchOf(1, [fault(kind, 1)], { attempt: 4 });
    expect(await last.deliver()).toBe("acknowledged");
    expect([last.interruptions, last.came()]).toEqual([[], []]);
  });

  it.each(["lostAck", "throwAfter", "crash"] as const)("ignores %s at the last attempt", async (kind) => {
    const before = batchOf(1, [fault(kind, 1)], { attempt: 3 });
    await before.deliver();
    expect(before.came()).toEqual([kind]);
    const last = batchOf(1, [fault(kind, 1)], { attempt: 4 });
    expect(await last.deliver()).toBe("acknowledged");
    expect(last.came()).toEqual([]);
  });

  it.each(["endBefore", "endAfter"] as const)(
    "counts %s only where the handler has ended there",
    async (kind) => {
      const ended = batchOf(2, [fault(kind, 2, 3)]);
      ended.answers.push(failedResult(`fault ${kind}: the handler ended`));
      expect(await ended.deliver()).toEqual({
        acked: [],
        retried: [
          [1, undefined],
          [2, undefined],
        ],
      });
      expect([ended.got, ended.came()]).toEqual([["1 2"], [kind]]);
      expect(ended.interruptions).toEqual([{ kind, call: 3 }]);
      const shorter = batchOf(2, [fault(kind, 2, 3)]);
      expect([await shorter.deliver(), shorter.came()]).toEqual([{ acked: [1, 2], retried: [] }, []]);
      const failing = batchOf(2, [fault(kind, 2)]);
      failing.answers.push(failedResult("Error: no"));
      await failing.deliver();
      expect([failing.came(), failing.interruptions]).toEqual([[], [{ kind, call: 1 }]]);
    },
  );

  it("counts deliveries by message", async () => {
    const { deliver, came } = batchOf(1, [{ kind: "duplicate", message: 1, attempt: 2 }]);
    await deliver();
    expect(came()).toEqual([]);
    await deliver();
    expect(came()).toEqual(["duplicate"]);
  });
});
