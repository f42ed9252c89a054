import type { ReceiveReply, ReceiveRequest } from "@sluice/protocol";
import { PackedWriter } from "@sluice/protocol";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { SqsClient } from "../../../test/sqs-client.ts";
import { Waits } from "../../account/waits.ts";
import { LOOK_MS, LOOK_MS_MAX, LOOKS, LOOKS_MAX, lookingBody } from "./client-disconnect.ts";

const XML = '<?xml version="1.0"?><a>\n</a>';

describe("an answer that looks for its client", () => {
  it.each([
    ["JSON", '{"a":1}', /^\n{3,40}\{"a":1\}$/],
    ["XML", XML, /^<\?xml version="1\.0"\?>\n{3,40}<a>\n<\/a>$/],
  ])("is the same %s with white space where it means nothing", async (_, text, expected) => {
    const { body, written } = lookingBody(text, new AbortController().signal);
    expect(await new Response(body).text()).toMatch(expected);
    await written;
  });

  it.each([
    ["in time at the latest", 0, LOOK_MS_MAX, LOOKS],
    ["late five times", 5, LOOK_MS_MAX + 1, 5 + LOOKS],
    ["always late", 1_000, LOOK_MS_MAX + 1, LOOKS_MAX],
  ])("looks again for each look that is late: %s", async (_, lateLooks, tookMs, looks) => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { body, written } = lookingBody("{}", new AbortController().signal);
    let isWritten = false;
    void written.then(() => {
      isWritten = true;
    });
    const text = new Response(body).text();
    for (let look = 0; !isWritten; look++) {
      // The clock goes on without the timers while the process does something else.
      const isLate = look < lateLooks || lateLooks === 0;
      if (isLate) vi.setSystemTime(Date.now() + tookMs - LOOK_MS);
      await vi.advanceTimersByTimeAsync(LOOK_MS);
    }
    expect(await text).toBe(`${"\n".repeat(looks)}{}`);
  });

  it("is not written to a client that has gone", async () => {
    const client = new AbortController();
    const { body, written } = lookingBody('{"a":1}', client.signal);
    const reader = body.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe("\n");
    client.abort();
    await expect(reader.read()).rejects.toThrow();
    await written;
  });
});

/**
 * A receive that waits until it is told what it gets.
 *
 * @param looked called when the queue has been looked into, before a receive waits.
 * @param found what was found then.
 */
function waitingReceive(looked = () => {}, found: "empty" | "unserved" = "empty") {
  const waits = new Waits();
  const calls: [method: string, ...args: unknown[]][] = [];
  const { promise, resolve } = Promise.withResolvers<ReceiveReply>();
  const objects = {
    receiveNow: async () => {
      calls.push(["receiveNow"]);
      looked();
      return [{ kind: found }];
    },
    receive: (_queue: string, { waitMs }: ReceiveRequest) => {
      calls.push(waitMs === 0 ? ["receive", waitMs] : ["receive"]);
      return promise;
    },
    cancelReceive: async (_queue: string, receiverId: string) => void calls.push(["cancel", receiverId]),
    release: async (_queue: string, receipts: readonly string[]) => {
      calls.push(["release", receipts]);
      return receipts.length;
    },
  };
  return { client: new SqsClient({ objects, waits }), calls, answer: resolve, stop: () => waits.stop() };
}

describe("a client that goes while its receive waits", () => {
  const BEGUN = [["receiveNow"], ["receive"]];
  const ask = async ({ client }: ReturnType<typeof waitingReceive>, signal: AbortSignal) => {
    const QueueUrl = await client.create("orders");
    return client.fetch(
      new Request("http://localhost/", {
        method: "POST",
        headers: { "content-type": "application/x-amz-json-1.0", "x-amz-target": "AmazonSQS.ReceiveMessage" },
        body: JSON.stringify({ QueueUrl, WaitTimeSeconds: 20 }),
        signal,
      }),
    );
  };
  const quiet = () => new Promise((resolve) => setImmediate(resolve));

  it("waits no more", async () => {
    const receive = waitingReceive();
    const gone = new AbortController();
    const answered = ask(receive, gone.signal);
    await quiet();
    gone.abort();
    receive.answer({ kind: "empty" });
    await answered;
    expect(receive.calls).toEqual([...BEGUN, ["cancel", expect.stringMatching(/^[0-9a-f-]{36}$/)]]);
  });

  it("a client that goes while its receive waits before it has asked for messages gets none", async () => {
    const receive = waitingReceive();
    const gone = new AbortController();
    const answered = ask(receive, gone.signal);
    // The request is being read.
    gone.abort();
    await answered;
    expect(receive.calls).toEqual([]);
  });

  it("a client that goes while its receive waits while the queue is looked into does not wait", async () => {
    const gone = new AbortController();
    const receive = waitingReceive(() => gone.abort());
    await ask(receive, gone.signal);
    expect(receive.calls).toEqual([["receiveNow"]]);
  });

  it("gives back what it was given meanwhile", async () => {
    const receive = waitingReceive();
    const gone = new AbortController();
    const answered = ask(receive, gone.signal);
    await quiet();
    const writer = new PackedWriter();
    writer.append({ id: new Uint8Array(16), contentType: "text", body: "x" });
    const facts = { receiveCounts: [1], firstReceivedMs: [1], sequenceNumbers: null };
    receive.answer({
      kind: "received",
      packed: writer.slice(0, writer.byteLength),
      receipts: ["receipt"],
      ...facts,
    });
    gone.abort();
    await answered;
    await quiet();
    expect(receive.calls).toEqual([...BEGUN, ["cancel", expect.any(String)], ["release", ["receipt"]]]);
  });
});

describe("a receive that waits while the process that listens is to end", () => {
  const begin = async ({ client }: ReturnType<typeof waitingReceive>, WaitTimeSeconds = 20) => {
    const QueueUrl = await client.create("orders");
    return { answered: client.call("ReceiveMessage", { QueueUrl, WaitTimeSeconds }) };
  };
  const quiet = () => new Promise((resolve) => setImmediate(resolve));

  it("waits no more", async () => {
    const receive = waitingReceive();
    const { answered } = await begin(receive);
    await quiet();
    void receive.stop();
    receive.answer({ kind: "empty" });
    expect(await answered).toEqual({});
    const cancelled = ["cancel", expect.stringMatching(/^[0-9a-f-]{36}$/)];
    expect(receive.calls).toEqual([["receiveNow"], ["receive"], cancelled]);
  });

  it("does not begin to wait", async () => {
    const receive = waitingReceive();
    const { answered } = await begin(receive);
    void receive.stop();
    expect(await answered).toEqual({});
    expect(receive.calls).toEqual([["receiveNow"]]);
  });

  it("a receive that waits while the process that listens is to end still gets what is there where others had taken the room in their answer", async () => {
    const receive = waitingReceive(() => {}, "unserved");
    const { answered } = await begin(receive, 0);
    void receive.stop();
    await quiet();
    receive.answer({ kind: "empty" });
    await answered;
    expect(receive.calls).toEqual([["receiveNow"], ["receive", 0]]);
  });
});
