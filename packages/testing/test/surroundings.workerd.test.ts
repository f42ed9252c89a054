import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createQueueRuntime, type QueueRuntime, type QueueRuntimeOptions } from "../src/index.ts";

interface Env {
  readonly MAILS: { send(body: { to: string }, options?: { delaySeconds?: number }): Promise<unknown> };
  readonly OUTBOX: { getByName(name: string): { status(): Promise<number> } };
  readonly API_URL: string;
}

const MAILS = fileURLToPath(new URL("fixtures/mails", import.meta.url));
const REPORTS = `${MAILS}/reports`;
const START = new Date("2026-01-01T00:00:00Z");

const start = (options: Partial<QueueRuntimeOptions>) =>
  createQueueRuntime<Env>({ workers: [MAILS, REPORTS], start: START, log: () => {}, ...options });

const times = async (queues: QueueRuntime<Env>) =>
  (await (await queues.fetch("/times")).json()) as Record<string, number> & { dates: unknown[] };

describe("a runtime with a function for outbound requests", () => {
  let queues: QueueRuntime<Env>;
  let answer: (request: Request) => Response | Promise<Response>;
  const asked: string[] = [];

  beforeAll(async () => {
    queues = await start({
      outbound: (request) => {
        asked.push(`${request.method} ${request.url}`);
        return answer(request);
      },
    });
  });
  beforeEach(async () => {
    asked.length = 0;
    answer = () => new Response("fine");
    await queues.reset();
  });
  afterAll(() => queues[Symbol.asyncDispose]());

  it("passes Workers' requests to it whole", async () => {
    let body: unknown;
    answer = async (request) => {
      body = await request.json();
      return new Response(null, { status: 202 });
    };
    await queues.env.MAILS.send({ to: "ada@example.com" });
    expect(await queues.runUntilIdle()).toMatchObject({ acked: 1, errors: [] });
    expect(asked).toEqual(["POST https://api.mail.example.com/send"]);
    expect(body).toEqual({ from: "shop@example.com", to: "ada@example.com" });
  });

  it("passes any answer of it to Workers", async () => {
    answer = () => new Response("try later", { status: 503 });
    await queues.env.MAILS.send({ to: "ada@example.com" });
    const { retried, dead, errors } = await queues.runUntilIdle();
    expect({ retried, dead }).toEqual({ retried: 1, dead: 1 });
    expect(errors[0]?.message).toBe("ada@example.com was refused:\ntry later");
  });

  it("fails a request like a network where it throws", async () => {
    answer = () => {
      throw new Error("connection reset");
    };
    await queues.env.MAILS.send({ to: "ada@example.com" });
    const { errors } = await queues.runUntilIdle();
    expect(errors.map(({ message }) => message)).toEqual(["connection reset", "connection reset"]);
  });

  it("fails a request with its URL where it returns no response", async () => {
    answer = () => 5 as never;
    await queues.env.MAILS.send({ to: "ada@example.com" });
    const { errors } = await queues.runUntilIdle();
    expect(errors[0]?.message).toBe(
      "POST https://api.mail.example.com/send: outbound has to return a Response.",
    );
  });

  it("passes requests of Durable Objects and of other Workers to it", async () => {
    answer = () => new Response("monthly", { headers: { "x-by": "a test" } });
    expect(await queues.env.OUTBOX.getByName("all").status()).toBe(200);
    expect(await (await queues.fetch("/report")).text()).toBe("a test: monthly");
    expect(asked).toEqual([
      "GET https://api.mail.example.com/status",
      "GET https://reports.example.com/report",
    ]);
  });

  it("passes requests of queues to it whose endpoint has no own function", async () => {
    await queues.queue("hooks").send({ id: 1 });
    expect(await queues.runUntilIdle()).toMatchObject({ acked: 1 });
    expect(asked).toEqual(["POST https://hooks.example.com/mails"]);
  });

  it("refuses WebSockets, and passes large requests", async () => {
    answer = async (request) => new Response(String((await request.arrayBuffer()).byteLength));
    expect(await (await queues.fetch("/socket")).json()).toEqual([
      'Error: https://api.mail.example.com/live: a WebSocket needs `outbound: "network"` to leave a test.',
      "2000000",
    ]);
  });

  it("calls scheduled(), and waits for its promises in waitUntil", async () => {
    await queues.advance("3h");
    expect(await queues.scheduled({ cron: "0 3 * * *" })).toEqual({ outcome: "ok", errors: [] });
    const [story] = await queues.stories();
    expect(story?.body).toEqual({ to: `0 3 * * * ${START.getTime() + 3 * 3_600_000}` });
    const scheduledTime = new Date("2026-05-01T03:00:00Z");
    await queues.scheduled({ cron: "0 3 * * *", worker: "mails", scheduledTime });
    expect((await queues.stories())[1]?.body).toEqual({ to: `0 3 * * * ${scheduledTime.getTime()}` });
  });

  it("calls scheduled() of any Worker", async () => {
    expect(await queues.scheduled({ cron: "weekly", worker: "reports" })).toMatchObject({ outcome: "ok" });
    expect(asked).toEqual(["GET https://reports.example.com/weekly"]);
  });

  it("returns the errors of scheduled(), with the user's stack", async () => {
    const { outcome, errors } = await queues.scheduled({ cron: "broken" });
    expect(outcome).toBe("exception");
    expect(errors).toMatchObject([{ name: "RangeError", message: "no report for today" }]);
    expect(errors[0]?.stack).toContain("fixtures/mails/src/index.ts:");
    const later = await queues.scheduled({ cron: "broken later" });
    expect(later).toMatchObject({ outcome: "exception", errors: [{ message: "no report for tomorrow" }] });
  });

  it("refuses scheduled() of a missing Worker", async () => {
    await expect(queues.scheduled({ cron: "*", worker: "nobody" })).rejects.toThrow(
      'worker: there is no "nobody" here. There are "mails" and "reports".',
    );
  });

  it("has the real time in Date by default", async () => {
    const before = Date.now();
    await queues.advance("12h");
    const { here = 0, object = 0, reports = 0 } = await times(queues);
    for (const ms of [here, object, reports]) expect(Math.abs(ms - before)).toBeLessThan(3_600_000);
  });
});

