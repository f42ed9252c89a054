import type { ConsumerHealth } from "@sluice/protocol";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { DEAD, directoryOf, OPEN, ORDERS, recordOf, subscriptionOf, TOPIC } from "../../../test/directory.ts";
import { type Access, createGateway, type QueueDirectory } from "../../index.ts";
import { ASKED_AT_ONCE, ASKED_MS_MAX } from "./ask-queues.ts";

const METRICS = "http://localhost:8787/__sluice/metrics";
const HEALTH: ConsumerHealth = {
  isPresent: false,
  inFlight: 2,
  consecutiveFailures: 3,
  lastDelivery: null,
  next: null,
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
    "sluice_queues_left_out 0",
    'sluice_queue_asleep{queue="orders"} 0',
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
    "sluice_queues_left_out 0",
    `sluice_topic_subscriptions{topic="${TOPIC.arn}",status="confirmed"} 1`,
    `sluice_topic_subscriptions{topic="${TOPIC.arn}",status="pending"} 1`,
    `sluice_topic_endpoint_messages{topic="${TOPIC.arn}"} 6`,
    `sluice_topic_endpoints_failing{topic="${TOPIC.arn}"} 1`,
  ]);
});

describe("queues that are asleep", () => {
  /** A directory in which a queue is at rest, with the queues that were woken. */
  async function resting(name: string, queueId: string) {
    const directory = directoryOf({ dead: DEAD, orders: ORDERS }, { ready: 7 });
    const description = { ...(await directory.describe(name)), ready: 5 };
    const woken: string[] = [];
    const describe: QueueDirectory["describe"] = (queue) => {
      woken.push(queue);
      return directory.describe(queue);
    };
    const account = { ...directory.account, atRest: async () => [{ queueId, description }] };
    return { woken, directory: { ...directory, describe, account } };
  }

  it("queues that are asleep are shown as they came to rest, and are not woken", async () => {
    const { woken, directory } = await resting("orders", recordOf("orders", ORDERS).queueId);
    const lines = await linesOf(directory);
    expect(woken).toEqual(["dead"]);
    expect(lines.filter((line) => /^sluice_queue_(up|asleep)|ready/.test(line))).toEqual([
      'sluice_queue_up{queue="dead"} 1',
      'sluice_queue_up{queue="orders"} 1',
      'sluice_queue_asleep{queue="dead"} 0',
      'sluice_queue_asleep{queue="orders"} 1',
      'sluice_queue_messages{queue="dead",state="ready"} 7',
      'sluice_queue_messages{queue="orders",state="ready"} 5',
    ]);
  });

  it("queues that are asleep are asked when it was another queue of their name that came to rest", async () => {
    const { woken, directory } = await resting("orders", "0".repeat(32));
    expect(await linesOf(directory)).toContain('sluice_queue_messages{queue="orders",state="ready"} 7');
    expect(woken).toEqual(["dead", "orders"]);
  });

  it("queues of endpoints that are asleep are shown too", async () => {
    const subscriptions = [subscriptionOf({ target: "subscription/1", protocol: "http" })];
    const directory = directoryOf({}, { consumer: HEALTH }, [{ topic: TOPIC, subscriptions }]);
    const description = { ...(await directory.describe("subscription/1")), ready: 9, delayed: 0, leased: 0 };
    const account = { ...directory.account, atRest: async () => [{ queueId: "1", description }] };
    const describe = () => Promise.reject(new Error("woken"));
    expect(await linesOf({ ...directory, account, describe })).toContain(
      `sluice_topic_endpoint_messages{topic="${TOPIC.arn}"} 9`,
    );
  });
});

describe("more queues than there is time for", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  it("queues that there is no time for are left out, and the others are asked some at a time", async () => {
    const errors = vi.spyOn(console, "error").mockImplementation(() => {});
    const warnings = vi.spyOn(console, "warn").mockImplementation(() => {});
    const names = Array.from({ length: ASKED_AT_ONCE + 11 }, (_, i) => `q${String(i).padStart(3, "0")}`);
    const directory = directoryOf(Object.fromEntries(names.map((name) => [name, DEAD])));
    const asked: string[] = [];
    // The first one answers, and no other.
    const describe: QueueDirectory["describe"] = (name) => {
      asked.push(name);
      return asked.length === 1 ? directory.describe(name) : new Promise(() => {});
    };
    const answer = linesOf({ ...directory, describe });
    await vi.advanceTimersByTimeAsync(ASKED_MS_MAX - 1);
    expect(asked).toEqual(names.slice(0, ASKED_AT_ONCE + 1));
    await vi.advanceTimersByTimeAsync(1);
    const lines = await answer;
    expect(asked).toHaveLength(ASKED_AT_ONCE + 1);
    expect(lines).toContain("sluice_queues_left_out 10");
    const up = lines.filter((line) => line.startsWith("sluice_queue_up"));
    expect(up).toHaveLength(ASKED_AT_ONCE + 1);
    expect(up.slice(0, 2)).toEqual(['sluice_queue_up{queue="q000"} 1', 'sluice_queue_up{queue="q001"} 0']);
    expect(errors).toHaveBeenCalledTimes(ASKED_AT_ONCE);
    expect(errors).toHaveBeenCalledWith(
      'Queue "q001" did not answer for its metrics: Error: no answer within 8 s',
    );
    expect(warnings.mock.calls).toEqual([
      [
        "10 queues are left out of the metrics, there was no time to ask them: q101, q102, q103, q104, q105, q106, " +
          "q107, q108, q109, q110",
      ],
    ]);
  });
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
