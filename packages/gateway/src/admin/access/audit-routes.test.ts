import type { AuditEntry } from "@sluice/protocol";
import { describe, expect, it, vi } from "vitest";
import { DEAD, directoryOf, ORDERS, queueWith, recordOf } from "../../../test/directory.ts";
import { memoryAudit, memoryTokens } from "../../../test/in-memory.ts";
import { MemoryAccount } from "../../../test/memory-account.ts";
import { SnsClient } from "../../../test/sns-client.ts";
import { SqsClient } from "../../../test/sqs-client.ts";
import { type Access, createGateway, type QueueDirectory } from "../../index.ts";
import type { AuditPage } from "./audit-routes.ts";
import type { NewTokenView } from "./token-routes.ts";

const API = "http://localhost/__sluice/api";
const REST = "http://localhost/__sluice/client/v4/accounts/any";
const TOKENS: Access = { kind: "tokens", tokens: ["first"] };
const OPEN: Access = { kind: "open", hosts: [], routeHosts: [] };

/** A broker with a log, and what is asked of it. */
function brokerOf(access: Access = TOKENS) {
  const account = new MemoryAccount();
  for (const name of ["orders", "dead"]) account.put(recordOf(name, name === "dead" ? DEAD : ORDERS));
  const audit = memoryAudit();
  const directory: QueueDirectory = {
    ...directoryOf(),
    account: account.directory,
    audit,
    tokens: memoryTokens(),
    queue: () =>
      queueWith({
        purge: async () => ({ purged: 0 }),
        look: async () => ({ messages: [], matched: 0, cursor: null, searched: 0, of: 0 }),
      }),
  };
  const gateway = createGateway(directory, access);
  const ask = async (method: string, url: string, body?: object, token = "first") => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await gateway.request(url, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...sent,
    });
    return { status: response.status, body: (await response.json()) as never };
  };
  const entries = (): AuditEntry[] =>
    audit.records.map(({ action, target, by, dialect }) => ({ action, target, by, dialect })).reverse();
  return { ask, entries, audit, directory };
}

