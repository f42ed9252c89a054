import { createHash } from "node:crypto";
import { definition, pullConsumer } from "@sluice/broker/testing/messages";
import { Ajv2020 } from "ajv/dist/2020.js";
import { beforeAll, expect, it } from "vitest";
import { startSharedBroker } from "./any-broker.ts";

/* Answers of a real broker, held against the document that describes them. */

type Json = Record<string, unknown>;
interface Operation {
  readonly responses: Readonly<
    Record<string, { readonly content: Readonly<Record<string, { schema: Json }>> }>
  >;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: object;
}

const dead = definition();
const QUEUES = {
  orders: definition({
    consumer: pullConsumer({ maxRetries: 0, deadLetterQueue: "dead" }),
    historySeconds: 3_600,
  }),
  dead: { ...dead, historySeconds: 3_600 },
  tasks: definition({
    consumer: {
      type: "http_push",
      settings: {
        url: "http://127.0.0.1:9/none",
        format: "sluice",
        contentType: null,
        maxConcurrency: 1,
        connectTimeoutSeconds: 1,
        responseTimeoutSeconds: 1,
        readinessPath: null,
        maxRetries: 1,
        retryDelaySeconds: 0,
        deadLetterQueue: null,
      },
    },
  }),
};
const TOKEN = "first";

let origin: string;
let written: Document;
const seen = new Set<string>();
const ajv = new Ajv2020({ strict: false, formats: { "date-time": true } });

beforeAll(async () => {
  const vars = { SLUICE_ENV: "development", SLUICE_API_TOKENS: TOKEN };
  const broker = await startSharedBroker(vars, { queues: QUEUES });
  origin = broker.origin;
  written = (await (await call("/openapi.json")).json()) as Document;
  ajv.addSchema({ ...(closed({ components: written.components }) as Json), $id: "answers" });
  return broker.dispose;
});

function call(path: string, method = "GET", body?: object): Promise<Response> {
  const headers = { authorization: `Bearer ${TOKEN}` };
  const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  return fetch(`${origin}/__sluice/api${path}`, init);
}

/** Lets an object have no members but those that its schema names. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  const parts = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  return "properties" in parts && !("additionalProperties" in parts)
    ? { ...parts, additionalProperties: false }
    : parts;
}

/**
 * Asks the broker for a route, and holds the answer against the schema of that route.
 *
 * @param route as the document has it: `GET /queues/{name}`.
 * @param at path that is asked for.
 */
async function ask<Answer = Json>(route: string, at: string, body?: object): Promise<Answer> {
  const [method = "", path = ""] = route.split(" ");
  const response = await call(at, method, body);
  const answer = await response.json();
  const operation = written.paths[`/api${path}`]?.[method.toLowerCase()];
  const schema = operation?.responses["200"]?.content["application/json"]?.schema;
  if (schema === undefined) throw new Error(`no schema for ${route}`);
  const fits = ajv.compile({ $ref: `answers${schema.$ref}` });
  expect([response.status, fits(answer), fits.errors, answer], route).toMatchObject([200, true, null, {}]);
  seen.add(route);
  return answer as Answer;
}

const Q = "/queues/{name}";

