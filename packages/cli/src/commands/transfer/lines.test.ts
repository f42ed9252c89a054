import { Readable } from "node:stream";
import { MESSAGE_BYTES_MAX, SQS_MESSAGE_BYTES_MAX } from "@sluice/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { OnBroker } from "../on-broker.ts";
import type { BackupLine } from "./backup-lines.ts";
import { importMessages } from "./import.ts";
import { BATCH_BYTES, BATCH_MESSAGES, bytesInRequest, linesOf } from "./lines.ts";
import { Restoring } from "./restoring.ts";

/** Most bytes of a request that the broker reads. */
const REQUEST_BYTES_MAX = 4_000_000;

type Sent = readonly { readonly text: string }[];

/** A broker that keeps what is sent to it. */
function broker(input: Readable) {
  const sent: Sent[] = [];
  const client = {
    admin: async ({ body }: { body?: { messages: Sent } }) => {
      if (body !== undefined) sent.push(body.messages);
      return { ids: [] };
    },
  };
  const on = { client, surroundings: { input }, printer: { warn: () => {} }, json: false };
  return { sent, on: on as unknown as OnBroker };
}

const WAYS = {
  import: async (texts: readonly string[]) => {
    const { sent, on } = broker(Readable.from(texts.map((body) => `${JSON.stringify({ body })}\n`)));
    await importMessages(on, "q", "-", {});
    return sent;
  },
  "import of a backup": async (texts: readonly string[]) => {
    const input = Readable.from([]);
    const { sent, on } = broker(input);
    const restoring = new Restoring(on, "-", { input, size: 0, begun: null, checkpoint: null }, null, true);
    type MessageLine = Extract<BackupLine, { message: unknown }>;
    for (const [i, text] of texts.entries()) {
      await restoring.take({ in: "q", message: { contentType: "text", text } } as unknown as MessageLine, i);
    }
    await restoring.end(texts.length).catch(() => {});
    return sent;
  },
} as const;

const bodyBytes = (messages: Sent) =>
  messages.reduce((sum, { text }) => sum + new TextEncoder().encode(text).byteLength, 0);

/** Texts of one to four bytes a character, escaped ones among them, up to the size of a message. */
const texts = fc.array(
  fc
    .tuple(
      fc.constantFrom("a", '"', "\n", "\u0001", "é", "漢", "😀", "Заказ "),
      fc.integer({ min: 1, max: 80_000 }),
    )
    .map(([part, times]) => part.repeat(times)),
  { maxLength: 30 },
);

describe.each(Object.entries(WAYS))("the requests of an %s", (_, send) => {
  it("have all messages in order, and none is above what the broker takes", async () => {
    await fc.assert(
      fc.asyncProperty(texts, async (bodies) => {
        const sent = await send(bodies);
        expect(sent.flat().map(({ text }) => text)).toEqual(bodies);
        for (const messages of sent) {
          expect(messages.length).toBeLessThanOrEqual(BATCH_MESSAGES);
          expect(bodyBytes(messages)).toBeLessThanOrEqual(SQS_MESSAGE_BYTES_MAX);
          expect(Buffer.byteLength(JSON.stringify({ messages }))).toBeLessThan(REQUEST_BYTES_MAX);
        }
      }),
      { numRuns: 25 },
    );
  });

  it.each([
    ["SQS", "漢".repeat(SQS_MESSAGE_BYTES_MAX / 3), 1],
    ["SQS, each character escaped", '"'.repeat(SQS_MESSAGE_BYTES_MAX), 1],
    ["Cloudflare", "é".repeat(MESSAGE_BYTES_MAX / 2), 7],
  ])("have the largest messages of %s", async (_, body, inOne) => {
    const sent = await send(Array.from({ length: inOne + 1 }, () => body));
    expect(sent.map((messages) => messages.length)).toEqual([inOne, 1]);
  });

  it.each([-1, 0, 1])("have %i bytes more than fit", async (more) => {
    const rest = bytesInRequest({ contentType: "text", text: "" });
    const first = "x".repeat(BATCH_BYTES / 2 - rest);
    const second = "x".repeat(BATCH_BYTES / 2 - rest + more);
    expect(await send([first, second])).toHaveLength(more > 0 ? 2 : 1);
  });
});

async function linesIn(chunks: readonly (string | Buffer)[]): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of linesOf(Readable.from(chunks, { objectMode: false }))) lines.push(line);
  return lines;
}

describe("lines of a text", () => {
  const texts = ["a\nb\n", "a\nb", "a\r\nb\r\n", "a\r\nb\r", "\uFEFFa\nb\n", "\uFEFFa\r\nb"];
  it.each(texts)("have no line end and no byte order mark: %j", async (text) => {
    const bytes = Buffer.from(text);
    const one = Array.from(bytes, (_, i) => bytes.subarray(i, i + 1));
    expect(await linesIn([bytes])).toEqual(["a", "b"]);
    expect(await linesIn(one)).toEqual(["a", "b"]);
  });

  it("are read in a time that grows with their length, also in small parts", async () => {
    const [line = ""] = await linesIn(Array<string>(4_096).fill("x".repeat(1_024)));
    expect(line).toHaveLength(4_096 * 1_024);
  });

  it("keep a mark that is not at the beginning, and U+2028", async () => {
    expect(await linesIn(["a\u2028b\n\uFEFFc"])).toEqual(["a\u2028b", "\uFEFFc"]);
  });
});
