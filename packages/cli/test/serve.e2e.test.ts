import { globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { CreateQueueCommand, ReceiveMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import getPort from "@sluice/protocol/test/free-port";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { descendants, eventually, isRunning, type Lab, openLab, seePage } from "./lab.ts";
import { type Running, sluice } from "./running.ts";
import { CLIENT, callSqs } from "./serving.ts";

const PACKAGES = fileURLToPath(new URL("../..", import.meta.url));

/** Workers of the shop, killed and started again with the same data. */
describe("sluice serve", () => {
  let lab: Lab;
  let port: number;
  let running: Running;
  const serve = async (...args: string[]) => {
    const started = sluice(
      ["serve", ...args, "--port", `${port}`, "--persist-to", "state"],
      lab.folder,
      lab.env,
    );
    await started.printed(/data {4}/);
    return started;
  };
  const get = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).text();

  beforeAll(async () => {
    lab = openLab("shop");
    port = await getPort();
    running = await serve("front", "objects", "mailer");
  });
  afterAll(async () => {
    await running.stop();
    lab.remove();
  });

  it("prints where everything is", () => {
    expect(running.output).toContain(`front   http://127.0.0.1:${port}/`);
    expect(running.output).toContain(`queues  http://127.0.0.1:${port}/__sluice/`);
    expect(running.output).toContain(`data    ${join(lab.folder, "state")}`);
  });

  it("delivers what Workers and their Durable Objects send", async () => {
    expect(await get("/send/class?text=served")).toBe("sent");
    expect(await get("/send/object?text=from-an-object")).toBe("sent");
    await eventually(async () => JSON.parse(await get("/received")).sort(), ["from-an-object", "served"]);
  });

  it("serves the compressed page unchanged through another Worker and a proxy", () =>
    seePage(`http://127.0.0.1:${port}`));

  it("lets programs of this machine use the broker, but not move its clock", async () => {
    expect(JSON.parse(await get("/__sluice/health"))).toMatchObject({ status: "ok" });
    const clock = await fetch(`http://127.0.0.1:${port}/__sluice/api/clock`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ advanceMs: 1_000 }),
    });
    expect(clock.ok).toBe(false);
    expect((await clock.text()).toLowerCase()).toContain("development");
  });

  it("reads a body that says it is a form, as curl -d does, and logs nothing of it", async () => {
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const post = (path: string, body: object) =>
      fetch(`http://127.0.0.1:${port}/__sluice/api/queues${path}`, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
      });
    await callSqs(`http://127.0.0.1:${port}/__sluice/aws`, "CreateQueue", { QueueName: "forms" });
    expect((await post("/forms/messages", { body: { lamp: 1 } })).ok).toBe(true);
    expect((await post("/forms/messages/batch", { messages: [{ text: "1" }] })).ok).toBe(true);
    await post("/forms/purge", {});
    await running.printed(/Queue "forms" is purged, 2 message/);
    expect(running.output).not.toContain("does not appear to be text");
  });

  it("refuses a port that is in use with an explanation", async () => {
    const second = sluice(["serve", "--port", `${port}`], lab.folder, lab.env);
    expect(await second.ended).toBe(1);
    expect(second.output).toContain(`127.0.0.1:${port} is in use by another process`);
  });

  it("refuses data that are in use, before it generates anything", async () => {
    const generated = () => readdirSync(join(lab.folder, ".sluice/serve"));
    const before = generated();
    const targets = ["objects", "mailer", "front"];
    const second = sluice(["serve", ...targets, "--port", "0", "--persist-to", "state"], lab.folder, lab.env);
    expect(await second.ended).toBe(1);
    expect(second.output).toContain(`The data in ${join(lab.folder, "state")} are in use by sluice serve`);
    expect(generated()).toEqual(before);
  });

  it("says where in its sources a Worker fails", async () => {
    const from = running.output.length;
    expect((await fetch(`http://127.0.0.1:${port}/fail`)).status).toBe(500);
    const printed = await running.printed(placeIn("front/src/index.ts"), from);
    expect(lineAt(printed, lab.folder, "front/src/index.ts")).toContain(
      'throw new TypeError("a mistake of the shop")',
    );
  });

  it("ends workerd too at kill -9, and finds the backlog then", async () => {
    expect(await get("/send/nobody?text=kept")).toBe("sent");
    const started = descendants(running.pid);
    expect(started.length).toBeGreaterThan(0);
    expect(await running.stop("SIGKILL")).toBe("SIGKILL");
    await eventually(async () => started.filter(isRunning), []);
    running = await serve("front", "objects", "mailer");
    expect(await get("/backlog/nobody")).toBe("1");
    expect(JSON.parse(await get("/received")).sort()).toEqual(["from-an-object", "served"]);
  });

  it.each(["SIGINT", "SIGTERM"] as const)(
    "ends with workerd at %s, answers waiting receives, and the broker alone has the same queues",
    async (signal) => {
      const started = descendants(running.pid);
      // This client has connections of its own: one that has asked a Worker before is workerd's.
      const sqs = new SQSClient({ endpoint: `http://127.0.0.1:${port}/__sluice/aws`, ...CLIENT });
      const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: "empty" }));
      const waiting = sqs.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 20 }));
      // One receive that is answered: by then the other one waits.
      await sqs.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 0 }));
      expect(await running.stop(signal)).toBe(0);
      expect(await waiting).toMatchObject({ $metadata: { httpStatusCode: 200, attempts: 1 } });
      await eventually(async () => started.filter(isRunning), []);
      running = await serve();
      const { queues } = JSON.parse(await get("/__sluice/api/queues"));
      expect(queues.map(({ name }: { name: string }) => name)).toContain("nobodys");
    },
  );

  it("says where in its sources the broker fails", async () => {
    await running.stop();
    breakTable(join(lab.folder, "state"), "purges");
    running = await serve();
    const QueueUrl = `http://127.0.0.1:${port}/__sluice/aws/000000000000/nobodys`;
    const purge = await callSqs(`http://127.0.0.1:${port}/__sluice/aws/`, "PurgeQueue", { QueueUrl });
    expect(purge.status).toBe(500);
    const printed = await running.printed(placeIn("broker/src/directory/tables/purges.ts"));
    expect(printed).toContain("no such column: started_ms");
    expect(lineAt(printed, PACKAGES, "broker/src/directory/tables/purges.ts")).toContain(".exec<");
    expect(lineAt(printed, PACKAGES, "broker/src/directory/directory.ts")).toContain("purges.last(");
  });
});

/** Makes the pattern of a place in a file, as stack traces have it. */
function placeIn(path: string): RegExp {
  return new RegExp(`at .*/${path}:(\\d+):\\d+`);
}

/** Returns the line of a file in `folder` that a stack trace leads to. */
function lineAt(trace: string, folder: string, path: string): string | undefined {
  const [, line] = placeIn(path).exec(trace) ?? [];
  return readFileSync(join(folder, path), "utf8").split("\n")[Number(line) - 1];
}

/** Removes columns that the broker reads from a stored table. */
function breakTable(state: string, table: string): void {
  for (const file of globSync(join(state, "v3/do/*/*.sqlite"))) {
    const database = new DatabaseSync(file);
    const has = database.prepare("SELECT 1 FROM sqlite_master WHERE name = ?").get(table) !== undefined;
    if (has) database.exec(`DROP TABLE ${table}; CREATE TABLE ${table} (other)`);
    database.close();
  }
}
