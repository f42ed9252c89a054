import { packMessages, type ReceiveReply } from "@sluice/protocol";
import { expect, it } from "vitest";
import { SqsClient } from "../../../../test/sqs-client.ts";

const REPLY: ReceiveReply = {
  kind: "received",
  packed: new Uint8Array(),
  receipts: ["r1", "r2"],
  receiveCounts: [1, 1],
  firstReceivedMs: [0, 0],
  sequenceNumbers: null,
};

/** A receive that waits, whose answer tells what it is refused with, and the messages that were given back. */
async function waiting(isRevoked: () => boolean) {
  const { promise, resolve } = Promise.withResolvers<ReceiveReply>();
  const asked = Promise.withResolvers<void>();
  const released: string[] = [];
  let isAnswered = false;
  const sqs = new SqsClient({
    key: { scopes: ["admin"], isRevoked: () => isAnswered && isRevoked() },
    objects: {
      receiveNow: async () => [{ kind: "empty" }],
      receive: () => {
        asked.resolve();
        return promise;
      },
      release: async (_queue, receipts) => {
        released.push(...receipts);
        return receipts.length;
      },
    },
  });
  const QueueUrl = await sqs.create("orders");
  const refusal = sqs.refusal("ReceiveMessage", { QueueUrl, WaitTimeSeconds: 20 });
  await asked.promise;
  isAnswered = true;
  resolve(REPLY);
  return { refusal: await refusal, released };
}

it("a key that is revoked while its receive waits gets no messages, and the queue has them back", async () => {
  const { refusal, released } = await waiting(() => true);
  expect(refusal).toEqual({
    status: 403,
    code: "InvalidClientTokenId",
    message: "The security token included in the request is invalid.",
  });
  expect(released).toEqual(["r1", "r2"]);
});

it("a receive that has waited releases its messages when it is unknown whether its key still counts", async () => {
  const { refusal, released } = await waiting(() => {
    throw new Error("the directory is away");
  });
  expect(refusal).toMatchObject({ status: 500 });
  expect(released).toEqual(["r1", "r2"]);
});

it.each([
  { AttributeNames: ["All"], MessageSystemAttributeNames: [] },
  { AttributeNames: [], MessageSystemAttributeNames: ["All"] },
  { AttributeNames: ["SenderId", "ApproximateReceiveCount"], MessageSystemAttributeNames: ["SenderId"] },
])("a receive that names attributes in both lists gets those of either: %j", async (names) => {
  const packed = packMessages([
    { id: "0".repeat(32), contentType: "text", timestampMs: 0, body: new TextEncoder().encode("x") },
  ]);
  const reply = { ...REPLY, packed, receipts: ["r1"], receiveCounts: [3], firstReceivedMs: [0] };
  const sqs = new SqsClient({ objects: { receiveNow: async () => [reply] } });
  const QueueUrl = await sqs.create("orders");
  const { Messages } = await sqs.call("ReceiveMessage", { QueueUrl, ...names });
  expect(Messages).toMatchObject([{ Attributes: { ApproximateReceiveCount: "3" } }]);
});
