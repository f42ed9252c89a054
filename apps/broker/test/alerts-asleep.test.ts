import { startEndpoint } from "@sluice/broker/testing/http-endpoint";
import { definition, endpoint } from "@sluice/broker/testing/messages";
import { openBroker } from "@sluice/broker-worker/open-broker";
import type { AlertsView } from "@sluice/gateway/views";
import type { QueueTopology } from "@sluice/protocol";
import { expect, it, onTestFinished } from "vitest";
import { objectsFolder, WORKER } from "./node-broker.ts";

it("a queue that is deleted while it is asleep ends its alerts", async () => {
  const webhook = await startEndpoint();
  onTestFinished(() => webhook.close());
  webhook.answer = ({ path }) => ({ status: path === "/orders" ? 500 : 204 });
  const url = `http://127.0.0.1:${webhook.port}`;
  const topology: QueueTopology = {
    queues: {
      orders: definition({
        consumer: endpoint({ url: `${url}/orders`, maxRetries: 0, deadLetterQueue: "dead" }),
      }),
      dead: definition({}),
    },
    alerts: { url: `${url}/hook`, format: "slack", deadLetters: true },
  };
  const folder = objectsFolder();
  const open = () => {
    const broker = openBroker({ folder, worker: WORKER, topology, vars: { SLUICE_ENV: "development" } });
    const call = async (path: string, method = "GET", body?: object) => {
      const response = await broker.gateway.request(`http://localhost/__sluice${path}`, {
        method,
        ...(body && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
      });
      expect(response.status, path).toBe(200);
      return (await response.json()) as AlertsView & { result: { queue_id: string }[] };
    };
    return { close: () => broker.close(), call };
  };
  const told = () =>
    webhook.posts
      .filter(({ path }) => path === "/hook")
      .map(({ body }) => /^:(\w+):/.exec(JSON.parse(body).text)?.[1]);

  const first = open();
  const queues = "/client/v4/accounts/any/queues";
  const { result } = await first.call(`${queues}?name=dead`);
  const [orders] = (await first.call(`${queues}?name=orders`)).result;
  await first.call(`${queues}/${orders?.queue_id}/messages`, "POST", { body: { order: 1 } });
  await expect.poll(told).toEqual(["red_circle"]);
  // A report whose answer was not noted comes again.
  await expect.poll(async () => (await first.call("/api/alerts")).webhook?.waiting).toBe(0);
  first.close();

  const second = open();
  onTestFinished(() => second.close());
  await second.call(`${queues}/${result[0]?.queue_id}`, "DELETE");
  await expect.poll(told).toEqual(["red_circle", "large_green_circle"]);
  expect((await second.call("/api/alerts")).alerts).toEqual([]);
});
