import { R2_RULES_MAX, type R2Rule, type R2Write, unpackMessages } from "@sluice/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { nodeSql } from "../../../test/node-sql.ts";
import type { Transfer } from "../../rpc/transfer.ts";
import { UNSET_DEFINITION } from "../queues.ts";
import { newRecord } from "../records.ts";
import { Registry } from "../registry.ts";
import { R2Buckets } from "./r2-buckets.ts";

const NOW = 1_000;
const CREATES: R2Rule = { actions: ["PutObject", "CompleteMultipartUpload"], prefix: "", suffix: "" };

let sql: SqlStorage;
let registry: Registry;
let transfers: { readonly queue: string; readonly transfer: Transfer }[];
let warnings: string[];
/** Queues that take nothing now. */
let down: Set<string>;

beforeEach(() => {
  sql = nodeSql();
  registry = new Registry([], {
    save: () => {},
    erase: () => {},
    now: () => NOW,
    newId: () => crypto.randomUUID().replaceAll("-", ""),
    hasJurisdictions: false,
  });
  transfers = [];
  warnings = [];
  down = new Set();
  for (const name of ["events", "other"]) {
    const record = newRecord(registry, name, UNSET_DEFINITION);
    registry.put({ kind: "queue", record, configured: null, told: 0 });
  }
});

/** The buckets of the directory, as after a restart. */
function buckets(): R2Buckets {
  return new R2Buckets(sql, {
    queueById: (id) => registry.queueById(id)?.record,
    queueByName: (name) => registry.queue(name)?.record,
    take: async ({ name }, transfer) => {
      if (down.has(name)) throw new Error("not now");
      transfers.push({ queue: name, transfer });
      return { takenTo: transfer.more?.at(-1)?.id ?? transfer.id, refused: null };
    },
    newId: () => crypto.randomUUID().replaceAll("-", ""),
    now: () => NOW,
    warn: (line) => void warnings.push(line),
  });
}

function idOf(name: string): string {
  return registry.queue(name)?.record.queueId ?? "";
}

function put(id: number, key: string): R2Write {
  return { id, action: "PutObject", key, atMs: NOW + id, stored: { size: 3, eTag: "tag" } };
}

/** Keys of the objects that a queue was notified of, in order. */
function keysSent(queue: string): string[] {
  return transfers
    .filter((each) => each.queue === queue)
    .flatMap(({ transfer }) => [transfer, ...(transfer.more ?? [])])
    .flatMap(({ packed }) => unpackMessages(packed))
    .map(
      ({ body }) => (JSON.parse(new TextDecoder().decode(body)) as { object: { key: string } }).object.key,
    );
}

describe("rules of a bucket", () => {
  it("are kept over restarts, and deleted by their ids or all of a queue", () => {
    buckets().add("uploads", idOf("events"), [CREATES]);
    buckets().add("uploads", idOf("events"), [{ ...CREATES, actions: ["DeleteObject"] }]);
    buckets().add("uploads", idOf("other"), [CREATES]);
    const [bucket] = buckets().list();
    expect(bucket?.rules.map(({ actions }) => actions)).toEqual([
      CREATES.actions,
      ["DeleteObject"],
      CREATES.actions,
    ]);
    const first = bucket?.rules[0]?.ruleId ?? "";
    const notFound = { ok: false, refusal: { kind: "r2RuleNotFound" } };
    expect(buckets().delete("uploads", idOf("events"), [first, "x"])).toEqual(notFound);
    expect(buckets().delete("uploads", idOf("other"), [first])).toEqual(notFound);
    expect(buckets().delete("uploads", idOf("events"), [first])).toEqual({ ok: true });
    expect(buckets().delete("uploads", idOf("events"), null)).toEqual({ ok: true });
    expect(buckets().delete("uploads", idOf("events"), null)).toEqual(notFound);
    expect(buckets().list()[0]?.rules).toMatchObject([{ queueId: idOf("other") }]);
  });

  it("may overlap those of other queues and buckets, and no other one of theirs", () => {
    const overlap = { ok: false, refusal: { kind: "r2RulesOverlap" } };
    expect(buckets().add("uploads", idOf("events"), [CREATES])).toEqual({ ok: true });
    expect(buckets().add("uploads", idOf("events"), [{ ...CREATES, prefix: "img/" }])).toEqual(overlap);
    expect(buckets().add("uploads", idOf("other"), [CREATES, CREATES])).toEqual(overlap);
    expect(buckets().add("uploads", idOf("other"), [CREATES])).toEqual({ ok: true });
    expect(buckets().add("invoices", idOf("events"), [CREATES])).toEqual({ ok: true });
    expect(
      buckets()
        .list()
        .map(({ rules }) => rules.length),
    ).toEqual([1, 2]);
  });

  it("are at most 100 of a bucket, whatever queues they notify", () => {
    const some = (count: number, from = 0) =>
      Array.from({ length: count }, (_, i) => ({ ...CREATES, prefix: `${from + i}/` }));
    const tooMany = { ok: false, refusal: { kind: "r2RulesTooMany" } };
    expect(buckets().add("uploads", idOf("events"), some(R2_RULES_MAX + 1))).toEqual(tooMany);
    expect(buckets().add("uploads", idOf("events"), some(R2_RULES_MAX - 1))).toEqual({ ok: true });
    expect(buckets().add("uploads", idOf("other"), some(2))).toEqual(tooMany);
    expect(buckets().add("uploads", idOf("other"), some(1))).toEqual({ ok: true });
    expect(buckets().add("uploads", idOf("other"), some(1, 1))).toEqual(tooMany);
    expect(buckets().add("invoices", idOf("other"), some(R2_RULES_MAX))).toEqual({ ok: true });
  });

  it("are refused for a queue that does not exist, and end with theirs", () => {
    expect(buckets().add("uploads", "f".repeat(32), [CREATES])).toEqual({
      ok: false,
      refusal: { kind: "queueNotFound" },
    });
    buckets().add("uploads", idOf("events"), [CREATES]);
    expect(buckets().deleteOf(idOf("events"))).toEqual(["uploads"]);
    expect(buckets().list()).toEqual([]);
  });
});

