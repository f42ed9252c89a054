import type { ConsumerHealth } from "@sluice/protocol";
import { describe, expect, it, vi } from "vitest";
import {
  DEAD,
  directoryOf,
  FIGURES_REPLY,
  lookedAt,
  OPEN,
  ORDERS,
  queueWith,
  recordOf,
  TOPIC,
} from "../../test/directory.ts";
import { memoryAudit } from "../../test/in-memory.ts";
import { createGateway } from "../index.ts";
import { LISTED_AT_ONCE } from "./in-parallel.ts";

const API = "http://localhost:8787/__sluice/api";

/** Posts to the clock as a program does, or as a browser's page of `origin`. */
function moveClock(
  directory = directoryOf(),
  body = '{"advanceMs": 1000}',
  headers: Record<string, string> = {},
) {
  return createGateway(directory, OPEN).request(`${API}/clock`, { method: "POST", body, headers });
}

const NO_METRICS = { backlogCount: 0, backlogBytes: 0, oldestMessageTimestampMs: 0 };

async function json(response: Response | Promise<Response>): Promise<unknown> {
  return (await response).json();
}

const MESSAGE = lookedAt();

describe("GET /queues", () => {
  it("shows sleeping queues as they have reported where that is asked for, and wakes none of them", async () => {
    const directory = directoryOf({ dead: DEAD, orders: ORDERS });
    const description = { ...(await directory.describe("orders")), ready: 5 };
    const asked: string[] = [];
    const gateway = createGateway(
      {
        ...directory,
        describe: (queue) => {
          asked.push(queue);
          return directory.describe(queue);
        },
        account: {
          ...directory.account,
          atRest: async () => [{ queueId: recordOf("orders", ORDERS).queueId, description }],
        },
      },
      OPEN,
    );
    const readyOf = async (query: string) => {
      const response = await gateway.request(`${API}/queues${query}`);
      const { queues } = (await response.json()) as { queues: { messages: { ready: number } }[] };
      return queues.map(({ messages }) => messages.ready);
    };
    expect(await readyOf("?reported=true")).toEqual([1, 5]);
    expect(asked).toEqual(["dead"]);
    expect(await readyOf("")).toEqual([1, 1]);
    expect(asked).toEqual(["dead", "dead", "orders"]);
  });

  it("shows every queue with counts, settings, producers and consumer, in order of names", async () => {
    const response = await createGateway(directoryOf(), OPEN).request(`${API}/queues`);
    expect(response.status).toBe(200);
    const common = {
      messages: { ready: 1, delayed: 2, leased: 3 },
      now: "2023-11-14T22:13:20.000Z",
      awakeSince: "2023-11-14T22:13:20.000Z",
      backlogBytes: 4,
      oldestMessageAt: "2023-11-14T22:13:20.000Z",
      storage: { rowsWritten: 5, rowsRead: 6 },
      usage: null,
      damage: [],
      health: null,
      kind: "standard",
      isConfigured: false,
      jurisdiction: null,
      place: null,
      redrive: null,
      topics: [],
      buckets: [],
      lastMove: null,
      faults: [],
      alerts: [],
      rates: null,
    };
    const settings = {
      deliveryPaused: false,
      maxReceivesPerSecond: null,
      visibilityTimeoutSeconds: 30,
      receiveWaitSeconds: 0,
      finishedMessages: 0,
      shards: 1,
      alertsSilentUntil: null,
    };
    expect(await response.json()).toEqual({
      queues: [
        {
          name: "dead",
          id: recordOf("dead", DEAD).queueId,
          ...common,
          settings: { ...settings, deliveryDelaySeconds: 0, messageRetentionSeconds: 345_600 },
          deadLettersOf: { queues: ["orders"], subscriptions: [] },
          producers: [],
          consumer: null,
        },
        {
          name: "orders",
          id: recordOf("orders", ORDERS).queueId,
          ...common,
          settings: { ...settings, deliveryDelaySeconds: 5, messageRetentionSeconds: 86_400 },
          deadLettersOf: { queues: [], subscriptions: [] },
          producers: ORDERS.producers,
          consumer: ORDERS.consumer,
        },
      ],
      deployed: "fingerprint",
    });
  });

  it("shows how deliveries to a queue's consumer go", async () => {
    const failing = {
      isPresent: false,
      inFlight: 2,
      consecutiveFailures: 3,
      lastDelivery: { endedMs: 1_700_000_000_000, failure: "it answered 500" },
      next: { waitsFor: "return", atMs: 1_700_000_001_000 },
    } as const;
    const healthWith = async (consumer: ConsumerHealth) =>
      json(createGateway(directoryOf(undefined, { consumer }), OPEN).request(`${API}/queues/orders`));
    expect(await healthWith(failing)).toMatchObject({
      health: {
        present: false,
        inFlight: 2,
        consecutiveFailures: 3,
        lastDelivery: { endedAt: "2023-11-14T22:13:20.000Z", failure: "it answered 500" },
        next: { waitsFor: "return", at: "2023-11-14T22:13:21.000Z" },
      },
    });
    expect(await healthWith({ ...failing, lastDelivery: null, next: null })).toMatchObject({
      health: { lastDelivery: null, next: null },
    });
  });

  it("shows none when none is configured", async () => {
    expect(await json(createGateway(directoryOf({}), OPEN).request(`${API}/queues`))).toEqual({
      queues: [],
      deployed: "fingerprint",
    });
  });
});

