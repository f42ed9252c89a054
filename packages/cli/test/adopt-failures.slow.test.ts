import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { CreateQueueCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import { describe, expect, it } from "vitest";
import { ascending, BridgeLab, LEASE, numbersIn, sqsSettings, upTo } from "./bridge-lab.ts";
import { FAULTS, type Fault } from "./flaky-proxy.ts";
import { sampled } from "./thorough.ts";

/* Each request of each step fails once, on both sides. */

const bridge = new BridgeLab();

/** Faults that are tried: one that is answered and one that is not, unless all cases are asked for. */
const TRIED = [...new Set([...sampled(FAULTS, 1), ...sampled(FAULTS, 3)])];

const OF_ADOPT = ["POST /backup/queues", "POST /backup/messages", "GET /backup", "GET "];

describe("sluice adopt loses nothing and sends nothing twice where each request fails once, with", () => {
  it.each<Fault>(TRIED)("%s: from Cloudflare", async (fault) => {
    const { name, id } = await bridge.cloudflareQueue(250);
    const before = await bridge.consumersOf(id);
    bridge.failEachOnce(fault);
    const args = ["adopt", name, "--from", "cloudflare", "--detach-consumer", "--yes", "--json", ...LEASE];
    const { code, out, err } = await bridge.run(args);
    expect([code, err]).toEqual([0, ""]);
    expect(JSON.parse(out)).toMatchObject({ moved: 250, left: [], backlog: { waiting: 0 } });
    expect(ascending(numbersIn(await bridge.held(name)))).toEqual(upTo(250));
    expect(await bridge.consumersOf(id)).toEqual(before);
    expect([...bridge.proxy.seen.keys()]).toEqual(expect.arrayContaining(OF_ADOPT));
    expect([...bridge.otherProxy.seen.keys()]).toEqual(
      expect.arrayContaining([
        ...["GET /queues", "GET /queues/ID", "GET /queues/ID/metrics", "POST /queues/ID/consumers"],
        ...[
          "DELETE /queues/ID/consumers/ID",
          "POST /queues/ID/messages/pull",
          "POST /queues/ID/messages/ack",
        ],
      ]),
    );
    expect(bridge.untried).toEqual([]);
  });

  it.each<Fault>(TRIED)("%s: from SQS", async (fault) => {
    const { name } = await bridge.sqsQueue(120, { VisibilityTimeout: "31" });
    bridge.failEachOnce(fault);
    const { code, out, err } = await bridge.run([
      "adopt",
      name,
      "--from",
      "sqs",
      "--yes",
      "--json",
      ...LEASE,
    ]);
    expect([code, err]).toEqual([0, ""]);
    expect(JSON.parse(out)).toMatchObject({ moved: 120, left: [], backlog: { waiting: 0, inFlight: 0 } });
    expect(ascending(numbersIn(await bridge.held(name)))).toEqual(upTo(120));
    expect(await sqsSettings(bridge.sqsHere, name)).toEqual(await sqsSettings(bridge.sqs, name));
    expect([...bridge.proxy.seen.keys()]).toEqual(expect.arrayContaining(OF_ADOPT));
    expect([...bridge.otherProxy.seen.keys()]).toEqual(
      expect.arrayContaining([
        "GetQueueUrl",
        "GetQueueAttributes",
        "ListQueueTags",
        "ReceiveMessage",
        "DeleteMessageBatch",
      ]),
    );
    expect(bridge.untried).toEqual([]);
  });
});

describe("sluice eject loses nothing where each request fails once, with", () => {
  it.each<Fault>(TRIED)("%s: to a FIFO queue of SQS, which recognises what comes twice", async (fault) => {
    const name = bridge.newName(".fifo");
    const Attributes = { FifoQueue: "true", VisibilityTimeout: "50" };
    const { QueueUrl } = await bridge.sqsHere.send(
      new CreateQueueCommand({ QueueName: name, Attributes, tags: { team: "a" } }),
    );
    for (const n of upTo(20)) {
      const ids = { MessageGroupId: `g${n % 3}`, MessageDeduplicationId: `${n}` };
      await bridge.sqsHere.send(new SendMessageCommand({ QueueUrl, MessageBody: `${n}`, ...ids }));
    }
    bridge.failEachOnce(fault);
    const { code, out, err } = await bridge.run([
      "eject",
      name,
      "--to",
      "sqs",
      "--yes",
      "--json",
      "--lease-secs",
      "5",
    ]);
    expect([code, err]).toEqual([0, ""]);
    const said = JSON.parse(out);
    expect(said).toMatchObject({ left: [], backlog: { waiting: 0, inFlight: 0 } });
    // A lease of 5 s may end before a busy machine has settled it: the message is sent once more, and arrives once.
    expect(said.moved).toBeGreaterThanOrEqual(20);
    expect(await sqsSettings(bridge.sqs, name)).toEqual(await sqsSettings(bridge.sqsHere, name));
    const messages = await bridge.held(name, bridge.other);
    expect(messages).toHaveLength(20);
    for (const group of ["g0", "g1", "g2"]) {
      const own = numbersIn(messages.filter((message) => message.group === group));
      expect(own).toEqual(upTo(20).filter((n) => `g${n % 3}` === group));
    }
    expect([...bridge.otherProxy.seen.keys()]).toEqual(
      expect.arrayContaining(["CreateQueue", "SendMessageBatch"]),
    );
    expect(bridge.untried.filter((kind) => kind !== "CreateQueue" || fault !== "cutAfter")).toEqual([]);
  });

  it.each<Fault>(TRIED)("%s: to Cloudflare", async (fault) => {
    const name = bridge.newName();
    await bridge.lab.run(["queues", "create", name]);
    const lines = upTo(150).map((n) => `${JSON.stringify({ body: { n } })}\n`);
    await bridge.lab.run(["import", name], { input: lines.join("") });
    bridge.failEachOnce(fault);
    const { code, err } = await bridge.run([
      "eject",
      name,
      "--to",
      "cloudflare",
      "--yes",
      "--json",
      ...LEASE,
    ]);
    expect([code, err]).toEqual([0, ""]);
    expect(await bridge.held(name)).toEqual([]);
    const messages = await bridge.held(name, bridge.other);
    // A batch whose answer was cut off comes twice: Cloudflare has nothing to recognise it by.
    expect([...new Set(ascending(numbersIn(messages)))]).toEqual(upTo(150));
    if (fault !== "cutAfter") expect(messages).toHaveLength(150);
    expect(bridge.untried.filter((kind) => kind !== "POST /queues" || fault !== "cutAfter")).toEqual([]);
  });
});

describe("a command that is ended", () => {
  it("puts the Worker back after a run that was killed with the pull consumer in its place", async () => {
    const { name, id } = await bridge.cloudflareQueue(3);
    const before = await bridge.consumersOf(id);
    // No pull succeeds: the command is killed while it tries.
    bridge.otherProxy.faultOf = (kind) => (kind.endsWith("/pull") ? 500 : null);
    const args = ["adopt", name, "--from", "cloudflare", "--yes", ...LEASE];
    const command = bridge.spawn([...args, "--detach-consumer"]);
    await expect.poll(() => bridge.consumersOf(id)).toMatchObject([{ type: "http_pull" }]);
    await command.stop("SIGKILL");
    bridge.otherProxy.faultOf = () => null;
    const { code } = await bridge.run(args);
    expect([code, await bridge.consumersOf(id)]).toEqual([0, before]);
    expect(await bridge.held(name)).toHaveLength(3);
  });

  it("puts the Worker back where it fails for good", async () => {
    const { name, id } = await bridge.cloudflareQueue(3);
    const before = await bridge.consumersOf(id);
    bridge.proxy.faultOf = (kind) => (kind === "POST /backup/messages" ? 400 : null);
    const args = ["adopt", name, "--from", "cloudflare", "--detach-consumer", "--yes"];
    expect(await bridge.run(args)).toMatchObject({ code: 1, err: "flaky\n" });
    expect(await bridge.consumersOf(id)).toEqual(before);
  });

  it("does not send a message twice whose delete was never answered, though it was handled here meanwhile", async () => {
    const { name } = await bridge.sqsQueue(5);
    bridge.otherProxy.faultOf = (kind) => (kind === "DeleteMessageBatch" ? "cutBefore" : null);
    const command = bridge.spawn(["adopt", name, "--from", "sqs", "--yes", ...LEASE]);
    await expect.poll(() => bridge.count(name)).toBe(5);
    await command.stop("SIGKILL");
    await bridge.lab.run(["queues", "purge", name, "--force"]);
    bridge.otherProxy.faultOf = () => null;
    const { code, err } = await bridge.run(["adopt", name, "--from", "sqs", "--yes", ...LEASE]);
    expect([code, err]).toEqual([
      0,
      `Moved 0 messages of ${name} from SQS.\n5 messages had been moved before, and came once.\nThe old queue has 0 messages now.\n`,
    ]);
    expect(await bridge.held(name)).toEqual([]);
  });

  it("goes on with --follow until it is stopped, and says what is delayed", async () => {
    const { name, QueueUrl } = await bridge.sqsQueue(3);
    const command = bridge.spawn(["adopt", name, "--from", "sqs", "--yes", "--follow", ...LEASE]);
    await expect.poll(() => bridge.count(name)).toBe(3);
    await bridge.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "4" }));
    await expect.poll(() => bridge.count(name)).toBe(4);
    await bridge.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "5", DelaySeconds: 900 }));
    expect(await command.stop("SIGINT")).toBe(0);
    expect(command.output).toContain("Moved 4 messages");
    expect(command.output).toContain("The old queue has 0 messages, 1 delayed now.");
  });

  it("loses nothing where sluice eject is killed before it knows that its messages have arrived", async () => {
    const name = bridge.newName();
    await bridge.lab.run(["queues", "create", name]);
    const lines = upTo(150).map((n) => `${JSON.stringify({ body: { n } })}\n`);
    await bridge.lab.run(["import", name], { input: lines.join("") });
    bridge.otherProxy.faultOf = (kind) => (kind === "SendMessageBatch" ? "cutAfter" : null);
    const args = ["eject", name, "--to", "sqs", "--yes", ...LEASE];
    const command = bridge.spawn(args);
    const arrived = () => bridge.held(name, bridge.other).catch(() => []);
    await expect.poll(async () => (await arrived()).length).toBeGreaterThan(0);
    await command.stop("SIGKILL");
    expect(await bridge.count(name)).toBe(150);
    bridge.otherProxy.faultOf = () => null;
    expect(await bridge.run(args)).toMatchObject({
      code: 0,
      err: expect.stringContaining("Moved 150 messages"),
    });
    expect(await bridge.count(name)).toBe(0);
    expect([...new Set(ascending(numbersIn(await arrived())))]).toEqual(upTo(150));
  });

  it("keeps no file of a consumer that is back", () => {
    const folder = `${join(bridge.lab.folder, "../registry")}.sluice-adopt`;
    expect(existsSync(folder) ? readdirSync(folder) : []).toEqual([]);
  });
});
