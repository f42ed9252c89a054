import { beforeEach, expect, it } from "vitest";
import { nodeSql } from "../../../test/node-sql.ts";
import { TopicVersions } from "./topic-versions.ts";

let sql: SqlStorage;
let nowMs: number;
/** As an epoch of the directory finds them. */
const started = () => new TopicVersions(sql, () => nowMs);

beforeEach(() => {
  sql = nodeSql();
  nowMs = 1_000;
});

it("versions of topics grow with each change, of that topic alone, and faster than time where they have to", () => {
  const versions = started();
  const before = versions.versionOf("a");
  versions.change("a");
  const first = versions.versionOf("a");
  versions.change("a");
  expect(first).toBeGreaterThan(before);
  expect(versions.versionOf("a")).toBeGreaterThan(first);
  expect(versions.versionOf("b")).toBe(before);
});

it("versions of topics are later in every epoch of the directory, though its clock goes back", () => {
  let latest = 0;
  for (const atMs of [1_000, 900, 5_000, 10]) {
    nowMs = atMs;
    const versions = started();
    expect(versions.versionOf("a")).toBeGreaterThan(latest);
    versions.change("a");
    expect(versions.versionOf("b")).toBeGreaterThan(latest);
    latest = versions.versionOf("a");
  }
});

it("versions of topics are pending until their objects are notified, over restarts", () => {
  const versions = started();
  expect(versions.pending()).toEqual([]);
  versions.change("a");
  versions.change("b");
  const [a] = versions.pending();
  if (a === undefined) throw new Error("two are pending");
  versions.notified(a);
  expect(versions.pending().map(({ topicId }) => topicId)).toEqual(["b"]);
  const restarted = started();
  expect(restarted.pending()).toEqual([{ topicId: "b", version: restarted.versionOf("b") }]);
  for (const notice of restarted.pending()) restarted.notified(notice);
  expect([restarted.hasPending, started().hasPending]).toEqual([false, false]);
});

it("versions of topics stay pending when they change while their objects are notified", () => {
  const versions = started();
  versions.change("a");
  const [notice] = versions.pending();
  versions.change("a");
  if (notice !== undefined) versions.notified(notice);
  expect(versions.pending()).toEqual([{ topicId: "a", version: versions.versionOf("a") }]);
});

it("versions of topics are forgotten with their topics, whose objects are notified all the same", () => {
  const versions = started();
  for (const topicId of ["a", "b"]) versions.change(topicId);
  const kept = versions.versionOf("b");
  versions.erase("a");
  expect(versions.versionOf("a")).toBe(versions.versionOf("never changed"));
  expect(versions.versionOf("b")).toBe(kept);
  const notice = versions.pending().find(({ topicId }) => topicId === "a");
  expect(notice?.version).toBeGreaterThan(kept);
  expect(
    started()
      .pending()
      .map(({ topicId }) => topicId),
  ).toEqual(["a", "b"]);
});