it("answers about messages fit", async () => {
  for (const body of [{ n: 1 }, { n: 2 }, { n: 3 }]) {
    await ask(`POST ${Q}/messages`, "/queues/orders/messages", { body, attributes: { kind: "order" } });
  }
  const batch = { messages: [{ contentType: "bytes", base64: "/w==", delaySeconds: 600 }] };
  const { ids } = await ask<{ ids: string[] }>(
    `POST ${Q}/messages/batch`,
    "/queues/orders/messages/batch",
    batch,
  );
  const id = ids[0];
  await ask(`GET ${Q}/messages`, "/queues/orders/messages");
  await ask(`GET ${Q}/messages`, "/queues/orders/messages?whole=true");
  await ask(`GET ${Q}/messages/{id}`, `/queues/orders/messages/${id}`);
  await ask(`GET ${Q}/messages/{id}/story`, `/queues/orders/messages/${id}/story`);
  await ask(`POST ${Q}/messages/{id}/resend`, `/queues/orders/messages/${id}/resend`, { to: "dead" });
  await ask(`POST ${Q}/messages/{id}/retry`, `/queues/orders/messages/${id}/retry`);
  await ask(`DELETE ${Q}/messages/{id}`, `/queues/orders/messages/${id}`);
  const some = { filter: "n:1", dryRun: true };
  await ask(`POST ${Q}/messages/retry`, "/queues/orders/messages/retry", some);
  await ask(`POST ${Q}/messages/retry`, "/queues/orders/messages/retry", { filter: "n:1" });
  await ask(`POST ${Q}/messages/delete`, "/queues/orders/messages/delete", some);
  await ask(`POST ${Q}/messages/delete`, "/queues/orders/messages/delete", { filter: "n:1" });
  await ask("GET /search", "/search?q=order");
  await ask("GET /search", `/search?q=${id}`);
});

