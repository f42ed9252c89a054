import {
  ALERT_SILENCE_MS_MAX,
  ALERTS_QUEUE,
  deadLettersText,
  type LookRequest,
  type QueueChange,
  type SendRequest,
  unpackMessages,
} from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { DEAD, directoryOf, lookedAt, OPEN, ORDERS, queueWith, recordOf } from "../../../test/directory.ts";
import { CREATED_MS, memoryTokens } from "../../../test/in-memory.ts";
import { createGateway } from "../../index.ts";
import type { AlertsView } from "./alert-routes.ts";

const API = "http://localhost:8787/__sluice/api";
const HOUR_MS = 3_600_000;

const ALERT = {
  kind: "dead_letters",
  sinceMs: CREATED_MS,
  text: "the first dead letter has come",
  isReported: true,
} as const;

describe("GET /alerts", () => {
  it("lists the alerts of all queues, and of the webhook's URL scheme and host alone", async () => {
    const silent = { ...ORDERS, alertsSilentUntilMs: CREATED_MS + HOUR_MS };
    const directory = directoryOf({ orders: silent, dead: DEAD }, { alerts: [ALERT] });
    const response = await createGateway(directory, OPEN).request(`${API}/alerts`);
    const text = await response.text();
    const alert = {
      alert: "dead_letters",
      since: "2023-11-14T22:13:20.000Z",
      text: ALERT.text,
      reported: true,
      failure: null,
    };
    expect(JSON.parse(text)).toEqual({
      alerts: [
        { queue: "dead", ...alert, silentUntil: null },
        { queue: "orders", ...alert, silentUntil: "2023-11-14T23:13:20.000Z" },
      ],
      webhook: {
        ...{ origin: "https://hooks.shop.example", format: "webhook", trouble: null },
        ...{ waiting: 6, health: null },
      },
    });
    expect(text).not.toContain("secret");
  });

  describe("of a queue at rest", () => {
    /** Lists the alerts of a queue that has these now, and had others by its last report. */
    async function listed(query: string, now: readonly (typeof ALERT)[], before: readonly (typeof ALERT)[]) {
      const directory = directoryOf({ dead: DEAD }, { alerts: now });
      const description = { ...(await directory.describe("dead")), alerts: before };
      const [dead] = await directory.account.list();
      const account = {
        ...directory.account,
        atRest: async () => [{ queueId: dead?.queueId ?? "", description }],
      };
      const response = await createGateway({ ...directory, account }, OPEN).request(`${API}/alerts${query}`);
      return ((await response.json()) as AlertsView).alerts.map(({ alert }) => alert);
    }

    it("asks the queue itself, whatever it has reported", async () => {
      expect(await listed("", [ALERT], [])).toEqual(["dead_letters"]);
      expect(await listed("", [], [ALERT])).toEqual([]);
    });

    it("takes its last report where reports are asked for, unless that has alerts: they may be over", async () => {
      expect(await listed("?reported=true", [ALERT], [])).toEqual([]);
      expect(await listed("?reported=true", [], [ALERT])).toEqual([]);
    });
  });

  it("does not call an alert reported that the webhook has not taken, and says why", async () => {
    const directory = directoryOf({ orders: ORDERS, dead: DEAD, other: DEAD }, { alerts: [ALERT] });
    const waiting = [
      lookedAt({ group: "dead_letters dead", lastError: "it answered 500" }),
      lookedAt({ group: "dead_letters orders", lastError: null }),
      lookedAt({ group: "failures other", lastError: "it answered 500" }),
    ];
    // One a page: a look ends where its time is over.
    const look = async (_: string, { cursor = "0", filter = [] }: LookRequest) => ({
      messages: filter.length > 0 ? [] : waiting.slice(Number(cursor), Number(cursor) + 1),
      cursor: Number(cursor) === 2 ? null : `${Number(cursor) + 1}`,
      matched: 1,
      searched: 1,
      of: 3,
    });
    const gateway = createGateway({ ...directory, queue: () => queueWith({ look }) }, OPEN);
    expect(await (await gateway.request(`${API}/alerts`)).json()).toMatchObject({
      alerts: [
        { queue: "dead", reported: false, failure: "it answered 500" },
        { queue: "orders", reported: false, failure: null },
        { queue: "other", reported: true, failure: null },
      ],
    });
  });

  it("does not call an alert reported whose last report was given up", async () => {
    const directory = directoryOf(
      { orders: ORDERS, dead: DEAD, other: DEAD, late: DEAD },
      { alerts: [ALERT] },
    );
    const end = (kind: "acked" | "dropped" | "expired", error: string | null = null) => ({
      end: { kind, atMs: CREATED_MS, by: null, error },
    });
    const finished = [
      lookedAt({ group: "dead_letters other", ...end("acked") }),
      lookedAt({ group: "dead_letters dead", ...end("dropped", "it answered 500") }),
      lookedAt({ group: "dead_letters dead", ...end("acked") }),
      lookedAt({ group: "dead_letters other", ...end("dropped", "it answered 500") }),
      lookedAt({ group: "dead_letters late", ...end("expired") }),
    ];
    const look = async (_: string, { filter = [] }: LookRequest) => ({
      messages: filter.length > 0 ? finished : [],
      cursor: null,
      matched: 1,
      searched: 1,
      of: 1,
    });
    const gateway = createGateway({ ...directory, queue: () => queueWith({ look }) }, OPEN);
    expect(await (await gateway.request(`${API}/alerts`)).json()).toMatchObject({
      alerts: [
        { queue: "dead", reported: false, failure: "it answered 500; the report is given up" },
        { queue: "late", reported: false, failure: "nobody took it in time; the report is given up" },
        { queue: "orders", reported: true, failure: null },
        { queue: "other", reported: true, failure: null },
      ],
    });
  });

  it("tells a token for some queues nothing of others: no names, and nothing of the webhook", async () => {
    const text = deadLettersText("secret-src");
    const tokens = memoryTokens();
    const directory = {
      ...directoryOf({ dead: DEAD, "secret-src": ORDERS }, { alerts: [{ ...ALERT, text }] }),
      tokens,
      queue: () =>
        queueWith({
          look: async () => ({ messages: [], cursor: null, matched: 0, searched: 0, of: 0 }),
          why: async () => ({
            ...({ reason: "empty", text: "It is empty.", untilMs: null, by: null } as const),
            also: [{ reason: "alert", text: `Alert since then: ${text}.`, untilMs: null, by: null }],
          }),
        }),
    };
    const gateway = createGateway(directory, { kind: "tokens", tokens: ["first"] });
    const ask = async (path: string, token: string, body?: object) => {
      const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
      const headers = { authorization: `Bearer ${token}` };
      return (await gateway.request(`${API}${path}`, { ...init, headers })).text();
    };
    const asked = { name: "limited", scopes: ["read"], queues: ["dead"] };
    const { secret } = JSON.parse(await ask("/tokens", "first", asked)) as { secret: string };
    for (const path of ["/alerts", "/queues", "/queues/dead", "/queues/dead/why"]) {
      expect(await ask(path, "first"), path).toContain(`from queue \\"secret-src\\"`);
      const limited = await ask(path, secret);
      expect(limited, path).toContain("from (another queue)");
      expect(limited, path).not.toContain("secret-src");
    }
    expect(JSON.parse(await ask("/alerts", secret)).webhook).toBeNull();
  });

  it("says that there is no webhook where none is set", async () => {
    const gateway = createGateway({ ...directoryOf(), alerts: null }, OPEN);
    expect(await (await gateway.request(`${API}/alerts`)).json()).toEqual({ alerts: [], webhook: null });
    const refused = await gateway.request(`${API}/alerts/test`, { method: "POST" });
    expect([refused.status, await refused.json()]).toMatchObject([409, { error: { code: "no_alerts" } }]);
  });
});

