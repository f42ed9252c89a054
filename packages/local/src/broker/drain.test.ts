import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { PUSH_SETTINGS, QUEUE } from "@sluice/project/test/definitions";
import type { QueueDefinition, QueueTopology } from "@sluice/protocol";
import { afterEach, describe, expect, it } from "vitest";
import { drain } from "./drain.ts";

const WORKED: QueueDefinition = {
  ...QUEUE,
  consumer: {
    type: "http_push",
    settings: {
      ...PUSH_SETTINGS,
      format: "sqsd",
      daemon: {
        visibilityTimeoutSeconds: 300,
        errorVisibilityTimeoutSeconds: null,
        retentionSeconds: 345_600,
      },
    },
  },
};

describe("draining worker daemons", () => {
  const closing: (() => void)[] = [];
  afterEach(() => {
    for (const close of closing.splice(0)) close();
  });

  /** A broker that answers with these, the last one for ever, and what was asked and printed. */
  async function broker(...answers: [status: number, requests: number][]) {
    const asked: (string | undefined)[] = [];
    const lines: string[] = [];
    const server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url} ${request.headers.authorization}`);
      const [status, requests] = (answers.length > 1 ? answers.shift() : answers[0]) ?? [500, 0];
      response.writeHead(status).end(JSON.stringify({ requests }));
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    closing.push(
      () => server.closeAllConnections(),
      () => server.close(),
    );
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const stop = new AbortController();
    const begin = (queues: QueueTopology["queues"]) =>
      drain({
        url,
        headers: { authorization: "Bearer own" },
        topology: { queues },
        printer: { print: (line) => void lines.push(line), warn: (line) => void lines.push(line) },
        signal: stop.signal,
      });
    return { asked, lines, stop, begin };
  }

  it("asks the queues that have one until nothing is under way, and says that it waits", async () => {
    const { asked, lines, begin } = await broker([200, 2], [200, 1], [200, 0]);
    await begin({ jobs: WORKED, dead: QUEUE });
    const request = "POST /__sluice/api/queues/jobs/drain Bearer own";
    expect(asked).toEqual([request, request, request]);
    expect(lines).toEqual([expect.stringContaining("waiting for 2 request(s)")]);
  });

  it("says nothing where nothing is under way, and asks nothing where there is none", async () => {
    const { asked, lines, begin } = await broker([200, 0]);
    await begin({ dead: QUEUE });
    expect(asked).toEqual([]);
    await begin({ jobs: WORKED });
    expect(lines).toEqual([]);
  });

  it("ends at once when it is told to", async () => {
    const { lines, stop, begin } = await broker([200, 1]);
    const drained = begin({ jobs: WORKED });
    await expect.poll(() => lines).toHaveLength(1);
    stop.abort();
    await drained;
    expect(lines).toHaveLength(1);
  });

  it("does not wait for a broker that refuses", async () => {
    const { lines, begin } = await broker([403, 0]);
    await begin({ jobs: WORKED });
    expect(lines).toEqual([expect.stringContaining("it answers 403")]);
  });
});