describe("GET /queues/NAME", () => {
  it("shows the queue as the list does", async () => {
    const gateway = createGateway(directoryOf(), OPEN);
    const one = await json(gateway.request(`${API}/queues/orders`));
    expect(await json(gateway.request(`${API}/queues`))).toMatchObject({ queues: [{}, one] });
    expect(one).toMatchObject({ name: "orders" });
  });

  it("shows damage that the queue has found", async () => {
    const damage = [
      { kind: "rolledBack", foundAtMs: 1_700_000_000_000, messagesLost: 3, text: "3 commit(s) are missing" },
    ] as const;
    const gateway = createGateway(directoryOf({ orders: ORDERS }, { damage }), OPEN);
    expect(await json(gateway.request(`${API}/queues/orders`))).toMatchObject({
      damage: [
        {
          kind: "rolledBack",
          foundAt: "2023-11-14T22:13:20.000Z",
          messagesLost: 3,
          text: "3 commit(s) are missing",
        },
      ],
    });
  });

  it("says null for the oldest message when none waits", async () => {
    const gateway = createGateway(directoryOf({ dead: DEAD }, { oldestMessageTimestampMs: 0 }), OPEN);
    expect(await json(gateway.request(`${API}/queues/dead`))).toMatchObject({ oldestMessageAt: null });
  });

  it.each(["nothing", "constructor", "__proto__", "toString"])(
    "answers 404 for %s, which does not exist",
    async (name) => {
      const response = await createGateway(directoryOf(), OPEN).request(`${API}/queues/${name}`);
      expect(response.status).toBe(404);
      expect(await response.json()).toEqual({
        error: { code: "queue_not_found", message: `There is no queue "${name}".` },
      });
    },
  );

  it("answers 500 when the broker fails, and tells why in the log only", async () => {
    const log = vi.spyOn(console, "error").mockImplementation(() => {});
    const directory = { ...directoryOf(), describe: () => Promise.reject(new Error("secret of the disk")) };
    const response = await createGateway(directory, OPEN).request(`${API}/queues/orders`);
    expect(response.status).toBe(500);
    expect(await response.json()).toEqual({
      error: { code: "internal_error", message: "The broker failed; its log says why." },
    });
    expect(log.mock.calls.flat().join()).toMatch(
      /GET \/__sluice\/api\/queues\/orders failed: .*secret of the disk/,
    );
    log.mockRestore();
  });
});

