import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { json } from "node:stream/consumers";
import { idOfName } from "@sluice/objects/object-id";
import { afterEach, beforeEach, expect, it } from "vitest";
import { BUCKETS } from "./bucket-watch.ts";
import { bucketsOf, R2Reports } from "./reports.ts";

interface Report {
  readonly bucket: string;
  readonly writes: readonly { readonly id: number; readonly key: string }[];
}

let data: string;
let broker: Server;
let url: string | null;
let taken: string[];
/** Answers that the broker gives in the place of its own. */
let failures: number[];
let ruled: string[];
/** How often the broker was asked for its rules. */
let asked: number;
let reports: R2Reports;
let warnings: string[];

beforeEach(async () => {
  data = mkdtempSync(join(tmpdir(), "sluice-reports-"));
  taken = [];
  failures = [];
  ruled = [];
  asked = 0;
  warnings = [];
  broker = createServer(async (request, response) => {
    if (request.method === "GET") asked += 1;
    const failure = failures.shift();
    if (failure !== undefined) return response.writeHead(failure).end();
    if (request.method === "GET") {
      return response.end(JSON.stringify({ buckets: ruled.map((bucket) => ({ bucket, takenTo: 0 })) }));
    }
    const { bucket, writes } = (await json(request)) as Report;
    taken.push(...writes.map(({ key }) => `${bucket}/${key}`));
    return response.end(JSON.stringify({ takenTo: writes.at(-1)?.id }));
  });
  await once(broker.listen(0, "127.0.0.1"), "listening");
  url = `http://127.0.0.1:${(broker.address() as AddressInfo).port}`;
  reports = new R2Reports({
    data: () => data,
    url: () => url,
    headers: () => ({}),
    printer: { warn: (line) => void warnings.push(line) },
  });
});
afterEach(() => {
  reports.close();
  broker.close();
  rmSync(data, { recursive: true, force: true });
});

function fileOf(bucket: string): string {
  return join(data, "v3/r2", BUCKETS, `${idOfName(BUCKETS, bucket)}.sqlite`);
}

/** Writes an object to a bucket, as Miniflare does. */
function put(bucket: string, key: string): void {
  const db = new DatabaseSync(fileOf(bucket));
  db.prepare("INSERT INTO _mf_objects VALUES (?, 'blob', 'v', 1, 'tag', 0, '{}', '{}', '{}')").run(key);
  db.close();
}

const rule = { queue: "events", actions: ["PutObject"], prefix: "", suffix: "" } as const;

it("makes nothing for a project without rules", async () => {
  await reports.begin({ queues: {} }, []);
  expect(await reports.set([])).toBe("");
  expect(existsSync(join(data, "v3"))).toBe(false);
});

it("reports writes to a bucket of the configuration once the broker answers", async () => {
  const answering = url;
  url = null;
  await reports.begin({ queues: {}, r2Notifications: [{ bucket: "uploads", ...rule }] }, ["uploads"]);
  put("uploads", "a");
  failures.push(500, 503);
  url = answering;
  await expect.poll(() => taken).toEqual(["uploads/a"]);
});

it("watches the buckets that the broker names, and no others", async () => {
  await reports.begin({ queues: {}, r2Notifications: [{ bucket: "uploads", ...rule }] }, ["uploads"]);
  ruled = ["invoices"];
  reports.refresh();
  await expect.poll(() => existsSync(fileOf("invoices"))).toBe(true);
  put("uploads", "a");
  put("invoices", "b");
  await expect.poll(() => taken).toEqual(["invoices/b"]);
});

it("asks the broker once for each reading of the configuration, and again where it did not answer", async () => {
  await reports.begin({ queues: {} }, []);
  failures.push(503);
  reports.refresh();
  await expect.poll(() => failures).toEqual([]);
  ruled = ["uploads"];
  await expect
    .poll(() => {
      reports.refresh();
      return existsSync(fileOf("uploads"));
    })
    .toBe(true);
  expect(asked).toBe(2);
  reports.refresh();
  await reports.begin({ queues: {} }, []);
  ruled = ["invoices"];
  reports.refresh();
  await expect.poll(() => existsSync(fileOf("invoices"))).toBe(true);
  expect(asked).toBe(3);
});

it("finds a bucket again that was deleted and is made anew", async () => {
  await reports.set(["uploads"]);
  put("uploads", "a");
  await expect.poll(() => taken).toEqual(["uploads/a"]);
  rmSync(join(data, "v3/r2"), { recursive: true });
  await reports.set(["uploads"]);
  put("uploads", "b");
  await expect.poll(() => taken).toEqual(["uploads/a", "uploads/b"]);
});

it("says that a bucket cannot be watched, and refuses a rule for it", async () => {
  mkdirSync(join(data, "v3/r2", BUCKETS), { recursive: true });
  writeFileSync(fileOf("uploads"), "no database, and long enough to be seen as none".repeat(20));
  await reports.begin({ queues: {}, r2Notifications: [{ bucket: "uploads", ...rule }] }, ["uploads"]);
  expect(warnings).toEqual([expect.stringContaining("Writes to R2 buckets are not seen")]);
  await expect(reports.set(["uploads"])).rejects.toThrow("not a database");
});

it("warns once of a bucket that no Worker binds, also after a rule of the REST API", async () => {
  await reports.begin({ queues: {}, r2Notifications: [{ bucket: "uplaods", ...rule }] }, ["uploads", "b"]);
  await reports.set(["uplaods", "uploads", "invoices"]);
  await reports.begin({ queues: {} }, []);
  await reports.set(["logs"]);
  const text = (bucket: string, bound: string) =>
    `A rule is for writes to R2 bucket "${bucket}", which no Worker here binds. They bind: ${bound}.`;
  expect(warnings).toEqual([
    text("uplaods", "uploads, b"),
    text("invoices", "uploads, b"),
    text("logs", "none"),
  ]);
});

it("knows the buckets of bindings, with and without a name of their own", () => {
  const wrangler = {
    r2_buckets: [
      { binding: "A", bucket_name: "a", preview_bucket_name: "a-preview" },
      { binding: "B", bucket_name: "a" },
      { binding: "C" },
    ],
  };
  const workers = [{ wrangler }] as unknown as Parameters<typeof bucketsOf>[0]["workers"];
  expect(bucketsOf({ workers })).toEqual(["a", "a-preview", "C"]);
});
