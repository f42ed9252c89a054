import { type ContentType, packMessages } from "@sluice/protocol";
import { bundle, startWorkerd, type WorkerdProcess } from "@sluice/protocol/test/workerd-process";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const TEST_FOLDER = `${import.meta.dirname}/../test`;
const ENTRYPOINTS = [
  "WithoutDefaultExport",
  "WithoutHandler",
  "WithWrongHandler",
  "ClassWithoutHandler",
  "Throwing",
  "BrokenConstructor",
  "Counting",
  "Hanging",
  "Late",
  "LateNoWait",
  "Reported",
  "Wrapped",
];
const ID = `${"0".repeat(31)}1`;
const NOTHING = { ackAll: false, retryBatch: { retry: false }, explicitAcks: [], retryMessages: [] };

let workerd: WorkerdProcess;
beforeEach(async () => {
  workerd = await startWorkerd([
    {
      name: "main",
      source: await bundle('export { default } from "./deliver.worker.ts";', TEST_FOLDER),
      bindings: ENTRYPOINTS.map(
        (name) => `(name = "${name}", service = (name = "consumer", entrypoint = "${name}"))`,
      ).join(", "),
    },
    {
      name: "consumer",
      source: await bundle(
        'export * from "./entrypoints.worker.ts"; export { default } from "./entrypoints.worker.ts";',
        TEST_FOLDER,
      ),
    },
  ]);
});
afterEach(() => workerd[Symbol.asyncDispose]());

async function deliver(
  entrypoint: string,
  contentType: ContentType = "text",
  body = "body",
): Promise<unknown> {
  const packed = packMessages([{ id: ID, contentType, body: new TextEncoder().encode(body) }]);
  return deliverBytes(entrypoint, packed);
}

async function deliverBytes(entrypoint: string, packed: Uint8Array<ArrayBuffer>): Promise<unknown> {
  const response = await workerd.fetch(`/${entrypoint}`, { method: "POST", body: packed });
  return response.json();
}

describe("a Worker without a queue handler (spec cloudflare-queues 2.5)", () => {
  const TEXT =
    "Received a QueueEvent but we lack a handler for QueueEvents. Did you remember to export a queue() function?";

  it.each(["WithoutDefaultExport", "WithoutHandler", "WithWrongHandler", "ClassWithoutHandler"])(
    "%s: fails every batch and says why",
    async (entrypoint) => {
      expect(await deliver(entrypoint)).toEqual({
        result: { outcome: "exception", ...NOTHING, error: TEXT },
      });
      await workerd.printed(TEXT);
    },
  );
});

describe("a handler that throws", () => {
  it("keeps its acknowledgements, prints the error with its stack and reports its first line", async () => {
    expect(await deliver("Throwing")).toEqual({
      result: {
        outcome: "exception",
        ...NOTHING,
        explicitAcks: [ID],
        error: "RangeError: the handler failed",
        stack: expect.stringContaining("RangeError: the handler failed\n"),
      },
    });
    await workerd.printed("RangeError: the handler failed");
    await workerd.printed("    at ");
    expect(workerd.lines.join("\n")).toMatch(/RangeError: the handler failed\nfor two lines\n +at .*queue/);
  });

  it("may be a constructor", async () => {
    expect(await deliver("BrokenConstructor")).toEqual({
      result: {
        outcome: "exception",
        ...NOTHING,
        error: "Error: the constructor failed",
        stack: expect.stringContaining("Error: the constructor failed\n"),
      },
    });
  });
});

// conformance: unreadable-body
describe("a batch that cannot be read is an exception before the handler sees it", () => {
  it.each<[string, ContentType, string]>([
    ["json that is cut off", "json", '{"a":'],
    ["the text that production makes of a function", "json", "undefined"],
    ["v8 of an unknown format", "v8", "\u0002"],
  ])("%s is an exception before the handler sees it", async (_name, contentType, body) => {
    expect(await deliver("Counting", contentType, body)).toEqual({
      result: {
        outcome: "exception",
        ...NOTHING,
        error: expect.stringMatching(
          `^BodyDecodeError: A message body of content type "${contentType}" could not be decoded: `,
        ),
        stack: expect.any(String),
      },
    });
    await workerd.printed("BodyDecodeError: A message body");
    expect(workerd.lines.join("\n")).not.toContain("instance 1");
  });

  it("damaged bytes are an exception before the handler sees them", async () => {
    expect(await deliverBytes("Counting", new Uint8Array(7))).toMatchObject({
      result: { outcome: "exception", error: expect.stringContaining("PackedFormatError") },
    });
  });
});

it("a class is instantiated for every batch", async () => {
  await deliver("Counting");
  await deliver("Counting");
  await workerd.printed("instance 2, call 1");
  expect(workerd.lines).toContain("instance 1, call 1");
});

it("a handler inside a proxy is called as the runtime would, without a look at its methods", async () => {
  expect(await deliver("Wrapped")).toEqual({ result: "acknowledged" });
  await workerd.printed("wrapped handler of the exported object");
});

describe("waitUntil (spec cloudflare-queues 2.6)", () => {
  it("is waited for, late calls count and a rejection fails the batch", async () => {
    expect(await deliver("Late")).toEqual({
      result: {
        outcome: "exception",
        ...NOTHING,
        retryMessages: [{ msgId: ID }],
        error: "Error: background work failed",
        stack: expect.stringContaining("Error: background work failed\n"),
      },
    });
    await workerd.printed("the result was reported");
    const printed = workerd.lines.filter((line) => /^(background work is|the result)/.test(line));
    expect(printed).toEqual(["background work is done", "the result was reported"]);
  });

  it("is not waited for with queue_consumer_no_wait_for_wait_until, but kept alive", async () => {
    expect(await deliver("LateNoWait")).toEqual({ result: "acknowledged" });
    expect(workerd.lines).not.toContain("background work is done");
    await deliver("Reported");
    await workerd.printed("background work is done");
    await workerd.printed("Error: background work failed");
  });
});

it("the runtime ends a handler that hangs: deliver rejects, and what it acknowledged is told once", async () => {
  expect(await deliver("Hanging")).toEqual({
    rejected: expect.stringContaining("your Worker's code had hung"),
    calls: [{ ...NOTHING, explicitAcks: [ID] }, null],
  });
});

it("ping answers without touching the handlers", async () => {
  const response = await workerd.fetch("/BrokenConstructor?ping");
  expect(await response.json()).toBe("pong");
});