describe("GET /", () => {
  it("names endpoints that are all there", async () => {
    const task = {
      taskId: "1",
      target: null,
      ratePerSecond: null,
      status: "running",
      failure: null,
    } as const;
    const move = { ...task, startedMs: 0, moved: 0, toMove: 1 };
    const directory = directoryOf(undefined, undefined, [{ topic: TOPIC, subscriptions: [] }]);
    const record = recordOf("orders", ORDERS);
    const gateway = createGateway(
      {
        ...directory,
        account: { ...directory.account, changeQueue: async () => ({ ok: true, record }) },
        alerts: {
          settings: { format: "webhook", deadLetters: true },
          trouble: null,
          url: "https://hooks.shop.example/",
        },
        queue: (name) =>
          queueWith({
            drain: directory.queue(name).drain,
            purge: directory.queue(name).purge,
            look: async () => ({ messages: [MESSAGE], matched: 1, cursor: null, searched: 1, of: 1 }),
            send: async () => ({ ok: true, metrics: NO_METRICS }),
            makeDue: async () => ["due"],
            deleteByRefs: async () => ({ deleted: 1, warnings: [] }),
            why: async () => ({ ...MESSAGE.why, also: [] }),
            history: async () => ({ isOn: true, events: [], next: null }),
            watch: () => new Promise(() => {}),
            figures: async () => FIGURES_REPLY,
            story: async () => ({ events: [], gaps: [], before: null, after: null }),
            faults: directory.queue(name).faults,
            setFaults: directory.queue(name).setFaults,
            startMove: async () => ({ ok: true, task: move }),
            listMoves: async () => [move],
            cancelMove: async () => ({ ok: true, task: move }),
            receiveNow: async () => [{ kind: "empty" }],
            deleteBatch: async () => ["deleted"],
          }),
      },
      OPEN,
    );
    const { endpoints } = (await json(gateway.request(`${API}`))) as {
      endpoints: { method: string; path: string; body?: string }[];
    };
    expect(endpoints.length).toBeGreaterThan(0);
    for (const { method, path, body } of endpoints) {
      const name = path.includes("redrive") ? "dead" : "orders";
      const url = `http://localhost:8787${path
        .replace("NAME", name)
        .replace("/ID", `/${"a".repeat(32)}`)
        .replace("ARN", TOPIC.arn)}`;
      const init =
        body === undefined
          ? { method }
          : {
              method,
              body: body
                .replace("N}", "1}")
                .replace("NAME", name)
                .replace("QUEUE", "orders")
                .replace("ANYTHING", "1"),
            };
      // A part of a backup is read by the tests of backups.
      const expected = method === "POST" && path.includes("/backup/") ? 400 : 200;
      expect((await gateway.request(url, init)).status, `${method} ${path}`).toBe(expected);
    }
  });
});

describe("what a process tells of its machine", () => {
  const tell = (reportDisk: ((isFull: boolean) => void) | null, body: string) =>
    createGateway({ ...directoryOf(), reportDisk }, OPEN).request(`${API}/disk`, {
      method: "POST",
      body,
      headers: { "content-type": "application/json" },
    });

  it("hands on whether the disk is full, and nothing else", async () => {
    const reported: boolean[] = [];
    const hear = (isFull: boolean) => void reported.push(isFull);
    for (const body of ['{"isFull": true}', '{"isFull": false}'])
      expect((await tell(hear, body)).status).toBe(200);
    for (const body of ["", "[]", "null", "{}", '{"isFull": 1}']) {
      const response = await tell(hear, body);
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { error: { code: "invalid_body" } },
      ]);
    }
    expect(reported).toEqual([true, false]);
  });

  it("what a process tells of its machine of the clock hands on how far the broker's time is behind, and refuses what is no number", async () => {
    const reported: number[] = [];
    const tellClock = async (reportClock: ((behindMs: number) => Promise<void>) | null, body: string) => {
      const gateway = createGateway({ ...directoryOf(), reportClock }, OPEN);
      const init = { method: "POST", body, headers: { "content-type": "application/json" } };
      return (await gateway.request(`${API}/system-clock`, init)).status;
    };
    const hear = async (behindMs: number) => void reported.push(behindMs);
    expect(await tellClock(hear, '{"behindMs": -86400000}')).toBe(200);
    for (const body of ["", "[]", "{}", '{"behindMs": "1"}', '{"behindMs": 0.5}', '{"behindMs": 1e300}'])
      expect(await tellClock(hear, body)).toBe(400);
    expect(await tellClock(null, '{"behindMs": 1}')).toBe(403);
    expect(reported).toEqual([-86_400_000]);
  });

  it("answers 403 where no process watches a disk", async () => {
    const response = await tell(null, '{"isFull": true}');
    expect([response.status, await response.json()]).toMatchObject([403, { error: { code: "not_here" } }]);
  });
});

