import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { startBrokerWorker } from "./broker-worker.ts";
import { FAILING, placedEntry } from "./placed-broker.ts";

const SECRET = `whsec_${btoa("0123456789abcdef01234567")}`;
const BASE = "http://localhost";
const TOKEN = "a-token";

interface Report {
  readonly signature: string;
  readonly type: string;
  readonly data: { readonly queue: string; readonly alert: string; readonly text: string };
}

/** Starts the server of a webhook, which takes every report. */
async function startWebhook() {
  const reports: Report[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => {
      reports.push({ ...JSON.parse(body), signature: request.headers["webhook-signature"] });
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const told = () => reports.map(({ type, data }) => `${type} ${data.queue} ${data.alert}`);
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, reports, told };
}

/** Starts a broker as it is deployed: with tokens, and without what `sluice dev` and `serve` set. */
async function startDeployed() {
  const { host, ...webhook } = await startWebhook();
  const alerts = {
    url: `http://${host}/hook`,
    format: "webhook",
    deadLetters: true,
    failures: { share: 0, deliveries: 1 },
  };
  const vars = { SLUICE_API_TOKENS: TOKEN, SLUICE_ALERTS_SECRET: SECRET, SLUICE_PUSH_HOSTS: host };
  const broker = await startBrokerWorker(placedEntry({ queues: {}, alerts }), vars, { consumer: FAILING });
  const call = async (method: string, path: string, body?: object) => {
    const response = await broker.dispatchFetch(`${BASE}/__sluice${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    });
    expect(response.status, path).toBe(200);
    return (await response.json()) as { result: { queue_id: string }; alerts: unknown };
  };
  const create = async (queue_name: string, settings: object = {}) =>
    (await call("POST", "/client/v4/accounts/a/queues", { queue_name, ...settings })).result.queue_id;
  const consume = (id: string, dead_letter_queue: string) =>
    call("POST", `/client/v4/accounts/a/queues/${id}/consumers`, {
      type: "worker",
      script_name: "consumer",
      dead_letter_queue,
      settings: { max_retries: 0, batch_size: 1 },
    });
  const send = async () => expect(await (await broker.dispatchFetch(`${BASE}/send`)).text()).toBe("sent");
  return { ...webhook, call, create, consume, send, broker };
}

it("a deployed broker reports alerts, lists them, and ends those of a queue that is deleted", async () => {
  const { create, consume, send, call, told, reports } = await startDeployed();
  const dead = await create("dead");
  await consume(await create("orders"), "dead");
  await send();
  const begun = ["alert.begun dead dead_letters", "alert.begun orders failures"];
  await expect.poll(() => told().sort()).toEqual(begun);
  expect(reports.map(({ signature }) => signature)).toEqual(
    Array(2).fill(expect.stringMatching(/^v1,\S{44}$/)),
  );
  expect(reports.find(({ data }) => data.queue === "orders")?.data.text).toContain("secret of a customer");
  expect((await call("GET", "/api/alerts")).alerts).toMatchObject([
    { queue: "dead", reported: true },
    { queue: "orders", reported: true },
  ]);

  await call("DELETE", `/client/v4/accounts/a/queues/${dead}`);
  await expect.poll(told).toContain("alert.ended dead dead_letters");
  expect(reports.at(-1)?.data.text).toBe(
    'the first dead letter has come, from queue "orders"; the queue was deleted',
  );
  // A queue that is created with its name has alerts of its own.
  await create("dead");
  await send();
  await expect.poll(() => told().filter((line) => line === begun[0])).toHaveLength(2);
});

it("alerts of a queue in a jurisdiction are reported from outside of it, without what its handler said", async () => {
  const { create, consume, send, call, told, reports, broker } = await startDeployed();
  await create("dead", { jurisdiction: "eu" });
  const orders = await create("orders", { jurisdiction: "eu" });
  await consume(orders, "dead");
  await send();
  await expect
    .poll(() => told().sort())
    .toEqual(["alert.begun dead dead_letters", "alert.begun orders failures"]);
  expect(JSON.stringify(reports)).not.toContain("secret");
  expect(await (await broker.dispatchFetch(`${BASE}/made`)).json()).toEqual([
    "alerts/webhook",
    "eu/dead",
    "eu/orders",
  ]);
  await call("DELETE", `/client/v4/accounts/a/queues/${orders}`);
  await expect.poll(told).toContain("alert.ended orders failures");
});

it("reports go to the URL that a variable has, also from an object that does not know its name", async () => {
  const { host, reports } = await startWebhook();
  // As in the workerd of earlier Wranglers, where the alarm has started the object.
  const entry = `import { defineBroker } from "@sluice/broker-worker";
    import { workersHost } from "../../packages/broker/src/platform/host.ts";
    const hosts = workersHost();
    const hostOf = (ctx, env) => ({ ...hosts(ctx, env), id: { toString: () => ctx.id.toString() } });
    const topology = { queues: {}, alerts: { format: "slack", deadLetters: true } };
    const broker = defineBroker({ topology, consumers: {}, hostOf });
    export const { Directory, QueueBroker } = broker;
    export default broker.handler;`;
  const vars = { SLUICE_ENV: "development", SLUICE_ALERTS_URL: `http://${host}/hook` };
  const broker = await startBrokerWorker(entry, vars);
  const tested = await broker.dispatchFetch(`${BASE}/__sluice/api/alerts/test`, { method: "POST" });
  expect(tested.status).toBe(200);
  await expect.poll(() => reports.length).toBe(1);
});
