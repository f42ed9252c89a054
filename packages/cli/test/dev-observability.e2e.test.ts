// @module-tag slow
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePorts, type Lab, openLab } from "./lab.ts";
import { type Running, sluice } from "./running.ts";

const WORKER = `export default {
  async fetch(request, env) {
    await env.ORDERS.sendBatch([{ body: 1 }, { body: 2 }]);
    return new Response("sent");
  },
  queue(batch) {
    console.log("got", batch.messages.length);
  },
};`;

const CONFIG = JSON.stringify({
  name: "shop",
  main: "shop.js",
  compatibility_date: "2026-01-01",
  queues: {
    producers: [{ binding: "ORDERS", queue: "orders" }],
    consumers: [{ queue: "orders", max_batch_timeout: 0 }],
  },
});

/** One span of Wrangler's traces. */
interface Span {
  readonly service: string;
  readonly name: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

async function askTraces(url: string): Promise<Response> {
  return fetch(`${url}/cdn-cgi/local/explorer/api/local/observability/query`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ sql: "SELECT service, name, json(attributes) FROM spans" }),
  });
}

async function spansOf(url: string): Promise<Span[]> {
  const { result } = (await (await askTraces(url)).json()) as { result: { rows: string[][] } };
  return result.rows.map(([service = "", name = "", attributes]) => ({
    service,
    name,
    attributes: JSON.parse(attributes ?? "{}"),
  }));
}

describe("Wrangler's local observability under sluice dev", () => {
  let lab: Lab;
  const running: Running[] = [];
  const start = async (...options: string[]) => {
    const ports = await freePorts();
    const { X_LOCAL_OBSERVABILITY: _, ...env } = lab.env;
    const session = sluice(["dev", "shop.json", ...ports.options, ...options], lab.folder, env);
    running.push(session);
    await session.printed(/admin +http/);
    return { session, url: ports.url };
  };

  beforeAll(() => {
    lab = openLab("staged");
    writeFileSync(join(lab.folder, "shop.json"), CONFIG);
    writeFileSync(join(lab.folder, "shop.js"), WORKER);
  });
  afterAll(async () => {
    await Promise.all(running.map((session) => session.stop()));
    lab.remove();
  });

  it("traces sends and handlers of the user's Workers by the queue's name, and nothing of the broker", async () => {
    const { session, url } = await start();
    expect(await (await fetch(`${url}/__sluice/api/queues`)).text()).toContain("orders");
    expect(await (await fetch(url)).text()).toBe("sent");
    await session.printed(/got 2/);
    const named = async (name: string) => (await spansOf(url)).filter((span) => span.name === name);
    await expect
      .poll(() => named("queue"))
      .toMatchObject([
        {
          service: "shop",
          attributes: { "cloudflare.queue.name": "orders", "cloudflare.queue.batch_size": 2 },
        },
      ]);
    expect(await named("queue_send")).toMatchObject([
      { service: "shop", attributes: { "cloudflare.queue.name": "orders" } },
    ]);
    const spans = await spansOf(url);
    expect(new Set(spans.map(({ service }) => service))).toEqual(new Set(["shop"]));
    expect(spans.filter(({ attributes }) => String(attributes["url.full"]).includes("/__sluice"))).toEqual(
      [],
    );
    await session.stop();
  });

  it("traces nothing with --no-observability", async () => {
    const { url } = await start("--no-observability");
    expect((await askTraces(url)).status).toBe(404);
  });
});
