import { afterEach, expect, it, vi } from "vitest";
import { directoryOf, OPEN } from "../../test/directory.ts";
import { memoryR2 } from "../../test/in-memory.ts";
import { createGateway } from "../index.ts";
import { R2_WRITE_AHEAD_MS_MAX } from "./process-routes.ts";

afterEach(() => {
  vi.useRealTimers();
});

const write = { id: 7, action: "PutObject", key: "a", atMs: 1, stored: { size: 3, eTag: "t" } };

it("takes reports of writes to R2 buckets, at most 100 in one", async () => {
  const r2 = memoryR2();
  const report = async (body: unknown, changes = {}) => {
    const gateway = createGateway({ ...directoryOf(), r2, ...changes }, OPEN);
    const init = { method: "POST", body: JSON.stringify(body) };
    return gateway.request("http://localhost/__sluice/api/r2", init);
  };
  const deleted = { ...write, id: 8, action: "DeleteObject", stored: null };
  const response = await report({ bucket: "uploads", writes: [write, deleted] });
  expect([response.status, await response.json(), r2.taken]).toEqual([200, { takenTo: 8 }, [write, deleted]]);
  for (const [count, status] of [
    [99, 200],
    [100, 200],
    [101, 400],
  ] as const) {
    const writes = Array.from({ length: count }, () => write);
    expect((await report({ bucket: "uploads", writes })).status).toBe(status);
  }
  expect((await report({ bucket: "uploads", writes: [{ ...write, key: 1 }] })).status).toBe(400);
  expect((await report({ bucket: "uploads", writes: [] }, { watchR2: null })).status).toBe(403);
});

it.each([
  [-1, 200],
  [0, 200],
  [1, 400],
])("refuses writes to R2 buckets of a time to come: a day and %i ms is %i", async (more, status) => {
  vi.useFakeTimers({ toFake: ["Date"], now: 1_700_000_000_000 });
  const ahead = 1_700_000_000_000 + R2_WRITE_AHEAD_MS_MAX + more;
  for (const changed of [{ id: ahead }, { atMs: ahead }]) {
    const r2 = memoryR2();
    const response = await createGateway({ ...directoryOf(), r2 }, OPEN).request(
      "http://localhost/__sluice/api/r2",
      {
        method: "POST",
        body: JSON.stringify({ bucket: "uploads", writes: [write, { ...write, id: 8, ...changed }] }),
      },
    );
    const text = await response.text();
    expect([response.status, r2.taken.length], text).toEqual([status, status === 200 ? 2 : 0]);
    if (status === 400) expect(text).toContain("more than a day ahead of the system's clock");
  }
});
