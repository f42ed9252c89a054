import { once } from "node:events";
import { readdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { QueueView, ShardsView } from "@sluice/gateway/views";
import getPort from "@sluice/protocol/test/free-port";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { MessagePage } from "../src/client/messages.ts";
import { BrokerLab } from "./broker-lab.ts";

const CONFIG = `
[sluice.queues.orders]
redrive = { dead_letter_queue = "orders-dead", max_receive_count = 1 }

[sluice.queues.wide]
shards = 3

[sluice.queues."one.fifo"]
content_based_deduplication = true
`;

const lab = new BrokerLab(CONFIG);
let url: string;

beforeAll(async () => {
  url = await lab.serve();
});
afterAll(() => lab.close());

/** Sends to a queue as a client of the REST API does. */
async function send(queue: string, body: unknown): Promise<void> {
  const { id } = await lab.json<QueueView>(["queues", "info", queue]);
  const path = `/__sluice/client/v4/accounts/a/queues/${id}/messages`;
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ body }),
  });
  expect(response.status).toBe(200);
}

describe("sluice queues", () => {
  it("create, update and info show the settings of a queue", async () => {
    expect(await lab.words(0, ["queues", "create", "mails", "--delivery-delay-secs", "5"])).toContain(
      "Created queue mails: a delivery delay of 5 s, a retention of 345600 s.",
    );
    const updated = ["queues", "update", "mails", "--message-retention-period-secs", "86400"];
    expect(await lab.json(updated)).toMatchObject({
      name: "mails",
      settings: { deliveryDelaySeconds: 5, messageRetentionSeconds: 86_400 },
    });
    const { out } = await lab.run(["queues", "info", "mails"]);
    expect(out).toMatch(/^queue +mails\n/);
    expect(out).toMatch(/^retention +86400 s \(1 d\)$/m);
    expect(out).toMatch(/^delay +5 s$/m);
  });

  it("create refuses a name that is taken, and one that no queue can have", async () => {
    await lab.run(["queues", "create", "taken"]);
    expect(await lab.run(["queues", "create", "taken"])).toMatchObject({ code: 1, out: "" });
    expect(await lab.words(1, ["queues", "create", "no_queue!"])).toContain("Invalid queue name");
  });

  it("update without a setting, or with one that is not a number, is a usage error", async () => {
    expect(await lab.run(["queues", "update", "orders"])).toMatchObject({ code: 2 });
    expect(await lab.words(2, ["queues", "create", "a", "--delivery-delay-secs", "5s"])).toContain(
      "It is a whole number",
    );
    for (const secs of ["59", "1209601"]) {
      expect(
        await lab.words(2, ["queues", "create", "a", "--message-retention-period-secs", secs]),
      ).toContain("It is 60 to 1,209,600 seconds (14 d).");
    }
  });

  it("list shows each queue in a line, and in JSON as the API does", async () => {
    const { out } = await lab.run(["queues", "list"]);
    expect(out.split("\n")[0]).toMatch(
      /^queue +ready +delayed +leased +oldest +consumer +dead letters +state$/,
    );
    expect(out).toMatch(/^orders +0 +0 +0 +- +- +orders-dead +-$/m);
    const names = (await lab.json<QueueView[]>(["queues", "list"])).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["orders", "orders-dead"]));
  });

  it("list and info say how many shards a queue has, and info --shards shows each", async () => {
    expect((await lab.run(["queues", "list"])).out).toMatch(/^wide +0 +0 +0 +- +- +- +3 shards$/m);
    expect((await lab.run(["queues", "info", "wide"])).out).toMatch(/^kept by +3 shards$/m);
    expect((await lab.run(["queues", "info", "orders"])).out).not.toContain("shard");
    await send("wide", { lamp: 1 });
    const { out } = await lab.run(["queues", "info", "wide", "--shards"]);
    const [head, ...rows] = out.trim().split("\n");
    expect(head).toMatch(/^shard +ready +delayed +leased +bytes +oldest +in\/s +out\/s +state$/);
    expect(rows.map((row) => [row[0], /[a-z]+$/.exec(row)?.[0]])).toEqual([
      ["0", "open"],
      ["1", "open"],
      ["2", "open"],
    ]);
    const { shards } = await lab.json<ShardsView>(["queues", "info", "wide", "--shards"]);
    expect(shards.map(({ messages }) => messages?.ready).sort()).toEqual([0, 0, 1]);
    expect((await lab.run(["queues", "info", "orders", "--shards"])).out).toMatch(/^0 .* open$/m);
    expect(await lab.run(["queues", "info", "none", "--shards"])).toMatchObject({ code: 4 });
  });

  it("update --shards changes how many shards a queue has, where it can have them", async () => {
    await lab.run(["queues", "create", "grown"]);
    expect(await lab.words(0, ["queues", "update", "grown", "--shards", "3"])).toContain(
      "Queue grown is changed: a delivery delay of 0 s, a retention of 345600 s, 3 shards.",
    );
    expect((await lab.json<ShardsView>(["queues", "info", "grown", "--shards"])).shards).toHaveLength(3);
    const both = ["queues", "update", "grown", "--shards", "100", "--delivery-delay-secs", "1"];
    expect(await lab.json(both)).toMatchObject({ settings: { shards: 100, deliveryDelaySeconds: 1 } });
    expect(await lab.words(0, ["queues", "update", "grown", "--shards", "100"])).toMatch(/^Queue grown/);
    const lost = "history and finished messages";
    expect(await lab.words(0, ["queues", "update", "grown", "--shards", "2"])).toMatch(
      `98 shards go when empty, each with its ${lost}.\nQueue grown is changed`,
    );
    const { out, err } = await lab.run(["queues", "update", "grown", "--shards", "1", "--json"]);
    expect(err).toBe(`1 shard goes when empty, with its ${lost}.\n`);
    expect(JSON.parse(out)).toMatchObject({ settings: { shards: 1, deliveryDelaySeconds: 1 } });
    expect(await lab.words(0, ["queues", "update", "grown", "--shards", "1"])).toContain(", 1 shard.");
    expect(await lab.words(0, ["queues", "update", "grown", "--delivery-delay-secs", "0"])).not.toContain(
      "shard",
    );
    for (const number of ["0", "101"])
      expect(await lab.words(2, ["queues", "update", "grown", "--shards", number])).toContain(
        "A queue has 1 to 100 shards.",
      );
    expect(await lab.words(1, ["queues", "update", "one.fifo", "--shards", "2"])).toContain(
      "needs the deduplication scope messageGroup",
    );
    expect(await lab.run(["queues", "update", "none", "--shards", "2"])).toMatchObject({ code: 4 });
  });

  it("list --page shows a hundred at a time", async () => {
    const first = await lab.json<QueueView[]>(["queues", "list", "--page", "1"]);
    expect(first.length).toBeGreaterThan(1);
    expect(await lab.json(["queues", "list", "--page", "2"])).toEqual([]);
    expect(await lab.run(["queues", "list", "--page", "0"])).toMatchObject({ code: 2 });
  });

  it.each([
    ["pause-delivery", "resume-delivery"],
    ["pause", "resume"],
  ])("%s stops delivery and %s begins it again", async (pause, resume) => {
    expect(await lab.run(["queues", pause, "orders"])).toMatchObject({ code: 0, out: "" });
    expect((await lab.run(["queues", "list"])).out).toMatch(/^orders .* paused$/m);
    const look = { paint: (colour: string, text: string) => `<${colour}>${text}` };
    expect((await lab.run(["queues", "list"], { look })).out).toMatch(/^orders .* <yellow>paused$/m);
    expect((await lab.run(["queues", "info", "orders"])).out).toMatch(
      /^delivery +paused: "sluice queues resume/m,
    );
    expect(await lab.json(["queues", resume, "orders"])).toMatchObject({
      settings: { deliveryPaused: false },
    });
  });

  it("delete and purge do nothing without --force where there is no terminal", async () => {
    await lab.run(["queues", "create", "kept"]);
    await send("kept", { n: 1 });
    for (const action of ["delete", "purge"]) {
      const err = await lab.words(5, ["queues", action, "kept"]);
      expect(err).toContain("1 message");
      expect(err).toContain("--force");
    }
    expect(await lab.json(["queues", "info", "kept"])).toMatchObject({ messages: { ready: 1 } });
  });

  it("delete and purge do nothing when another name is typed, and act when the queue's is", async () => {
    await lab.run(["queues", "create", "typed"]);
    await send("typed", { n: 1 });
    expect(await lab.run(["queues", "purge", "typed"], { types: "yes" })).toMatchObject({ code: 5 });
    const purged = await lab.run(["queues", "purge", "typed"], { types: "typed\n" });
    expect(purged).toMatchObject({ code: 0, out: "", err: "Deleted 1 message of queue typed.\n" });
    expect(purged.asked).toContain("Type typed to go on: ");
    expect(await lab.run(["queues", "delete", "typed"], { types: "typed" })).toMatchObject({ code: 0 });
    expect(await lab.run(["queues", "info", "typed"])).toMatchObject({ code: 4 });
  });

  it("delete says what becomes of a queue that the configuration names, and create brings it back", async () => {
    const again = '"sluice queues create orders" brings it back';
    expect(await lab.words(5, ["queues", "delete", "orders"])).toContain(
      "The configuration names it; sends to it fail then, also after a restart",
    );
    expect(await lab.words(0, ["queues", "delete", "orders", "--force"])).toContain(again);
    const created = await lab.words(0, ["queues", "create", "orders"]);
    expect(created).toContain("Created queue orders as the configuration names it:");
    const { redrive } = await lab.json<QueueView>(["queues", "info", "orders"]);
    expect(redrive).toEqual({ deadLetterQueue: "orders-dead", maxReceiveCount: 1 });
    expect(await lab.json(["queues", "delete", "orders", "--force"])).toEqual({
      queue: "orders",
      deleted: true,
      isConfigured: true,
    });
    await lab.run(["queues", "create", "orders"]);
  });

  it("delete and purge with --force ask nothing", async () => {
    await lab.run(["queues", "create", "forced"]);
    await send("forced", { n: 1 });
    expect(await lab.json(["queues", "purge", "forced", "--force"])).toEqual({ queue: "forced", purged: 1 });
    expect(await lab.json(["queues", "delete", "forced", "--force"])).toEqual({
      queue: "forced",
      deleted: true,
    });
  });

  it("redrive moves dead letters back and says in the end how many", async () => {
    await send("orders-dead", { n: 1 });
    await send("orders-dead", { n: 2 });
    const { code, out, err } = await lab.run(["queues", "redrive", "orders-dead"]);
    expect({ code, out, err }).toEqual({
      code: 0,
      out: "",
      err: "Moved 2 messages to where they came from.\n",
    });
    expect(await lab.json(["queues", "info", "orders"])).toMatchObject({ messages: { ready: 2 } });
    await lab.run(["queues", "create", "elsewhere"]);
    await send("orders-dead", { n: 3 });
    const move = await lab.json(["queues", "redrive", "orders-dead", "--to", "elsewhere"]);
    expect(move).toMatchObject({ status: "completed", moved: 1, to: "elsewhere" });
    expect((await lab.run(["queues", "info", "orders-dead"])).out).toMatch(
      /^last move +completed, 1 message to elsewhere/m,
    );
  });

  it("redrive moves a selection: by filter, by ids, up to a limit, after a dry run", async () => {
    await lab.run(["queues", "create", "some"]);
    for (let n = 0; n < 5; n++) await send("orders-dead", { lamp: n });
    await send("orders-dead", { vase: 1 });
    const args = ["queues", "redrive", "orders-dead", "--to", "some"];
    const dry = await lab.run([...args, "--filter", "lamp", "--dry-run"]);
    expect(dry).toMatchObject({ code: 0, err: "5 messages would move to some.\n" });
    expect(dry.out.split("\n").filter((line) => line.includes("lamp"))).toHaveLength(5);
    expect(await lab.json([...args, "--filter", "lamp", "--limit", "2", "--dry-run"])).toMatchObject({
      count: 2,
    });
    expect(await lab.json(["queues", "info", "some"])).toMatchObject({ messages: { ready: 0 } });
    expect(await lab.json([...args, "--filter", "lamp", "--limit", "2"])).toMatchObject({ moved: 2 });
    const { messages } = await lab.json<MessagePage>(["messages", "peek", "orders-dead", "--filter", "vase"]);
    expect(await lab.json([...args, "--id", messages[0]?.id ?? ""])).toMatchObject({ moved: 1 });
    const moved = await lab.json<MessagePage>(["messages", "peek", "some"]);
    expect(moved.messages.map(({ text }) => text)).toEqual(['{"lamp":0}', '{"lamp":1}', '{"vase":1}']);
    expect(await lab.run([...args, "--filter", "stat:ready"])).toMatchObject({ code: 2 });
    expect(await lab.run(["queues", "purge", "orders-dead", "--force"])).toMatchObject({ code: 0 });
  });

  it("redrive --no-wait answers when the move has begun", async () => {
    await send("orders-dead", { n: 4 });
    const begun = await lab.json(["queues", "redrive", "orders-dead", "--no-wait"]);
    expect(begun).toMatchObject({ to: null });
    const info = () => lab.json<QueueView>(["queues", "info", "orders-dead"]);
    await expect.poll(async () => (await info()).lastMove?.status).toBe("completed");
  });

  it("redrive refuses a queue that takes no dead letters, and --cancel where nothing moves", async () => {
    expect(await lab.run(["queues", "redrive", "orders"])).toMatchObject({ code: 1, out: "" });
    expect(await lab.words(1, ["queues", "redrive", "orders-dead", "--cancel"])).toContain("are being moved");
  });

  it.each([
    ["info"],
    ["update", "--delivery-delay-secs", "1"],
    ["delete", "--force"],
    ["purge", "--force"],
    ["pause"],
    ["resume"],
    ["redrive"],
    ["redrive", "--cancel"],
  ])("%s of a queue that does not exist exits with 4", async (action, ...options) => {
    const { code, out, err } = await lab.run(["queues", action, "no-such-queue", ...options]);
    expect({ code, out, err }).toEqual({ code: 4, out: "", err: 'There is no queue "no-such-queue".\n' });
  });

  it("suggest the queue whose name is similar", async () => {
    const err = 'There is no queue "order".\n(Did you mean orders?)\n';
    expect(await lab.run(["queues", "info", "order"])).toMatchObject({ code: 4, out: "", err });
    expect(await lab.run(["messages", "peek", "order"])).toMatchObject({ code: 4, out: "", err });
  });
});

