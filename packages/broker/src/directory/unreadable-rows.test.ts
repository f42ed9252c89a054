import type { NewToken } from "@sluice/protocol";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { nodeSql } from "../../test/node-sql.ts";
import { checksumOfText } from "../store/checksum.ts";
import { recordCopy, recordFrom } from "../store/record-copy.ts";
import { createDirectory } from "./directory.ts";

/* A stored row that cannot be read is one queue, topic, subscription or token less, and no broken directory. */

const HOME = "us-east-1:000000000000";
const TOPIC = `arn:aws:sns:${HOME}:news`;
const WHOLE = { queue: "whole", topic: `${TOPIC}-whole`, token: "whole" };

let sql: SqlStorage;
let lines: string[];
let deployments: number;

beforeEach(() => {
  sql = nodeSql();
  lines = [];
  deployments = 0;
  vi.spyOn(console, "error").mockImplementation((text) => void lines.push(String(text)));
  vi.spyOn(console, "warn").mockImplementation(() => {});
  onTestFinished(() => void vi.restoreAllMocks());
});

/** Starts the directory that is stored, as after each deployment. */
async function start() {
  deployments += 1;
  const topology = { queues: {}, sns: { messageLifeSeconds: 60 + deployments } };
  const Directory = createDirectory({ topology });
  let started: Promise<unknown> = Promise.resolve();
  const ctx = {
    storage: {
      sql,
      transactionSync: <Result>(change: () => Result) => change(),
      setAlarm: async () => {},
      deleteAlarm: async () => {},
    },
    blockConcurrencyWhile: (run: () => Promise<unknown>) => {
      started = run();
    },
    abort: () => {},
  };
  const object = { configure: async () => {}, clear: async () => {}, topicChanged: async () => {} };
  const env = { SLUICE_QUEUES: { idFromName: (name: string) => name, get: () => object } };
  const directory = new Directory(
    ctx as unknown as DurableObjectState,
    env as unknown as ConstructorParameters<typeof Directory>[1],
  );
  await started;
  return directory;
}

type Directory = Awaited<ReturnType<typeof start>>;

const settings = { deliveryDelaySeconds: 0, messageRetentionSeconds: 60 };
const token = (name: string): NewToken => ({
  name,
  secret: { kind: "bearer", sha256: "0".repeat(64) },
  scopes: ["read"],
  queues: ["a*"],
  expiresAtMs: null,
  ratePerSecond: 3,
});

/** One of each kind that stays as it is, and one that the tests spoil: "spoiled", in the table with its key. */
async function fill(directory: Directory): Promise<void> {
  for (const name of ["spoiled", WHOLE.queue]) {
    await directory.createQueue({ name, settings });
    const { queueId = "" } = (await directory.findByName(name)) ?? {};
    const shared = { maxRetries: 3, retryDelaySeconds: 0, deadLetterQueue: null };
    const pull = { ...shared, maxBatchSize: 10, visibilityTimeoutMs: 1_000 };
    await directory.setConsumer(queueId, null, { type: "http_pull", settings: pull });
    const source = { type: name === "spoiled" ? "kv" : "r2" };
    await directory.createSubscription({ name, enabled: true, source, queueId, events: ["x"] });
    await directory.createToken(token(name));
    await directory.noteAudit({ action: "queue.create", target: name, by: "local", dialect: "admin" });
  }
  for (const arn of [TOPIC, WHOLE.topic]) {
    const attributes = { DeliveryPolicy: '{"http":{"disableSubscriptionOverrides":false}}' };
    await directory.createTopic({ arn, isFifo: false, attributes, tags: {} });
    await directory.subscribe({
      topicArn: arn,
      protocol: "http",
      endpoint: "http://shop.example/hook",
      target: null,
      deadLetterQueue: null,
      token: "x".repeat(8) + arn,
      attributes: { RawMessageDelivery: "true" },
    });
  }
  await directory.keepSigningIdentity({ privateKeyPkcs8: "a", certificatePem: "b" });
}

/** Everything that the directory lists, by the names of what is in it. */
async function listed(directory: Directory) {
  const topics = await directory.listTopics();
  await directory.hiddenObjects();
  await directory.signingIdentity();
  await directory.atRest();
  for (const { arn } of topics) await directory.findTopic(arn);
  return {
    queues: (await directory.list()).map(({ name }) => name),
    topics: topics.map(({ arn }) => arn),
    topicSubscriptions: (await directory.listTopicSubscriptions()).map(({ topicArn }) => topicArn),
    subscriptions: (await directory.listSubscriptions()).map(({ name }) => name),
    tokens: (await directory.listTokens()).map(({ name }) => name),
    audit: (await directory.readAudit(100, null)).map(({ target }) => target),
  };
}