describe("the audit log", () => {
  it("says who changed what, over both APIs", async () => {
    const { ask, entries } = brokerOf();
    const made: NewTokenView = (await ask("POST", `${API}/tokens`, { name: "ops", scopes: ["admin"] })).body;
    const created = await ask("POST", `${REST}/queues`, { queue_name: "mails" }, made.secret);
    expect(created.status).toBe(200);
    const { queueId } = recordOf("mails", DEAD);
    await ask("PATCH", `${REST}/queues/${queueId}`, { settings: { delivery_delay: 5 } }, made.secret);
    await ask("POST", `${API}/queues/orders/pause`, undefined, made.secret);
    await ask("POST", `${API}/queues/orders/purge`);
    await ask("POST", `${API}/queues/orders/messages/retry`, { filter: "error:timeout" });
    await ask("POST", `${API}/queues/orders/messages/delete`, { filter: "" });
    await ask("DELETE", `${REST}/queues/${queueId}`);
    await ask("POST", `${API}/tokens/ops/rotate`);
    await ask("DELETE", `${API}/tokens/ops`);
    const first = { by: "SLUICE_API_TOKENS" };
    const ops = { by: "ops" };
    expect(entries()).toEqual([
      { action: "token.create", target: "ops", ...first, dialect: "admin" },
      { action: "queue.create", target: "mails", ...ops, dialect: "cloudflare" },
      { action: "queue.change", target: "mails", ...ops, dialect: "cloudflare" },
      { action: "queue.pause", target: "orders", ...ops, dialect: "admin" },
      { action: "queue.purge", target: "orders", ...first, dialect: "admin" },
      { action: "queue.messages.retry", target: "orders", ...first, dialect: "admin" },
      { action: "queue.messages.delete", target: "orders", ...first, dialect: "admin" },
      { action: "queue.delete", target: "mails", ...first, dialect: "cloudflare" },
      { action: "token.rotate", target: "ops", ...first, dialect: "admin" },
      { action: "token.revoke", target: "ops", ...first, dialect: "admin" },
    ]);
  });

  it("has nothing of what was refused, read or only tried", async () => {
    const { ask, entries } = brokerOf();
    await ask("POST", `${API}/queues/nobody/purge`);
    await ask("POST", `${API}/queues/orders/purge`, undefined, "wrong");
    await ask("POST", `${REST}/queues`, { queue_name: "orders" });
    await ask("GET", `${API}/queues/orders`);
    const dry = await ask("POST", `${API}/queues/dead/redrive`, { to: "orders", dryRun: true });
    expect(dry).toMatchObject({ status: 200, body: { dryRun: true } });
    await ask("POST", `${API}/queues/orders/messages/delete`, { filter: "", dryRun: true });
    expect(entries()).toEqual([]);
  });

  it("calls who is asked for nothing local", async () => {
    const { ask, entries } = brokerOf(OPEN);
    await ask("POST", `${API}/queues/orders/purge`);
    expect(entries()).toMatchObject([{ action: "queue.purge", by: "local" }]);
  });

  it("does not undo a change that it cannot write down", async () => {
    const log = vi.spyOn(console, "error").mockImplementation(() => {});
    const { ask, audit } = brokerOf();
    audit.noteAudit = () => Promise.reject(new Error("no room"));
    expect(await ask("POST", `${API}/queues/orders/purge`)).toMatchObject({
      status: 200,
      body: { purged: 0 },
    });
    expect(log.mock.calls.flat()).toEqual([
      "Audit: queue.purge of orders by SLUICE_API_TOKENS could not be written down: Error: no room",
    ]);
    log.mockRestore();
  });

  it("is read in pages, newest first", async () => {
    const { ask, audit } = brokerOf();
    for (let i = 1; i <= 5; i++) {
      await audit.noteAudit({ action: "queue.pause", target: `q${i}`, by: "ops", dialect: "admin" });
    }
    const page = async (query: string): Promise<AuditPage> => (await ask("GET", `${API}/audit${query}`)).body;
    const targets = ({ entries }: AuditPage) => entries.map(({ target }) => target);
    const first = await page("?max=2");
    expect(first.entries[0]).toEqual({
      at: "2023-11-14T22:13:20.000Z",
      action: "queue.pause",
      target: "q5",
      by: "ops",
      dialect: "admin",
    });
    const second = await page(`?max=2&cursor=${first.cursor}`);
    const third = await page(`?max=2&cursor=${second.cursor}`);
    expect([first, second, third].map(targets)).toEqual([["q5", "q4"], ["q3", "q2"], ["q1"]]);
    expect(third.cursor).toBeNull();
    for (const query of ["?max=0", "?max=501", "?cursor=x"]) {
      expect(await ask("GET", `${API}/audit${query}`)).toMatchObject({ status: 400 });
    }
    expect((await page("?max=500")).entries).toHaveLength(5);
  });
});

describe("the audit log of AWS's clients", () => {
  it("has what SQS changed, and no queue that was there already", async () => {
    const sqs = new SqsClient();
    const { QueueUrl } = (await sqs.call("CreateQueue", { QueueName: "jobs" })) as { QueueUrl: string };
    await sqs.call("CreateQueue", { QueueName: "jobs" });
    await sqs.call("GetQueueAttributes", { QueueUrl, AttributeNames: ["All"] });
    await sqs.call("SetQueueAttributes", { QueueUrl, Attributes: { DelaySeconds: "5" } });
    await sqs.call("PurgeQueue", { QueueUrl });
    await sqs.call("DeleteQueue", { QueueUrl });
    const changes = sqs.audit.records.map(({ action, target, by, dialect }) => [action, target, by, dialect]);
    expect(changes.reverse()).toEqual(
      ["create", "change", "purge", "delete"].map((what) => [`queue.${what}`, "jobs", "local", "sqs"]),
    );
  });

  it("has what SNS changed, and no topic that was there already", async () => {
    const sns = new SnsClient();
    const arn = await sns.createTopic("news");
    await sns.createTopic("news");
    await sns.call("Publish", { TopicArn: arn, Message: "hello" });
    await sns.call("DeleteTopic", { TopicArn: arn });
    const changes = sns.audit.records.map(({ action, target, by, dialect }) => [action, target, by, dialect]);
    expect(changes.reverse()).toEqual([
      ["topic.create", arn, "local", "sns"],
      ["topic.delete", arn, "local", "sns"],
    ]);
  });
});
