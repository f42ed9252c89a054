import type { V4MiniflareOptions } from "miniflare";
import { expect, it } from "vitest";
import type { MiniflareOptions } from "./options.ts";
import { sluiceWorkers } from "./sluice-workers.ts";

const SCRIPT = "export default {};";

it("keeps all options, and gives the Workers what they reach the broker by", async () => {
  // The types are Miniflare's.
  const options: V4MiniflareOptions = await sluiceWorkers<V4MiniflareOptions>({
    port: 0,
    resourcePersistencePath: "/data",
    workers: [
      { name: "plain", script: "addEventListener('fetch', () => {});" },
      {
        name: "shop",
        modules: true,
        script: SCRIPT,
        bindings: { GREETING: "hello" },
        compatibilityFlags: ["disallow_importable_env"],
        queueProducers: {
          ORDERS: { queueName: "orders" },
          LATER: { queueName: "orders", deliveryDelay: 60 },
        },
        queueConsumers: { orders: { maxRetries: 7, deadLetterQueue: "dead" } },
      },
    ],
  });
  expect(options).toMatchObject({ port: 0, resourcePersistencePath: "/data" });
  const [plain, shop, broker] = (options as { workers: Record<string, unknown>[] }).workers;
  expect(plain).toEqual({ name: "plain", script: "addEventListener('fetch', () => {});" });
  expect(shop).toMatchObject({
    bindings: { GREETING: "hello" },
    compatibilityFlags: ["rpc"],
    durableObjects: { __SLUICE_QUEUES: { className: "QueueBroker", scriptName: "sluice" } },
  });
  expect(shop).not.toHaveProperty("queueProducers");
  expect(broker).toMatchObject({
    name: "sluice",
    serviceBindings: { CONSUMER_SHOP: { name: "shop", entrypoint: "SluiceQueueConsumer" } },
  });
  expect(broker?.bindings).toMatchObject({
    SLUICE_BROKER_OPTIONS: expect.stringContaining('"maxRetries":7'),
  });
});

it.each<[string, MiniflareOptions, RegExp]>([
  [
    "a service worker",
    { script: "addEventListener('queue', () => {});", queueConsumers: ["jobs"] },
    /^Worker "worker": sluiceWorkers takes ES modules/,
  ],
  [
    "a list that begins with no ES module",
    { modules: [{ type: "CommonJS", path: "a.js", contents: "" }], queueProducers: ["jobs"] },
    /^Worker "worker": sluiceWorkers takes ES modules/,
  ],
  [
    "a setting out of range",
    { modules: true, script: SCRIPT, queueConsumers: { jobs: { maxBatchSize: 101 } } },
    /^Worker "worker": .*max_batch_size/,
  ],
  [
    "a Worker that is called as the broker is",
    { workers: [{ name: "sluice", modules: true, script: SCRIPT }] },
    /^"sluice" is the name of the broker/,
  ],
])("refuses %s", async (_, options, message) => {
  await expect(sluiceWorkers(options)).rejects.toThrow(message);
});
