import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { R2Bucket } from "@cloudflare/workers-types";
import { idOfName } from "@sluice/objects/object-id";
import type { R2Write } from "@sluice/protocol";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { afterEach, beforeEach, expect, it } from "vitest";
import { BUCKETS, BucketWatch } from "./bucket-watch.ts";

let data: string;
let ends: (() => unknown)[];
let reported: R2Write[];
/** How many reports are refused from now on. */
let refusals: number;
let warnings: string[];

beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), "sluice-r2-"));
  ends = [() => rmSync(data, { recursive: true, force: true })];
  reported = [];
  refusals = 0;
  warnings = [];
});
afterEach(async () => {
  for (const end of ends.reverse()) await end();
});

/** A bucket of a Miniflare of its own on the data folder. */
async function bucketOf(name: string): Promise<R2Bucket> {
  const options = { modules: true, script: "export default {}", r2Buckets: { [name]: name }, cf: false };
  const miniflare = new Miniflare({ ...convertV4MiniflareOptions(options), resourcePersistencePath: data });
  ends.push(() => miniflare.dispose());
  return (await miniflare.getR2Bucket(name)) as unknown as R2Bucket;
}

function watched(...buckets: string[]): BucketWatch {
  const watch = watchOf();
  watch.set(buckets);
  return watch;
}

function watchOf(): BucketWatch {
  const watch = new BucketWatch({
    folder: join(data, "r2"),
    report: async (_, writes) => {
      if (refusals > 0) {
        refusals -= 1;
        throw new Error("not now");
      }
      reported.push(...writes);
      return writes.at(-1)?.id ?? 0;
    },
    warn: (line) => void warnings.push(line),
  });
  ends.push(() => watch.close());
  return watch;
}

const actions = () => reported.map(({ action, key }) => `${action} ${key}`);
const fileOf = (bucket: string) => join(data, "r2", BUCKETS, `${idOfName(BUCKETS, bucket)}.sqlite`);

it("reports each write of a bucket once, in order, whichever process makes it", async () => {
  watched("uploads");
  const first = await bucketOf("uploads");
  const stored = await first.put("a", "1");
  await first.put("a", "22");
  await (await bucketOf("uploads")).put("b", "3");
  const upload = await first.createMultipartUpload("parts");
  const parts = [
    await upload.uploadPart(1, new Uint8Array(5 * 1024 * 1024)),
    await upload.uploadPart(2, "end"),
  ];
  await upload.complete(parts);
  await first.delete(["a", "never-there"]);
  await expect
    .poll(actions)
    .toEqual([
      "PutObject a",
      "PutObject a",
      "PutObject b",
      "CompleteMultipartUpload parts",
      "DeleteObject a",
    ]);
  expect(reported[0]).toMatchObject({ stored: { size: 1, eTag: stored?.etag } });
  expect(Math.abs((reported[0]?.atMs ?? 0) - (stored?.uploaded.getTime() ?? 0))).toBeLessThan(1_000);
  expect(reported.at(-1)?.stored).toBeNull();
  const ids = reported.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)].sort((x, y) => x - y));
});

it("begins in a bucket that is in use, and reports no earlier write", async () => {
  const bucket = await bucketOf("uploads");
  await bucket.put("before", "");
  watched("uploads");
  await bucket.put("after", "");
  await expect.poll(actions).toEqual(["PutObject after"]);
});

it("reports again what was refused, and what was written while nobody watched", async () => {
  refusals = 3;
  const first = watched("uploads");
  const bucket = await bucketOf("uploads");
  await bucket.put("a", "");
  await expect.poll(actions).toEqual(["PutObject a"]);
  first.close();
  await bucket.put("b", "");
  watched("uploads");
  // What was taken before is for the broker to tell.
  await expect.poll(actions).toEqual(["PutObject a", "PutObject a", "PutObject b"]);
});

it("reads the buckets before one whose file cannot be used", async () => {
  mkdirSync(fileOf("invoices"), { recursive: true });
  const watch = watchOf();
  expect(() => watch.set(["uploads", "invoices"])).toThrow("disk I/O error");
  await (await bucketOf("uploads")).put("a", "");
  await expect.poll(actions).toEqual(["PutObject a"]);
});

it("leaves nothing in a bucket that is no longer watched", async () => {
  const watch = watched("uploads", "invoices");
  const bucket = await bucketOf("uploads");
  await bucket.put("a", "");
  await expect.poll(actions).toHaveLength(1);
  watch.set(["invoices"]);
  await bucket.put("b", "");
  const db = new DatabaseSync(fileOf("uploads"), { readOnly: true });
  const names = "SELECT count(*) AS n FROM sqlite_master WHERE name LIKE '\\_sluice%' ESCAPE '\\'";
  expect(db.prepare(names).get()).toEqual({ n: 0 });
  db.close();
  expect([actions(), warnings]).toEqual([["PutObject a"], []]);
});

it("makes the table of a new bucket as Miniflare does", async () => {
  const columns = (bucket: string) => {
    const db = new DatabaseSync(fileOf(bucket), { readOnly: true });
    const found = db.prepare("PRAGMA table_info(_mf_objects)").all();
    db.close();
    return found;
  };
  watched("ours");
  const ours = columns("ours");
  await (await bucketOf("theirs")).put("a", "");
  expect(ours).toEqual(columns("theirs"));
  expect(ours).toHaveLength(9);
});