/** Tables of rows, with what finds the one to spoil. */
const TABLES = [
  { table: "queues", which: "name = 'spoiled'", column: "row" },
  { table: "topics", which: `arn = '${TOPIC}'`, column: "row" },
  { table: "topic_subscriptions", which: `json_extract(row, '$.topicArn') = '${TOPIC}'`, column: "row" },
  { table: "signing_identities", which: "id = 1", column: "row" },
  { table: "tokens", which: "name = 'spoiled'", column: "row" },
  { table: "subscriptions", which: "json_extract(row, '$.name') = 'spoiled'", column: "row" },
  { table: "audit", which: "json_extract(entry, '$.target') = 'spoiled'", column: "entry" },
] as const;

type Table = (typeof TABLES)[number];

function stored({ table, which, column }: Table): string {
  const [row] = sql.exec<{ text: string }>(`SELECT ${column} AS text FROM ${table} WHERE ${which}`).toArray();
  if (row === undefined) throw new Error(`nothing is in ${table}`);
  return row.text;
}

/** Stores a text in the place of another, with a checksum that fits. */
function store({ table, column }: Table, before: string, text: string): void {
  const columns = sql.exec<{ name: string }>(`SELECT name FROM pragma_table_info('${table}')`).toArray();
  const hasChecksum = columns.some(({ name }) => name === "checksum");
  const set = hasChecksum ? `${column} = ?, checksum = ${checksumOfText(text)}` : `${column} = ?`;
  sql.exec(`UPDATE ${table} SET ${set} WHERE ${column} = ?`, text, before);
}

/** The ways to all members of a value. */
function pathsIn(value: unknown): (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [[]];
  return [[], ...Object.entries(value).flatMap(([key, each]) => pathsIn(each).map((path) => [key, ...path]))];
}

function replaced(value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown {
  if (key === undefined) return by;
  const entries = Object.entries(value as object).map(([name, each]): [string, unknown] => [
    name,
    name === key ? replaced(each, rest, by) : each,
  ]);
  return Array.isArray(value) ? entries.map(([, each]) => each) : Object.fromEntries(entries);
}

const ODD: readonly unknown[] = [null, 7, "{", "", [], {}, [null], true, undefined];

describe.each(TABLES)("a row of $table", (table) => {
  it.each(["{", "7", "null", "[]", "{}", '"x"', ""])("a row that is %j is left out alone", async (text) => {
    await fill(await start());
    const whole = await listed(await start());
    store(table, stored(table), text);
    const now = await listed(await start());
    for (const kind of ["queues", "tokens", "subscriptions", "audit"] as const)
      expect(now[kind]).toContain("whole");
    for (const kind of ["topics", "topicSubscriptions"] as const) expect(now[kind]).toContain(WHOLE.topic);
    const count = (lists: object) => Object.values(lists).flat().length;
    // The key that messages are signed with is in no list, and what subscribes to a topic goes with that. An audit
    // entry says that something was deployed.
    const gone = { signing_identities: 0, topics: 2 }[table.table as string] ?? 1;
    expect(count(now)).toBe(count(whole) - gone + 1);
    if (table.table !== "audit") {
      await (await start()).signingIdentity();
      expect(lines.join("\n")).toMatch(/Directory: the stored row of .* cannot be read \(.+\)/);
    }
  });

  it("keeps the directory from nothing, whichever of its members is odd", async () => {
    await fill(await start());
    const before = stored(table);
    let last = before;
    const row: unknown = JSON.parse(before);
    for (const path of pathsIn(row)) {
      for (const odd of ODD) {
        const text = JSON.stringify(replaced(row, path, odd)) ?? "";
        store(table, last, text);
        last = text;
        const directory = await start();
        const now = await listed(directory);
        for (const kind of ["queues", "tokens", "subscriptions"] as const)
          expect(now[kind]).toContain("whole");
        expect(now.topics).toContain(WHOLE.topic);
      }
    }
  });
});

it("what was left out can be made again, a token once it is deleted", async () => {
  await fill(await start());
  for (const table of TABLES) store(table, stored(table), "{");
  const directory = await start();
  await directory.deleteToken("spoiled");
  await fill(directory);
  const { queues, topics, topicSubscriptions, subscriptions, tokens } = await listed(await start());
  expect([queues, subscriptions.sort(), tokens]).toEqual(Array(3).fill(["spoiled", "whole"]));
  expect([topics, topicSubscriptions.sort()]).toEqual(Array(2).fill([TOPIC, WHOLE.topic]));
});

it("a queue's own copy of what it is that cannot be read is none", () => {
  const record = {
    queueId: "1",
    name: "q",
    createdOnMs: 1,
    modifiedOnMs: 1,
    revision: 1,
    emptyAsOf: 0,
    definition: { ...settings, producers: [], consumer: null },
    consumer: null,
    jurisdiction: null,
    dialects: {},
  } as const;
  expect(recordFrom(recordCopy(record))).toEqual(record);
  const odd = { ...record, definition: { ...record.definition, consumer: 7 } };
  expect(recordFrom(recordCopy(odd as unknown as typeof record))).toBeNull();
});