describe("rules of the configuration", () => {
  const configured = { bucket: "uploads", queue: "events", ...CREATES };

  it("come and go with it, and keep their ids while they stay as they are", () => {
    buckets().configure([configured]);
    const [before] = buckets().list();
    buckets().configure([configured, { ...configured, queue: "other" }]);
    const [after] = buckets().list();
    expect(after?.rules[0]).toEqual(before?.rules[0]);
    expect(after?.rules).toHaveLength(2);
    buckets().configure([]);
    expect(buckets().list()).toEqual([]);
  });

  it("replace an API's that they overlap, which is said, and leave the others", () => {
    buckets().add("uploads", idOf("events"), [{ ...CREATES, prefix: "img/" }]);
    buckets().add("uploads", idOf("events"), [{ ...CREATES, actions: ["DeleteObject"] }]);
    buckets().configure([configured]);
    expect(
      buckets()
        .list()[0]
        ?.rules.map(({ actions }) => actions),
    ).toEqual([["DeleteObject"], CREATES.actions]);
    expect(warnings).toEqual(['a rule of R2 bucket "uploads" is replaced by the configuration\'s']);
  });
});

describe("writes to a bucket", () => {
  it("become messages of the queues with a rule for them, in order", async () => {
    buckets().add("uploads", idOf("events"), [{ ...CREATES, prefix: "img/" }]);
    buckets().add("uploads", idOf("other"), [CREATES]);
    expect(await buckets().take("acc", "uploads", [put(5, "img/1"), put(6, "b"), put(9, "img/2")])).toBe(9);
    expect([keysSent("events"), keysSent("other")]).toEqual([
      ["img/1", "img/2"],
      ["img/1", "b", "img/2"],
    ]);
    expect(transfers[0]?.transfer).toMatchObject({ source: "r2/uploads", id: 5 });
    const [message] = unpackMessages(transfers[0]?.transfer.packed ?? new Uint8Array());
    expect(message?.contentType).toBe("json");
  });

  it("are taken once, however often they are reported", async () => {
    buckets().add("uploads", idOf("events"), [CREATES]);
    await buckets().take("acc", "uploads", [put(1, "a"), put(2, "b")]);
    expect(await buckets().take("acc", "uploads", [put(2, "b"), put(3, "c")])).toBe(3);
    expect(keysSent("events")).toEqual(["a", "b", "c"]);
  });

  it("stay with who reports them while a queue takes nothing, by the same ids", async () => {
    buckets().add("uploads", idOf("events"), [CREATES]);
    buckets().add("uploads", idOf("other"), [CREATES]);
    down.add("other");
    await expect(buckets().take("acc", "uploads", [put(1, "a")])).rejects.toThrow("not now");
    down.clear();
    await buckets().take("acc", "uploads", [put(1, "a")]);
    // The first one's inbox knows the id, and drops the second transfer.
    expect(transfers.map(({ queue, transfer }) => [queue, transfer.id])).toEqual([
      ["events", 1],
      ["events", 1],
      ["other", 1],
    ]);
  });

  it("are those after the rule was made; the configuration's is older than any", async () => {
    buckets().add("uploads", idOf("events"), [CREATES]);
    buckets().configure([{ bucket: "uploads", queue: "other", ...CREATES }]);
    const before = (id: number) => ({ ...put(id, `${id}`), atMs: NOW - 1 });
    await buckets().take("acc", "uploads", [before(1), { ...put(2, "2"), atMs: NOW }]);
    expect([keysSent("events"), keysSent("other")]).toEqual([["2"], ["1", "2"]]);
  });

  it("are no matter in a bucket without rules", async () => {
    expect(await buckets().take("acc", "uploads", [put(1, "a")])).toBe(1);
    expect([transfers, buckets().list()]).toEqual([[], []]);
  });
});
