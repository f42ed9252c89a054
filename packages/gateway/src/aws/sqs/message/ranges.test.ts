import type { ReceiveRequest, VisibilityChange } from "@sluice/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { SqsClient } from "../../../../test/sqs-client.ts";

let sqs: SqsClient;
let QueueUrl: string;
let received: ReceiveRequest[];
let changes: VisibilityChange[];
let deleted: string[];

beforeEach(async () => {
  [received, changes, deleted] = [[], [], []];
  sqs = new SqsClient({
    objects: {
      receive: async () => ({ kind: "empty" }),
      receiveNow: async (_queue, requests) => {
        received.push(...requests);
        return requests.map(() => ({ kind: "empty" as const }));
      },
      changeVisibilityBatch: async (_queue, asked) => {
        changes.push(...asked);
        return asked.map(() => "changed" as const);
      },
      deleteBatch: async (_queue, receipts) => {
        deleted.push(...receipts);
        return receipts.map((receipt) =>
          receipt === "expired" ? ("expired" as const) : ("deleted" as const),
        );
      },
    },
  });
  QueueUrl = await sqs.create("q");
});

const invalid = (message: string) => ({ status: 400, code: "InvalidParameterValue", message });
const missing = (name: string) => ({
  status: 400,
  code: "MissingParameter",
  message: `The request must contain the parameter ${name}.`,
});

describe("ReceiveMessage", () => {
  it.each([
    ["MaxNumberOfMessages", 1, 10, "Must be between 1 and 10, if provided."],
    ["WaitTimeSeconds", 0, 20, "Must be >= 0 and <= 20, if provided."],
    ["VisibilityTimeout", 0, 43_200, "Must be >= 0 and <= 43200, if provided."],
  ])("takes a %s of %i to %i", async (name, min, max, reason) => {
    for (const value of [min, max]) await sqs.call("ReceiveMessage", { QueueUrl, [name]: value });
    for (const value of [min - 1, max + 1]) {
      expect(await sqs.refusal("ReceiveMessage", { QueueUrl, [name]: value })).toEqual(
        invalid(`Value ${value} for parameter ${name} is invalid. Reason: ${reason}`),
      );
    }
    expect(received).toHaveLength(2);
  });

  it("takes a ReceiveRequestAttemptId of 128 characters of its alphabet", async () => {
    const ask = { QueueUrl: await sqs.create("q.fifo", { FifoQueue: "true" }) };
    await sqs.call("ReceiveMessage", { ...ask, ReceiveRequestAttemptId: "!".repeat(128) });
    expect(received).toMatchObject([{ attemptId: "!".repeat(128) }]);
    for (const id of ["", "a b", "é", "a".repeat(129)]) {
      expect(await sqs.refusal("ReceiveMessage", { ...ask, ReceiveRequestAttemptId: id })).toEqual(
        invalid(
          `Value ${id} for parameter ReceiveRequestAttemptId is invalid. Reason: ` +
            "ReceiveRequestAttemptId can only include alphanumeric and punctuation characters. 1 to 128 in length.",
        ),
      );
    }
  });

  it("is over the limit of messages in flight with 403 on a short poll", async () => {
    const over = { kind: "overLimit" as const };
    sqs = new SqsClient({ objects: { receive: async () => over, receiveNow: async () => [over] } });
    const input = { QueueUrl: await sqs.create("q") };
    for (const wait of [{}, { WaitTimeSeconds: 0 }]) {
      expect(await sqs.refusal("ReceiveMessage", { ...input, ...wait })).toMatchObject({
        status: 403,
        code: "OverLimit",
      });
    }
  });
});