describe("POST /stop", () => {
  const audit = memoryAudit();
  const stop = (isServed: boolean) =>
    createGateway({ ...directoryOf(), audit, isServed }, OPEN).request(`${API}/stop`, { method: "POST" });

  it("is for who has started the broker, and is written down", async () => {
    expect((await stop(true)).status).toBe(200);
    expect(audit.records).toMatchObject([{ action: "broker.stop", target: null, by: "local" }]);
    const response = await stop(false);
    expect([response.status, await response.json()]).toMatchObject([403, { error: { code: "not_here" } }]);
  });

  it("is answered when every queue has written what waits, also if one of them fails", async () => {
    const directory = directoryOf();
    const drained: string[] = [];
    const queue = (name: string) => ({
      ...directory.queue(name),
      drain: async () => {
        drained.push(name);
        if (name === "dead") throw new Error("away");
        return { requests: 0 };
      },
    });
    const gateway = createGateway({ ...directory, audit, queue }, OPEN);
    expect((await gateway.request(`${API}/stop`, { method: "POST" })).status).toBe(200);
    expect(drained.sort()).toEqual(["dead", "orders"]);
  });

  it("has few queues write at a time, and all of them", async () => {
    const names = Array.from({ length: 3 * LISTED_AT_ONCE }, (_, i) => `q${i}`);
    const directory = directoryOf(Object.fromEntries(names.map((name) => [name, DEAD])));
    const drained: string[] = [];
    let [open, openMax] = [0, 0];
    const queue = (name: string) => ({
      ...directory.queue(name),
      drain: async () => {
        drained.push(name);
        open += 1;
        openMax = Math.max(open, openMax);
        await new Promise((resolve) => setImmediate(resolve));
        open -= 1;
        return { requests: 0 };
      },
    });
    const gateway = createGateway({ ...directory, audit, queue }, OPEN);
    expect((await gateway.request(`${API}/stop`, { method: "POST" })).status).toBe(200);
    expect(drained).toEqual(expect.arrayContaining(names));
    expect(openMax).toBe(LISTED_AT_ONCE);
  });
});

describe("a page of another origin", () => {
  it.each([
    ["another host", "https://evil.example"],
    ["another port", "http://localhost:3000"],
    ["another scheme", "https://localhost:8787"],
    ["another name of the same machine", "http://127.0.0.1:8787"],
    ["a sandboxed frame", "null"],
    ["nobody", ""],
  ])("cannot move the clock: %s", async (_what, origin) => {
    const directory = directoryOf();
    const response = await moveClock(directory, undefined, { origin });
    expect(response.status).toBe(403);
    expect(await response.json()).toEqual({
      error: {
        code: "other_origin",
        message: `A page of origin ${origin} may not use this broker; a page of http://localhost:8787 may.`,
      },
    });
    expect(directory.advances).toEqual([]);
  });

  it("cannot use any other method that changes something", async () => {
    const gateway = createGateway(directoryOf(), OPEN);
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      const init = { method, headers: { origin: "https://evil.example" } };
      expect((await gateway.request(`${API}/queues/orders`, init)).status, method).toBe(403);
    }
  });

  it("is told nothing about it that a browser would let it read", async () => {
    const response = await moveClock(directoryOf(), undefined, { origin: "https://evil.example" });
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
  });
});

it.each([{ origin: "http://localhost:8787" }, {}])(
  "a page of the broker's own origin, and what is no browser may move the clock: %j",
  async (headers) => {
    const directory = directoryOf();
    expect((await moveClock(directory, undefined, headers as Record<string, string>)).status).toBe(200);
    expect(directory.advances).toEqual([1_000]);
  },
);

describe("POST /queues/NAME/drain", () => {
  it("answers how many requests of the queue's worker daemon are under way", async () => {
    const drain = vi.fn(async () => ({ requests: 3 }));
    const directory = { ...directoryOf(), queue: () => queueWith({ drain }) };
    const gateway = createGateway(directory, OPEN);
    const response = await gateway.request(`${API}/queues/orders/drain`, { method: "POST" });
    expect([response.status, await response.json()]).toEqual([200, { requests: 3 }]);
    expect(drain).toHaveBeenCalledExactlyOnceWith("orders");
  });

  it("answers 404 for a queue that does not exist", async () => {
    const gateway = createGateway(directoryOf(), OPEN);
    const response = await gateway.request(`${API}/queues/nothing/drain`, { method: "POST" });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: "queue_not_found" } });
  });
});