describe("a runtime without a function for outbound requests", () => {
  it("refuses requests, and names the option", async () => {
    await using queues = await start({});
    await queues.env.MAILS.send({ to: "ada@example.com" });
    const { errors } = await queues.runUntilIdle();
    expect(errors[0]?.message).toBe(
      "POST https://api.mail.example.com/send: nothing leaves a test. Answer it by the option " +
        '`outbound: (request) => new Response()` of createQueueRuntime, or let it out by `outbound: "network"`.',
    );
    await queues.queue("hooks").send({ id: 1 });
    expect(await queues.runUntilIdle()).toMatchObject({ dead: 1 });
  });

  it("sends requests with the option network, and uses the variables and secrets of the options", async () => {
    const server = createServer((request, response) => response.end(`${request.method} ${request.url}`));
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    const { port } = server.address() as AddressInfo;
    try {
      await using queues = await start({
        outbound: "network",
        workers: [{ config: MAILS, vars: { API_URL: "https://mine.test" } }, REPORTS],
        vars: { API_URL: `http://127.0.0.1:${port}`, API_KEY: "secret" },
      });
      expect(await (await queues.fetch("/report")).text()).toBe("null: GET /report");
      const vars = { url: "https://mine.test", from: "shop@example.com", key: "secret" };
      expect(await (await queues.fetch("/vars")).json()).toEqual(vars);
      expect(queues.env.API_URL).toBe("https://mine.test");
    } finally {
      server.close();
    }
  });
});

it("Date follows the clock with that option in every Worker and Durable Object", async () => {
  const ages: (string | null)[] = [];
  await using queues = await start({
    date: "clock",
    outbound: ({ headers }) => {
      ages.push(headers.get("x-age"));
      return new Response();
    },
  });
  const startMs = START.getTime();
  const begun = await times(queues);
  expect(begun).toMatchObject({ loaded: startMs, here: startMs, object: startMs, reports: startMs });
  expect(begun.dates).toEqual([...Array(3).fill(START.toISOString()), "2026-01-01T00:00:00.000Z"]);
  expect(begun).toMatchObject({ text: expect.stringContaining("2026"), parsed: startMs });
  await queues.env.MAILS.send({ to: "ada@example.com" }, { delaySeconds: 7_200 });
  await queues.advance("12h");
  expect(ages).toEqual(["7200000"]);
  const nowMs = startMs + 12 * 3_600_000;
  expect(await times(queues)).toMatchObject({ here: nowMs, object: nowMs, reports: nowMs });
  await queues.reset();
  expect(await times(queues)).toMatchObject({ here: startMs, object: startMs, reports: startMs });
});

it.each([
  [{ outbound: "internet" }, "outbound: a function, or"],
  [{ vars: { API_URL: undefined } }, "vars: API_URL has no value"],
  [{ date: "virtual" }, 'date: "clock" or "real"'],
])("createQueueRuntime refuses %o", async (options, message) => {
  await expect(start(options as never)).rejects.toThrow(message);
});
