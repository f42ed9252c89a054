import { openBroker } from "@sluice/broker-worker/open-broker";
import type { QueueTopology } from "@sluice/protocol";
import { expect, it } from "vitest";
import { objectsFolder, WORKER } from "./node-broker.ts";

const TOPOLOGY: QueueTopology = {
  queues: {
    orders: { deliveryDelaySeconds: 0, messageRetentionSeconds: 3_600, producers: [], consumer: null },
  },
};

type Broker = ReturnType<typeof openBroker>;

/** Uses a broker whose queues have slept before. */
async function wake(folder: string, use: (broker: Broker) => Promise<void>): Promise<void> {
  const broker = openBroker({
    folder,
    worker: WORKER,
    topology: TOPOLOGY,
    vars: { SLUICE_ENV: "development" },
  });
  try {
    await use(broker);
  } finally {
    broker.close();
  }
}

async function call(broker: Broker, path: string, method = "GET"): Promise<unknown> {
  const response = await broker.gateway.request(`http://localhost/__sluice/api/queues/orders${path}`, {
    method,
  });
  expect({ path, status: response.status }).toEqual({ path, status: 200 });
  return response.json();
}

async function kindsIn(broker: Broker): Promise<string[]> {
  const { events } = (await call(broker, "/history?kind=paused,resumed")) as { events: { kind: string }[] };
  return events.map(({ kind }) => kind).reverse();
}

it("a queue notes that it was paused and resumed while it was asleep, once each", async () => {
  const folder = objectsFolder();
  const noted: string[] = [];
  for (const [action, kind] of [
    ["pause", "paused"],
    ["resume", "resumed"],
    ["pause", "paused"],
  ] as const) {
    await wake(folder, async (broker) => {
      await call(broker, `/${action}`, "POST");
      noted.push(kind);
      await expect.poll(() => kindsIn(broker)).toEqual(noted);
    });
    await wake(folder, async (broker) => {
      await call(broker, "/messages");
      expect(await kindsIn(broker)).toEqual(noted);
    });
  }
});