describe("ChangeMessageVisibility", () => {
  const change = (input: object) => ({ QueueUrl, ReceiptHandle: "r", VisibilityTimeout: 1, ...input });

  it("takes 0 to 43,200 seconds", async () => {
    for (const seconds of [0, 43_200]) {
      await sqs.call("ChangeMessageVisibility", change({ VisibilityTimeout: seconds }));
    }
    expect(changes.map(({ visibilityTimeoutMs }) => visibilityTimeoutMs)).toEqual([0, 43_200_000]);
    for (const seconds of [-1, 43_201]) {
      expect(await sqs.refusal("ChangeMessageVisibility", change({ VisibilityTimeout: seconds }))).toEqual(
        invalid(
          `Value ${seconds} for parameter VisibilityTimeout is invalid. Reason: Must be between 0 and 43200.`,
        ),
      );
    }
  });

  it("needs a receipt and a time", async () => {
    for (const name of ["ReceiptHandle", "VisibilityTimeout"]) {
      const input = change({ [name]: undefined });
      expect(await sqs.refusal("ChangeMessageVisibility", input)).toEqual(missing(name));
    }
  });

  it("has an outcome for each entry of a batch", async () => {
    const entry = "ChangeMessageVisibilityBatchRequestEntry";
    const Entries = [
      { Id: "good", ReceiptHandle: "r", VisibilityTimeout: 5 },
      { Id: "none", ReceiptHandle: "r" },
      { Id: "low", ReceiptHandle: "r", VisibilityTimeout: -85 },
      { Id: "receipt", VisibilityTimeout: 5 },
    ];
    const failed = (Id: string, Code: string, Message: string) => ({ Id, SenderFault: true, Code, Message });
    expect(await sqs.call("ChangeMessageVisibilityBatch", { QueueUrl, Entries })).toEqual({
      Successful: [{ Id: "good" }],
      Failed: [
        failed("none", "MissingParameter", missing(`${entry}.2.VisibilityTimeout`).message),
        failed(
          "low",
          "InvalidParameterValue",
          "Value -85 for parameter VisibilityTimeout is invalid. Reason: VisibilityTimeout must be an " +
            "integer between 0 and 43200.",
        ),
        failed("receipt", "MissingParameter", missing(`${entry}.4.ReceiptHandle`).message),
      ],
    });
    expect(changes).toEqual([{ receipt: "r", visibilityTimeoutMs: 5_000 }]);
  });
});

it("DeleteMessage needs a receipt, and one of a FIFO queue that has not expired", async () => {
  expect(await sqs.refusal("DeleteMessage", { QueueUrl })).toEqual(missing("ReceiptHandle"));
  expect(await sqs.refusal("DeleteMessage", { QueueUrl, ReceiptHandle: "expired" })).toEqual(
    invalid("Value expired for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired."),
  );
  await sqs.call("DeleteMessage", { QueueUrl, ReceiptHandle: "good" });
  expect(deleted).toEqual(["expired", "good"]);
});

it.each([
  ["SendMessageBatch", "SendMessageBatchRequestEntry"],
  ["DeleteMessageBatch", "DeleteMessageBatchRequestEntry"],
  ["ChangeMessageVisibilityBatch", "ChangeMessageVisibilityBatchRequestEntry"],
])("a batch of %s has 1 to 10 entries with ids of their own", async (action, entry) => {
  const refusal = (Entries: object[]) => sqs.refusal(action, { QueueUrl, Entries });
  const entries = (count: number) =>
    Array.from({ length: count }, (_, i) => ({
      Id: `id-${i}`,
      MessageBody: "",
      ReceiptHandle: "r",
      VisibilityTimeout: 1,
    }));
  const old = (code: string, message: string) => ({
    status: 400,
    code: `AWS.SimpleQueueService.${code}`,
    message,
  });
  expect(await refusal([])).toEqual(
    old("EmptyBatchRequest", `There should be at least one ${entry} in the request.`),
  );
  expect(await refusal(entries(11))).toEqual(
    old("TooManyEntriesInBatchRequest", "Maximum number of entries per request are 10. You have sent 11."),
  );
  const badId =
    "A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at " +
    "most 80 letters long.";
  for (const Id of ["", "a b", "é", "a".repeat(81)]) {
    expect(await refusal([{ ...entries(1)[0], Id }])).toEqual(old("InvalidBatchEntryId", badId));
  }
  const twice = [...entries(3), ...entries(3).slice(1)];
  expect(await refusal(twice)).toEqual(old("BatchEntryIdsNotDistinct", "Id id-1 repeated."));
  expect(await refusal([{ MessageBody: "x" }])).toEqual(missing(`${entry}.1.Id`));
  const good = [...entries(9), { ...entries(1)[0], Id: "a".repeat(80) }];
  const answer = await sqs.call(action, { QueueUrl, Entries: good });
  // Empty bodies fail each by itself.
  expect([answer.Successful ?? [], answer.Failed ?? []].flat()).toHaveLength(10);
});