it("answers about dead letters, and of their moves, fit", async () => {
  const { id } = await ask<{ id: string }>(`GET ${Q}`, "/queues/orders");
  const pull = `${origin}/__sluice/client/v4/accounts/any/queues/${id}/messages/pull`;
  const init = {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}` },
    body: JSON.stringify({ batch_size: 10, visibility_timeout_ms: 1_000 }),
  };
  expect((await fetch(pull, init)).status).toBe(200);
  await ask("POST /clock", "/clock", { advanceMs: 2_000 });
  await expect
    .poll(async () => (await ask<{ of: number }>(`GET ${Q}/messages`, "/queues/dead/messages")).of)
    .toBeGreaterThan(1);
  const { messages: leased } = await ask<{ messages: { receipt: string }[] }>(
    `POST ${Q}/messages/lease`,
    "/queues/dead/messages/lease",
    {},
  );
  const release = leased.map(({ receipt }) => receipt);
  await ask(`POST ${Q}/messages/settle`, "/queues/dead/messages/settle", { release });
  await ask(`GET ${Q}/errors`, "/queues/dead/errors");
  await ask(`GET ${Q}/why`, "/queues/dead/why");
  await ask(`GET ${Q}/why`, "/queues/tasks/why");
  await ask(`GET ${Q}/history`, "/queues/orders/history");
  await ask(`GET ${Q}/figures`, "/queues/orders/figures");
  const { messages } = await ask<{ messages: { id: string; from: string | null }[] }>(
    `GET ${Q}/messages`,
    "/queues/dead/messages",
  );
  const letter = messages.find(({ from }) => from === "orders");
  await ask(`GET ${Q}/messages/{id}/story`, `/queues/dead/messages/${letter?.id}/story`);
  await ask(`POST ${Q}/redrive`, "/queues/dead/redrive", { to: "orders", dryRun: true });
  await ask(`POST ${Q}/redrive`, "/queues/dead/redrive", { to: "orders" });
  await ask(`GET ${Q}`, "/queues/dead");
  await ask(`GET ${Q}/shards`, "/queues/dead/shards");
  await ask(`PUT ${Q}/shards`, "/queues/dead/shards", { shards: 1 });
  await ask(`POST ${Q}/purge`, "/queues/orders/purge");
});

it("answers about queues, topics and tokens fit", async () => {
  await ask(`POST ${Q}/messages`, "/queues/tasks/messages", { body: 1 });
  await expect
    .poll(async () => {
      const { queues } = await ask<{ queues: { name: string; health: Json | null }[] }>(
        "GET /queues",
        "/queues",
      );
      return queues.find(({ name }) => name === "tasks")?.health?.consecutiveFailures;
    })
    .toBeGreaterThan(0);
  await ask("GET /queues", "/queues?reported=true");
  await ask(`POST ${Q}/pause`, "/queues/orders/pause");
  await ask(`POST ${Q}/resume`, "/queues/orders/resume");
  await ask(`POST ${Q}/drain`, "/queues/orders/drain");
  const faults = { faults: [{ kind: "loseAck" }] };
  await ask(`PUT ${Q}/faults`, "/queues/orders/faults", faults);
  await ask(`GET ${Q}/faults`, "/queues/orders/faults");
  await ask(`GET ${Q}`, "/queues/orders");
  await ask(`DELETE ${Q}/faults`, "/queues/orders/faults");
  await ask("GET /clock", "/clock");
  await ask("POST /clock", "/clock", { to: "next" });
  await ask("POST /clock", "/clock", { freeze: false });
  const name = `t-${createHash("sha1").update(origin).digest("hex").slice(0, 8)}`;
  await ask("POST /tokens", "/tokens", { name, scopes: ["read"], queues: ["orders"], expiresInSeconds: 60 });
  await ask("POST /tokens/{name}/rotate", `/tokens/${name}/rotate`, {});
  await ask("GET /tokens", "/tokens");
  await ask("DELETE /tokens/{name}", `/tokens/${name}`);
  await ask("GET /audit", "/audit?max=5");
});

it("answers of a backup, and of what is restored of it, fit", async () => {
  const arn = "arn:aws:sns:us-east-1:000000000000:news";
  await ask("POST /backup/topics", "/backup/topics", { arn, isFifo: false, attributes: {}, tags: {} });
  await ask("POST /backup/topic-subscriptions", "/backup/topic-subscriptions", {
    topicArn: arn,
    protocol: "sqs",
    endpoint: "arn:aws:sqs:us-east-1:000000000000:orders",
    target: "orders",
    deadLetterQueue: null,
    attributes: {},
  });
  await ask("GET /topics", "/topics");
  await ask("GET /topics/{arn}", `/topics/${arn}`);
  await ask(`POST ${Q}/messages`, "/queues/dead/messages", { body: "kept", delaySeconds: 600 });
  const { queues } = await ask<{ queues: object[] }>("GET /backup", "/backup");
  await ask("POST /backup/queues", "/backup/queues", queues[0]);
  const { messages } = await ask<{ messages: object[] }>(
    "GET /backup/messages",
    "/backup/messages?queue=dead",
  );
  expect(messages.length).toBeGreaterThan(0);
  await ask("POST /backup/messages", "/backup/messages?queue=dead", { messages });
  await ask("POST /backup/messages", "/backup/messages?queue=dead", { messages, once: true });
  await ask("GET ", "");
  await ask("GET /openapi.json", "/openapi.json");
  await ask("GET /r2", "/r2");
  await ask("GET /event-samples", "/event-samples");
});

it("answers about alerts fit", async () => {
  await ask("GET /alerts", "/alerts");
  await ask(`PUT ${Q}/silence`, "/queues/orders/silence", { forSeconds: 60 });
  await ask(`DELETE ${Q}/silence`, "/queues/orders/silence");
});

it("a refusal fits", async () => {
  const fits = ajv.compile({ $ref: "answers#/components/schemas/Failure" });
  for (const path of [
    "/queues/none",
    "/queues/orders/messages?filter=state:none",
    "/queues/orders/messages/00000000",
  ]) {
    expect([fits(await (await call(path)).json()), fits.errors], path).toEqual([true, null]);
  }
});

/** Routes whose answers this file does not get: streams, what a process reports, what needs a state of its own. */
const OTHERS = [
  ...["GET /events", "POST /stop", "POST /disk", "POST /system-clock", "POST /r2", "POST /alerts/test"],
  ...[`POST ${Q}/redrive/cancel`, "POST /backup/subscriptions"],
];

it("no answer was left out", () => {
  const all = Object.entries(written.paths)
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
    .filter((route) => route.includes(" /api"))
    .map((route) => route.replace(" /api", " "));
  expect(all.filter((route) => !seen.has(route)).sort()).toEqual([...OTHERS].sort());
});
