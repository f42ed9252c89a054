import { existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readKnown, type Sql } from "@sluice/broker/recovery";
import { idOfName, withObjectFile } from "@sluice/objects";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { objectsFolder, openNodeBroker, WORKER } from "../../../apps/broker/test/node-broker.ts";
import { queuesKeptIn } from "./kept-queues.ts";
import { recoverDirectory } from "./recover-directory.ts";

const QUEUES = ["orders", "bulk", "line.fifo"];
const FIFO = { FifoQueue: "true", ContentBasedDeduplication: "true" };

let folder: string;
let file: string;

const fileOf = (className: string, name: string) => {
  const key = `${WORKER}-${className}`;
  return join(folder, key, `${idOfName(key, name)}.sqlite`);
};

function recover(): string[] {
  const lines: string[] = [];
  recoverDirectory({ folder, worker: WORKER, warn: (line) => lines.push(line) });
  return lines;
}

const takenBack = (name: string) =>
  `Directory: it did not know queue "${name}" any more, and takes it back as the queue's own file says. ` +
  "Whether that is complete may not be known";

/** Reads what clients see of each queue: its attributes, tags and messages. */
async function seen() {
  const { call, close } = openNodeBroker(folder);
  const { QueueUrls = [] } = await call("ListQueues", {});
  const queues = await Promise.all(
    QueueUrls.map(async (QueueUrl) => {
      const { Attributes } = await call("GetQueueAttributes", { QueueUrl, AttributeNames: ["All"] });
      const { Tags } = await call("ListQueueTags", { QueueUrl });
      const { Messages = [] } = await call("ReceiveMessage", { QueueUrl, VisibilityTimeout: 0 });
      return { QueueUrl, Attributes, Tags, bodies: Messages.map(({ Body }) => Body) };
    }),
  );
  close();
  return queues;
}

beforeEach(async () => {
  vi.spyOn(console, "log").mockImplementation(() => {});
  folder = objectsFolder();
  file = fileOf("Directory", "directory");
  const { call, close } = openNodeBroker(folder);
  for (const name of [...QUEUES, "deleted", "deleted and made again"]) {
    const QueueName = name.replaceAll(" ", "-");
    const isFifo = name.endsWith(".fifo");
    const queue = { QueueName, Attributes: { VisibilityTimeout: "77", ...(isFifo ? FIFO : {}) } };
    const { QueueUrl } = await call("CreateQueue", { ...queue, tags: { of: name } });
    const message = { QueueUrl, MessageBody: name, ...(isFifo ? { MessageGroupId: "a" } : {}) };
    await call("SendMessage", message);
    if (!name.startsWith("deleted")) continue;
    await call("DeleteQueue", { QueueUrl });
  }
  close();
});

afterEach(() => vi.restoreAllMocks());

describe("a directory without damage", () => {
  it("is not changed, without a line in the log, and neither is a folder without queues", () => {
    const before = readFileSync(file);
    expect(recover()).toEqual([]);
    expect(readFileSync(file).equals(before)).toBe(true);
    const [old, empty] = [folder, objectsFolder()];
    folder = empty;
    expect(recover()).toEqual([]);
    expect(readdirSync(empty)).toEqual([]);
    folder = old;
  });

  it("restores no deleted queue, even if it forgot the deletion", async () => {
    const before = await seen();
    rmSync(file);
    recover();
    expect((await seen()).map(({ QueueUrl }) => QueueUrl)).toEqual(before.map(({ QueueUrl }) => QueueUrl));
  });
});

