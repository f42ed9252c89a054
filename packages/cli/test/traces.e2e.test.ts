import { once } from "node:events";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { freePorts, type Lab, openLab } from "./lab.ts";
import { type Running, sluice } from "./running.ts";

/* One trace from a browser to the end of its message, by OpenTelemetry's own SDK in both Workers. */

const CLI = fileURLToPath(new URL("..", import.meta.url));
const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const BROWSER = "b7ad6b7169203331";

/** A span of a Worker or of the broker. */
interface SeenSpan {
  readonly worker: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Absent or `null` at the beginning of a trace. */
  readonly parentSpanId?: string | null;
  readonly links?: readonly { readonly spanId: string }[];
}

/** Collector of spans, which also says whether mails can be sent. */
const collector = {
  spans: [] as SeenSpan[],
  contexts: [] as { readonly traceparent: string }[],
  tokens: new Set<string | undefined>(),
  takesMails: false,
};
const server = createServer(async (request, response) => {
  const body = JSON.parse(Buffer.concat(await request.toArray()).toString());
  if (request.url === "/v1/traces") {
    collector.tokens.add(request.headers["x-token"] as string | undefined);
    const [{ scopeSpans }] = body.resourceSpans;
    collector.spans.push(...scopeSpans[0].spans.map((span: SeenSpan) => ({ ...span, worker: "broker" })));
  }
  if (request.url === "/spans") collector.spans.push(...body);
  if (request.url === "/mail") collector.contexts.push(body);
  response.writeHead(request.url === "/mail" && !collector.takesMails ? 503 : 200).end("{}");
});
let lab: Lab;
let running: Running;
let url: string;

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  lab = openLab("traced");
  mkdirSync(join(lab.folder, "node_modules"));
  symlinkSync(join(CLI, "node_modules/@opentelemetry"), join(lab.folder, "node_modules/@opentelemetry"));
  symlinkSync(CLI, join(lab.folder, "node_modules/sluice"));
  for (const worker of ["shop", "mailer"]) {
    const file = join(lab.folder, worker, "wrangler.toml");
    writeFileSync(file, readFileSync(file, "utf8").replace('COLLECTOR = ""', `COLLECTOR = "${address}"`));
  }
  const ports = await freePorts();
  url = ports.url;
  const settings = {
    SLUICE_OTLP_ENDPOINT: address,
    SLUICE_OTLP_HEADERS: "x-token=a%20b",
    SLUICE_TRACE_URL: "https://traces.example/{traceId}",
  };
  running = sluice(["dev", "shop", "mailer", ...ports.options], lab.folder, { ...lab.env, ...settings });
  await running.printed(/admin +http/);
});
afterAll(async () => {
  await running.stop();
  lab.remove();
  server.closeAllConnections();
  server.close();
});

const ask = async <Answer>(path: string, init: RequestInit = {}): Promise<Answer> => {
  const response = await fetch(`${url}/__sluice/api${path}`, init);
  expect(response.status, path).toBeLessThan(300);
  return (await response.json()) as Answer;
};
const ofOrders = () => collector.spans.filter(({ traceId }) => traceId === TRACE_ID);
const count = (worker: string, name: string) =>
  ofOrders().filter((span) => span.worker === worker && span.name === name).length;

it("one trace leads from a browser through a Worker, retries, a dead letter and a redrive to a second Worker", async () => {
  const ordered = await fetch(url, { headers: { traceparent: `00-${TRACE_ID}-${BROWSER}-01` } });
  expect(await ordered.text()).toBe("ordered");
  const dead = async () => {
    const { messages } = await ask<{ messages: { ready: number } }>("/queues/orders-dead");
    return messages.ready;
  };
  await expect.poll(dead).toBe(1);
  collector.takesMails = true;
  await ask("/queues/orders-dead/redrive", { method: "POST", body: "{}" });
  await expect.poll(() => count("broker", "process orders")).toBe(4);
  await expect.poll(() => count("broker", "send orders-dead")).toBe(1);
  await expect.poll(() => count("mailer", "mail")).toBe(4);

  const spans = ofOrders();
  const of = (name: string) => spans.filter((span) => span.name === name);
  expect(spans.map(({ worker, name }) => `${worker}: ${name}`).sort()).toEqual([
    ...Array(4).fill("broker: process orders"),
    "broker: send orders",
    "broker: send orders",
    "broker: send orders-dead",
    ...Array(4).fill("mailer: mail"),
    "shop: order",
  ]);
  // Each span has the one before it as its parent.
  const [order] = of("order");
  const [sent, redriven] = of("send orders");
  const [buried] = of("send orders-dead");
  expect(order?.parentSpanId).toBe(BROWSER);
  expect([sent, buried, redriven].map((span) => span?.parentSpanId)).toEqual([
    order?.spanId,
    sent?.spanId,
    buried?.spanId,
  ]);
  const processed = of("process orders");
  expect(processed.map(({ parentSpanId }) => parentSpanId)).toEqual([
    ...Array(3).fill(sent?.spanId),
    redriven?.spanId,
  ]);
  expect(
    processed.map(({ parentSpanId, links }) => links?.map(({ spanId }) => spanId).join() === parentSpanId),
  ).toEqual(Array(4).fill(true));
  expect(of("mail").map(({ parentSpanId }) => parentSpanId)).toEqual(processed.map(({ spanId }) => spanId));
  // What `traceContextOf` says is the send of its message.
  expect(collector.contexts.map(({ traceparent }) => traceparent)).toEqual(
    processed.map(({ parentSpanId }) => `00-${TRACE_ID}-${parentSpanId}-01`),
  );
  expect([...collector.tokens]).toEqual(["a b"]);
});
