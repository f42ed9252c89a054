import { expect, it, vi } from "vitest";
import { FakeBroker } from "../test/fake-broker.ts";
import { installProducers } from "./install-producers.ts";
import type { QueueProducer } from "./queue-producer.ts";

const OPTIONS = { namespaceBinding: "BROKERS", exposeErrorCodes: true, defaultContentType: "json" } as const;

it("replaces each binding by a producer of its queue, and nothing else", async () => {
  const broker = new FakeBroker();
  const asked: string[] = [];
  const env: Record<string, unknown> = {
    OTHER: "kept",
    BROKERS: {
      getByName(queue: string) {
        asked.push(queue);
        return broker;
      },
    },
  };
  const specs = [
    { binding: "ORDERS", queue: "orders" },
    { binding: "MAILS", queue: "mails", deliveryDelaySeconds: 7 },
  ];
  installProducers(env, specs, OPTIONS);
  expect(asked).toEqual([]);
  const { ORDERS, MAILS } = env as { ORDERS: QueueProducer; MAILS: QueueProducer };
  await ORDERS.send("a");
  await MAILS.send("b");
  await MAILS.send("c");
  expect(asked).toEqual(["orders", "mails", "mails"]);
  expect(broker.calls.map(({ queue, requests }) => [queue, requests[0]?.delaySeconds])).toEqual([
    ["orders", undefined],
    ["mails", 7],
    ["mails", 7],
  ]);
  expect(env.OTHER).toBe("kept");
});

it("lets a Worker start without the broker's binding, and says at the send what is missing", async () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => {});
  const env: { ORDERS?: QueueProducer } = {};
  installProducers(env, [{ binding: "ORDERS", queue: "orders" }], OPTIONS);
  await expect(env.ORDERS?.send(1)).rejects.toThrow(new Error("Unknown Internal Error (15000)"));
  expect(log.mock.calls[0]?.[1]).toEqual(new Error('there is no binding "BROKERS" to the brokers'));
  log.mockRestore();
});

it("a first send that the first shard has no time for goes to another one, which the directory names", async () => {
  const broker = new FakeBroker();
  const overloaded = Object.assign(new Error("Durable Object is overloaded."), { overloaded: true });
  const env: Record<string, unknown> = {
    BROKERS: {
      getByName: (name: string) => (name === "orders" ? { post: () => Promise.reject(overloaded) } : broker),
    },
    DIRECTORY: {
      getByName: () => ({ findByName: async () => ({ shards: { epoch: 7, open: 2, kept: 2 } }) }),
    },
  };
  installProducers(env, [{ binding: "ORDERS", queue: "orders" }], {
    ...OPTIONS,
    directoryBinding: "DIRECTORY",
  });
  await (env as { ORDERS: QueueProducer }).ORDERS.send("a");
  expect(broker.calls.map(({ queue }) => queue)).toEqual(["orders#1@7"]);
});

it("throws when a binding cannot be replaced", () => {
  const env = Object.freeze({ ORDERS: {} });
  expect(() => installProducers(env, [{ binding: "ORDERS", queue: "orders" }], OPTIONS)).toThrow(
    new Error("env.ORDERS cannot be replaced"),
  );
});