describe("the queues of a directory", () => {
  it.each([
    ["was removed", () => rmSync(file)],
    ["was removed with its folder", () => rmSync(join(file, ".."), { recursive: true })],
    ["is empty", () => truncateSync(file, 0)],
    ["is garbage", () => writeFileSync(file, Buffer.alloc(50_000, 0x55))],
    ["lost all but its first page", () => truncateSync(file, 4_096)],
  ])("whose file %s are as they were, with their messages, and the log names each", async (_, damage) => {
    const before = await seen();
    expect(before).toHaveLength(QUEUES.length);
    expect(before.map(({ bodies }) => bodies[0]).sort()).toEqual([...QUEUES].sort());
    damage();
    const lines = recover();
    for (const name of QUEUES) expect(lines).toContain(takenBack(name));
    expect(lines.filter((line) => line.includes("nothing is left of what it had stored"))).toHaveLength(1);
    expect(await seen()).toEqual(before);
    expect(recover()).toEqual([]);
  });

  it("are lost where none ever held a message, and the log says so", async () => {
    folder = objectsFolder();
    file = fileOf("Directory", "directory");
    const { call, close } = openNodeBroker(folder);
    await call("CreateQueue", { QueueName: "never-used" });
    close();
    rmSync(file);
    expect(recover()).toEqual([expect.stringContaining("nothing is left of what it had stored")]);
  });

  it("can be created after damage to a directory without queues", async () => {
    folder = objectsFolder();
    file = fileOf("Directory", "directory");
    const before = openNodeBroker(folder);
    await before.call("ListQueues", {});
    before.close();
    writeFileSync(file, Buffer.alloc(50_000, 0x55));
    expect(recover()).toEqual([
      expect.stringContaining("its file was damaged"),
      expect.stringContaining("nothing is left"),
    ]);
    const { call } = openNodeBroker(folder);
    expect((await call("CreateQueue", { QueueName: "orders" })).QueueUrl).toContain("orders");
  });

  it("are not restored where their own copy is damaged, and the log names the file", () => {
    rmSync(file);
    const queue = fileOf("QueueBroker", "bulk");
    const bytes = readFileSync(queue);
    bytes.write("bulK", bytes.lastIndexOf('name\\":\\"bulk') + 9);
    writeFileSync(queue, bytes);
    const lines = recover();
    expect(lines).not.toContain(takenBack("bulk"));
    expect(lines.filter((line) => line.includes(queue) && line.includes("checksum"))).toHaveLength(1);
  });

  it("are restored where their own row was damaged, and only those are named", async () => {
    const before = await seen();
    vi.spyOn(console, "error").mockImplementation(() => {});
    const bytes = readFileSync(file);
    // Damages the row's text, not SQLite's structures.
    bytes.write("ordErs", bytes.lastIndexOf('"name":"orders"') + 8);
    writeFileSync(file, bytes);
    expect(recover()).toEqual([takenBack("orders")]);
    expect(await seen()).toEqual(before);
  });

  it("are restored where the file of another object cannot be read, and the log names that one", async () => {
    const broken = fileOf("QueueBroker", "bulk");
    rmSync(file);
    writeFileSync(broken, Buffer.alloc(5_000, 0x55));
    const lines = recover();
    expect(lines.filter((line) => line.includes(broken))).toHaveLength(1);
    expect(lines.filter((line) => line.includes("takes it back"))).toEqual(
      expect.arrayContaining(["line.fifo", "orders"].map(takenBack)),
    );
    expect(existsSync(broken)).toBe(true);
  });
});

describe("a queue with shards", () => {
  const wide = {
    deliveryDelaySeconds: 0,
    messageRetentionSeconds: 3_600,
    producers: [],
    consumer: null,
    shards: 3,
  };
  const NAMES = ["wide", "wide#1", "wide#2"];

  /** Rows of the queue and its shards in the directory's file. */
  const records = () =>
    withObjectFile(file, ({ sql }) => {
      const { rows } = readKnown(sql as unknown as Sql);
      return NAMES.flatMap((name) => {
        const row = rows.get(name);
        return row?.kind === "queue" ? [row.record] : [];
      });
    });

  it("is taken back with its map from its objects' files, and keeps what is in them", async () => {
    folder = objectsFolder();
    file = fileOf("Directory", "directory");
    const { call, close } = openNodeBroker(folder, { queues: { wide } });
    await call("ListQueues", {});
    await expect.poll(() => records().map(({ shards }) => shards?.open)).toEqual([3, 3, 3]);
    close();
    const before = records();
    rmSync(file);
    expect(recover()).toEqual(expect.arrayContaining(NAMES.map(takenBack)));
    expect(records()).toEqual(before);
    const again = openNodeBroker(folder, { queues: { wide } });
    await again.call("ListQueues", {});
    again.close();
    expect(records().map(({ queueId, shards }) => [queueId, shards])).toEqual(
      before.map(({ queueId, shards }) => [queueId, shards]),
    );
    expect(recover()).toEqual([]);
    expect(queuesKeptIn({ folder, worker: WORKER })).toEqual(["wide"]);
  });
});
