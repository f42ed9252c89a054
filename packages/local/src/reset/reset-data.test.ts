import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { uniqueKeysOf } from "@sluice/broker-worker/unique-keys";
import { idOfName } from "@sluice/objects/object-id";
import { afterEach, beforeEach, expect, it } from "vitest";
import { OBJECTS_FOLDER } from "../data/data-lock.ts";
import { BUCKETS } from "../r2/bucket-watch.ts";
import { WriteLog } from "../r2/write-log.ts";
import { resetData } from "./reset-data.ts";

let folder: string;
let warnings: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-reset-"));
  warnings = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const objects = () => join(folder, OBJECTS_FOLDER, uniqueKeysOf("shop").directory);
const fileOf = (bucket: string) => join(folder, "v3/r2", BUCKETS, `${idOfName(BUCKETS, bucket)}.sqlite`);

function reset(): Promise<boolean> {
  mkdirSync(objects(), { recursive: true });
  const warn = (line: string) => void warnings.push(line);
  return resetData({ folder, broker: "shop", confirm: async () => {}, warn });
}

it("a reset forgets the writes to buckets that were told of, and leaves their objects", async () => {
  const log = WriteLog.open(fileOf("uploads"));
  const bucket = new DatabaseSync(fileOf("uploads"));
  bucket.exec("INSERT INTO _mf_objects VALUES ('a', 'blob', 'v', 1, 'tag', 0, '{}', '{}', '{}')");
  expect(log.read(0, 100)).toHaveLength(1);
  log.close();
  expect(await reset()).toBe(true);
  const again = WriteLog.open(fileOf("uploads"));
  expect(again.read(0, 100)).toEqual([]);
  again.close();
  expect(bucket.prepare("SELECT key FROM _mf_objects").all()).toEqual([{ key: "a" }]);
  bucket.close();
});

it("a bucket that cannot be read is named, and the reset is done", async () => {
  mkdirSync(join(folder, "v3/r2", BUCKETS), { recursive: true });
  writeFileSync(fileOf("broken"), "no database, and long enough to be seen as none".repeat(20));
  expect(await reset()).toBe(true);
  expect(existsSync(objects())).toBe(false);
  expect(warnings).toEqual([expect.stringContaining(fileOf("broken"))]);
});
