import type { ConsumerHealth } from "@sluice/protocol";
import { expect, it, vi } from "vitest";
import { DEAD, directoryOf, OPEN, ORDERS, subscriptionOf, TOPIC } from "../../../test/directory.ts";
import { type Access, createGateway, type QueueDirectory } from "../../index.ts";

const METRICS = "http://localhost:8787/__sluice/metrics";
const HEALTH: ConsumerHealth = {
  ...{ isPresent: false, inFlight: 2, consecutiveFailures: 3 },
  ...{ lastDelivery: null, next: null },
};

async function linesOf(directory: QueueDirectory): Promise<string[]> {
  const response = await createGateway(directory, OPEN).request(METRICS);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  const lines = (await response.text()).split("\n");
  expect(lines.at(-1)).toBe("");
  return lines.filter((line) => line !== "" && !line.startsWith("#"));
}

it("tells of every queue what waits, since when, and what it wrote", async () => {
  const nowMs = 1_700_000_002_500;
  expect(await linesOf(directoryOf({ orders: { ...ORDERS, deliveryPaused: true } }, { nowMs }))).toEqual([
    'sluice_queue_up{queue="orders"} 1',
    'sluice_queue_messages{queue="orders",state="ready"} 1',
    'sluice_queue_messages{queue="orders",state="delayed"} 2',
    'sluice_queue_messages{queue="orders",state="leased"} 3',
    'sluice_queue_backlog_bytes{queue="orders"} 4',
    'sluice_queue_oldest_message_age_seconds{queue="orders"} 2.5',
    'sluice_queue_delivery_paused{queue="orders"} 1',
    'sluice_queue_damage_findings{queue="orders"} 0',
    'sluice_queue_rows_written_total{queue="orders"} 5',
    'sluice_queue_rows_read_total{queue="orders"} 6',
  ]);
});

it("tells how deliveries go where there are any, and no age where nothing waits", async () => {
  const lines = await linesOf(
    directoryOf({ orders: ORDERS }, { consumer: HEALTH, oldestMessageTimestampMs: 0 }),
  );
  expect(lines).toEqual(
    expect.arrayContaining([
      'sluice_queue_consumer_present{queue="orders"} 0',
      'sluice_queue_deliveries_in_flight{queue="orders"} 2',
      'sluice_queue_consecutive_failures{queue="orders"} 3',
      'sluice_queue_oldest_message_age_seconds{queue="orders"} 0',
    ]),
  );
});

it("tells of every topic its subscriptions and how its endpoints are", async () => {
  const pending = { kind: "pending", token: "t", tokenMadeMs: 0 } as never;
  const subscriptions = [
    subscriptionOf(),
    subscriptionOf({ subscriptionId: "1", target: "subscription/1", protocol: "http", status: pending }),
  ];
  const lines = await linesOf(directoryOf({}, { consumer: HEALTH }, [{ topic: TOPIC, subscriptions }]));
  expect(lines).toEqual([
    `sluice_topic_subscriptions{topic="${TOPIC.arn}",status="confirmed"} 1`,
    `sluice_topic_subscriptions{topic="${TOPIC.arn}",status="pending"} 1`,
    `sluice_topic_endpoint_messages{topic="${TOPIC.arn}"} 6`,
    `sluice_topic_endpoints_failing{topic="${TOPIC.arn}"} 1`,
  ]);
});

it("tells which queue does not answer, and logs why", async () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => {});
  const directory = directoryOf({ dead: DEAD, orders: ORDERS });
  const describe: QueueDirectory["describe"] = (name) =>
    name === "dead" ? Promise.reject(new Error("overloaded")) : directory.describe(name);
  const lines = await linesOf({ ...directory, describe });
  expect(lines.filter((line) => line.includes('"dead"'))).toEqual(['sluice_queue_up{queue="dead"} 0']);
  expect(lines).toContain('sluice_queue_messages{queue="orders",state="ready"} 1');
  expect(log.mock.calls).toEqual([['Queue "dead" did not answer for its metrics: Error: overloaded']]);
  log.mockRestore();
});

it("tells of the queues when the endpoints of topics do not answer, and logs why", async () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => {});
  const subscriptions = [subscriptionOf({ target: "subscription/1", protocol: "http" })];
  const directory = directoryOf({ dead: DEAD }, {}, [{ topic: TOPIC, subscriptions }]);
  const describe: QueueDirectory["describe"] = (name) =>
    name === "dead" ? directory.describe(name) : Promise.reject(new Error("overloaded"));
  const lines = await linesOf({ ...directory, describe });
  expect(lines).toContain('sluice_queue_up{queue="dead"} 1');
  expect(lines.filter((line) => line.startsWith("sluice_topic"))).toEqual([]);
  expect(log.mock.calls).toEqual([["Topics did not answer for their metrics: Error: overloaded"]]);
  log.mockRestore();
});

it.each<[Access, Record<string, string>, number]>([
  [{ kind: "tokens", tokens: ["secret"] }, { authorization: "Bearer secret" }, 200],
  [{ kind: "tokens", tokens: ["secret"] }, {}, 401],
  [{ kind: "closed", reason: "no tokens" }, {}, 403],
])("is for whom the admin API is open to: %j, %j: %i", async (access, headers, status) => {
  const response = await createGateway(directoryOf(), access).request(METRICS, { headers });
  expect(response.status).toBe(status);
});