it("POST /alerts/test puts a test into the queue of alerts", async () => {
  const sent: [string, readonly SendRequest[]][] = [];
  const directory = {
    ...directoryOf(),
    queue: () =>
      queueWith({
        send: async (queue, requests) => {
          sent.push([queue, requests]);
          return { ok: true, metrics: { backlogCount: 0, backlogBytes: 0, oldestMessageTimestampMs: 0 } };
        },
      }),
  };
  const response = await createGateway(directory, OPEN).request(`${API}/alerts/test`, { method: "POST" });
  const [[queue, [request]] = ["", []]] = sent;
  const [message] = unpackMessages(request?.packed ?? new Uint8Array());
  expect(queue).toBe(ALERTS_QUEUE);
  expect(await response.json()).toEqual({ id: message?.id });
  expect(JSON.parse(new TextDecoder().decode(message?.body))).toEqual({
    type: "alert.test",
    timestamp: "2023-11-14T22:13:20.000Z",
    data: { text: "This is a test of the alerts of Sluice." },
  });
});

describe("a silence", () => {
  /** Asks for a silence. @returns status, and until when the queue is silent then. */
  async function silence(method: string, body?: object): Promise<[number, number | undefined]> {
    const directory = directoryOf();
    let change: QueueChange | undefined;
    const account = {
      ...directory.account,
      changeQueue: async (_queueId: string, asked: QueueChange) => {
        change = asked;
        return { ok: true, record: recordOf("orders", ORDERS) } as const;
      },
    };
    const init = { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const gateway = createGateway({ ...directory, account }, OPEN);
    const { status } = await gateway.request(`${API}/queues/orders/silence`, init);
    return [status, change?.settings?.alertsSilentUntilMs];
  }

  const timeOf = (ms: number) => ({ until: new Date(ms).toISOString() });
  const endMs = CREATED_MS + ALERT_SILENCE_MS_MAX;

  it.each([
    [{ forSeconds: 1 }, CREATED_MS + 1_000],
    [{ forSeconds: ALERT_SILENCE_MS_MAX / 1_000 }, endMs],
    [timeOf(CREATED_MS + 1), CREATED_MS + 1],
    [timeOf(endMs - 1), endMs - 1],
    [timeOf(endMs), endMs],
  ])("%j is taken", async (body, untilMs) => {
    expect(await silence("PUT", body)).toEqual([200, untilMs]);
  });

  it.each([
    [{ forSeconds: 0 }],
    [{ forSeconds: ALERT_SILENCE_MS_MAX / 1_000 + 1 }],
    [timeOf(CREATED_MS)],
    [timeOf(CREATED_MS - 1)],
    [timeOf(endMs + 1)],
    [{ until: "tomorrow" }],
    [{}],
  ])("%j is refused", async (body) => {
    expect(await silence("PUT", body)).toEqual([400, undefined]);
  });

  it("ends by DELETE", async () => {
    expect(await silence("DELETE")).toEqual([200, 0]);
  });
});