describe("the broker of a command", () => {
  it("is found from folders above and below it, and from anywhere while it is the only one", async () => {
    for (const cwd of [dirname(lab.folder), join(lab.folder, "src/deep"), tmpdir()]) {
      expect(await lab.run(["queues", "info", "orders"], { cwd })).toMatchObject({ code: 0 });
    }
  });

  it("is the one that --url or SLUICE_URL names", async () => {
    const registry = { WRANGLER_REGISTRY_PATH: join(lab.folder, "another") };
    expect(await lab.words(3, ["queues", "list"], { env: registry })).toContain('"sluice serve"');
    for (const named of [url, `${url}/`, `${url}/__sluice/`]) {
      const args = ["queues", "info", "orders", "--url", named];
      expect(await lab.run(args, { env: registry })).toMatchObject({ code: 0 });
    }
    const env = { ...registry, SLUICE_URL: url };
    expect(await lab.run(["queues", "info", "orders"], { env })).toMatchObject({ code: 0 });
    expect(await lab.run(["queues", "list", "--url", "localhost:1"], { env })).toMatchObject({ code: 2 });
  });

  it("exits with 3 where it does not answer, or is not a broker", async () => {
    const nowhere = `http://127.0.0.1:${await getPort()}`;
    expect(await lab.words(3, ["queues", "list", "--url", nowhere])).toBe(
      `No broker answers at ${nowhere}: nothing listens there.\n`,
    );
    const server = createServer((_, response) => response.writeHead(200).end("<html>"));
    onTestFinished(() => void server.close());
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo;
    const other = await lab.run(["queues", "list", "--url", `http://127.0.0.1:${port}`]);
    expect(other.code).toBe(3);
    expect(other.err).toContain("something else answers there");
  });

  it("puts data on standard output and words on standard error", async () => {
    const list = lab.spawn(["queues", "list", "--json"]);
    expect(await list.ended).toBe(0);
    expect(JSON.parse(list.output)).toBeInstanceOf(Array);
    const missing = lab.spawn(["queues", "purge", "orders"]);
    expect(await missing.ended).toBe(5);
  });

  it("is listed when there are several, and no more when it has ended", async () => {
    const other = new BrokerLab();
    onTestFinished(() => other.close());
    const WRANGLER_REGISTRY_PATH = join(dirname(lab.folder), "registry");
    const otherUrl = await other.serve({ WRANGLER_REGISTRY_PATH });
    const several = await lab.words(2, ["queues", "list"], { cwd: tmpdir() });
    expect(several).toContain(`--url ${url}  sluice serve`);
    expect(several).toContain(`--url ${otherUrl}  sluice serve`);
    const near = { cwd: other.folder, env: { WRANGLER_REGISTRY_PATH } };
    expect(await lab.json(["queues", "list"], near)).toEqual([]);
    await other.stop("SIGKILL");
    expect(await lab.run(["queues", "info", "orders"], near)).toMatchObject({ code: 0 });
    expect(readdirSync(`${WRANGLER_REGISTRY_PATH}.sluice-brokers`)).toHaveLength(1);
  });
});
