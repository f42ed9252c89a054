import { PROTOCOL_VERSION } from "@sluice/protocol";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bundle, folderOfTest } from "./harness.ts";
import { consumer, definition, packTexts } from "./messages.ts";

/*
 * A Worker and a broker of different releases, both in workerd: the same code, whose number is another one. The Worker
 * sends by the producer and consumes by the entrypoint that generated Workers have.
 */
const SHOP_SOURCE = `
import { createQueueConsumer } from "../../consumer/src/index.ts";
import { QueueProducer } from "../../producer/src/index.ts";
const seen = [];
const handlers = {
  async fetch(request, env) {
    if (request.method === "GET") return Response.json(seen);
    const broker = () => env.SLUICE_QUEUES.get(env.SLUICE_QUEUES.idFromName("orders"));
    const options = { queue: "orders", worker: "shop", broker, exposeErrorCodes: true, defaultContentType: "text" };
    try {
      await new QueueProducer(options).send(await request.text());
      return Response.json("sent");
    } catch (error) {
      return Response.json(error.message);
    }
  },
  queue(batch) {
    for (const { body, attempts } of batch.messages) seen.push([body, attempts]);
  },
};
export default handlers;
export const SluiceQueueConsumer = createQueueConsumer(handlers, { waitForWaitUntil: true });
`;
const queues = {
  orders: definition({ consumer: { ...consumer({ maxBatchSize: 1, maxRetries: 0 }), worker: "shop" } }),
};
const BROKER_SOURCE = `
import { workersPort } from "../src/endpoint/workers-port.ts";
import { createDirectory, createQueueBroker } from "../src/index.ts";
const options = { topology: ${JSON.stringify({ queues })}, consumers: { shop: "CONSUMER" } };
export const Directory = createDirectory(options);
export const QueueBroker = createQueueBroker(options, workersPort);
export default { fetch: () => new Response("broker") };
`;

let persistDir: string;
let running: Miniflare | undefined;
let lines: string[];

beforeEach(() => {
  persistDir = folderOfTest();
  lines = [];
});
afterEach(async () => {
  await running?.dispose();
  running = undefined;
});

async function speaking(source: string, protocol: number): Promise<string> {
  const bundled = await bundle(source);
  const changed = bundled.replace(/PROTOCOL_VERSION = \d+/, `PROTOCOL_VERSION = ${protocol}`);
  expect(bundled).toContain(`PROTOCOL_VERSION = ${PROTOCOL_VERSION}`);
  return changed;
}

/** Deploys both, with what the broker had stored. */
async function deploy(protocols: { readonly shop: number; readonly broker: number }) {
  await running?.dispose();
  const worker = async (name: string, source: string, protocol: number) => ({
    name,
    compatibilityDate: "2026-11-01",
    modules: [{ type: "ESModule", path: `${name}.js`, contents: await speaking(source, protocol) }],
  });
  const objects = { className: "QueueBroker", useSQLite: true };
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      resourcePersistencePath: persistDir,
      handleStructuredLogs: ({ message }) => void lines.push(message),
      workers: [
        {
          ...(await worker("shop", SHOP_SOURCE, protocols.shop)),
          durableObjects: { SLUICE_QUEUES: { ...objects, scriptName: "broker" } },
        },
        {
          ...(await worker("broker", BROKER_SOURCE, protocols.broker)),
          durableObjects: {
            SLUICE_QUEUES: objects,
            SLUICE_DIRECTORY: { className: "Directory", useSQLite: true },
          },
          serviceBindings: { CONSUMER: { name: "shop", entrypoint: "SluiceQueueConsumer" } },
        },
      ],
    } as Parameters<typeof convertV4MiniflareOptions>[0]),
  );
  running = miniflare;
  await miniflare.ready;
  const ask = async (init?: { method: string; body: string }) =>
    (await miniflare.dispatchFetch("http://shop/", init)).json();
  const object = async () => {
    const namespace = await miniflare.getDurableObjectNamespace("SLUICE_QUEUES", "broker");
    return namespace.get(namespace.idFromName("orders")) as unknown as {
      send(queue: string, requests: { packed: Uint8Array }[]): Promise<{ ok: boolean }>;
      metrics(queue: string): Promise<{ backlogCount: number }>;
    };
  };
  return {
    send: (body: string) => ask({ method: "POST", body }),
    seen: () => ask(),
    waiting: async () => (await (await object()).metrics("orders")).backlogCount,
    /** As the gateway does, which is the broker's own. */
    put: async (body: string) => (await object()).send("orders", [{ packed: packTexts([body]) }]),
  };
}

describe.each([
  ["the same", 3, 3],
  ["a Worker that is one older", 2, 3],
  ["a Worker that is one newer", 3, 2],
  ["a Worker of a build without numbers", 1, 2],
])("%s", (_, shop, broker) => {
  it("sends and is delivered to", async () => {
    const deployed = await deploy({ shop, broker });
    expect(await deployed.send("hello")).toBe("sent");
    await expect.poll(deployed.seen).toEqual([["hello", 1]]);
  });
});

describe.each([
  ["older", 2, 4, 'deploy Worker "shop" again', "deploy its consumer again", "takes 3 to 5"],
  ["newer", 4, 2, "deploy the broker again", "deploy the broker again", "takes 1 to 3"],
])("a Worker that is two %s", (_, shop, broker, cure, cureOfDelivery, range) => {
  it("is told so when it sends, and nothing is stored", async () => {
    const deployed = await deploy({ shop, broker });
    const message = await deployed.send("hello");
    expect(message).toContain(
      `Nothing is stored: Worker "shop" speaks protocol ${shop}, the broker ${range}: ${cure}`,
    );
    expect(await deployed.waiting()).toBe(0);
  });

  it("is delivered nothing, and gets it at its first attempt when it is deployed again", async () => {
    const deployed = await deploy({ shop, broker });
    await deployed.put("kept");
    const told = () => lines.find((line) => line.includes("does not take its messages, which wait"));
    await expect.poll(told).toContain(`the broker speaks protocol ${broker}`);
    expect(told()).toContain(cureOfDelivery);
    expect(await deployed.waiting()).toBe(1);
    const again = await deploy({ shop: broker, broker });
    await expect.poll(again.seen).toEqual([["kept", 1]]);
  });
});
