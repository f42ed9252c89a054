import { noteFailedShard } from "@sluice/protocol";
import { describe, expect, it, vi } from "vitest";
import { directoryOf, OPEN, ORDERS, queueWith } from "../../../test/directory.ts";
import { createGateway, type QueueDirectory } from "../../index.ts";

const damaged = () => Promise.reject(noteFailedShard(new Error("no file"), 2));

/** A broker whose queue "orders" has so many shards, of which the last one does not answer. */
function withShards(shards: number): QueueDirectory {
  const queue = () => queueWith({ look: damaged, why: damaged, purge: damaged });
  return { ...directoryOf({ orders: { ...ORDERS, shards } }), queue };
}

async function ask(directory: QueueDirectory, path: string, init: RequestInit = {}) {
  const response = await createGateway(directory, OPEN).request(
    `http://localhost:8787/__sluice/api${path}`,
    init,
  );
  return { status: response.status, body: await response.json() };
}

describe("a shard that does not answer", () => {
  it.each([
    ["/queues/orders/messages", "GET"],
    ["/queues/orders/messages?whole=true", "GET"],
    ["/queues/orders/why", "GET"],
    ["/queues/orders/errors", "GET"],
    ["/queues/orders/purge", "POST"],
  ])("is named by %s, and the log says why", async (path, method) => {
    const log = vi.spyOn(console, "error").mockImplementation(() => {});
    expect(await ask(withShards(3), path, { method })).toEqual({
      status: 503,
      body: {
        error: {
          code: "shard_unavailable",
          message: `Shard 2 of queue "orders" does not answer; the broker's log says why.`,
          shard: 2,
        },
      },
    });
    expect(log.mock.calls.flat().join()).toContain("no file");
    log.mockRestore();
  });

  it("is a failure like any other where the queue has no shards", async () => {
    const log = vi.spyOn(console, "error").mockImplementation(() => {});
    expect(await ask(withShards(1), "/queues/orders/messages")).toMatchObject({
      status: 500,
      body: { error: { code: "internal_error" } },
    });
    log.mockRestore();
  });
});
